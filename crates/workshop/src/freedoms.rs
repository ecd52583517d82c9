//! What the rules of patterns leave open, as a person reads it: the fields that may hold anything, each with the reason or with the sentence
//! that leaves it open, the fields that a condition holds, those that the system writes by itself, and the calls that do no harm once the work is done.

use crate::Error;
use benchwright_catalog::Catalog;
use benchwright_schema::plan::{FreeText, PlanText, VoidText};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write};

/// What is left open in the tasks of a pattern.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Freedoms {
    /// The pattern.
    pub pattern: String,
    /// Fields of documents of the job that may hold anything.
    pub free: Vec<Free>,
    /// Conditions on fields that no rule reads, by table and field.
    pub held: BTreeMap<String, BTreeMap<String, String>>,
    /// Fields that the system writes by itself, by table.
    pub stamped: BTreeMap<String, Vec<String>>,
    /// Rows that promise nothing any more, by table: how they are known, and why.
    pub void: BTreeMap<String, VoidText>,
    /// Calls that do no harm once the work is done, each with the reason.
    pub harmless: BTreeMap<String, String>,
}

/// A field that may hold anything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Free {
    /// The table.
    pub table: String,
    /// The field of its rows.
    pub field: String,
    /// Why that is harmless; or the first of the sentences by which an agent knows that it may choose.
    pub why: String,
    /// The rule whose sentence it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

/// The freedoms of patterns by their names; of all, if none is named.
pub fn of(catalog: &Catalog, patterns: &[String]) -> Result<Vec<Freedoms>, Error> {
    let all =
        if patterns.is_empty() { catalog.pattern_names().map_err(Error::catalog("patterns"))? } else { Vec::new() };
    let mut found = Vec::new();
    for name in patterns.iter().chain(&all) {
        let pattern = catalog.pattern(name).map_err(Error::catalog(name))?;
        let family = catalog.family(&pattern.family, &pattern.domain).map_err(Error::catalog(name))?;
        let mut plan = family.plan().clone();
        plan.rules.extend(pattern.rules.rules.clone());
        found.push(left_open(name, &plan));
    }
    Ok(found)
}

fn left_open(pattern: &str, plan: &PlanText) -> Freedoms {
    let fields =
        plan.free.iter().flat_map(|(table, fields)| fields.iter().map(move |(field, why)| (table, field, why)));
    let free = fields.map(|(table, field, why)| {
        let (why, told) = match why {
            FreeText::Because(why) => (why.clone(), None),
            FreeText::Told(rule) => (sentence(plan, rule), Some(rule.clone())),
        };
        Free { table: table.clone(), field: field.clone(), why, told }
    });
    Freedoms {
        pattern: pattern.to_owned(),
        free: free.collect(),
        held: plan.held.clone(),
        stamped: plan.stamped.clone(),
        void: plan.void.clone(),
        harmless: plan.harmless.clone(),
    }
}

/// The sentence that tells a rule.
fn sentence(plan: &PlanText, rule: &str) -> String {
    let Some(text) = plan.rules.get(rule) else { return format!("there is no rule {rule}") };
    match (&text.told_with, text.says.first()) {
        (Some(with), _) if with != rule => sentence(plan, with),
        (_, says) => says.cloned().unwrap_or_default(),
    }
}

/// The freedoms as text. Patterns that leave the same open are told together.
pub fn to_text(freedoms: &[Freedoms]) -> String {
    let mut out = String::new();
    let mut told: Vec<(&Freedoms, Vec<&str>)> = Vec::new();
    for one in freedoms {
        let same = |(known, _): &&mut (&Freedoms, Vec<&str>)| {
            Freedoms { pattern: one.pattern.clone(), ..(*known).clone() } == *one
        };
        match told.iter_mut().find(same) {
            Some((_, patterns)) => patterns.push(&one.pattern),
            None => told.push((one, vec![&one.pattern])),
        }
    }
    for (at, (open, patterns)) in told.iter().enumerate() {
        let _ = writeln!(out, "{}{}", if at == 0 { "" } else { "\n" }, patterns.join("\n"));
        section(&mut out, "May hold anything", open.free.iter().map(line));
        let held =
            open.held.iter().flat_map(|(table, fields)| fields.iter().map(move |(field, text)| (table, field, text)));
        let held = held.map(|(table, field, condition)| format!("{table}.{field}: {condition}"));
        section(&mut out, "Open as far as a condition lets it", held);
        let stamped = open.stamped.iter().map(|(table, fields)| format!("{table}: {}", fields.join(", ")));
        section(&mut out, "Written by the system alone", stamped);
        let void = open.void.iter().map(|(table, void)| format!("{table}, {}: {}", void.when, void.why));
        section(&mut out, "Rows that promise nothing", void);
        let harmless = open.harmless.iter().map(|(calls, why)| format!("{calls}: {why}"));
        section(&mut out, "Harmless after the work", harmless);
    }
    out
}

fn line(free: &Free) -> String {
    match &free.told {
        None => format!("{}.{}: {}", free.table, free.field, free.why),
        Some(rule) => format!("{}.{}: \"{}\" ({rule})", free.table, free.field, free.why),
    }
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.map(|line| format!("    {line}\n")).collect();
    if !lines.is_empty() {
        let _ = write!(out, "\n  {title}:\n{}", lines.concat());
    }
}
