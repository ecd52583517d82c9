//! An outsider reads the task: somebody who shares neither the case nor the facts nor the candidates with those who made it, and who
//! has only the instruction and tools that read. What it says of the task must be what the verifier holds for true, and the optimum
//! that it proves must be the certified one, phase by phase and to the cent. Its best plan, carried out, earns everything; so it does
//! with a request promised as early as the outsider knows that goods are there, and a day earlier it breaks a rule; as does one cent,
//! unit or day where nothing is left, while buying more than anybody needs is dear and breaks none.
//!
//! The two have words of their own. The tables below say which belong together; a fact or a set of the verifier that stands in none
//! of them is a fault, so that nothing new goes unread.

use super::closed_book::Reads;
use crate::{Finding, Held, Subject};
use benchwright_expr::Type;
use benchwright_grade::{FULL, Grader};
use benchwright_outsider_erp::{Lost, Proposal, Said, Statement, state};
use benchwright_schema::plan::{Binding, PlanText, ViewField};
use benchwright_solve::Engine;
use benchwright_spec::Rows;
use benchwright_world::ToolAccess;
use std::collections::{BTreeMap, BTreeSet};

/// How an outsider is asked.
type Ask = fn(&str, &mut dyn ToolAccess, &dyn Engine) -> Result<Statement, Lost>;

/// An outsider, and what its words are in the plan of the family.
struct Outsider {
    family: &'static str,
    ask: Ask,
    /// Its facts and those of the verifier.
    facts: &'static [(&'static str, &'static str)],
    /// Its lists and the sets of the verifier.
    lists: &'static [(&'static str, &'static str)],
    /// Its phases and those of the objective.
    phases: &'static [(&'static str, &'static str)],
    /// Facts of the verifier that it has no word for, and why that hides nothing.
    unsaid: &'static [(&'static str, &'static str)],
    /// Its kinds of rows and the views of the plan, with the fields of each.
    rows: &'static [RowWords],
}

/// A kind of rows, the view that has them, and their fields.
type RowWords = (&'static str, &'static str, &'static [(&'static str, Cell)]);

/// What a field of a view is, in a row of the outsider's.
enum Cell {
    /// A word of the row.
    Word(&'static str),
    /// Always the same.
    Always(i64),
}

const OUTSIDERS: &[Outsider] = &[Outsider {
    family: "erp",
    ask: state,
    facts: &[
        ("units", "asked"),
        ("due day", "due_day"),
        ("customer", "customer_of"),
        ("order value", "value"),
        ("customer's limit", "limit"),
        ("tax that limits include", "limit_tax"),
        ("deposit", "deposit"),
        ("final amount", "rest"),
        ("payment days", "term_days"),
        ("stock", "stock"),
        ("list price", "list_price"),
        ("units in the recipe", "bom"),
        ("lines of the recipe", "recipe_lines"),
        ("days of a build", "build_days"),
        ("not built", "never_made"),
        ("not bought", "never_bought"),
        ("minutes per unit", "minutes"),
        ("unit cost", "unit_cost"),
        ("minutes in all", "pool_minutes"),
        ("draws on", "in_pool"),
        ("minutes a day", "day_minutes"),
        ("down", "down"),
        ("offered", "offered"),
        ("smallest order", "moq"),
        ("largest order", "most"),
        ("delivery days", "lead"),
        ("price", "price"),
        ("cost beyond the step's price", "beyond"),
        ("days from receipt to use", "wait"),
        ("closed", "closed"),
        ("days a delivery waits", "receipt_wait"),
        ("days a build waits", "finish_wait"),
        ("withdrawn", "barred"),
        ("spending share", "spend_share"),
        ("spending cap", "spend_cap"),
        ("budget", "budget"),
        ("bought before", "base_buy"),
        ("built before", "base_build"),
        ("units of a purchase that stood", "was_bought"),
        ("units of a build that stood", "was_built"),
        ("a purchase that stood", "old_purchase"),
        ("a build that stood", "old_build"),
    ],
    lists: &[
        ("accepted", "orders"),
        ("declined", "declined"),
        ("drafts to confirm", "drafts_kept"),
        ("drafts to cancel", "drafts_declined"),
        ("requests to enter", "briefs_kept"),
        ("requests to leave out", "briefs_declined"),
        ("orders that stand", "standing"),
        ("accepted with a limit", "limited"),
        ("with a deposit", "with_deposit"),
        ("items", "products"),
        ("what is sold", "finished"),
        ("what goes into it", "parts"),
        ("suppliers", "vendors"),
        ("centres", "centres"),
        ("centres with minutes a day", "daily_centres"),
        ("pools", "pools"),
        ("broken purchases", "broken_purchases"),
        ("broken builds", "broken_productions"),
        ("purchases that stood", "old_purchases"),
        ("builds that stood", "old_productions"),
        ("days", "days"),
    ],
    phases: &[("spending", "spend"), ("suppliers", "vendors"), ("minutes", "minutes"), ("change", "distance")],
    unsaid: &[
        ("wanted", "the same as being accepted"),
        ("record_of", "the record of an order is found by its reference, which the oracle needs to succeed"),
    ],
    rows: &[
        (
            "sales",
            "sell",
            &[
                ("order", Cell::Word("request")),
                ("customer", Cell::Word("customer")),
                ("product", Cell::Word("item")),
                ("qty", Cell::Word("units")),
                ("promised", Cell::Word("day")),
                ("price", Cell::Word("price")),
                ("discount", Cell::Always(0)),
            ],
        ),
        (
            "purchases",
            "buy",
            &[
                ("vendor", Cell::Word("supplier")),
                ("product", Cell::Word("item")),
                ("qty", Cell::Word("units")),
                ("arrive", Cell::Word("day")),
                ("price", Cell::Word("price")),
                ("discount", Cell::Always(0)),
            ],
        ),
        (
            "builds",
            "build",
            &[
                ("product", Cell::Word("item")),
                ("centre", Cell::Word("centre")),
                ("qty", Cell::Word("units")),
                ("start", Cell::Word("start")),
                ("due", Cell::Word("end")),
                ("orders", Cell::Always(1)),
            ],
        ),
    ],
}];

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    let family = &subject.task.sealed.family;
    let Some(outsider) = OUTSIDERS.iter().find(|outsider| outsider.family == family) else {
        return Finding::new(Held::Na(format!("nobody reads tasks of the family `{family}` from outside")));
    };
    if subject.pattern.rules != PlanText::default() {
        let why = "the pattern has rules of its own, which only those know who wrote them";
        return Finding::new(Held::Na(why.to_owned()));
    }
    let asked = subject.solver().and_then(|solver| Ok((solver, Reads::of(subject)?)));
    let (solver, mut access) = match asked {
        Ok(asked) => asked,
        Err(why) => return Finding::new(Held::NoVerdict(why)),
    };
    let said = (outsider.ask)(&subject.task.instruction, &mut access, solver);
    let calls = access.calls;
    let finding = match said {
        Err(Lost::Unproved(why)) => Finding::new(Held::NoVerdict(why)),
        Err(lost) => Finding::new(Held::Failed(format!("the outsider is lost: {lost}"))),
        Ok(said) => outsider.compare(subject, grader, &said),
    };
    finding.count("reads", calls)
}

impl Outsider {
    fn compare(&self, subject: &Subject<'_>, grader: &Grader<'_>, said: &Statement) -> Finding {
        let bindings = &subject.task.sealed.verifier.bindings;
        let mut faults = Vec::new();
        let mut compared = 0;
        let (none, nothing) = (BTreeMap::new(), BTreeSet::new());
        for (word, fact) in self.facts {
            // A word may say more than the family asks: units in all, and of each item. What it has no fact for is not compared.
            let Some(declared) = subject.plan.facts.iter().find(|declared| declared.name == *fact) else { continue };
            let ours = bindings.facts.get(*fact).unwrap_or(&none).iter();
            let ours = ours.map(|(key, value)| (short_key(key), short(value))).collect::<BTreeMap<String, Said>>();
            let parts = |key: &str| if key.is_empty() { 0 } else { key.split('|').count() };
            let theirs = said.facts.get(word).into_iter().flatten();
            let theirs = theirs.filter(|(key, _)| parts(key) == declared.arguments.len());
            let theirs: BTreeMap<String, Said> = theirs.map(|(key, value)| (key.clone(), value.clone())).collect();
            compared += theirs.len();
            faults.extend(difference(word, fact, &ours, &theirs));
        }
        for (word, set) in self.lists {
            let ours = bindings.sets.get(*set).into_iter().flatten();
            let ours: BTreeSet<String> = ours.map(in_words).collect();
            let theirs = said.lists.get(word).unwrap_or(&nothing);
            compared += theirs.len();
            if let Some(entry) = ours.symmetric_difference(theirs).next() {
                let holds = if ours.contains(entry) { "only the verifier" } else { "only the outsider" };
                faults.push(format!("{holds} has {entry} among `{set}`, which are those {word}"));
            }
        }
        let facts = bindings.facts.keys().map(|name| (name, self.facts));
        let sets = bindings.sets.keys().map(|name| (name, self.lists));
        for (name, table) in facts.chain(sets) {
            let known = table.iter().any(|(_, ours)| ours == name) || self.unsaid.iter().any(|(ours, _)| ours == name);
            if !known {
                faults.push(format!("the outsider has no word for `{name}`"));
            }
        }
        faults.extend(self.optima(subject, said));
        for proposal in &said.proposals {
            faults.extend(self.judged(subject, grader, proposal));
        }
        let finding = Finding::of(&faults).count("facts", compared).count("phases", said.phases.len());
        finding.count("plans", said.proposals.len())
    }

    /// What is wrong with the verdict on a plan, carried out, of which the outsider knows whether it keeps the rules.
    fn judged(&self, subject: &Subject<'_>, grader: &Grader<'_>, proposal: &Proposal) -> Option<String> {
        let about = &proposal.about;
        let carried_out = self
            .rows(subject, proposal)
            .and_then(|rows| subject.carry_out(grader, &rows).map_err(|error| error.to_string()));
        match carried_out {
            Err(why) => Some(format!("{about}: {why}")),
            Ok(verdict) if proposal.keeps && (verdict.constraints != FULL || verdict.alarm) => {
                Some(format!("{about}, which keeps all rules, is found to break some: {:?}", verdict.failed()))
            }
            Ok(verdict) if proposal.best && verdict.reward != FULL => {
                Some(format!("{about}, which keeps all rules, earns {}: {:?}", verdict.reward, verdict.failed()))
            }
            Ok(verdict) if !proposal.keeps && verdict.constraints == FULL => {
                Some(format!("{about}, which breaks a rule, is found to break none"))
            }
            Ok(_) => None,
        }
    }

    /// The rows of a plan in the views of the family.
    fn rows(&self, subject: &Subject<'_>, proposal: &Proposal) -> Result<Rows, String> {
        let mut rows = Rows::empty(&subject.plan);
        for (kind, view, cells) in self.rows {
            let at = subject.plan.view_named(view).ok_or_else(|| format!("there is no view `{view}`"))?;
            for row in proposal.rows.get(kind).into_iter().flatten() {
                let fields = subject.plan.views[at].fields.iter().map(|field| {
                    let cell = cells.iter().find(|(name, _)| *name == field.name);
                    let said = match cell {
                        Some((_, Cell::Always(number))) => Some(Said::Number(*number)),
                        Some((_, Cell::Word(word))) => row.get(word).cloned(),
                        None => None,
                    };
                    let said = said.ok_or_else(|| format!("the outsider has no word for `{view}.{}`", field.name))?;
                    number(subject, field, said)
                });
                rows.0[at].push(fields.collect::<Result<Vec<i64>, String>>()?);
            }
        }
        Ok(rows)
    }

    /// Where the optima differ, or are of other things.
    fn optima(&self, subject: &Subject<'_>, said: &Statement) -> Vec<String> {
        let certified = subject.plan.objectives.get(&subject.case.objective).map_or(&[][..], |phases| phases);
        let certified: Vec<(&str, i64)> = certified
            .iter()
            .map(|phase| &*phase.text.name)
            .zip(subject.task.sealed.verifier.best.iter().copied())
            .collect();
        if certified.len() != said.phases.len() {
            return vec![format!("{} phases are certified, the outsider has {}", certified.len(), said.phases.len())];
        }
        let pairs = certified.iter().zip(&said.phases);
        pairs
            .filter_map(|((name, best), (word, found))| {
                if !self.phases.contains(&(word, name)) {
                    return Some(format!("the goal is {name}, and the outsider takes it for {word}"));
                }
                (best != found).then(|| format!("{name}: {found} by the outsider, {best} as certified"))
            })
            .collect()
    }
}

/// A word as a field of a view has it: a number, or the number of the member that is called so.
fn number(subject: &Subject<'_>, field: &ViewField, said: Said) -> Result<i64, String> {
    match (said, field.ty) {
        (Said::Number(number), _) => Ok(number),
        (Said::Name(name), Type::Ref(sort)) => {
            let members = &subject.task.sealed.verifier.bindings.members;
            let keys = subject.plan.sorts.get(sort.index()).and_then(|(sort, _)| members.get(sort));
            let key = keys.into_iter().flatten().find(|key| short_key(key) == name);
            let member = key.and_then(|key| subject.bound.member(sort.index(), key));
            member.map(i64::from).ok_or_else(|| format!("{name} is none of those that `{}` may name", field.name))
        }
        (Said::Name(name), _) => Err(format!("{name} is no number, as `{}` is", field.name)),
    }
}

/// The first key at which two tables differ.
fn difference(
    word: &str,
    fact: &str,
    ours: &BTreeMap<String, Said>,
    theirs: &BTreeMap<String, Said>,
) -> Option<String> {
    let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let key = keys.into_iter().find(|key| ours.get(*key) != theirs.get(*key))?;
    let shown = |value: Option<&Said>| match value {
        None => "nothing".to_owned(),
        Some(Said::Number(number)) => number.to_string(),
        Some(Said::Name(name)) => name.clone(),
    };
    let (said, held) = (shown(theirs.get(key)), shown(ours.get(key)));
    Some(format!("{word} of {key} is {said} for the outsider, and `{fact}` is {held} for the verifier"))
}

/// A key without what says of which kind its members are: `vendor/V-7|product/P-1` is `V-7|P-1`.
fn short_key(key: &str) -> String {
    let parts: Vec<&str> = key.split('|').map(|part| part.rsplit('/').next().unwrap_or(part)).collect();
    parts.join("|")
}

fn short(value: &Binding) -> Said {
    match value {
        Binding::Number(number) => Said::Number(*number),
        Binding::Key(key) => Said::Name(short_key(key)),
    }
}

fn in_words(value: &Binding) -> String {
    match short(value) {
        Said::Number(number) => number.to_string(),
        Said::Name(name) => name,
    }
}
