//! Options: several plans handed in together, the best one and the best ones under tighter and tighter bounds on a second measure. Each is a
//! plan of its own, which keeps every rule; what counts is what they come to together. Who plans once and hands that in three times fails.

use super::added::{Added, phrasings};
use crate::{
    dial::OF_OPTIONS,
    stages::lift::{Axis, Lift, names},
    told::Told,
};
use benchwright_schema::{
    Domain,
    plan::{PlanText, RuleText},
};
use std::collections::{BTreeMap, BTreeSet};

/// What options are told apart by.
pub(crate) const AXIS: Axis = Axis { variable: "choice", set: "options", field: "option" };
/// The table of the options, and the column of their bounds.
pub(crate) const TABLE: &str = "option";
const MOST: &str = "second_most";
/// The rule of the bounds.
const RULE: &str = "planning/options";

/// What tasks with options have besides.
pub(super) fn added() -> Added {
    Added {
        data: "[option]\nnumber = \"int(1..9) unique\"\nsecond_most = \"int(0..)\"\n",
        table: TABLE,
        path: "data/options.csv",
        says: "the options that are asked for",
        columns: &[("number", "option", "number of the option"), (MOST, "bound", "its bound; 0 where it has none")],
        candidates: None,
        form: None,
    }
}

/// Puts the forms of options in the place of the others, and has every rule judged for each option.
pub(super) fn rules(plan: &mut PlanText, told: &mut Told, forms: &Domain) -> Result<(), String> {
    let second = told.front.clone().ok_or("a tier with the dial `front` needs `[front]` in planning.toml")?;
    if !told.bundle.is_empty() {
        return Err("a workflow with bundles has no options".to_owned());
    }
    if let Some(what) = names(plan, told, AXIS.variable) {
        return Err(format!("`{what}` has a name `{}`, which is that of an option", AXIS.variable));
    }
    let lift = Lift { axis: AXIS, of_stage: plan.views.keys().cloned().collect(), facts: BTreeMap::new() };
    let meant = plan.clone();
    let read: BTreeSet<&String> = meant.views.values().map(|view| &view.from).collect();
    for form in read {
        let of_options = format!("{form}{OF_OPTIONS}");
        let table = forms.tables.iter().find(|table| table.name == of_options);
        if table.is_none_or(|table| table.field_named(AXIS.field).is_none()) {
            return Err(format!(
                "a tier with the dial `front` needs the form `{of_options}` with a column `{}`",
                AXIS.field
            ));
        }
        if let Some(slack) = plan.slack.remove(form) {
            plan.slack.insert(of_options.clone(), slack);
        }
        let says = told.brief.forms.get(form).cloned().unwrap_or_default();
        told.brief.forms.insert(of_options.clone(), format!("in each option {says}"));
        let mut columns = told.brief.columns.get(form).cloned().unwrap_or_default();
        columns.insert(AXIS.field.to_owned(), "number of the option, as in options.csv".to_owned());
        told.brief.columns.insert(of_options, columns);
    }
    plan.views = Lift::views(&lift, meant.views.iter(), &meant)?;
    plan.views.values_mut().for_each(|view| view.from += OF_OPTIONS);
    lift.rules(&mut plan.rules, &meant);
    lift.rows(told, &meant);
    plan.lets.clear();
    let each = |text: &str| {
        let one = lift.expr(&meant.spelled_out(text), AXIS.variable);
        format!("(sum {} in {} of ({one}))", AXIS.variable, AXIS.set)
    };
    for phase in plan.objectives.values_mut().flat_map(|objective| &mut objective.phases) {
        phase.of = each(&phase.of);
    }
    plan.ties.iter_mut().for_each(|tie| *tie = each(tie));
    plan.settled.iter_mut().for_each(|settled| *settled = lift.expr(&meant.spelled_out(settled), AXIS.field));
    // A row of an option that there is not would be judged by nothing.
    let known = told.known.as_ref().and_then(|id| plan.rules.get_mut(id)).and_then(|rule| rule.require.as_mut());
    let known = known.ok_or("a tier with the dial `front` needs a rule that is named by `known`")?;
    for view in meant.views.keys() {
        *known = format!("({known}) and (for row in {view}(): row.{0} <= (count x in {1}))", AXIS.field, AXIS.set);
    }
    let bound = lift.expr(&meant.spelled_out(&second.of), AXIS.variable);
    let says = &second.says;
    let says = [
        format!("Where an option of options.csv has a bound, {says} come in its plan to that bound at most."),
        format!("In the plan of an option {says} are at most its bound in options.csv, where it has one."),
    ];
    let rule = RuleText {
        code: "OPTIONS".to_owned(),
        family: "options".to_owned(),
        per: Some(format!("{0} in {1} where {MOST}({0}) > 0", AXIS.variable, AXIS.set)),
        require: Some(format!("({bound}) <= {MOST}({})", AXIS.variable)),
        says: phrasings([&says[0], &says[1]]),
        ..RuleText::default()
    };
    plan.rules.insert(RULE.to_owned(), rule);
    let all = "A plan is asked for in each option of options.csv: each keeps every rule by itself, and what is measured is the sum over all options.";
    told.brief.goal.iter_mut().for_each(|goal| *goal = format!("{goal} {all}"));
    told.headline.push(RULE.to_owned());
    Ok(())
}
