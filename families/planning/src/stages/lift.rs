//! Lifts the rules of one plan to those of several that are handed in together: made anew at every stage, or asked for as options. A rule is
//! written once: its text is rewritten word by word. Each view of a form with a stage speaks of one stage, which is `k`; so does each fact
//! that changes from stage to stage, under a name of its own.

use crate::{
    tokens::{Token, has_word, tokens},
    told::Told,
};
use benchwright_schema::plan::{PlanText, RuleText, ViewText};
use std::collections::{BTreeMap, BTreeSet};

/// The variable that stands for the stage.
pub(crate) const VARIABLE: &str = "k";
/// The set that it goes through.
pub(crate) const SET: &str = "stages";
/// The field of a view, and the column of a form, that is the stage.
pub(crate) const FIELD: &str = "stage";

/// What several plans are told apart by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Axis {
    /// The variable that stands for one of them.
    pub(crate) variable: &'static str,
    /// The set that it goes through.
    pub(crate) set: &'static str,
    /// The field of a view, and the column of a form, that tells which it is.
    pub(crate) field: &'static str,
}

/// Plans of stages.
pub(crate) const STAGES: Axis = Axis { variable: VARIABLE, set: SET, field: FIELD };

/// What is rewritten.
#[derive(Clone, Debug)]
pub(crate) struct Lift {
    /// What the plans are told apart by.
    pub(crate) axis: Axis,
    /// The views, or the tables, whose rows are of a stage.
    pub(crate) of_stage: BTreeSet<String>,
    /// The facts that change from stage to stage, each with its name as a fact of a stage.
    pub(crate) facts: BTreeMap<String, String>,
}

/// Words before which a source is written without brackets: `r in run`, `count run`.
const BEFORE_A_SOURCE: [&str; 8] = ["in", "exists", "none", "count", "sum", "min", "max", "all"];

impl Lift {
    /// An expression about the stage that `at` says, which `k` stands for. What names a stage itself stays.
    pub(crate) fn expr(&self, text: &str, at: &str) -> String {
        let tokens = tokens(text);
        let mut lifted = String::with_capacity(text.len() * 2);
        let mut from = 0;
        for (place, token) in tokens.iter().enumerate() {
            let before = place.checked_sub(1).map_or("", |before| tokens[before].text);
            let next = tokens.get(place + 1).map_or("", |next| next.text);
            if !token.is_word() || before == "." {
                continue;
            }
            let is_called = next == "(";
            let more = |first: String| match tokens.get(place + 2).map(|token| token.text) {
                Some(")") | None => first,
                Some(_) => format!("{first}, "),
            };
            if let (Some(name), true) = (self.facts.get(token.text), is_called) {
                lifted.push_str(&text[from..token.from]);
                lifted.push_str(name);
                lifted.push('(');
                lifted.push_str(&more(at.to_owned()));
                from = tokens[place + 1].end();
            } else if self.of_stage.contains(token.text) && is_called && !self.names_stage(&tokens[place + 1..]) {
                lifted.push_str(&text[from..tokens[place + 1].end()]);
                lifted.push_str(&more(format!("{} = {at}", self.axis.field)));
                from = tokens[place + 1].end();
            } else if self.of_stage.contains(token.text) && !is_called && BEFORE_A_SOURCE.contains(&before) {
                lifted.push_str(&text[from..token.end()]);
                lifted.push_str(&format!("({} = {at})", self.axis.field));
                from = token.end();
            } else if token.text == self.axis.variable {
                lifted.push_str(&text[from..token.from]);
                lifted.push_str(at);
                from = token.end();
            }
        }
        lifted.push_str(&text[from..]);
        lifted
    }

    /// The variables of a rule, or of candidates, with the stage in front of them; those that name it themselves keep their order.
    pub(crate) fn per(&self, per: Option<&str>) -> String {
        let Axis { variable, set, .. } = self.axis;
        let stage = format!("{variable} in {set}");
        match per.map(|per| self.expr(per, variable)) {
            None => stage,
            Some(per) if self.has_stage(&per) => per,
            Some(per) => format!("{stage}, {per}"),
        }
    }

    /// Whether variables begin with that of the stage.
    fn has_stage(&self, per: &str) -> bool {
        let tokens = tokens(per);
        let texts: Vec<&str> = tokens.iter().take(3).map(|token| token.text).collect();
        texts == [self.axis.variable, "in", self.axis.set]
    }

    /// Whether the filters that begin with a bracket name a stage.
    fn names_stage(&self, filters: &[Token<'_>]) -> bool {
        let mut deep = 0;
        for (at, token) in filters.iter().enumerate() {
            match token.text {
                "(" => deep += 1,
                ")" if deep == 1 => return false,
                ")" => deep -= 1,
                _ => {}
            }
            let begins = deep == 1 && matches!(token.text, "(" | ",");
            let next = |more: usize| filters.get(at + more).map_or("", |token| token.text);
            if begins && next(1) == self.axis.field && !matches!(next(2), "." | "," | ")" | "") {
                return true;
            }
        }
        false
    }

    /// Views whose rows know their stage, in which no two are alike in what they were before. `of_forms` rewrites what is said of columns.
    pub(crate) fn views<'p>(
        of_forms: &Lift,
        views: impl Iterator<Item = (&'p String, &'p ViewText)>,
        meant: &PlanText,
    ) -> Result<BTreeMap<String, ViewText>, String> {
        let field = of_forms.axis.field;
        let mut lifted = BTreeMap::new();
        for (name, view) in views {
            let mut view = view.clone();
            let texts = view.fields.values_mut().chain(&mut view.only);
            texts.for_each(|text| *text = of_forms.expr(&meant.spelled_out(text), field));
            if view.fields.insert(field.to_owned(), format!("int: {field}")).is_some() {
                return Err(format!("the view `{name}` has a field `{field}` already"));
            }
            if !view.key.is_empty() {
                view.key.insert(0, field.to_owned());
            }
            lifted.insert(name.clone(), view);
        }
        Ok(lifted)
    }

    /// Every rule, judged for each of the plans.
    pub(crate) fn rules(&self, rules: &mut BTreeMap<String, RuleText>, meant: &PlanText) {
        for rule in rules.values_mut() {
            rule.per = Some(self.per(rule.per.as_deref().map(|per| meant.spelled_out(per)).as_deref()));
            for text in [&mut rule.require, &mut rule.applies].into_iter().flatten() {
                *text = self.expr(&meant.spelled_out(text), self.axis.variable);
            }
        }
    }

    /// The rows that a plan may have, and how somebody plans who looks no further than the next row, for each of the plans.
    pub(crate) fn rows(&self, told: &mut Told, meant: &PlanText) {
        let Axis { variable, field, .. } = self.axis;
        let expr = |text: &str| self.expr(&meant.spelled_out(text), variable);
        for candidates in told.candidates.values_mut() {
            candidates.per = Some(self.per(candidates.per.as_deref().map(|per| meant.spelled_out(per)).as_deref()));
            candidates.fields.values_mut().for_each(|text| *text = expr(text));
            candidates.fields.insert(field.to_owned(), variable.to_owned());
        }
        for step in &mut told.baseline {
            step.per = self.per(Some(&meant.spelled_out(&step.per)));
            step.goal = expr(&step.goal);
            step.fields.values_mut().for_each(|text| *text = expr(text));
            step.fields.insert(field.to_owned(), variable.to_owned());
        }
    }
}

/// What of a plan uses a word as a name.
pub(crate) fn names(plan: &PlanText, told: &Told, word: &str) -> Option<String> {
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
    texts.find(|(_, text)| has_word(text, word)).map(|(what, _)| what.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lift() -> Lift {
        Lift {
            axis: STAGES,
            of_stage: ["run", "overtime"].map(str::to_owned).into(),
            facts: [("qty", "qty_by"), ("upto", "upto_by"), ("last", "last_by")]
                .map(|(fact, by)| (fact.to_owned(), by.to_owned()))
                .into(),
        }
    }

    #[test]
    fn every_call_of_a_view_and_of_a_changed_fact_speaks_of_the_stage() {
        let cases = [
            ("sum run() of batches", "sum run(stage = k) of batches"),
            ("sum run( ) of batches", "sum run(stage = k ) of batches"),
            ("(sum run(item = i, period <= t) of batches)", "(sum run(stage = k, item = i, period <= t) of batches)"),
            ("all run(item = i) it.batches >= least(i)", "all run(stage = k, item = i) it.batches >= least(i)"),
            ("opening(i) - upto(i, t) >= 0", "opening(i) - upto_by(k, i, t) >= 0"),
            (
                "sum u in periods where u <= last() of qty(i, u)",
                "sum u in periods where u <= last_by(k) of qty_by(k, i, u)",
            ),
            (
                "for a in run(period = t - 1), b in run: a.item != b.item",
                "for a in run(stage = k, period = t - 1), b in run(stage = k): a.item != b.item",
            ),
            ("count run >= 1", "count run(stage = k) >= 1"),
            ("1 .. qty(i, t)", "1 .. qty_by(k, i, t)"),
            (
                "run(item = overtime(period = t).item).batches",
                "run(stage = k, item = overtime(stage = k, period = t).item).batches",
            ),
        ];
        for (text, lifted) in cases {
            assert_eq!(lift().expr(text, "k"), lifted);
        }
    }

    #[test]
    fn what_names_a_stage_itself_and_what_only_looks_like_a_view_stays() {
        for text in [
            "sum run(stage = k - 1, item = i) of batches",
            "sum run(item = i, stage = k - 1) of batches",
            "sum run(stage in {1, 2}) of batches",
            "r.run + r.qty",
            "length('run() and qty(1)') + run_time(i)",
            "order.run(x)",
        ] {
            assert_eq!(lift().expr(text, "k"), text);
        }
        // A field of a row that is named so is no stage of the view's.
        let inner = "sum run(item = first(stage = k)) of batches";
        assert_eq!(lift().expr(inner, "k"), "sum run(stage = k, item = first(stage = k)) of batches");
        // What a stage is told by can be more than a word, and `k` is the same.
        assert_eq!(
            lift().expr("sum j in stages where j <= k of qty(j)", "stage"),
            "sum j in stages where j <= stage of qty_by(stage, j)"
        );
        assert_eq!(
            lift().expr("count run() + qty(i)", "last_stage()"),
            "count run(stage = last_stage()) + qty_by(last_stage(), i)"
        );
    }

    #[test]
    fn a_rule_is_judged_for_every_stage() {
        let per = |per| lift().per(per);
        assert_eq!(per(None), "k in stages");
        assert_eq!(per(Some("t in periods where t >= 3")), "k in stages, t in periods where t >= 3");
        assert_eq!(per(Some("i in items where qty(i, 1) > 0")), "k in stages, i in items where qty_by(k, i, 1) > 0");
        assert_eq!(per(Some("k in stages, t in periods where k >= 2")), "k in stages, t in periods where k >= 2");
    }
}
