//! Every scenario of the corpus, replayed in one process and compared.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_contract::{
    compare::{Decided, Verdict, compare},
    corpus::{Instance, folder, scenarios},
    not_served::NotServed,
    replay::replay,
};
use std::collections::BTreeMap;

#[test]
fn no_answer_is_neither_the_recorded_nor_the_right_one() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let decided = Decided::ours().unwrap();
    let not_served = NotServed::ours().unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut different = Vec::new();
    for scenario in scenarios(&folder()).unwrap() {
        let needed = not_served.needed_by(&scenario);
        for instance in Instance::ALL {
            let replayed = replay(&scenario, scenario.settings(instance));
            let seen = runtime.block_on(replayed).unwrap();
            for (stream, verdict) in compare(&scenario, instance, &seen, &decided) {
                let needed = needed.filter(|it| it.excuses(&seen[&stream]));
                let count = match (&verdict, needed) {
                    (Verdict::Equal, _) => "equal",
                    (Verdict::RightWhereRecordingWrong(_), _) => "right",
                    (Verdict::Different(_), Some(_)) => "not served",
                    (Verdict::Different(_), None) => {
                        let name = &scenario.name;
                        different.push(format!("{name} {instance} {stream}: {verdict}"));
                        "different"
                    }
                };
                *counts.entry(count).or_default() += 1;
            }
        }
    }
    println!("streams: {counts:?}");
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
