//! What a task may ask beyond its tier, by a *dial*: `medium-twin` is a case that differs in one figure from the one that `medium` draws, and
//! whose best plan is another (`twin`); `medium-ask` asks besides the plan what the best plan would be worth if some figure were
//! otherwise (`ask`); in `medium-over` not all limits can be kept, and waiving some has its price (`over`).
//!
//! A dial adds to the records, files, forms and rules of a workflow and changes none, so nothing has to be written for it but, in
//! `planning.toml`, which figures may move and which tiers there are. The forms that are handed in stand with the others.

pub(crate) mod ask;
mod figures;
pub(crate) mod over;
pub(crate) mod twin;

pub(crate) use figures::{Figure, figures};

use crate::{
    layout::{DATA, DRAW, Layout},
    records::Records,
    told::{CandidatesText, Told},
    workflow::Planning,
    written::{File, FileColumn, FileTable, Written},
};
use benchwright_project::{Discard, Draw, Ready};
use benchwright_schema::{Domain, Folder, plan::PlanText};
use benchwright_spec::{Outcome, Planner, PlannerError, Solved};
use std::collections::BTreeMap;

/// What is asked beyond a tier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Dial {
    Twin,
    Ask,
    Over,
}

impl Dial {
    /// All of them.
    pub(crate) const ALL: [Dial; 3] = [Dial::Twin, Dial::Ask, Dial::Over];

    /// Its word in a tier, and the switch of its cases.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Dial::Twin => "twin",
            Dial::Ask => "ask",
            Dial::Over => "over",
        }
    }

    /// The dial of a tier, with the tier that it is turned at.
    pub(crate) fn of(tier: &str) -> Option<(&str, Dial)> {
        let (plain, word) = tier.split_once('-')?;
        Dial::ALL.into_iter().find(|dial| dial.word() == word).map(|dial| (plain, dial))
    }

    /// The draw of the task that it is turned at: what is drawn is the same, and so are the words.
    pub(crate) fn plain<'a>(draw: &Draw<'a>) -> Draw<'a> {
        Draw { tier: Dial::of(draw.tier).map_or(draw.tier, |(plain, _)| plain), ..draw.clone() }
    }

    /// The form that its tasks hand in besides.
    pub(crate) fn form(self) -> Option<&'static str> {
        match self {
            Dial::Twin => None,
            Dial::Ask => Some(ask::FORM),
            Dial::Over => Some(over::FORM),
        }
    }
}

/// What a dial adds to a workflow.
struct Added {
    /// The table of the records that only its tasks have, as `data.toml` has it.
    data: &'static str,
    table: &'static str,
    /// The file that tells it: its path, what it holds, and each column with its name in the file and its meaning.
    path: &'static str,
    says: &'static str,
    columns: &'static [(&'static str, &'static str, &'static str)],
    /// The rows that a plan may have of its form.
    candidates: (&'static str, CandidatesText),
    /// What the form holds, and what its columns mean.
    form: (&'static str, &'static str, &'static [(&'static str, &'static str)]),
}

/// The workflow with what a dial adds, before it is completed; nothing for a dial that adds nothing, or without its form.
pub(crate) fn with_dial(
    folder: &Folder,
    dial: Dial,
    parts: (&Layout, &Told, &Written, &PlanText, &Domain),
) -> Result<Option<(Layout, Told, Written, PlanText)>, String> {
    let (layout, told, written, plan, forms) = parts;
    let turned = |(tier, _): (&String, _)| Dial::of(tier).is_some_and(|(_, known)| known == dial);
    let (Some(form), true) = (dial.form(), told.difficulty.iter().any(turned)) else { return Ok(None) };
    if forms.table_named(form).is_none() {
        return Err(format!("a tier with the dial `{}` needs the form `{form}` in tables.toml", dial.word()));
    }
    let added = match dial {
        Dial::Ask => ask::added(),
        Dial::Over => over::added(),
        Dial::Twin => return Ok(None),
    };
    if layout.table(added.table).is_some() {
        return Err(format!(
            "the table `{}` of the records has the name that the dial `{}` needs",
            added.table,
            dial.word()
        ));
    }
    let mut plan = plan.clone();
    let mut told = told.clone();
    match dial {
        Dial::Ask => ask::rules(&mut plan, forms),
        Dial::Over => over::rules(layout, &mut told, &mut plan)?,
        Dial::Twin => {}
    }
    // The records are declared again, with the table at their end.
    let data = format!("{}\n{}", folder.get(DATA).unwrap_or_default(), added.data);
    let draw = folder.get(DRAW).unwrap_or_default().to_owned();
    let more = Folder::new(&*folder.name, [(DATA.to_owned(), data), (DRAW.to_owned(), draw)]);
    let more =
        Layout::read(&more).map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let gone: Vec<String> = more.tables.iter().map(|table| table.name.clone()).collect();
    let kept = |name: &String| layout.table(name).is_some() || name == added.table;
    let more = more.without(&gone.into_iter().filter(|name| !kept(name)).collect::<Vec<_>>());
    let from = more.tables.len() - 1;
    let column = |name: &str| more.tables[from].columns.iter().position(|known| known.name == name).unwrap_or_default();
    let columns = added.columns.iter().map(|(known, name, means)| FileColumn {
        from: column(known),
        name: (*name).to_owned(),
        means: (*means).to_owned(),
    });
    let table = FileTable { name: added.table.to_owned(), from, columns: columns.collect() };
    let mut written = written.clone();
    written.files.push(File {
        path: added.path.to_owned(),
        says: added.says.to_owned(),
        stage: 1,
        tables: vec![table],
    });
    written.files.sort_by(|a, b| a.path.cmp(&b.path));
    told.candidates.insert(added.candidates.0.to_owned(), added.candidates.1);
    let (form, says, columns) = added.form;
    told.brief.forms.insert(form.to_owned(), says.to_owned());
    let columns = columns.iter().map(|(name, means)| ((*name).to_owned(), (*means).to_owned()));
    told.brief.columns.insert(form.to_owned(), columns.collect());
    Ok(Some((more, told, written, plan)))
}

/// A case that was put together, and its best plan as far as it is soon found.
pub(crate) type Best = (Ready, Solved);

/// The best plan of records, if it is soon proved, or as near as is admitted.
pub(crate) fn best(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Option<Best>, Discard> {
    match outcome(family, draw, domain, planner, records)? {
        (ready, Outcome::Solved(solved)) => Ok(Some((ready, *solved))),
        _ => Ok(None),
    }
}

/// What comes of asking for the best plan of records.
pub(crate) fn outcome(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<(Ready, Outcome), Discard> {
    let ready = benchwright_project::ready(family, draw.pattern, domain, family.case(draw, records))?;
    let candidates = family.candidates_of(&ready)?;
    match planner.best(&ready.plan, &ready.bound, &candidates, draw.objective) {
        Ok(outcome) => Ok((ready, outcome)),
        Err(PlannerError::Unreadable(why)) => Err(Discard::Fault(why)),
        Err(error) => Err(error.into()),
    }
}

/// A rule's two phrasings.
fn phrasings(says: [&str; 2]) -> Vec<String> {
    says.map(str::to_owned).to_vec()
}

/// The fields of a form's rows.
fn fields<const N: usize>(of: [(&str, &str); N]) -> BTreeMap<String, String> {
    of.into_iter().map(|(field, is)| (field.to_owned(), is.to_owned())).collect()
}
