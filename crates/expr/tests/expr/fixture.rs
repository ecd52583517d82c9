//! A small help desk: its names, its records now and before, its facts and sets.

use benchwright_base::{Date, DateTime, EnumId, FactId, FieldId, RelationId, RowId, SetId, Time, Value};
use benchwright_expr::eval::{Facts, Judge, Records, passes};
use benchwright_expr::walk::Test;
use benchwright_expr::{Expr, FactSignature, FieldInfo, Names, Scope, Type, check_truth, check_value};
use std::{collections::BTreeMap, ops::ControlFlow};

pub(crate) const USER: RelationId = RelationId(0);
pub(crate) const TEAM: RelationId = RelationId(1);
pub(crate) const MEMBER: RelationId = RelationId(2);
pub(crate) const CASE: RelationId = RelationId(3);
pub(crate) const ARTICLE: RelationId = RelationId(4);
pub(crate) const SHIFT: RelationId = RelationId(5);

pub(crate) const STATE: Type = Type::Enum(EnumId(1));

const ENUMS: [(&str, &[&str]); 6] = [
    ("Role", &["admin", "agent", "customer"]),
    ("State", &["new", "open", "pending", "closed", "escalated"]),
    ("Priority", &["critical", "high", "moderate", "low"]),
    ("Level", &["strong", "medium", "weak"]),
    ("ArticleState", &["draft", "published", "retired"]),
    ("Day", &["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]),
];

const RELATIONS: [(&str, &[(&str, Type)]); 6] = [
    (
        "user",
        &[
            ("id", Type::Ref(USER)),
            ("name", Type::Text),
            ("email", Type::Text),
            ("role", Type::Enum(EnumId(0))),
            ("active", Type::Bool),
            ("manager", Type::Ref(USER)),
        ],
    ),
    ("team", &[("id", Type::Ref(TEAM)), ("name", Type::Text), ("lead", Type::Ref(USER)), ("parent", Type::Ref(TEAM))]),
    (
        "member",
        &[("id", Type::Ref(MEMBER)), ("team", Type::Ref(TEAM)), ("user", Type::Ref(USER)), ("since", Type::Date)],
    ),
    (
        "case",
        &[
            ("id", Type::Ref(CASE)),
            ("title", Type::Text),
            ("state", STATE),
            ("priority", Type::Enum(EnumId(2))),
            ("impact", Type::Enum(EnumId(3))),
            ("urgency", Type::Enum(EnumId(3))),
            ("team", Type::Ref(TEAM)),
            ("assignee", Type::Ref(USER)),
            ("opened", Type::DateTime),
            ("due", Type::Date),
            ("cost", Type::Money),
            ("weight", Type::Quantity),
            ("visits", Type::Int),
            ("escalated", Type::Bool),
            ("minutes", Type::Int),
            ("starts", Type::DateTime),
            ("ends", Type::DateTime),
            ("spent", Type::Duration),
        ],
    ),
    (
        "article",
        &[
            ("id", Type::Ref(ARTICLE)),
            ("case", Type::Ref(CASE)),
            ("title", Type::Text),
            ("state", Type::Enum(EnumId(4))),
            ("author", Type::Ref(USER)),
        ],
    ),
    (
        "shift",
        &[
            ("id", Type::Ref(SHIFT)),
            ("user", Type::Ref(USER)),
            ("weekday", Type::Enum(EnumId(5))),
            ("opens", Type::Time),
            ("closes", Type::Time),
        ],
    ),
];

/// The names of the help desk.
pub(crate) struct HelpDesk;

impl Names for HelpDesk {
    fn relation(&self, name: &str) -> Option<RelationId> {
        RELATIONS.iter().position(|(known, _)| *known == name).map(|at| RelationId(at as u16))
    }
    fn relation_name(&self, relation: RelationId) -> &str {
        RELATIONS[relation.index()].0
    }
    fn relation_names(&self) -> Vec<&str> {
        RELATIONS.iter().map(|(name, _)| *name).collect()
    }
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo> {
        let fields = RELATIONS[relation.index()].1;
        let at = fields.iter().position(|(known, _)| *known == name)?;
        Some(FieldInfo { id: FieldId(at as u16), ty: fields[at].1, nullable: at > 0 })
    }
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str {
        RELATIONS[relation.index()].1[field.index()].0
    }
    fn field_names(&self, relation: RelationId) -> Vec<&str> {
        RELATIONS[relation.index()].1.iter().map(|(name, _)| *name).collect()
    }
    fn enum_name(&self, id: EnumId) -> &str {
        ENUMS[id.index()].0
    }
    fn enum_words(&self, id: EnumId) -> Vec<&str> {
        ENUMS[id.index()].1.to_vec()
    }
    fn actor(&self) -> Option<RelationId> {
        Some(USER)
    }
    fn fact(&self, name: &str) -> Option<FactSignature> {
        let (id, arguments, value) = match name {
            "target" => (0, vec![Type::Ref(TEAM), Type::Enum(EnumId(2))], Type::Int),
            "fee" => (1, vec![Type::Money], Type::Money),
            "horizon" => (2, vec![], Type::Int),
            _ => return None,
        };
        Some(FactSignature { id: FactId(id), arguments, value })
    }
    fn fact_names(&self) -> Vec<&str> {
        vec!["target", "fee", "horizon"]
    }
    fn set(&self, name: &str) -> Option<(SetId, Type)> {
        match name {
            "desks" => Some((SetId(0), Type::Ref(TEAM))),
            "limits" => Some((SetId(1), Type::Int)),
            _ => None,
        }
    }
    fn set_names(&self) -> Vec<&str> {
        vec!["desks", "limits"]
    }
}

impl Facts for HelpDesk {
    fn fact(&self, fact: FactId, arguments: &[Value]) -> Value {
        match (fact.0, arguments) {
            (0, [Value::Ref(team), Value::Enum(priority)]) => Value::Int(i64::from(*team) * 10 + i64::from(*priority)),
            (1, [Value::Money(money)]) => Value::Money(money * 2),
            (2, []) => Value::Int(7),
            _ => Value::Null,
        }
    }
    fn member(&self, set: SetId, at: usize) -> Option<Value> {
        match set.0 {
            0 => [1, 2].get(at).copied().map(Value::Ref),
            _ => [1, 2, 5].get(at).copied().map(Value::Int),
        }
    }
}

/// Rows by relation and id.
#[derive(Clone, Default)]
pub(crate) struct Store(pub(crate) BTreeMap<(RelationId, RowId), Vec<Value>>);

impl Records for Store {
    type Row = (RelationId, RowId);

    fn row(&self, relation: RelationId, id: RowId) -> Option<Self::Row> {
        self.0.contains_key(&(relation, id)).then_some((relation, id))
    }
    fn field(&self, row: &Self::Row, field: FieldId) -> Value {
        self.0[row][field.index()].clone()
    }
    fn select(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        each: &mut dyn FnMut(Self::Row) -> ControlFlow<()>,
    ) {
        let rows = self.0.keys().filter(|(of, _)| *of == relation);
        let _ = rows.filter(|row| tests.iter().all(|test| passes(self, row, test))).try_for_each(|row| each(*row));
    }
}

/// A value of a type as it would stand in a file; `-` for null.
fn read(text: &str, ty: Type) -> Value {
    if text == "-" {
        return Value::Null;
    }
    match ty {
        Type::Bool => Value::Bool(text == "true"),
        Type::Int => Value::Int(text.parse().unwrap()),
        Type::Money => Value::Money(text.parse().unwrap()),
        Type::Quantity => Value::Quantity(text.parse().unwrap()),
        Type::Text => Value::text(text),
        Type::Date => Value::Date(Date::parse(text).unwrap()),
        Type::DateTime => Value::DateTime(DateTime::parse(text).unwrap()),
        Type::Time => Value::Time(Time::parse(text).unwrap()),
        Type::Duration => Value::Duration(text.parse().unwrap()),
        Type::Enum(id) => Value::Enum(ENUMS[id.index()].1.iter().position(|word| *word == text).unwrap() as u16),
        Type::Ref(_) => Value::Ref(text.parse().unwrap()),
        Type::Months | Type::Null => Value::Null,
    }
}

const ROWS: [(RelationId, &str); 18] = [
    (USER, "1|Ada|ada@desk.example|admin|true|-"),
    (USER, "2|Ben|ben@desk.example|agent|true|1"),
    (USER, "3|Cyd|cyd@else.example|agent|false|2"),
    (USER, "4|Dan|-|customer|true|-"),
    (TEAM, "1|Support|1|-"),
    (TEAM, "2|Night|2|1"),
    (TEAM, "3|Weekend|2|2"),
    (MEMBER, "1|1|1|2020-01-01"),
    (MEMBER, "2|1|2|2021-06-01"),
    (MEMBER, "3|2|3|2022-12-31"),
    (
        CASE,
        "1|Printer on fire|open|moderate|strong|medium|1|2|2026-03-02T09:30:00Z|2026-03-10|1250|1500|3|true|90|2026-03-02T10:00:00Z|2026-03-02T12:00:00Z|7200",
    ),
    (
        CASE,
        "2|Lost key|new|low|weak|weak|-|-|2026-01-31T23:59:59Z|-|0|-|0|false|0|2026-03-02T11:00:00Z|2026-03-02T13:00:00Z|0",
    ),
    (
        CASE,
        "3|Bill's bill|closed|low|weak|strong|2|3|2026-02-10T08:00:00Z|2026-02-01|9999|20000|1|-|30|2026-03-02T12:00:00Z|2026-03-02T14:00:00Z|60",
    ),
    (ARTICLE, "1|1|How to|published|2"),
    (ARTICLE, "2|1|Draft|draft|1"),
    (ARTICLE, "3|3|Old|retired|-"),
    (SHIFT, "1|2|monday|09:00|17:00"),
    (SHIFT, "2|1|sunday|10:00|12:00"),
];

/// The records now.
pub(crate) fn store() -> Store {
    let mut store = Store::default();
    for (relation, row) in ROWS {
        let types = RELATIONS[relation.index()].1;
        let values: Vec<Value> = row.split('|').zip(types).map(|(text, (_, ty))| read(text, *ty)).collect();
        assert_eq!(values.len(), types.len(), "{row}");
        store.0.insert((relation, values[0].as_ref_id().unwrap()), values);
    }
    store
}

/// The records before: case 1 was new and unassigned, case 2 was not there, Ben was inactive.
pub(crate) fn store_before() -> Store {
    let mut store = store();
    let case = store.0.get_mut(&(CASE, 1)).unwrap();
    (case[2], case[7]) = (Value::Enum(0), Value::Null);
    store.0.get_mut(&(USER, 2)).unwrap()[4] = Value::Bool(false);
    store.0.remove(&(CASE, 2));
    store
}

pub(crate) fn now() -> DateTime {
    DateTime::parse("2026-03-05T12:00:00Z").unwrap()
}

/// The scope of a rule on cases.
pub(crate) const ON_CASE: Scope<'static> = Scope { subject: Some(CASE), given: &[], it: None };

fn with_judge<T>(case: Option<RowId>, deleted: bool, read: impl FnOnce(&Judge<'_, Store>) -> T) -> T {
    let (world, before) = (store(), store_before());
    let mut judge = Judge::new(if deleted { &before } else { &world }, now());
    judge.before = &before;
    judge.subject = case.map(|id| (CASE, id));
    judge.subject_before = case.filter(|id| *id != 2).map(|id| (CASE, id));
    judge.deleted = deleted;
    judge.actor = Some((USER, 2));
    judge.facts = &HelpDesk;
    read(&judge)
}

/// Checks a condition on cases.
pub(crate) fn truth(text: &str) -> Expr {
    check_truth(text, &HelpDesk, ON_CASE).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
}

/// Whether a condition holds of a case; 0 for no row.
pub(crate) fn holds(case: RowId, text: &str) -> bool {
    let subject = (case > 0).then_some(CASE);
    let expr = check_truth(text, &HelpDesk, Scope { subject, ..Scope::default() })
        .unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    with_judge(subject.map(|_| case), false, |judge| judge.holds(&expr))
}

/// Whether a condition holds of a case that was deleted.
pub(crate) fn holds_deleted(case: RowId, text: &str) -> bool {
    with_judge(Some(case), true, |judge| judge.holds(&truth(text)))
}

/// A value and its type for a case.
pub(crate) fn value(case: RowId, text: &str, expected: Option<Type>) -> (Value, Type) {
    let (expr, ty) =
        check_value(text, &HelpDesk, ON_CASE, expected).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    (with_judge(Some(case), false, |judge| judge.value(&expr)), ty)
}

/// The ids of the rows that a source yields for a case.
pub(crate) fn rows(case: RowId, text: &str) -> Vec<RowId> {
    let source = benchwright_expr::check_source(text, &HelpDesk, ON_CASE).unwrap_or_else(|f| panic!("{text}: {f:?}"));
    with_judge(Some(case), false, |judge| judge.rows(&source).into_iter().map(|(_, id)| id).collect())
}
