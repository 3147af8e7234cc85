//! The findings, for people.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::Finding;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Yellow.on_default();

/// One line for each finding; what does not work is followed by the reason.
pub(super) fn table(findings: &[&Finding]) -> String {
    let names: Vec<String> = findings.iter().map(|it| it.ability.name()).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (finding, name) in findings.iter().zip(&names) {
        // Writing to a string cannot fail.
        let _ = match &finding.outcome {
            Ok(()) => writeln!(
                text,
                "{name:width$}  {GOOD}works{GOOD:#}    {}",
                finding.enables
            ),
            Err(reason) => writeln!(
                text,
                "{name:width$}  {BAD}missing{BAD:#}  {}\n{:width$}           {reason}{}",
                finding.enables,
                "",
                advice(finding)
            ),
        };
    }
    let working = findings.iter().filter(|it| it.outcome.is_ok()).count();
    let _ = writeln!(text, "{working} of {} work", findings.len());
    text
}

fn advice(finding: &Finding) -> String {
    let is_missing =
        |reason: &String| reason.contains("cannot execute") || reason.contains("not installed");
    match &finding.outcome {
        Err(reason) if is_missing(reason) && !finding.package.is_empty() => {
            format!("; Debian's package is {}", finding.package)
        }
        Ok(()) | Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Ability;

    fn finding(ability: Ability, outcome: Result<(), &str>) -> Finding {
        Finding {
            ability,
            enables: "cuts",
            package: "nftables",
            outcome: outcome.map_err(str::to_owned),
        }
    }

    #[test]
    fn a_missing_program_is_told_with_its_package() {
        let findings = [
            finding(Ability::Tap, Ok(())),
            finding(Ability::BridgeFilter, Err("cannot execute nft")),
            finding(Ability::Netem, Err("tc: Specified qdisc kind is unknown.")),
        ];
        let text = table(&findings.iter().collect::<Vec<_>>());
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(
            plain,
            "tap            works    cuts\n\
             bridge-filter  missing  cuts\n\
             \x20                       cannot execute nft; Debian's package is nftables\n\
             netem          missing  cuts\n\
             \x20                       tc: Specified qdisc kind is unknown.\n\
             1 of 3 work\n"
        );
    }
}
