//! What `lockstep dev` prints when its replicas are up: where they are, and what to try next.

use anstyle::{AnsiColor, Style};
use lockstep_model::{ServiceId, Target};
use lockstep_position::Revision;
use lockstep_resolution::{Answer, Place, State, servable};
use std::{cmp::Reverse, fmt, net::SocketAddr, path::Path, time::Duration};

use crate::config::Endpoints;

/// Shown if the source has no service: the sample's first.
const NO_SERVICE: &str = "web.shop.svc.cluster.local:80";

/// One replica that is up.
pub(crate) struct Up {
    pub(crate) name: String,
    pub(crate) endpoints: Endpoints,
    pub(crate) leads: bool,
}

/// Everything that is told, as text for a terminal.
pub(crate) struct Greeting<'a> {
    pub(crate) replicas: &'a [Up],
    pub(crate) took: Duration,
    pub(crate) revision: Revision,
    pub(crate) source: &'a str,
    pub(crate) data: &'a Path,
    /// A service to begin with.
    pub(crate) example: &'a str,
    /// Whether the other verbs ask there without being told.
    pub(crate) ports: Ports,
}

/// Where the replicas listen.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ports {
    /// Where the other verbs look by themselves.
    Standard,
    /// Somewhere else.
    Other,
}

impl fmt::Display for Greeting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bold = Style::new().bold();
        let green = AnsiColor::Green.on_default();
        let dim = Style::new().dimmed();
        let (seconds, revision) = (self.took.as_secs_f64(), self.revision);
        writeln!(
            f,
            "{green}three replicas are up{green:#} after {seconds:.1} s, at {revision}"
        )?;
        writeln!(f, "  source  {}", self.source)?;
        writeln!(f, "  data    {}", self.data.display())?;
        for Up {
            name,
            endpoints: Endpoints { peer, proxy, admin },
            leads,
        } in self.replicas
        {
            let role = if *leads { "leader" } else { "follower" };
            writeln!(
                f,
                "  {name}  proxies {proxy}  peers {peer}  admin {admin}  {dim}{role}{dim:#}"
            )?;
        }
        writeln!(f, "try next:")?;
        for command in self.commands() {
            writeln!(f, "  {bold}{command}{bold:#}")?;
        }
        writeln!(
            f,
            "{dim}Ctrl-C stops them; their data stays, --fresh starts anew{dim:#}"
        )
    }
}

impl Greeting<'_> {
    fn commands(&self) -> [String; 3] {
        let example = self.example;
        let (address, admin) = match self.ports {
            Ports::Standard => (String::new(), String::new()),
            Ports::Other => (
                format!(" --address {}", self.list(|endpoints| endpoints.proxy)),
                format!(" --admin {}", self.list(|endpoints| endpoints.admin)),
            ),
        };
        [
            format!("lockstep resolve {example} --all{address}"),
            format!("lockstep status{admin}"),
            format!("lockstep check{admin}"),
        ]
    }

    fn list(&self, address: fn(&Endpoints) -> SocketAddr) -> String {
        let all = self.replicas.iter().map(|up| address(&up.endpoints));
        all.map(|address| address.to_string())
            .collect::<Vec<_>>()
            .join(",")
    }
}

/// The service with the most endpoints, so that the first try shows something; of several the
/// one with the shortest name, which has to be typed.
pub(crate) fn example_authority(state: &State) -> String {
    let content = state.content();
    let Some(settings) = content.settings() else {
        return NO_SERVICE.to_owned();
    };
    let targets = content
        .services()
        .filter_map(|(service, record)| Some(target(service, record.ports.first()?.port)))
        .filter(|target| servable(state, target, "").is_ok());
    let best = targets.max_by_key(|target| {
        let name = target.service.to_string();
        (endpoints_of(state, target), Reverse((name.len(), name)))
    });
    best.map_or_else(
        || NO_SERVICE.to_owned(),
        |target| target.authority(&settings.cluster_domain),
    )
}

fn target(service: &ServiceId, port: u16) -> Target {
    Target {
        service: service.clone(),
        port,
        hostname: None,
    }
}

fn endpoints_of(state: &State, target: &Target) -> usize {
    match lockstep_resolution::endpoints(state, target, &Place::default()).answer {
        Answer::Present(set) => set.endpoints.len(),
        Answer::Absent | Answer::Unknown => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ports: Ports) -> String {
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let up = |number: u16| Up {
            name: format!("replica-{number}"),
            endpoints: Endpoints {
                peer: at(number * 10 + 1),
                proxy: at(number * 10),
                admin: at(number * 10 + 2),
            },
            leads: number == 2,
        };
        let replicas = [up(1), up(2)];
        let greeting = Greeting {
            replicas: &replicas,
            took: Duration::from_millis(340),
            revision: Revision::from_u64(4),
            source: "examples/shop",
            data: Path::new("lockstep-dev"),
            example: "web.shop.svc.cluster.local:80",
            ports,
        };
        anstream::adapter::strip_str(&greeting.to_string()).to_string()
    }

    #[test]
    fn it_names_each_replica_and_three_commands() {
        assert_eq!(
            text(Ports::Standard),
            "three replicas are up after 0.3 s, at r4\n\
             \x20 source  examples/shop\n\
             \x20 data    lockstep-dev\n\
             \x20 replica-1  proxies 127.0.0.1:10  peers 127.0.0.1:11  admin 127.0.0.1:12  follower\n\
             \x20 replica-2  proxies 127.0.0.1:20  peers 127.0.0.1:21  admin 127.0.0.1:22  leader\n\
             try next:\n\
             \x20 lockstep resolve web.shop.svc.cluster.local:80 --all\n\
             \x20 lockstep status\n\
             \x20 lockstep check\n\
             Ctrl-C stops them; their data stays, --fresh starts anew\n"
        );
    }

    #[test]
    fn commands_name_other_ports() {
        let text = text(Ports::Other);
        assert!(
            text.contains("--all --address 127.0.0.1:10,127.0.0.1:20\n"),
            "{text}"
        );
        assert!(
            text.contains("lockstep check --admin 127.0.0.1:12,127.0.0.1:22\n"),
            "{text}"
        );
    }
}
