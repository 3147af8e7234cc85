//! Whom a fault meets, as the group is now.

use std::collections::BTreeSet;

use super::Nemesis;
use crate::act::{Act, Cut, SourceAct, around, both_ways, host};
use crate::network::{Damage, Host};
use crate::plan::Class;

/// Seconds by which a wall clock may jump.
const JUMPS: [i64; 4] = [3_600, -7_200, 86_400, 1];

// === choices of Nemesis ===

impl Nemesis<'_> {
    /// The fault with its targets; nothing if no replica fits.
    pub(super) fn choose(&mut self, class: Class) -> Option<Act> {
        let count = self.group.replicas.len();
        let all: Vec<usize> = (0..count).collect();
        let leader = self.sight.leader();
        Some(match class {
            Class::Kill => Act::Kill(vec![self.free()?]),
            Class::KillLeader => Act::Kill(vec![self.if_free(leader?)?]),
            Class::KillAll => Act::Kill(self.all_free()?),
            Class::Terminate => Act::Terminate(self.free()?),
            Class::Pause => Act::Pause(vec![self.free()?]),
            Class::PauseLeader => Act::Pause(vec![self.if_free(leader?)?]),
            Class::Halves => isolated(self.any(), count),
            Class::IsolateLeader => isolated(leader?, count),
            Class::Bridge => {
                let mut pair = all;
                self.dice.shuffle(&mut pair);
                let [one, other, ..] = *pair.as_slice() else {
                    return None;
                };
                let links = both_ways(host(one), host(other)).to_vec();
                Act::Links(Damage::Cut, links, Cut::Disturbs(one, other))
            }
            Class::OneWay => self.one_way(count),
            Class::Loss => {
                let place = self.any();
                let mut links = around(place, count);
                links.extend(both_ways(host(place), Host::Clients));
                Act::Links(Damage::Lossy, links, Cut::Slows(place))
            }
            Class::Resets => Act::Reset(self.any()),
            Class::Freeze => Act::Freeze(self.free()?),
            Class::DiskFull => Act::Fill(self.free()?),
            Class::DiskError => Act::FailSync(self.free()?),
            Class::PowerCut => Act::PowerCut(vec![self.free()?]),
            Class::PowerCutAll => Act::PowerCut(self.all_free()?),
            Class::DiskLost => Act::Lose(self.if_whole()?),
            Class::HandOver => leader.map(|_| Act::HandOver)?,
            Class::ApiCut => {
                let place = leader?;
                let links = both_ways(host(place), Host::Api).to_vec();
                Act::Links(Damage::Cut, links, Cut::Source(place))
            }
            Class::HalfOpen => {
                let place = leader?;
                let links = vec![(Host::Api, host(place))];
                Act::Links(Damage::Cut, links, Cut::Source(place))
            }
            Class::ClientsCut => {
                let place = self.any();
                let links = both_ways(host(place), Host::Clients).to_vec();
                Act::Links(Damage::Cut, links, Cut::Clients(place))
            }
            Class::Clock => {
                let place = self.clock.as_ref()?.0;
                Act::Clock(place, self.dice.choice(JUMPS)?)
            }
            Class::Cpu => Act::Cpu(self.free()?),
            Class::SlowReaders => Act::Sleepers(self.any()),
            Class::Storm => Act::Storm(self.any()),
            Class::ApiSilent
            | Class::ApiLag
            | Class::ApiGone
            | Class::Api429
            | Class::Api5xx
            | Class::ApiAway
            | Class::ApiGarbled
            | Class::ApiSlow => self.source(class)?,
        })
    }

    /// One thing is wrong with the API server at a time: they share its switches.
    fn source(&mut self, class: Class) -> Option<Act> {
        if self
            .active
            .iter()
            .any(|it| matches!(it.act, Act::Source(_)))
        {
            return None;
        }
        Some(Act::Source(match class {
            Class::ApiSilent => SourceAct::Silent,
            Class::ApiLag => SourceAct::Lag,
            Class::ApiGone => SourceAct::Gone,
            Class::Api429 => SourceAct::Refuse(429),
            Class::Api5xx => SourceAct::Refuse(self.dice.choice([500, 503, 504])?),
            Class::ApiAway => SourceAct::Away,
            Class::ApiGarbled => SourceAct::Garbled,
            _ => SourceAct::Slow,
        }))
    }

    /// From the others to it, or the other way round: either way it hears no quorum.
    fn one_way(&mut self, count: usize) -> Act {
        let place = self.any();
        let others = (0..count).filter(|other| *other != place);
        let is_deaf = self.dice.bool();
        let links = others.map(|other| match is_deaf {
            true => (host(other), host(place)),
            false => (host(place), host(other)),
        });
        Act::Links(Damage::Cut, links.collect(), Cut::Isolates(place))
    }

    fn any(&mut self) -> usize {
        self.dice.usize(..self.group.replicas.len())
    }

    /// Those that no other fault holds, and that run.
    fn all_free_now(&self) -> Vec<usize> {
        let held = self.active.iter().flat_map(|fault| fault.act.holds());
        let held: BTreeSet<usize> = held.copied().collect();
        let replicas = self.group.replicas.iter().enumerate();
        let free = replicas.filter(|(place, it)| !held.contains(place) && it.process().is_some());
        free.map(|(place, _)| place).collect()
    }

    fn free(&mut self) -> Option<usize> {
        let free = self.all_free_now();
        self.dice.choice(free)
    }

    fn if_free(&self, place: usize) -> Option<usize> {
        self.all_free_now().contains(&place).then_some(place)
    }

    fn all_free(&self) -> Option<Vec<usize>> {
        let free = self.all_free_now();
        (free.len() == self.group.replicas.len()).then_some(free)
    }

    /// A lost disk is one of three only if the other two have theirs: two lost ones lose what was
    /// committed, and nobody promises otherwise.
    fn if_whole(&mut self) -> Option<usize> {
        let place = self.free()?;
        self.sight.is_whole().then_some(place)
    }
}

fn isolated(place: usize, count: usize) -> Act {
    Act::Links(Damage::Cut, around(place, count), Cut::Isolates(place))
}
