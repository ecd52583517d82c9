//! Stages: the same work planned anew as more becomes known, and judged once, at the end. The rules are those of a plan that is made
//! once, lifted (`lift`) to every stage; `stages.toml` (`told`) adds what ties one plan to the next. The certified plan is made as anybody
//! has to make it, stage by stage (`roll`), and bounded by the best plan in hindsight.

pub(crate) mod lift;
pub(crate) mod roll;
pub(crate) mod told;

use crate::{
    forms::{form_tables, from_stage},
    tokens::has_word,
    told::Told,
};
use benchwright_schema::{
    Domain,
    plan::{Plan, PlanText, RuleText, Sense, ViewText},
};
use benchwright_spec::{Candidates, Cell};
use lift::{FIELD, Lift, SET, VARIABLE};
use std::collections::BTreeMap;
use told::{StageRuleText, StagesText};

/// The fact that is the last stage of all that there are.
pub(crate) const LAST: &str = "last_stage";
/// The set of the last stage alone.
pub(crate) const LAST_SET: &str = "last_stages";
/// How the last stage stands in an expression.
const AT_LAST: &str = "last_stage()";

/// What a workflow that is planned in stages knows beside what every workflow does.
pub(crate) struct Stages {
    pub(crate) text: StagesText,
    /// The facts that change from stage to stage, each with its name as a fact of a stage: those that are told, and those that follow.
    pub(crate) by: BTreeMap<String, String>,
    /// The rules without what ties one stage to another, and without the fees of going from one to the next.
    pub(crate) hindsight: PlanText,
}

/// The facts that change, each with its name as a fact of a stage.
fn changing(text: &StagesText, told: &Told) -> BTreeMap<String, String> {
    let named = |name: &String| (name.clone(), format!("{name}_by"));
    let mut by: BTreeMap<String, String> = text.changed.keys().map(named).collect();
    for fact in &told.computed {
        let per = fact.per.as_deref().unwrap_or_default();
        if by.keys().any(|name| has_word(&fact.is, name) || has_word(per, name)) {
            let (name, at_stage) = named(&fact.name);
            by.insert(name, at_stage);
        }
    }
    by
}

/// A plan, what is told of it, and its rules in hindsight.
pub(crate) type Lifted = (PlanText, Told, Stages);

/// Lifts a plan that is made once. Both come as they are written; so does what is added.
pub(crate) fn lifted(plan: &PlanText, told: &Told, text: StagesText, forms: &Domain) -> Result<Lifted, String> {
    if !told.bundle.is_empty() {
        return Err("a workflow with bundles has no stages".to_owned());
    }
    let staged =
        |name: &str| form_tables(forms, i64::MAX).any(|table| table.name == name && table.field_named(FIELD).is_some());
    let views = plan.views.iter().chain(&text.views);
    if let Some((name, view)) = views.clone().find(|(_, view)| !staged(&view.from)) {
        return Err(format!("the form `{}`, which `{name}` is read from, has no column `{FIELD}`", view.from));
    }
    if let Some(what) = names_variable(plan, told) {
        return Err(format!("`{what}` has a name `{VARIABLE}`, which is that of the stage"));
    }
    let by = changing(&text, told);
    let lift = Lift { of_stage: views.map(|(name, _)| name.clone()).collect(), facts: by.clone() };
    let of_forms =
        Lift { of_stage: form_tables(forms, i64::MAX).map(|table| table.name.clone()).collect(), facts: by.clone() };
    let mut meant = plan.clone();
    for (name, is) in &text.lets {
        let before =
            plan.lets.get(name).ok_or_else(|| format!("there is no let `{name}` to stand for something else"))?;
        meant.lets.insert(name.clone(), is.replace(&format!("${name}"), &format!("({before})")));
    }
    let expr = |text: &str, at: &str| lift.expr(&meant.spelled_out(text), at);
    let per = |per: &Option<String>| Some(lift.per(per.as_deref().map(|per| meant.spelled_out(per)).as_deref()));
    let mut lifted = PlanText { lets: BTreeMap::new(), ..plan.clone() };
    lifted.views = views_of(plan.views.iter().chain(&text.views), &meant, &of_forms)?;
    let mut between = Vec::new();
    for (id, changed) in &text.rules {
        if !plan.rules.contains_key(id) {
            between.push(id.clone());
        }
        let rule = lifted.rules.entry(id.clone()).or_default();
        take(rule, changed);
        if rule.code.is_empty() || rule.family.is_empty() || rule.require.is_none() {
            return Err(format!("the rule `{id}` is new, and needs `code`, `family` and `require`"));
        }
    }
    for rule in lifted.rules.values_mut() {
        rule.per = per(&rule.per);
        for text in [&mut rule.require, &mut rule.applies].into_iter().flatten() {
            *text = expr(text, VARIABLE);
        }
    }
    lifted.ties = plan.ties.iter().map(|tie| expr(tie, AT_LAST)).collect();
    lifted.settled = plan.settled.iter().map(|settled| of_forms.expr(&meant.spelled_out(settled), FIELD)).collect();
    let mut hindsight = lifted.clone();
    between.iter().for_each(|id| _ = hindsight.rules.remove(id));
    let every = format!("{VARIABLE} in {SET}");
    for rule in hindsight.rules.values_mut() {
        rule.per = rule.per.as_ref().map(|per| per.replacen(&every, &format!("{VARIABLE} in {LAST_SET}"), 1));
    }
    for (name, objective) in &plan.objectives {
        let [phase] = &objective.phases[..] else { return Err(format!("`{name}` is to have one phase")) };
        let sign = if phase.sense == Some(Sense::Max) { "-" } else { "+" };
        let adds = text.adds.iter().map(|adds| expr(adds, AT_LAST));
        let last: Vec<String> =
            std::iter::once(expr(&phase.of, AT_LAST)).chain(adds).map(|part| format!("({part})")).collect();
        let last = last.join(&format!(" {sign} "));
        let fees = text.fees.iter().map(|fees| format!(" {sign} ({})", expr(fees, VARIABLE)));
        let all = fees.fold(last.clone(), |all, fees| all + &fees);
        for (text, of) in [(&mut hindsight, last), (&mut lifted, all)] {
            let phases = text.objectives.get_mut(name).and_then(|objective| objective.phases.first_mut());
            phases.into_iter().for_each(|phase| phase.of.clone_from(&of));
        }
    }
    let mut told = told.clone();
    told.candidates.extend(text.candidates.clone());
    for candidates in told.candidates.values_mut() {
        candidates.per = per(&candidates.per);
        candidates.fields.values_mut().for_each(|field| *field = expr(field, VARIABLE));
        candidates.fields.insert(FIELD.to_owned(), VARIABLE.to_owned());
    }
    for step in &mut told.baseline {
        step.per = lift.per(Some(&meant.spelled_out(&step.per)));
        step.goal = expr(&step.goal, VARIABLE);
        step.fields.values_mut().for_each(|field| *field = expr(field, VARIABLE));
        step.fields.insert(FIELD.to_owned(), VARIABLE.to_owned());
    }
    told.knob.clear();
    told.headline.extend(text.headline.clone());
    told.brief.goal.clone_from(&text.brief.goal);
    told.brief.forms.extend(text.brief.forms.clone());
    told.brief.columns.extend(text.brief.columns.clone());
    Ok((lifted, told, Stages { text, by, hindsight }))
}

/// Views whose rows know their stage, in which no two are alike in what they were before.
fn views_of<'p>(
    views: impl Iterator<Item = (&'p String, &'p ViewText)>,
    meant: &PlanText,
    of_forms: &Lift,
) -> Result<BTreeMap<String, ViewText>, String> {
    let mut lifted = BTreeMap::new();
    for (name, view) in views {
        let mut view = view.clone();
        let texts = view.fields.values_mut().chain(&mut view.only);
        texts.for_each(|text| *text = of_forms.expr(&meant.spelled_out(text), FIELD));
        if view.fields.insert(FIELD.to_owned(), format!("int: {FIELD}")).is_some() {
            return Err(format!("the view `{name}` has a field `{FIELD}` already"));
        }
        if !view.key.is_empty() {
            view.key.insert(0, FIELD.to_owned());
        }
        lifted.insert(name.clone(), view);
    }
    Ok(lifted)
}

/// What of a plan that is made once uses the name of the stage's variable.
fn names_variable(plan: &PlanText, told: &Told) -> Option<String> {
    let rules = plan.rules.iter().flat_map(|(id, rule)| {
        [&rule.per, &rule.applies, &rule.require].into_iter().flatten().map(move |text| (id, text))
    });
    let lets = plan.lets.iter();
    let phases = plan
        .objectives
        .iter()
        .flat_map(|(name, objective)| objective.phases.iter().map(move |phase| (name, &phase.of)));
    let candidates = told.candidates.iter().flat_map(|(view, rows)| rows.per.iter().map(move |per| (view, per)));
    let steps = told.baseline.iter().map(|step| (&step.view, &step.per));
    let mut texts = rules.chain(lets).chain(phases).chain(candidates).chain(steps);
    texts.find(|(_, text)| has_word(text, VARIABLE)).map(|(what, _)| what.clone())
}

/// Puts what is otherwise into a rule.
fn take(rule: &mut RuleText, changed: &StageRuleText) {
    let StageRuleText { code, family, per, require, says, told_with, twins, implied_by } = changed.clone();
    rule.code = code.unwrap_or_else(|| std::mem::take(&mut rule.code));
    rule.family = family.unwrap_or_else(|| std::mem::take(&mut rule.family));
    rule.says = says.unwrap_or_else(|| std::mem::take(&mut rule.says));
    rule.per = per.or_else(|| rule.per.take());
    rule.require = require.or_else(|| rule.require.take());
    rule.told_with = told_with.or_else(|| rule.told_with.take());
    rule.implied_by = implied_by.or_else(|| rule.implied_by.take());
    rule.twins.extend(twins);
}

impl Stages {
    /// Declares the facts of stages beside those that they are of. What follows from facts is of a stage only.
    pub(crate) fn declare(&self, told: &Told, plan: &mut PlanText) -> Result<(), String> {
        for (name, by) in &self.by {
            let signature = plan.facts.get(name).ok_or_else(|| format!("`{name}` changes, and is no fact"))?;
            let (_, rest) = signature.split_once('(').ok_or_else(|| format!("`{name}` is no fact with arguments"))?;
            let comma = if rest.trim_start().starts_with(')') { "" } else { ", " };
            let lifted = format!("(int{comma}{rest}");
            if plan.facts.insert(by.clone(), lifted).is_some() {
                return Err(format!("`{by}` is the name of `{name}` at a stage, and taken"));
            }
            if told.computed.iter().any(|fact| fact.name == *name) {
                plan.facts.remove(name);
            }
        }
        plan.facts.insert(LAST.to_owned(), "(): int".to_owned());
        plan.sets.insert(LAST_SET.to_owned(), "int".to_owned());
        Ok(())
    }
}

/// Takes out rows of forms that are not there yet at their stage.
pub(crate) fn fit(forms: &Domain, text: &PlanText, plan: &Plan, candidates: &mut Candidates) {
    for (view, candidates) in plan.views.iter().zip(candidates) {
        let table =
            text.views.get(&view.name).and_then(|view| forms.tables.iter().find(|table| table.name == view.from));
        let Some((from, at)) = table.map(from_stage).zip(view.field_named(FIELD)) else { continue };
        candidates.retain(|candidate| !matches!(candidate.fields[at], Cell::Fixed(stage) if stage < from));
    }
}
