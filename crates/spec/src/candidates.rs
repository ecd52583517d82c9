//! Candidate rows: the records a plan may consist of, such as "buy 5 to 40 units of this vendor on day 3". Some fields of a
//! candidate are fixed, some are free between bounds; a solver decides which candidates are used and what their free fields
//! are.

use benchwright_base::Value;
use benchwright_expr::{Type, eval::Judge};
use benchwright_schema::plan::{Body, Bound, Phase, Plan, ViewRows};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A field of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// It has this value.
    Fixed(i64),
    /// It may have any value between two, both included.
    Free(i64, i64),
}

/// A row that may be part of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Whether it is part of every plan.
    pub must: bool,
    /// Its fields, in the order of the view.
    pub fields: Vec<Cell>,
    /// The bundle that it is part of. A plan has all candidates of one number or none of them, whatever their views: the stops and
    /// legs of a route, the days of a duty. Where one of them must be taken, all are.
    pub bundle: Option<u32>,
}

impl Candidate {
    /// A row on its own.
    pub fn single(must: bool, fields: Vec<Cell>) -> Candidate {
        Candidate { must, fields, bundle: None }
    }

    /// The same row as part of a bundle.
    #[must_use]
    pub fn in_bundle(self, bundle: u32) -> Candidate {
        Candidate { bundle: Some(bundle), ..self }
    }
}

/// The candidates of every view, in the order of the plan's views.
pub type Candidates = Vec<Vec<Candidate>>;

/// A plan: rows of each view, members by their number from 1, money in cents, days from the anchor.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Rows(pub Vec<Vec<Vec<i64>>>);

impl Rows {
    /// A plan without a row, with a list for each view of the rules.
    pub fn empty(plan: &Plan) -> Rows {
        Rows(vec![Vec::new(); plan.views.len()])
    }

    /// As the only candidates there are, each of which must be taken: a solver then says whether this plan keeps the rules.
    pub fn as_candidates(&self) -> Candidates {
        let candidate = |row: &Vec<i64>| Candidate::single(true, row.iter().map(|n| Cell::Fixed(*n)).collect());
        self.0.iter().map(|rows| rows.iter().map(candidate).collect()).collect()
    }

    /// How many instances of the rules that a solver reads are broken, and the value of a phase.
    pub fn judged(&self, plan: &Plan, bound: &Bound, phase: Option<&Phase>) -> (usize, Option<i64>) {
        let records = self.records(plan);
        let mut judge = Judge::new(&records, bound.anchor.midnight());
        judge.facts = bound;
        let mut broken = 0;
        for rule in plan.rules.iter().filter(|rule| rule.lowered) {
            let Body::Expr(body) = &rule.body else { continue };
            judge.instances(&rule.per, &mut |here| broken += usize::from(!here.holds(body)));
        }
        (broken, phase.and_then(|phase| judge.value(&phase.of).as_number()))
    }

    /// The value of the first phase of an objective, if every rule that a solver reads is kept.
    pub fn worth(&self, plan: &Plan, bound: &Bound, objective: &str) -> Option<i64> {
        let phase = plan.objectives.get(objective)?.first()?;
        let (broken, value) = self.judged(plan, bound, Some(phase));
        value.filter(|_| broken == 0)
    }

    /// As records that rules are read over.
    pub fn records(&self, plan: &Plan) -> ViewRows {
        let mut records = ViewRows::empty(plan);
        for (view, rows) in self.0.iter().enumerate() {
            let fields = &plan.views[view].fields;
            records.views[view] =
                rows.iter().map(|row| row.iter().zip(fields).map(|(n, field)| value(*n, field.ty)).collect()).collect();
        }
        records
    }
}

/// A number as a value of a type.
pub fn value(number: i64, ty: Type) -> Value {
    match ty {
        Type::Money => Value::Money(number),
        Type::Ref(_) => u32::try_from(number).map_or(Value::Null, Value::Ref),
        Type::Bool => Value::Bool(number != 0),
        _ => Value::Int(number),
    }
}

/// A plan in words: rows of each view, fields by name, members by key. The form on disk.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NamedRows(pub BTreeMap<String, Vec<BTreeMap<String, benchwright_schema::plan::Binding>>>);

impl NamedRows {
    /// Puts names to numbers.
    pub fn of(rows: &Rows, plan: &Plan, bound: &Bound) -> NamedRows {
        use benchwright_schema::plan::Binding;
        let mut named = BTreeMap::new();
        for (view, rows) in rows.0.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let declared = &plan.views[view];
            let row = |row: &Vec<i64>| {
                let cell = |(n, field): (&i64, &benchwright_schema::plan::ViewField)| {
                    let binding = match field.ty {
                        Type::Ref(sort) => Binding::Key(bound.key_of(sort.index(), *n as u32)),
                        _ => Binding::Number(*n),
                    };
                    (field.name.clone(), binding)
                };
                row.iter().zip(&declared.fields).map(cell).collect()
            };
            named.insert(declared.name.clone(), rows.iter().map(row).collect());
        }
        NamedRows(named)
    }

    /// Puts numbers to names; `None` if a name is not there.
    pub fn rows(&self, plan: &Plan, bound: &Bound) -> Option<Rows> {
        use benchwright_schema::plan::Binding;
        let mut rows = Rows::empty(plan);
        for (view, named) in &self.0 {
            let view = plan.view_named(view)?;
            for row in named {
                let mut cells = Vec::new();
                for field in &plan.views[view].fields {
                    cells.push(match (row.get(&field.name)?, field.ty) {
                        (Binding::Number(n), _) => *n,
                        (Binding::Key(key), Type::Ref(sort)) => i64::from(bound.member(sort.index(), key)?),
                        _ => return None,
                    });
                }
                rows.0[view].push(cells);
            }
        }
        Some(rows)
    }
}
