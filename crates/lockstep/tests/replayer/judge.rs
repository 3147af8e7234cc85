//! What was found, scenario by scenario.

use futures::future::join_all;
use lockstep_contract::{
    compare::{Decided, Verdict, compare},
    corpus::Scenario,
    not_served::{NotServed, Part},
};
use xtask::parity::{Outcome, Row, StreamOutcome};

use super::player::Player;

/// What is right besides the recordings.
pub struct Law {
    decided: Decided,
    not_served: NotServed,
}

impl Law {
    pub fn read() -> Self {
        Self {
            decided: Decided::ours().unwrap(),
            not_served: NotServed::ours().unwrap(),
        }
    }

    /// Judges every stream of every client.
    pub async fn judge(&self, all: &[Scenario], players: &mut [Player<'_>]) -> Vec<Row> {
        join_all(players.iter_mut().map(Player::conclude)).await;
        let row = |scenario: &Scenario| {
            let of_it = players
                .iter()
                .filter(|it| it.scenario.name == scenario.name);
            let needed = self.not_served.needed_by(scenario);
            let streams = of_it.flat_map(|player| self.outcomes(player, needed));
            let mut row = Row {
                scenario: scenario.name.clone(),
                streams: streams.collect(),
            };
            if let Some(part) = needed {
                must_be_needed(part, &mut row);
            }
            row
        };
        all.iter().map(row).collect()
    }

    fn outcomes(&self, player: &Player<'_>, needed: Option<&Part>) -> Vec<StreamOutcome> {
        let verdicts = compare(
            player.scenario,
            player.instance,
            &player.seen,
            &self.decided,
        );
        let outcome = |(stream, verdict): (String, Verdict)| StreamOutcome {
            outcome: outcome(player, &stream, verdict, needed),
            stream,
            configuration: player.instance.to_string(),
            client: player.role.to_string(),
        };
        verdicts.into_iter().map(outcome).collect()
    }
}

fn outcome(player: &Player<'_>, stream: &str, verdict: Verdict, needed: Option<&Part>) -> Outcome {
    let heard = player.seen.get(stream).map_or(&[][..], Vec::as_slice);
    let fault = player.faults.get(stream).cloned();
    match (verdict, fault, needed.filter(|it| it.excuses(heard))) {
        (Verdict::Different(_), _, Some(part)) => Outcome::NotServed(part.reason.clone()),
        (_, Some(fault), _) => Outcome::Different(fault),
        (Verdict::Equal, None, _) => Outcome::Equal,
        (Verdict::RightWhereRecordingWrong(why), None, _) => Outcome::Right(reason(player, why)),
        (Verdict::Different(how), None, None) => Outcome::Different(how),
    }
}

/// A list of what is not served must not outlive the day on which it is.
fn must_be_needed(part: &Part, row: &mut Row) {
    let counts = row.counts();
    if part.end.is_none() || counts.not_served + counts.different > 0 {
        return;
    }
    for stream in &mut row.streams {
        let text = "`not_served.yaml` says that this is not served, and all of it is";
        stream.outcome = Outcome::Different(text.to_owned());
    }
}

/// Begins with the quirk that the corpus names, where it is the corpus that says what is right.
fn reason(player: &Player<'_>, why: String) -> String {
    let expected = player.scenario.expected.as_ref();
    let why = match expected {
        Some(expected) if expected.note == why => format!("{}: {why}", expected.quirk),
        Some(_) | None => why.trim_end_matches('.').to_owned(),
    };
    let settings = player.scenario.settings(player.instance);
    if settings.serve_terminating {
        format!("{why} (with --serve-terminating-endpoints)")
    } else {
        why
    }
}
