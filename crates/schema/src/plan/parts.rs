//! The parts of a job: which rules each consists of. A sealed verifier holds only the rules that its task brings in, so a name that
//! stands for none of them is no fault there; [`check`] holds a whole `plan.toml` to it.

use super::{Body, Part, PartCounts, PartText, Plan, PlanText};
use crate::KeyFault;
use benchwright_expr::{Binder, Source, Type};

/// Resolves the parts of a plan whose rules are compiled.
pub(super) fn parts(text: &PlanText, plan: &mut Plan, faults: &mut Vec<KeyFault>) {
    for (name, part) in &text.parts {
        if let Some(counts) = counts(text, part, name, plan, faults) {
            plan.parts.push(Part { name: name.clone(), share: part.share, counts });
        }
    }
}

fn counts(text: &PlanText, part: &PartText, name: &str, plan: &Plan, faults: &mut Vec<KeyFault>) -> Option<PartCounts> {
    if let Some(view) = &part.rows {
        let found = plan.view_named(view);
        if found.is_none() {
            let fault = KeyFault::new(["parts", name, "rows"], format!("there is no view `{view}`"));
            faults.push(fault.instead_of(view, plan.views.iter().map(|view| &*view.name)));
        }
        return found.map(PartCounts::Rows);
    }
    let per = match &part.per {
        None => None,
        Some(sort) => match plan.sort_named(sort) {
            Some(found) => Some(found),
            None => {
                let fault = KeyFault::new(["parts", name, "per"], format!("there is no sort `{sort}`"));
                faults.push(fault.instead_of(sort, plan.sorts.iter().map(|(sort, _)| &**sort)));
                return None;
            }
        },
    };
    let is_member = |binder: &Binder| match (&binder.source, per) {
        (Source::Set(set), Some(sort)) => matches!(plan.sets[set.index()].1, Type::Ref(of) if of.index() == sort),
        _ => false,
    };
    let mut rules = Vec::new();
    for (at, rule) in plan.rules.iter().enumerate() {
        // What the frame finds takes everything, so it is no part of anything.
        if !matches!(rule.body, Body::Frame) && part_of(text, &rule.id, &rule.text.family) == Some(name) {
            rules.push((at, rule.per.iter().position(is_member)));
        }
    }
    Some(PartCounts::Checks { per, rules })
}

/// The part that a rule belongs to: the one that names its id, or else the one that names its family.
fn part_of<'t>(text: &'t PlanText, id: &str, family: &str) -> Option<&'t str> {
    let naming = |word: &str| text.parts.iter().find(|(_, part)| part.of.iter().any(|known| known == word));
    naming(id).or_else(|| naming(family)).map(|(name, _)| &**name)
}

/// What is wrong with the parts of a whole plan beyond names of views and sorts.
pub(super) fn check(text: &PlanText, faults: &mut Vec<KeyFault>) {
    if text.parts.is_empty() {
        return;
    }
    let shares: i64 = text.parts.values().map(|part| part.share).sum();
    if shares != 100 {
        faults.push(KeyFault::new(["parts"], format!("the shares of the parts come to {shares}, not to 100")).at_key());
    }
    let mut seen: Vec<&str> = Vec::new();
    for (name, part) in &text.parts {
        if part.share < 1 {
            faults.push(KeyFault::new(["parts", name, "share"], "`share` is at least 1"));
        }
        if part.rows.is_some() != part.of.is_empty() {
            let fault = KeyFault::new(["parts", name], "a part has either `of` or `rows`").at_key();
            faults.push(fault.with_help("`of` names families and ids of rules, `rows` a view"));
        }
        if part.rows.is_some() && part.per.is_some() {
            faults.push(KeyFault::new(["parts", name, "per"], "rows are counted one by one, and have no `per`"));
        }
        for (at, word) in part.of.iter().enumerate() {
            let at = at.to_string();
            let path = ["parts", name, "of", &*at];
            let known = || text.rules.iter().flat_map(|(id, rule)| [&**id, &*rule.family]);
            if seen.contains(&&**word) {
                faults.push(KeyFault::new(path, format!("`{word}` stands in two parts")));
            } else if !known().any(|known| known == word) {
                let fault = KeyFault::new(path, format!("there is no rule and no family of rules `{word}`"));
                faults.push(fault.instead_of(word, known()));
            }
            seen.push(word);
        }
    }
}
