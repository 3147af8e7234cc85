//! How often a name may change its voter.
//!
//! Two processes that run under one name, each with a folder of its own, take
//! the place of each other whenever the name leads to the other one. Each time
//! costs a transfer of the whole state and two changes of the membership. So the
//! first replacement is free, and each one after it waits longer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(15);
const LONGEST: Duration = Duration::from_secs(600);
/// A name that kept its voter this long is like any other.
const FORGOTTEN: Duration = Duration::from_secs(1_800);

/// The replacements that this leader has made.
#[derive(Debug, Default)]
pub(crate) struct Pace(BTreeMap<String, Replaced>);

#[derive(Copy, Clone, Debug)]
struct Replaced {
    at: Instant,
    times: u32,
}

impl Pace {
    /// Notes that a name has a new voter.
    pub(crate) fn note(&mut self, name: &str, now: Instant) {
        self.0
            .retain(|_, replaced| now.saturating_duration_since(replaced.at) < FORGOTTEN);
        let times = self.0.get(name).map_or(0, |replaced| replaced.times);
        let times = times.saturating_add(1);
        self.0.insert(name.to_owned(), Replaced { at: now, times });
    }

    /// The names whose next replacement has to wait.
    pub(crate) fn resting(&self, now: Instant) -> impl Iterator<Item = &str> {
        let rests = move |replaced: &Replaced| {
            now.saturating_duration_since(replaced.at) < pause(replaced.times)
        };
        let resting = self.0.iter().filter(move |(_, it)| rests(it));
        resting.map(|(name, _)| name.as_str())
    }
}

fn pause(times: u32) -> Duration {
    let doubled = 1_u32.checked_shl(times - 1).unwrap_or(u32::MAX);
    FIRST.saturating_mul(doubled).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_replacement_of_a_name_makes_the_next_one_wait_longer() {
        let mut pace = Pace::default();
        let mut now = Instant::now();
        let rests = |pace: &Pace, now| pace.resting(now).eq(["c"]);
        assert_eq!(pace.resting(now).count(), 0);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pace.note("c", now);
            let seconds = (0..700).take_while(|s| rests(&pace, now + Duration::from_secs(*s)));
            let pause = seconds.count();
            pauses.push(pause);
            now += Duration::from_secs(pause.try_into().unwrap());
        }
        assert_eq!(pauses, [15, 30, 60, 120, 240, 480, 600, 600]);
        now += FORGOTTEN;
        pace.note("c", now);
        assert!(rests(&pace, now + Duration::from_secs(14)));
        assert!(!rests(&pace, now + Duration::from_secs(15)));
    }
}
