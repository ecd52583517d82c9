//! The instruction: what is to be planned, what holds, what the data must be read by, and what is handed in. Sentences that tell rules
//! are clauses; the task's seed chooses among phrasings.

use crate::{
    forms::{form_columns, from_stage, in_words},
    workflow::{Planning, UNCHANGED},
    written::TrapText,
};
use benchwright_pack::Clause;
use benchwright_project::{Brief, Draw};
use benchwright_schema::plan::PlanText;
use std::fmt::Write as _;

/// The heading over the sentences that rules are told by.
pub(crate) const KEEP: &str = "## What a plan must keep";
/// The line that leads to the meaning of columns.
pub(crate) const DICTIONARY: &str =
    "- dictionary.md says what every column means. Money is in the currency's unit with two decimals.";
/// The heading over the files.
pub(crate) const FILES: &str = "## The files";
/// The heading over the forms.
pub(crate) const FORMS: &str = "## What to hand in";
/// The heading over the sentences that files are read by.
pub(crate) const DATA: &str = "## How the data is to be read";

/// The heading over what stages are, where there are some.
pub(crate) const STAGES: &str = "## The stages";
/// What stages are.
pub(crate) const STAGES_SAY: [&str; 3] = [
    "- The work has stages, and at each of them every form is handed in anew: the whole plan as it then stands. `stage_next` goes on to the next stage, and there is no way back.",
    "- With a stage files may come, in a folder of its own whose dictionary.md says what they hold. What they tell holds from that stage on.",
    "- A plan keeps every rule at every stage, by what is known at that stage.",
];

/// What a form holds, and from when on it is there.
pub(crate) fn form_says(table: &benchwright_schema::Table, says: &str) -> String {
    match from_stage(table) {
        1 => format!("**{}**: {says}.", table.name),
        stage => format!("**{}**: {says}. This form is there from stage {stage} on.", table.name),
    }
}

/// What is work, and that nothing else is.
pub(crate) const ONLY_FORMS: &str = "Your work is what you hand in as forms; everything else stays as it is.";

/// The brief of a case.
pub(crate) fn write(family: &Planning, draw: &Draw<'_>, traps: &[&TrapText], plan: &PlanText) -> Result<Brief, String> {
    let forms = &family.forms;
    let mut stream = draw.stream("brief");
    let mut phrase = |list: &[String]| stream.pick(list).cloned().unwrap_or_default();
    let told = &family.told.brief;
    let mut clauses = Vec::new();
    let mut text = format!("# {}\n\n{}\n", forms.title, phrase(&told.opening));
    let _ = write!(text, "\n{}\n", phrase(&draw.pattern.text.opening));
    let _ = write!(text, "\n{}\n\n{}\n\n", phrase(&told.goal), KEEP);
    for (id, rule) in plan.rules.iter().filter(|(_, rule)| !rule.says.is_empty()) {
        let sentence = phrase(&rule.says);
        let _ = writeln!(text, "- {sentence}");
        let with = plan.rules.iter().filter(|(_, other)| other.told_with.as_ref() == Some(id));
        let tells = std::iter::once(id.clone()).chain(with.map(|(id, _)| id.clone())).collect();
        clauses.push(Clause { tells, text: sentence });
    }
    let best = draw.pattern.text.goal.get(draw.objective).map(|goals| phrase(goals)).unwrap_or_default();
    let _ = write!(text, "\n{best}\n\n{DATA}\n\n");
    for trap in traps {
        let _ = writeln!(text, "- {}", trap.says);
    }
    let _ = writeln!(text, "{DICTIONARY}");
    if family.stages.is_some() {
        let _ = write!(text, "\n{STAGES}\n\n{}\n", STAGES_SAY.join("\n"));
    }
    let _ = write!(text, "\n{FILES}\n\n");
    // What comes later is as if it had never been.
    for file in family.written.files.iter().filter(|file| file.stage == 1) {
        let _ = writeln!(text, "- `{}` holds {}.", file.path, file.says);
    }
    let _ = write!(text, "\n{FORMS}\n");
    for table in family.form_tables() {
        let says = told.forms.get(&table.name).ok_or_else(|| format!("the form `{}` has no words", table.name))?;
        let _ = write!(text, "\n{}\n\n", form_says(table, says));
        for field in form_columns(table) {
            let means = told.columns.get(&table.name).and_then(|columns| columns.get(&field.name));
            let means = means.map(|means| format!("{means}; ")).unwrap_or_default();
            let _ = writeln!(text, "- `{}`: {means}{}", field.name, in_words(field));
        }
    }
    clauses.push(Clause { tells: vec![UNCHANGED.to_owned()], text: ONLY_FORMS.to_owned() });
    let _ = write!(text, "\n{ONLY_FORMS} {}\n", phrase(&draw.pattern.text.closing));
    Ok(Brief { text, clauses })
}
