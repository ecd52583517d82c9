//! Rows that are used together: the stops of a tour, the cuts of a pattern. All of them are gone through, member by member, and what
//! breaks a rule that a longer one cannot mend is left out, by the very rules that judge a plan. Of those that differ in nothing that
//! matters later, the best are kept.

use crate::{
    reckon::{Per, number, value},
    told::BundleText,
};
use benchwright_base::Value;
use benchwright_expr::{Expr, Type, eval::Judge};
use benchwright_schema::plan::{Binding, Body, Bound, Plan, PlanText, ViewRows};
use benchwright_spec::{Candidate, Candidates, Cell, NamedRows, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// More than this, and no model of them can be solved.
const MOST: usize = 300_000;

/// Adds the bundles of a case to its candidates. `next` is the number of the first.
pub(crate) fn add(
    declared: &BundleText,
    text: &PlanText,
    plan: &Plan,
    bound: &Bound,
    without: Option<&str>,
    next: &mut u32,
    candidates: &mut Candidates,
) -> Result<(), String> {
    let bundle = Bundle::read(declared, text, plan, without)?;
    for found in bundle.all(plan, bound)? {
        *next += 1;
        for (view, mut cells) in found {
            if let Some(label) = &declared.label
                && let Some(at) = plan.views[view].fields.iter().position(|field| field.name == *label)
            {
                cells[at] = Cell::Fixed(i64::from(*next));
            }
            candidates[view].push(Candidate::single(false, cells).in_bundle(*next));
        }
    }
    Ok(())
}

/// The same plan with the names that it gives its bundles counted from one.
pub(crate) fn counted(declared: &BundleText, plan: &mut NamedRows) {
    let Some(label) = &declared.label else { return };
    let views: BTreeSet<&String> = declared.views().collect();
    let mut names = BTreeSet::new();
    for row in views.iter().filter_map(|view| plan.0.get(*view)).flatten() {
        names.extend(row.get(label).cloned());
    }
    let places: BTreeMap<Binding, i64> = names.into_iter().zip(1..).collect();
    for view in views {
        for row in plan.0.get_mut(view).into_iter().flatten() {
            if let Some(name) = row.get_mut(label)
                && let Some(place) = places.get(name)
            {
                *name = Binding::Number(*place);
            }
        }
    }
}

/// A row in the making: its view and its fields.
type Row = (usize, Vec<Cell>);
/// A field: its value, or the two between which it is free.
type FieldIs = (Expr, Option<Expr>);
/// A view with its fields; those of the label are filled in later.
type Made = (usize, Vec<Option<FieldIs>>);

/// A member by the numbers of what its variables stand for.
type Member = Vec<i64>;
/// Members, in no order.
type Members = Vec<Member>;

/// A declaration that was read.
struct Bundle<'a> {
    declared: &'a BundleText,
    /// The variables of `per` and of `over`, together.
    choice: Per,
    /// How many of them are those of `per`.
    given: usize,
    most: Expr,
    first: Vec<Expr>,
    next: Vec<Expr>,
    each: Vec<Made>,
    once: Vec<Made>,
    within: Vec<usize>,
    whole: Vec<usize>,
    best: Vec<usize>,
    only: Option<usize>,
}

/// A bundle in the making.
#[derive(Clone)]
struct Node {
    members: Vec<Vec<Value>>,
    values: Vec<i64>,
    rows: Vec<Row>,
}

impl<'a> Bundle<'a> {
    fn read(
        declared: &'a BundleText,
        text: &PlanText,
        plan: &Plan,
        without: Option<&str>,
    ) -> Result<Bundle<'a>, String> {
        let given = Per::read(declared.per.as_deref(), plan)?;
        let both = declared.per.iter().chain([&declared.over]).cloned().collect::<Vec<_>>().join(", ");
        let choice = Per::read(Some(&both), plan)?;
        let most = given.expr(&declared.most, plan, text)?;
        let place = [("place".to_owned(), Type::Int)];
        let members: Vec<(String, Type)> = choice.variables().skip(given.types.len()).collect();
        let before: Vec<(String, Type)> = members
            .iter()
            .map(|(name, ty)| (format!("before_{name}"), *ty))
            .chain(declared.values.iter().map(|known| (format!("before_{}", known.name), Type::Int)))
            .collect();
        let (mut first, mut next) = (Vec::new(), Vec::new());
        let mut scope = choice.with(&place);
        for known in &declared.values {
            first.push(scope.expr(&known.first, plan, text)?);
            next.push(scope.with(&before).expr(&known.next, plan, text)?);
            scope = scope.with(&[(known.name.clone(), Type::Int)]);
        }
        let made = |views: &BTreeMap<String, BTreeMap<String, String>>| -> Result<Vec<Made>, String> {
            let mut made = Vec::new();
            for (view, fields) in views {
                let at =
                    plan.view_named(view).ok_or_else(|| format!("a bundle has rows of `{view}`, which is no view"))?;
                let mut cells = Vec::new();
                for field in &plan.views[at].fields {
                    if declared.label.as_ref() == Some(&field.name) {
                        cells.push(None);
                        continue;
                    }
                    let is = fields.get(&field.name);
                    let is = is.ok_or_else(|| format!("a bundle's row of `{view}` has no `{}`", field.name))?;
                    cells.push(Some(match is.split_once(" .. ") {
                        Some((low, high)) => (scope.expr(low, plan, text)?, Some(scope.expr(high, plan, text)?)),
                        None => (scope.expr(is, plan, text)?, None),
                    }));
                }
                made.push((at, cells));
            }
            Ok(made)
        };
        let rules = |ids: &[String]| -> Result<Vec<usize>, String> {
            let rule = |id: &String| {
                let found = plan.rules.iter().position(|rule| rule.id == *id);
                found.ok_or_else(|| format!("`{id}` of a bundle is no rule"))
            };
            ids.iter().filter(|id| without != Some(&***id)).map(rule).collect()
        };
        let value = |name: &String| {
            let found = declared.values.iter().position(|known| known.name == *name);
            found.ok_or_else(|| format!("`{name}` is no value of the bundle"))
        };
        Ok(Bundle {
            given: given.types.len(),
            most,
            first,
            next,
            each: made(&declared.each)?,
            once: made(&declared.once)?,
            within: rules(&declared.within)?,
            whole: rules(&declared.whole)?,
            best: declared.best.iter().map(value).collect::<Result<_, _>>()?,
            only: declared.only.as_ref().map(value).transpose()?,
            choice,
            declared,
        })
    }

    /// The rows of every bundle.
    fn all(&self, plan: &Plan, bound: &Bound) -> Result<Vec<Vec<Row>>, String> {
        let none = ViewRows::empty(plan);
        let mut groups: Vec<(Vec<Value>, Vec<Vec<Value>>)> = Vec::new();
        for choice in self.choice.all(bound, &none) {
            let (given, member) = choice.split_at(self.given);
            match groups.last_mut() {
                Some((known, members)) if known == given => members.push(member.to_vec()),
                _ => groups.push((given.to_vec(), vec![member.to_vec()])),
            }
        }
        let mut found = Vec::new();
        for (given, members) in groups {
            let most = value(&self.most, &given, bound, &none).ok_or("a bundle's `most` has no value")?;
            let mut ended: BTreeMap<Members, Vec<Node>> = BTreeMap::new();
            let mut level = vec![Node { members: Vec::new(), values: Vec::new(), rows: Vec::new() }];
            for place in 1..=most {
                let mut longer: BTreeMap<(Members, Member), Vec<Node>> = BTreeMap::new();
                for node in &level {
                    for member in members.iter().filter(|member| self.fits(node, member)) {
                        let node = self.step(node, &given, member, place, plan, bound)?;
                        if !self.keeps(&self.within, &node.rows, plan, bound) {
                            continue;
                        }
                        let mut set: Members = node.members.iter().map(|member| numbers(member)).collect();
                        set.sort();
                        let alike = longer.entry((set, numbers(member))).or_default();
                        self.take(alike, node, &self.best);
                    }
                }
                level = longer.values().flatten().cloned().collect();
                for ((set, _), nodes) in longer {
                    for mut node in nodes {
                        node.rows.extend(self.rows(&self.once, &self.scope(&node, &given, place), plan, bound)?);
                        if self.keeps(&self.within, &node.rows, plan, bound)
                            && self.keeps(&self.whole, &node.rows, plan, bound)
                        {
                            let alike = ended.entry(set.clone()).or_default();
                            match self.only {
                                Some(only) => self.take(alike, node, &[only]),
                                None => alike.push(node),
                            }
                        }
                    }
                }
                if found.len() + ended.len() > MOST || level.len() > MOST {
                    return Err(format!("there are more than {MOST} bundles"));
                }
            }
            found.extend(ended.into_values().flatten().map(|node| node.rows));
        }
        Ok(found)
    }

    /// Whether a member may come next.
    fn fits(&self, node: &Node, member: &[Value]) -> bool {
        match (self.declared.unordered, node.members.last()) {
            (true, Some(last)) => numbers(&member[..1]) > numbers(&last[..1]),
            _ => !node.members.iter().any(|known| known == member),
        }
    }

    /// What the variables of a node's last member stand for.
    fn scope(&self, node: &Node, given: &[Value], place: i64) -> Vec<Value> {
        let last = node.members.last().into_iter().flatten().cloned();
        let mut scope: Vec<Value> = given.iter().cloned().chain(last).collect();
        scope.push(Value::Int(place));
        scope.extend(node.values.iter().map(|known| Value::Int(*known)));
        scope
    }

    fn step(
        &self,
        node: &Node,
        given: &[Value],
        member: &[Value],
        place: i64,
        plan: &Plan,
        bound: &Bound,
    ) -> Result<Node, String> {
        let none = ViewRows::empty(plan);
        let mut longer = node.clone();
        longer.members.push(member.to_vec());
        longer.values.clear();
        for (at, known) in self.declared.values.iter().enumerate() {
            let mut scope = self.scope(&longer, given, place);
            let expr = match node.members.last() {
                None => &self.first[at],
                Some(before) => {
                    scope.extend(before.iter().cloned());
                    scope.extend(node.values.iter().map(|known| Value::Int(*known)));
                    &self.next[at]
                }
            };
            let is = value(expr, &scope, bound, &none);
            longer.values.push(is.ok_or_else(|| format!("`{}` of a bundle has no value", known.name))?);
        }
        let scope = self.scope(&longer, given, place);
        longer.rows.extend(self.rows(&self.each, &scope, plan, bound)?);
        Ok(longer)
    }

    fn rows(&self, made: &[Made], scope: &[Value], plan: &Plan, bound: &Bound) -> Result<Vec<Row>, String> {
        let none = ViewRows::empty(plan);
        let reckon = |expr: &Expr| value(expr, scope, bound, &none).ok_or("a field of a bundle has no value");
        let mut rows = Vec::new();
        for (view, fields) in made {
            let mut cells = Vec::new();
            for field in fields {
                cells.push(match field {
                    None => Cell::Fixed(1),
                    Some((is, None)) => Cell::Fixed(reckon(is)?),
                    Some((low, Some(high))) => Cell::Free(reckon(low)?, reckon(high)?),
                });
            }
            rows.push((*view, cells));
        }
        Ok(rows)
    }

    /// Whether rows keep rules. What is not decided yet is left out.
    fn keeps(&self, rules: &[usize], rows: &[Row], plan: &Plan, bound: &Bound) -> bool {
        let mut decided = Rows::empty(plan);
        for (view, cells) in rows {
            let cells = cells.iter().map(|cell| match cell {
                Cell::Fixed(number) => Some(*number),
                Cell::Free(..) => None,
            });
            decided.0[*view].extend(cells.collect::<Option<Vec<i64>>>());
        }
        let records = decided.records(plan);
        let mut judge = Judge::new(&records, bound.anchor.midnight());
        judge.facts = bound;
        rules.iter().all(|rule| {
            let Body::Expr(body) = &plan.rules[*rule].body else { return true };
            let mut clean = true;
            judge.instances(&plan.rules[*rule].per, &mut |here| clean &= here.holds(body));
            clean
        })
    }

    /// Takes one more among those alike, unless another is as good in everything; those that it betters go.
    fn take(&self, alike: &mut Vec<Node>, node: Node, by: &[usize]) {
        if by.is_empty() {
            return alike.push(node);
        }
        let as_good = |a: &Node, b: &Node| by.iter().all(|at| a.values[*at] <= b.values[*at]);
        if alike.iter().any(|known| as_good(known, &node)) {
            return;
        }
        alike.retain(|known| !as_good(&node, known));
        alike.push(node);
    }
}

fn numbers(values: &[Value]) -> Vec<i64> {
    values.iter().filter_map(number).collect()
}
