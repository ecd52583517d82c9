//! Calls by somebody who knows everything: legal ones, made from the tool's declaration and the rows that are there, and illegal
//! ones, made by spoiling a legal one.

use benchwright_base::{Date, DateTime, FieldId, RowId, Stream, TableId, Time, Value, date::DAY};
use benchwright_expr::Type;
use benchwright_schema::{DerivedKind, Domain, Field, FilterKind, Setting, Shape, Tool, Verb, codec};
use serde_json::{Map, Value as Any, json};

/// Texts that have broken programs before.
const NASTY: [&str; 14] = [
    "' OR 1=1; DROP TABLE user; --",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "../../../../etc/passwd",
    "\u{0}\u{1}\u{7f}",
    "\u{202e}evil\u{2066}",
    "𝕌𝕟𝕚𝕔𝕠𝕕𝕖 e\u{301} ﬁ İ ß",
    "\"}],\"x\":[{\"",
    "<script>alert(1)</script>",
    "null",
    "-1",
    "%s%s%s%n",
    "NaN",
    "\\u0000\\\\\\\"",
    "",
];

/// A state as a caller sees it: every row, and the clock.
pub trait Rows {
    /// What is declared.
    fn domain(&self) -> &Domain;
    /// The time.
    fn now(&self) -> DateTime;
    /// How many rows a table has.
    fn count(&self, table: TableId) -> usize;
    /// The cells of one of them, in the order of their ids.
    fn cells(&self, table: TableId, nth: usize) -> Option<Vec<Value>>;
}

/// Makes random calls of a domain's tools, the same for the same seed.
pub struct Caller {
    stream: Stream,
    fresh: u64,
}

/// A call to make.
#[derive(Clone, Debug)]
pub struct RandomCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments, as the text of a JSON object or of what should have been one.
    pub arguments: String,
    /// Whether it was made to be legal (it may still be refused by a rule).
    pub legal: bool,
}

impl Caller {
    /// The caller of a seed.
    pub fn new(seed: u64, key: &str) -> Caller {
        Caller { stream: Stream::new(seed, &["calls", key]), fresh: seed.wrapping_mul(1_000_003) % 1_000_000_000 }
    }

    /// Its stream, for other choices of a test.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// A call of a tool in a state.
    pub fn call(&mut self, state: &dyn Rows, tool: &Tool) -> RandomCall {
        let arguments = self.legal(state, tool);
        if self.stream.chance(7, 10) {
            return RandomCall { tool: tool.name.clone(), arguments: Any::Object(arguments).to_string(), legal: true };
        }
        let arguments = self.spoil(arguments);
        RandomCall { tool: tool.name.clone(), arguments, legal: false }
    }

    fn legal(&mut self, state: &dyn Rows, tool: &Tool) -> Map<String, Any> {
        let domain = state.domain();
        let mut arguments = Map::new();
        if let Some(native) = &tool.native {
            for argument in &native.takes {
                if argument.required || self.stream.chance(1, 2) {
                    let cell = &argument.cell;
                    let count = if argument.list { 1 + self.stream.below(3) } else { 1 };
                    let one = |caller: &mut Caller| match argument.shape {
                        Shape::Value => caller.value(state, cell.ty, cell.bounds, &cell.name, false),
                        shape => caller.record_argument(state, shape),
                    };
                    let values: Vec<Any> = (0..count).map(|_| one(self)).collect();
                    let value = if argument.list { Any::Array(values) } else { values[0].clone() };
                    arguments.insert(cell.name.clone(), value);
                }
            }
        }
        let Some(table) = tool.table else { return arguments };
        let declared = domain.table(table);
        // The row that keys and filters are taken from, so that they find something.
        let row: Option<Vec<Value>> = self.some_row(state, table);
        let cell = |field: FieldId| {
            let value = row.as_ref().map(|cells| cells[field.index()].clone()).unwrap_or_default();
            (!value.is_null()).then(|| shown(domain, declared.field(field).ty, &value))
        };
        if matches!(tool.verb, Verb::Get | Verb::Update | Verb::Delete) && tool.by.is_empty() {
            let id = row.as_ref().and_then(|cells| cells[0].as_ref_id()).unwrap_or(1);
            arguments.insert("id".into(), json!(id));
        }
        for filter in &tool.by {
            let field = declared.field(filter.field);
            let found = cell(filter.field).filter(|_| self.stream.chance(4, 5));
            match filter.kind {
                FilterKind::Is | FilterKind::Contains if filter.required || self.stream.chance(1, 4) => {
                    let value = match found {
                        Some(value) => value,
                        None => self.value(state, field.ty, field.bounds, &field.name, false),
                    };
                    let value = match (&value, filter.kind) {
                        (Any::String(text), FilterKind::Contains) => json!(text.chars().take(3).collect::<String>()),
                        _ => value,
                    };
                    arguments.insert(field.name.clone(), value);
                }
                FilterKind::Range => {
                    for end in ["from", "to"] {
                        if filter.required || self.stream.chance(1, 4) {
                            let value = self.value(state, field.ty, None, &field.name, false);
                            arguments.insert(format!("{}_{end}", field.name), value);
                        }
                    }
                }
                _ => {}
            }
        }
        let creating = matches!(tool.verb, Verb::Create | Verb::Link | Verb::Send);
        self.settings(state, table, &tool.set, if creating { None } else { row.as_deref() }, &mut arguments);
        for child in &tool.with {
            if self.stream.chance(1, 2) {
                let items = (0..self.stream.below(3))
                    .map(|_| {
                        let mut item = Map::new();
                        self.settings(state, child.table, &child.set, None, &mut item);
                        Any::Object(item)
                    })
                    .collect();
                arguments.insert(domain.table(child.table).own_name().to_owned(), Any::Array(items));
            }
        }
        if matches!(tool.verb, Verb::Find | Verb::List) {
            if self.stream.chance(1, 4) {
                let field = &declared.fields[self.stream.below(declared.fields.len() as u64) as usize];
                let sign = if self.stream.chance(1, 2) { "-" } else { "" };
                arguments.insert("sort".into(), json!(format!("{sign}{}", field.name)));
            }
            if self.stream.chance(1, 3) {
                arguments.insert("limit".into(), json!(self.stream.between(1, 200)));
            }
        }
        arguments
    }

    /// An argument of a record call.
    fn record_argument(&mut self, state: &dyn Rows, shape: Shape) -> Any {
        let domain = state.domain();
        match shape {
            Shape::Value | Shape::Json => json!({}),
            Shape::Scalar => json!(1),
            Shape::New(table) => self.vals(state, table, true, true),
            Shape::Vals(table) => self.vals(state, table, false, true),
            Shape::Fields(table) => {
                let names: Vec<&str> = domain.table(table).field_names().collect();
                json!((0..3).filter_map(|_| self.stream.pick(&names)).collect::<Vec<_>>())
            }
            Shape::Domain(table) => {
                let declared = domain.table(table);
                let field = &declared.fields[self.stream.below(declared.fields.len() as u64) as usize];
                let value = self.plain(state, field);
                let operator = *self.stream.pick(&["=", "!=", "in", "not in", "ilike"]).unwrap_or(&"=");
                let value = if operator.ends_with("in") { json!([value]) } else { value };
                match self.stream.below(4) {
                    0 => json!([]),
                    1 => json!(["|", [field.name, operator, value], ["id", ">", 3]]),
                    2 => json!(["!", ["id", "=", self.stream.below(9)]]),
                    _ => json!([[field.name, operator, value]]),
                }
            }
        }
    }

    /// An object of fields of a row, with commands on rows that belong to it.
    fn vals(&mut self, state: &dyn Rows, table: TableId, is_new: bool, deep: bool) -> Any {
        let domain = state.domain();
        let declared = domain.table(table);
        let mut vals = Map::new();
        for (at, field) in declared.fields.iter().enumerate().filter(|(_, field)| field.stamp.is_none()) {
            let must = is_new && !field.nullable && field.default.is_none();
            if must || self.stream.chance(1, 6) {
                let unique = declared.keys.iter().any(|key| key.fields == [FieldId(at as u16)]);
                let text = field.ty == Type::Text && (unique || must);
                let value = if text {
                    self.value(state, field.ty, field.bounds, &field.name, true)
                } else {
                    self.plain(state, field)
                };
                vals.insert(field.name.clone(), value);
            }
        }
        for derived in declared.derived.iter().filter(|_| deep) {
            let commands = match derived.kind {
                DerivedKind::Children { table, .. } if self.stream.chance(1, 4) => {
                    json!([[0, 0, self.vals(state, table, true, false)]])
                }
                DerivedKind::Linked { table, .. } if self.stream.chance(1, 4) => {
                    let row = self.some_row(state, table).and_then(|cells| cells[0].as_ref_id());
                    json!([[6, 0, row.into_iter().collect::<Vec<_>>()]])
                }
                _ => continue,
            };
            vals.insert(derived.name.clone(), commands);
        }
        Any::Object(vals)
    }

    /// A value of a field in the form of record calls.
    fn plain(&mut self, state: &dyn Rows, field: &Field) -> Any {
        if field.nullable && self.stream.chance(1, 6) {
            return Any::Bool(false);
        }
        let value = self.value(state, field.ty, field.bounds, &field.name, false);
        match (field.ty, &value) {
            (Type::DateTime, Any::String(text)) => json!(text.trim_end_matches('Z').replace('T', " ")),
            _ => value,
        }
    }

    fn settings(
        &mut self,
        state: &dyn Rows,
        table: TableId,
        set: &[Setting],
        row: Option<&[Value]>,
        arguments: &mut Map<String, Any>,
    ) {
        let declared = state.domain().table(table);
        let open: Vec<&Setting> = set.iter().filter(|setting| setting.fixed.is_none()).collect();
        // An update changes one to three fields; a create gives what it must and some more.
        let wanted =
            if row.is_some() && !open.is_empty() { self.stream.below(open.len() as u64) as usize } else { usize::MAX };
        for (at, setting) in open.iter().enumerate() {
            let field = declared.field(setting.field);
            let chosen =
                if row.is_some() { at == wanted || self.stream.chance(1, 8) } else { self.stream.chance(1, 3) };
            if setting.required || chosen {
                let value = self.field_value(state, table, setting.field, field, row);
                arguments.insert(field.name.clone(), value);
            }
        }
    }

    fn field_value(
        &mut self,
        state: &dyn Rows,
        table: TableId,
        id: FieldId,
        field: &Field,
        row: Option<&[Value]>,
    ) -> Any {
        let domain = state.domain();
        if field.nullable && self.stream.chance(1, 6) {
            return Any::Null;
        }
        if let Some(lifecycle) = domain.table(table).lifecycle(id)
            && self.stream.chance(4, 5)
        {
            let next = match row.map(|cells| &cells[id.index()]) {
                Some(Value::Enum(word)) => &lifecycle.next[*word as usize],
                _ => &lifecycle.start,
            };
            if let Some(word) = self.stream.pick(next) {
                return shown(domain, field.ty, &Value::Enum(*word));
            }
        }
        // A secret must be told apart from what stands elsewhere by chance.
        let unique = field.secret || domain.table(table).keys.iter().any(|key| key.fields == [id]);
        // What another row holds is often what rules want.
        if !unique && self.stream.chance(1, 4) {
            let value = self.some_row(state, table).map(|cells| cells[id.index()].clone()).unwrap_or_default();
            if !value.is_null() {
                return shown(domain, field.ty, &value);
            }
        }
        self.value(state, field.ty, field.bounds, &field.name, unique)
    }

    /// A value of a type.
    fn value(&mut self, state: &dyn Rows, ty: Type, bounds: Option<(i64, i64)>, name: &str, unique: bool) -> Any {
        let domain = state.domain();
        let (low, high) = bounds.unwrap_or((0, 1000));
        let number = |stream: &mut Stream| match stream.below(6) {
            0 => low,
            1 => low.saturating_add(10_000).min(high),
            _ => stream.between(low, high.min(low.saturating_add(500))),
        };
        let day = |stream: &mut Stream| Date(state.now().date().0 + stream.between(-400, 400) as i32);
        let value = match ty {
            Type::Bool => Value::Bool(self.stream.chance(1, 2)),
            Type::Int | Type::Months => Value::Int(number(&mut self.stream)),
            Type::Money => Value::Money(number(&mut self.stream)),
            Type::Quantity => Value::Quantity(number(&mut self.stream)),
            Type::Duration => Value::Duration(number(&mut self.stream)),
            Type::Date => Value::Date(day(&mut self.stream)),
            Type::DateTime => {
                let seconds = i64::from(day(&mut self.stream).0) * DAY + self.stream.between(0, DAY - 1);
                Value::DateTime(DateTime(seconds))
            }
            Type::Time => Value::Time(Time(self.stream.between(0, DAY - 1) as i32)),
            Type::Enum(id) => Value::Enum(self.stream.below(domain.enums[id.index()].words.len() as u64) as u16),
            Type::Ref(to) => Value::Ref(self.some_row(state, to).and_then(|cells| cells[0].as_ref_id()).unwrap_or(1)),
            Type::Text | Type::Null => {
                let (low, high) = bounds.unwrap_or((0, 60));
                self.fresh += 1;
                let text = match self.stream.below(8) {
                    0 if !unique => (*self.stream.pick(&NASTY).unwrap_or(&"")).to_owned(),
                    _ if unique || self.stream.chance(1, 2) => format!("{name} {}", self.fresh),
                    _ => format!("{name} of some kind or other {}", self.stream.below(50)),
                };
                Value::text(crate::fitted(text, low.max(0) as usize, high.clamp(0, 200) as usize))
            }
        };
        shown(domain, ty, &value)
    }

    fn some_row(&mut self, state: &dyn Rows, table: TableId) -> Option<Vec<Value>> {
        let rows = state.count(table) as u64;
        let at = match self.stream.below(4) {
            // New rows are the interesting ones to change and delete.
            0 => rows.saturating_sub(1 + self.stream.below(5)),
            _ => self.stream.below(rows),
        };
        state.cells(table, at as usize)
    }

    /// Spoils legal arguments in one way.
    fn spoil(&mut self, mut arguments: Map<String, Any>) -> String {
        let names: Vec<String> = arguments.keys().cloned().collect();
        self.fresh += 1;
        let name = self.stream.pick(&names).cloned().unwrap_or_else(|| "nothing".into());
        let wrong: Any = match self.stream.below(12) {
            0 => {
                return ["{", "[]", "null", "\"x\"", "{\"a\":1,\"a\":2}", "nonsense"][self.stream.below(6) as usize]
                    .to_owned();
            }
            1 => {
                arguments.insert("no_such_argument".into(), json!(1));
                return Any::Object(arguments).to_string();
            }
            2 => {
                arguments.remove(&name);
                return Any::Object(arguments).to_string();
            }
            3 => Any::Null,
            4 => json!(4_000_000_000_u32 as RowId),
            5 => json!(format!("no_such_word_{}", self.fresh)),
            6 => json!([i64::MIN, -5, 1_000_000][self.stream.below(3) as usize]),
            7 => json!({"deep": [[[[[["x"]]]]]]}),
            8 => json!("x".repeat(70_000)),
            9 => json!(1.005),
            10 => {
                // Long texts are told apart, so that one in a secret field is not the same as one elsewhere.
                let nasty = *self.stream.pick(&NASTY).unwrap_or(&"");
                json!(if nasty.len() < 8 { nasty.to_owned() } else { format!("{nasty} {}", self.fresh) })
            }
            _ => json!([true]),
        };
        arguments.insert(name, wrong);
        Any::Object(arguments).to_string()
    }
}

/// A value as the JSON an agent would send.
fn shown(domain: &Domain, ty: Type, value: &Value) -> Any {
    let mut out = Vec::new();
    codec::write_value(&mut out, domain, ty, value);
    serde_json::from_slice(&out).unwrap_or(Any::Null)
}
