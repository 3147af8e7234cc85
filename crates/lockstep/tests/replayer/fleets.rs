//! A fleet of three replicas for each configuration.

use lockstep_contract::corpus::{Instance, Scenario};
use lockstep_model::{Settings, TransportMode};
use std::net::SocketAddr;

use super::{client::Role, player::Player};
use crate::harness::{api::Api, leader, process::Fleet, settled};

/// Replicas with the settings of one recorded instance.
pub struct Configured {
    pub name: String,
    pub instance: Instance,
    settings: Settings,
    fleet: Fleet,
}

impl Configured {
    /// A fleet for each of the settings that these scenarios ask for.
    pub fn start(api: &Api, all: &[Scenario]) -> Vec<Self> {
        let mut fleets: Vec<Self> = Vec::new();
        for instance in Instance::ALL {
            for settings in all.iter().map(|it| it.settings(instance)) {
                if fleets.iter().all(|it| it.settings != settings) {
                    fleets.push(Self::one(api, instance, settings));
                }
            }
        }
        fleets
    }

    fn one(api: &Api, instance: Instance, settings: Settings) -> Self {
        let last_resort = if settings.serve_terminating {
            "-with-last-resort"
        } else {
            ""
        };
        let name = format!("{instance}{last_resort}");
        let flags = flags(&settings);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let kubeconfig = api.kubeconfig();
        let source = ["--kubeconfig", kubeconfig.to_str().unwrap()];
        let fleet = Fleet::start(&api.folder().join(&name), &source, &flags);
        Self {
            name,
            instance,
            settings,
            fleet,
        }
    }

    /// Waits until what the API server holds is committed and applied everywhere; who leads.
    pub async fn settled(&self) -> usize {
        let admins = self.fleet.admins();
        settled(&admins).await;
        leader(&admins).await
    }

    /// A client of the leader and one of a follower for each scenario of these settings.
    pub async fn players<'a>(&self, all: &'a [Scenario], lead: usize) -> Vec<Player<'a>> {
        let proxies = self.fleet.proxies();
        let mut players = Vec::new();
        for scenario in all {
            if scenario.settings(self.instance) != self.settings {
                continue;
            }
            for (role, place) in [(Role::Leader, lead), (Role::Follower, (lead + 1) % 3)] {
                let proxy: SocketAddr = proxies[place];
                players.push(Player::new(scenario, self.instance, role, proxy).await);
            }
        }
        players
    }

    /// No object of any scenario ended a replica.
    pub fn assert_alive(&mut self) {
        for place in 0..3 {
            let end = self.fleet.ended(place);
            assert!(end.is_none(), "{} {place}: {end:?}", self.name);
        }
    }
}

/// The settings as flags of `lockstep serve`.
fn flags(settings: &Settings) -> Vec<String> {
    let mode = match settings.transport_mode {
        TransportMode::Transparent => "transparent",
        TransportMode::TransportHeader => "transport-header",
    };
    // Many objects here are odd on purpose, and a replica warns of each.
    let mut flags = vec![
        "--log-level=error".to_owned(),
        format!("--outbound-transport-mode={mode}"),
        format!("--enable-ipv6={}", settings.ipv6),
        format!(
            "--serve-terminating-endpoints={}",
            settings.serve_terminating
        ),
    ];
    if let Some(keep_alive) = settings.meshed_http2.as_ref().and_then(|it| it.keep_alive) {
        let params = serde_json::json!({"keep_alive": {
            "interval": {"seconds": keep_alive.interval_ms / 1_000},
            "timeout": {"seconds": keep_alive.timeout_ms / 1_000},
            "while_idle": keep_alive.while_idle,
        }});
        flags.push(format!("--meshed-http2-client-params={params}"));
    }
    flags
}
