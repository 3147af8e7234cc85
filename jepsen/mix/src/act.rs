//! What is done to whom, and what that excuses.

use std::collections::BTreeSet;

use lockstep_jepsen_checkers::{Effect, Replica};

use crate::group::name;
use crate::network::{Damage, Host, Link};

/// One fault with its targets, which are places from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// These are killed, and started again at its end.
    Kill(Vec<usize>),
    /// This one is asked to end, and started again at its end.
    Terminate(usize),
    /// These are stopped where they are.
    Pause(Vec<usize>),
    /// Links are damaged.
    Links(Damage, Vec<Link>, Cut),
    /// All connections of this one with its peers and clients are reset.
    Reset(usize),
    /// Its file system is frozen.
    Freeze(usize),
    /// Its disk is filled.
    Fill(usize),
    /// Its next sync fails.
    FailSync(usize),
    /// These disks lose what was not synced.
    PowerCut(Vec<usize>),
    /// Its disk is empty when it comes back.
    Lose(usize),
    /// Who leads hands over.
    HandOver,
    /// The API server misbehaves.
    Source(SourceAct),
    /// Its wall clock jumps by so many seconds.
    Clock(usize, i64),
    /// It has a tenth of a processor.
    Cpu(usize),
    /// Clients open streams and do not read.
    Sleepers(usize),
    /// Many clients come at once.
    Storm(usize),
}

/// What cut links mean.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// This one reaches no quorum.
    Isolates(usize),
    /// This one does not reach the API server.
    Source(usize),
    /// Clients do not reach this one.
    Clients(usize),
    /// These two are disturbed, and reach a quorum.
    Disturbs(usize, usize),
    /// This one is disturbed.
    Slows(usize),
}

/// How the API server misbehaves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceAct {
    /// Open watches tell nothing more, not even that they end.
    Silent,
    /// Watches of slices tell nothing for a while, and then all.
    Lag,
    /// History is forgotten and watches end.
    Gone,
    /// Every request is answered so.
    Refuse(u16),
    /// Nobody listens.
    Away,
    /// The next watches tell garbage, break off, or tell everything twice.
    Garbled,
    /// Lists take seconds, and are needed.
    Slow,
}

// === impl Act ===

impl Act {
    /// Replicas whose process or disk it is about: nobody else may touch those meanwhile.
    pub(crate) fn holds(&self) -> &[usize] {
        match self {
            Self::Kill(places) | Self::Pause(places) | Self::PowerCut(places) => places,
            Self::Terminate(place)
            | Self::Freeze(place)
            | Self::Fill(place)
            | Self::FailSync(place)
            | Self::Lose(place)
            | Self::Cpu(place) => std::slice::from_ref(place),
            Self::Links(..)
            | Self::Reset(_)
            | Self::HandOver
            | Self::Source(_)
            | Self::Clock(..)
            | Self::Sleepers(_)
            | Self::Storm(_) => &[],
        }
    }

    /// What checkers excuse by it, and demand.
    pub(crate) fn effect(&self) -> Effect {
        let mut effect = Effect::default();
        match self {
            Self::Kill(places) | Self::PowerCut(places) => effect.down = set(places),
            Self::Terminate(place) | Self::Fill(place) | Self::FailSync(place) => {
                effect.down = set(&[*place]);
            }
            Self::Lose(place) => {
                effect.down = set(&[*place]);
                effect.damaged = set(&[*place]);
            }
            Self::Pause(places) => effect.paused = set(places),
            Self::Links(_, _, cut) => match cut {
                Cut::Isolates(place) => effect.isolated = set(&[*place]),
                Cut::Source(place) => effect.sourceless = set(&[*place]),
                Cut::Clients(place) => effect.clientless = set(&[*place]),
                Cut::Disturbs(one, other) => effect.touched = set(&[*one, *other]),
                Cut::Slows(place) => effect.touched = set(&[*place]),
            },
            Self::Reset(place) | Self::Freeze(place) | Self::Cpu(place) => {
                effect.touched = set(&[*place]);
            }
            Self::Source(_) => effect.source = true,
            // A jump of the wall clock and a hand-over must disturb nobody.
            Self::HandOver | Self::Clock(..) => {}
            Self::Sleepers(place) | Self::Storm(place) => {
                effect.touched = set(&[*place]);
                effect.clients = true;
            }
        }
        effect
    }

    /// Whether it takes something away that a checker demands something by: it is noted when it
    /// is in force, and no more before it is taken back. Anything else is noted before.
    pub(crate) const fn is_cut(&self) -> bool {
        matches!(self, Self::Links(..))
    }
}

fn set(places: &[usize]) -> BTreeSet<Replica> {
    places.iter().map(|place| name(*place)).collect()
}

/// The host of a replica.
pub(crate) fn host(place: usize) -> Host {
    Host::Replica(u8::try_from(place + 1).unwrap_or(u8::MAX))
}

/// Both ways between two hosts.
pub(crate) fn both_ways(one: Host, other: Host) -> [Link; 2] {
    [(one, other), (other, one)]
}

/// A replica and all others, both ways.
pub(crate) fn around(place: usize, replicas: usize) -> Vec<Link> {
    let others = (0..replicas).filter(|other| *other != place);
    others
        .flat_map(|other| both_ways(host(place), host(other)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_is_cut_off_both_ways_from_all_others() {
        let host = Host::Replica;
        let links = around(1, 3);
        let expected = [
            (host(2), host(1)),
            (host(1), host(2)),
            (host(2), host(3)),
            (host(3), host(2)),
        ];
        assert_eq!(links, expected);
        let effect = Act::Links(Damage::Cut, links, Cut::Isolates(1)).effect();
        assert_eq!(effect.isolated, set(&[1]));
        assert!(effect.touches(Replica(2)) && !effect.touches(Replica(1)));
    }
}
