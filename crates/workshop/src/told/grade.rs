//! A verdict as the command tells it: a table for people.

use crate::tasks::shown;
use benchwright_pack::{CheckStatus, Ending, Verdict};
use benchwright_report::layout::columns;

/// The table of `grade`.
pub fn to_table(verdict: &Verdict) -> String {
    let ending = match verdict.ending {
        Ending::Pass => "pass",
        Ending::Fail => "fail",
        Ending::Error => "error",
    };
    let mut out = format!(
        "{ending}, reward {} (constraints {}, objective {}, trace {})\n",
        shown(verdict.reward),
        shown(verdict.constraints),
        shown(verdict.objective),
        shown(verdict.trace)
    );
    for phase in &verdict.phases {
        let value = phase.value.map_or("none".to_owned(), |value| value.to_string());
        out.push_str(&format!("{}: {value}, best {}, score {}\n", phase.name, phase.best, shown(phase.score)));
    }
    if !verdict.gates.is_empty() {
        out.push_str(&format!("gates that fired: {}\n", verdict.gates.join(", ")));
    }
    if verdict.alarm {
        out.push_str("alarm: this is better than the certificate says is possible\n");
    }
    let mut rows = Vec::new();
    for check in &verdict.checks {
        let status = match check.status {
            CheckStatus::Fail => "fail",
            CheckStatus::NoVerdict => "no verdict",
            CheckStatus::Pass | CheckStatus::Na => continue,
        };
        let why = check.why.clone().unwrap_or_default();
        rows.push(vec![status.to_owned(), check.code.clone(), check.rule.clone(), check.at.join(", "), why]);
    }
    let passed = verdict.checks.iter().filter(|check| check.status == CheckStatus::Pass).count();
    out.push_str(&format!("{passed} of {} checks that apply hold\n", verdict.applicable()));
    out.push_str(&columns(&rows, &[], 2));
    out
}
