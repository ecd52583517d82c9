//! What an expression about a row reads besides that row, and the way back: from a row that it reads to the rows of which it
//! may come to something else once that row has changed.
//!
//! A rule over a pair can be broken from either side. "An event has no more guests than its room has seats" is about events,
//! and a new guest or a smaller room breaks it just as well. Who keeps rules asks here which relations a rule reads, and from
//! a changed row follows [`Read::back`] to the events concerned. The way back never leads past a row that is concerned; it may
//! lead to rows that are not, which costs time and nothing else.

use crate::{Binder, Compare, Expr, Path, Source, TestOp};
use benchwright_base::{FieldId, RelationId, Value};

/// A place where an expression reads rows of a relation.
#[derive(Clone, PartialEq, Debug)]
pub struct Read {
    /// Whose rows.
    pub relation: RelationId,
    /// The fields that are read. A row that comes or goes counts whatever is read of it.
    pub fields: Vec<FieldId>,
    /// Tests of single fields with constants: a row that does not pass them all is not read here.
    pub only: Vec<(FieldId, TestOp, Vec<Value>)>,
    /// The way from such a row to the rows that the expression is about.
    pub back: Vec<Back>,
}

/// A step of the way back, from a row to rows.
#[derive(Clone, PartialEq, Debug)]
pub enum Back {
    /// To the rows of a relation that hold in a field what is reached from here.
    Holding {
        /// What is reached from here; the row itself if the path is empty.
        value: Path,
        /// The relation of the rows that it leads to.
        relation: RelationId,
        /// The field that holds it; the id if the value is the row.
        field: FieldId,
    },
    /// To this row and all from which following a field again and again leads here.
    Below {
        /// The relation that the field refers from and to.
        relation: RelationId,
        /// The field.
        field: FieldId,
    },
    /// To every row of a relation, because nothing ties this row to some of them.
    All(RelationId),
}

/// The expression for a row that nothing has written: it was there, it is there, and it was what it is.
pub fn untouched(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    // `visit_mut` goes from the leaves up, so what a connective joins is as small as it gets when its turn comes.
    expr.visit_mut(&mut |expr| {
        let known = |of: &Expr| match of {
            Expr::Truth(known) => Some(*known),
            _ => None,
        };
        let smaller = match expr {
            Expr::Created | Expr::Deleted | Expr::Changed(_) => Some(Expr::Truth(false)),
            // Further along the path are other rows, which may have changed.
            Expr::Old(path) if path.len() <= 1 => Some(Expr::Field(0, path.clone())),
            Expr::Not(of) => known(of).map(|known| Expr::Truth(!known)),
            Expr::Implies(a, b) => match (known(a), known(b)) {
                (Some(false), _) | (_, Some(true)) => Some(Expr::Truth(true)),
                (Some(true), _) => Some((**b).clone()),
                _ => None,
            },
            Expr::And(list) | Expr::Or(list) if list.iter().any(|of| known(of).is_some()) => {
                let all = matches!(expr, Expr::And(_));
                let (Expr::And(list) | Expr::Or(list)) = expr else { return };
                if list.iter().any(|of| known(of) == Some(!all)) {
                    Some(Expr::Truth(!all))
                } else {
                    list.retain(|of| known(of).is_none());
                    match list.len() {
                        0 => Some(Expr::Truth(all)),
                        1 => list.pop(),
                        _ => None,
                    }
                }
            }
            _ => None,
        };
        if let Some(smaller) = smaller {
            *expr = smaller;
        }
    });
    expr
}

/// Everything that an expression about a row of `subject` reads of other rows. `cost` says how dear it is to find the rows of a
/// relation by the value of a field: of several ways back the cheapest is taken.
pub fn reads(expr: &Expr, subject: RelationId, cost: &dyn Fn(RelationId, FieldId) -> u32) -> Vec<Read> {
    let own = Place { relation: subject, only: Vec::new(), back: Vec::new() };
    let mut reader = Reader { subject, cost, env: vec![Some(own)], found: Vec::new() };
    reader.expr(expr);
    reader.found
}

/// Where a row stands that is bound to a slot, or reached from one.
#[derive(Clone)]
struct Place {
    relation: RelationId,
    only: Vec<(FieldId, TestOp, Vec<Value>)>,
    /// Nothing for the row under judgement itself.
    back: Vec<Back>,
}

impl Place {
    /// Where a reference leads from here.
    fn next(&self, field: FieldId, relation: RelationId) -> Place {
        let here = Back::Holding { value: Path::new(), relation: self.relation, field };
        let back = std::iter::once(here).chain(self.back.iter().cloned()).collect();
        Place { relation, only: Vec::new(), back }
    }
}

struct Reader<'c> {
    subject: RelationId,
    cost: &'c dyn Fn(RelationId, FieldId) -> u32,
    /// What each slot is bound to; members of sets and numbers are no rows.
    env: Vec<Option<Place>>,
    found: Vec<Read>,
}

impl Reader<'_> {
    /// Notes that rows at a place are read, and one of their fields.
    fn note(&mut self, place: &Place, field: Option<FieldId>) {
        // What is read of the row under judgement itself is judged with it.
        if place.back.is_empty() {
            return;
        }
        let same = |read: &Read| read.relation == place.relation && read.back == place.back && read.only == place.only;
        let at = match self.found.iter().position(same) {
            Some(at) => at,
            None => {
                let (only, back) = (place.only.clone(), place.back.clone());
                self.found.push(Read { relation: place.relation, fields: Vec::new(), only, back });
                self.found.len() - 1
            }
        };
        if let Some(field) = field
            && !self.found[at].fields.contains(&field)
        {
            self.found[at].fields.push(field);
        }
    }

    /// Notes what a path reads, and gives the place that its last field is read at.
    fn path(&mut self, from: &Place, path: &Path) -> Place {
        let mut place = from.clone();
        for (at, (_, field)) in path.iter().enumerate() {
            self.note(&place, Some(*field));
            if let Some((next, _)) = path.get(at + 1) {
                place = place.next(*field, *next);
            }
        }
        place
    }

    /// A row among those of a source, with what ties it to the row under judgement.
    fn element(&mut self, source: &Source) -> Option<Place> {
        let Source::Rows { relation, tests } = source else { return None };
        let mut only = Vec::new();
        let mut ways: Vec<Vec<Back>> = Vec::new();
        for (path, op, values) in tests {
            values.iter().for_each(|value| self.expr(value));
            let constant = |value: &Expr| match value {
                Expr::Literal(value, _) => Some(value.clone()),
                _ => None,
            };
            if let ([(_, field)], Some(values)) = (&path[..], values.iter().map(constant).collect::<Option<Vec<_>>>()) {
                only.push((*field, *op, values));
            }
            if let (TestOp::Compare(Compare::Eq), [value]) = (op, &values[..]) {
                ways.extend(self.way(path, value));
            }
        }
        let dear = |way: &Vec<Back>| -> u32 { way.iter().map(|step| self.cost_of(step)).sum() };
        let best = ways.into_iter().min_by_key(dear);
        let back = best.unwrap_or_else(|| vec![Back::All(self.subject)]);
        let place = Place { relation: *relation, only, back };
        self.note(&place, None);
        for (path, ..) in tests {
            self.path(&place, path);
        }
        Some(place)
    }

    fn cost_of(&self, step: &Back) -> u32 {
        match step {
            Back::Holding { relation, field, value } => (self.cost)(*relation, *field) + value.len() as u32,
            Back::Below { relation, field } => 10 * (self.cost)(*relation, *field),
            Back::All(_) => u32::MAX / 16,
        }
    }

    /// The way back by a test that compares what a path reaches from a row with what is known of an outer one.
    fn way(&self, path: &Path, value: &Expr) -> Option<Vec<Back>> {
        let (slot, to) = match value {
            Expr::Field(slot, to) => (*slot, &to[..]),
            Expr::Var(slot) => (*slot, &[][..]),
            _ => return None,
        };
        let mut place = self.env.get(slot)?.clone()?;
        let mut field = FieldId::ID;
        for (at, (_, step)) in to.iter().enumerate() {
            field = *step;
            if let Some((next, _)) = to.get(at + 1) {
                place = place.next(field, *next);
            }
        }
        let first = Back::Holding { value: path.clone(), relation: place.relation, field };
        Some(std::iter::once(first).chain(place.back).collect())
    }

    fn binders(&mut self, binders: &[Binder]) {
        for binder in binders {
            let place = self.element(&binder.source);
            self.env.push(place);
            if let Some(condition) = &binder.condition {
                self.expr(condition);
            }
        }
    }

    /// What somebody reads of the person who acts may concern every row.
    fn actor(&mut self, path: &Path) {
        if let Some((relation, _)) = path.first() {
            let place = Place { relation: *relation, only: Vec::new(), back: vec![Back::All(self.subject)] };
            self.path(&place, path);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Field(slot, path) => {
                if let Some(Some(place)) = self.env.get(*slot).cloned() {
                    self.path(&place, path);
                }
            }
            Expr::Actor(path) => self.actor(path),
            Expr::Lookup { source, path } => {
                if let Some(place) = self.element(source) {
                    self.path(&place, path);
                }
            }
            Expr::Fold(fold) => {
                let outside = self.env.len();
                self.binders(&fold.binders);
                fold.body.iter().for_each(|body| self.expr(body));
                self.env.truncate(outside);
                if let Some(outer) = &fold.outer {
                    self.expr(outer);
                }
            }
            Expr::InAncestors(row, start, field) => {
                self.expr(row);
                self.expr(start);
                self.ancestors(start, *field);
            }
            Expr::Literal(..)
            | Expr::Var(_)
            // What was before the call stays what it was.
            | Expr::Old(_)
            | Expr::Now
            | Expr::Today
            | Expr::Truth(_)
            | Expr::Created
            | Expr::Deleted
            | Expr::Changed(_) => {}
            Expr::Add(a, b)
            | Expr::Sub(a, b)
            | Expr::Mul(a, b)
            | Expr::Compare(_, a, b)
            | Expr::Text(_, a, b)
            | Expr::Implies(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Expr::Span(a, _) | Expr::Holds(a) | Expr::IsNull(a) | Expr::Not(a) => self.expr(a),
            Expr::Call(_, list) | Expr::Fact(_, list) | Expr::And(list) | Expr::Or(list) => {
                list.iter().for_each(|e| self.expr(e));
            }
            Expr::In(a, list) => {
                self.expr(a);
                list.iter().for_each(|e| self.expr(e));
            }
        }
    }

    /// The rows above the one that a path names: each reads the field that leads further up.
    fn ancestors(&mut self, start: &Expr, field: FieldId) {
        let place = match start {
            Expr::Field(slot, path) => {
                let place = self.env.get(*slot).cloned().flatten();
                place.zip(path.last().copied()).map(|(place, last)| (self.path(&place, path), last))
            }
            _ => None,
        };
        let relation = place.as_ref().map_or(self.subject, |(_, (relation, _))| *relation);
        let back = match place {
            Some((place, (_, last))) => {
                let named = Back::Holding { value: Path::new(), relation: place.relation, field: last };
                [Back::Below { relation, field }, named].into_iter().chain(place.back).collect()
            }
            None => vec![Back::All(self.subject)],
        };
        self.note(&Place { relation, only: Vec::new(), back }, Some(field));
    }
}
