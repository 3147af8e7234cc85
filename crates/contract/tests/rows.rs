//! Every row of the contract, each as a test of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use lockstep_contract::row::{Row, RowFile, folder, rows, run};

fn main() {
    let arguments = Arguments::from_args();
    let files = rows(&folder()).expect("the rows are readable");
    let trials = files.into_iter().map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn trial(file: RowFile) -> Trial {
    let RowFile { name, row } = file;
    match row {
        Ok(row) => match elsewhere(&row) {
            Some(place) => {
                Trial::ignorable_test(row.trial(), move || Ok(Completion::ignored_with(place)))
            }
            None => Trial::test(row.trial(), move || kept(&name, &row)),
        },
        Err(error) => Trial::test(name.clone(), move || {
            Err(Failed::from(format!("rows/{name} is no row: {error}")))
        }),
    }
}

/// Where the row is pinned instead, or why it is not.
fn elsewhere(row: &Row) -> Option<String> {
    let place = row.pinned_by.as_ref().map(|it| format!("see {it}"));
    let reason = row
        .not_served
        .as_ref()
        .map(|it| format!("not served: {it}"));
    place.or(reason)
}

fn kept(name: &str, row: &Row) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(run(row));
    outcome.map_err(|failures| {
        let texts = failures.iter().map(ToString::to_string);
        let texts = texts.collect::<Vec<_>>().join("\n\n");
        Failed::from(format!("rows/{name}: {texts}"))
    })
}
