//! A problem as a document that stands alone: tables, rules and objective as text, what they are bound to, and the rows that a plan may
//! consist of. With such documents a solver is measured and held to values that are known from elsewhere.

use crate::{Candidate, Candidates, Cell, Rows};
use benchwright_base::Diagnostic;
use benchwright_expr::Type;
use benchwright_schema::{
    Domain, Folder, load,
    plan::{Bindings, Bound, Plan, PlanText},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A problem as it is written.
#[derive(Clone, Debug, Deserialize)]
pub struct ProblemText {
    /// The tables that views are of, as in `tables.toml`.
    pub tables: String,
    /// The rules, as in `plan.toml`.
    pub plan: String,
    /// The members of sorts and sets, and the facts.
    pub bindings: Bindings,
    /// The rows of each view: whether one must be taken, and its fields.
    pub candidates: BTreeMap<String, Vec<RowText>>,
    /// Which objective is meant.
    pub objective: String,
    /// The bundle of each row of a view.
    #[serde(default)]
    pub bundles: BTreeMap<String, Vec<u32>>,
}

/// A row as it is written: whether it must be taken, and its fields by name.
pub type RowText = (bool, BTreeMap<String, FieldText>);

/// A field of a row as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum FieldText {
    /// A number.
    Number(i64),
    /// Two numbers between which it is free.
    Free(i64, i64),
    /// The key of a member.
    Member(String),
}

/// A problem, bound and ready to be solved.
pub struct Problem {
    /// The rules.
    pub plan: Plan,
    /// What they are bound to.
    pub bound: Bound,
    /// The rows that a plan may consist of.
    pub candidates: Candidates,
    /// Which objective is meant.
    pub objective: String,
}

/// Why a document is no problem.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoProblem(String);

impl Problem {
    /// Reads what was written.
    pub fn new(text: ProblemText) -> Result<Problem, NoProblem> {
        let domain = domain(&text.tables)?;
        let rules = PlanText::from_toml("plan.toml", &text.plan).map_err(told)?;
        let plan = Plan::compile(&rules, &domain).map_err(|faults| NoProblem(faults.to_string()))?;
        let bound = Bound::new(&plan, &text.bindings).map_err(|faults| NoProblem(faults.to_string()))?;
        let mut candidates: Candidates = vec![Vec::new(); plan.views.len()];
        for (view, rows) in &text.candidates {
            let bad = |what: &str| NoProblem(format!("{view}: {what}"));
            let at = plan.view_named(view).ok_or_else(|| bad("there is no such view"))?;
            let bundles = text.bundles.get(view);
            for (place, (must, row)) in rows.iter().enumerate() {
                let mut fields = Vec::new();
                for field in &plan.views[at].fields {
                    let cell = match (row.get(&field.name), field.ty) {
                        (Some(FieldText::Number(number)), _) => Some(Cell::Fixed(*number)),
                        (Some(FieldText::Free(low, high)), _) => Some(Cell::Free(*low, *high)),
                        (Some(FieldText::Member(key)), Type::Ref(sort)) => {
                            bound.member(sort.index(), key).map(|member| Cell::Fixed(i64::from(member)))
                        }
                        _ => None,
                    };
                    fields.push(cell.ok_or_else(|| bad(&format!("row {place} has no {}", field.name)))?);
                }
                let candidate = Candidate::single(*must, fields);
                candidates[at].push(match bundles {
                    None => candidate,
                    Some(bundles) => {
                        candidate.in_bundle(*bundles.get(place).ok_or_else(|| bad("rows without bundle"))?)
                    }
                });
            }
        }
        if !plan.objectives.contains_key(&text.objective) {
            return Err(NoProblem(format!("there is no objective `{}`", text.objective)));
        }
        Ok(Problem { plan, bound, candidates, objective: text.objective })
    }

    /// The evaluator's value of the objective's first phase, and how many instances of rules it finds broken.
    pub fn judged(&self, rows: &Rows) -> (Option<i64>, usize) {
        let phase = self.plan.objectives.get(&self.objective).and_then(|phases| phases.first());
        let (broken, value) = rows.judged(&self.plan, &self.bound, phase);
        (value, broken)
    }
}

/// A domain with these tables, of which only the form matters: no row of it is ever read.
fn domain(tables: &str) -> Result<Domain, NoProblem> {
    let files = [
        ("domain.toml", "name = 'problem'\ntitle = 'A problem'\nrole = 'clerk'\nabout = 'Rows that rules speak of.'"),
        ("tables.toml", tables),
        ("tools.toml", ""),
        ("policy.toml", "[access]\nclerk = ['any on *']"),
    ];
    let folder = Folder::new("problem", files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    load(&folder).map_err(told)
}

fn told(faults: Vec<Diagnostic>) -> NoProblem {
    NoProblem(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
