//! Plays a script that knows nothing but what it reads. Every row that an answer shows is kept; names are found among those rows by
//! expressions of the domain's language, and arguments are expressions over names. So a script holds no id of a world, and whoever
//! plays it can do no more than an agent with the same answers.

use crate::{Episode, ReplayError, written};
use benchwright_base::{FieldId, Json, RelationId, RowId, TableId, Value};
use benchwright_expr::{
    Expr, Given, GivenType, Scope, Source, Type, check_value,
    eval::{GivenValue, Judge, Records, passes},
    walk::Test,
};
use benchwright_pack::{Find, FindPick, Refusal, Script, ScriptError, Step};
use benchwright_schema::{
    Domain, Tool, Verb, codec,
    ways::{self, Form},
};
use serde_json::{Map, Value as SerdeJson};
use std::{collections::BTreeMap, ops::ControlFlow};

/// A row by its table and id.
pub type Key = (TableId, RowId);

/// What a name stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum Known {
    /// A row, or none.
    Row(TableId, Option<RowId>),
    /// Rows.
    Rows(TableId, Vec<RowId>),
    /// A value.
    Value(Type, Value),
}

/// Why something could not be worked out from what was read, in words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SeenError(pub String);

/// The rows that answers have shown, cell by cell. What was not shown is null.
pub struct Seen<'d> {
    domain: &'d Domain,
    rows: BTreeMap<Key, Vec<Value>>,
    names: Vec<(String, Known)>,
    /// The row of whoever plays, once it was found.
    actor: Option<Key>,
    now: benchwright_base::DateTime,
}

/// The name under which whoever plays finds its own row.
pub const ACTOR: &str = "actor";

impl Records for Seen<'_> {
    type Row = Key;

    fn row(&self, relation: RelationId, id: RowId) -> Option<Key> {
        self.rows.contains_key(&(relation, id)).then_some((relation, id))
    }

    fn field(&self, row: &Key, field: FieldId) -> Value {
        match field {
            FieldId::ID => Value::Ref(row.1),
            _ => self.rows.get(row).and_then(|cells| cells.get(field.index())).cloned().unwrap_or_default(),
        }
    }

    fn select(&self, relation: RelationId, tests: &[Test<'_, Value>], each: &mut dyn FnMut(Key) -> ControlFlow<()>) {
        let rows = self.rows.range((relation, 0)..=(relation, RowId::MAX)).map(|(key, _)| *key);
        let _ = rows.filter(|row| tests.iter().all(|test| passes(self, row, test))).try_for_each(each);
    }
}

impl<'d> Seen<'d> {
    /// Nothing has been read yet.
    pub fn new(domain: &'d Domain, now: benchwright_base::DateTime) -> Seen<'d> {
        Seen { domain, rows: BTreeMap::new(), names: Vec::new(), actor: None, now }
    }

    /// What a name stands for.
    pub fn known(&self, name: &str) -> Option<&Known> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, known)| known)
    }

    /// Whether a row was shown.
    pub fn has(&self, table: TableId, row: RowId) -> bool {
        self.rows.contains_key(&(table, row))
    }

    /// Gives a name to something; whatever it stood for before is forgotten.
    pub fn name(&mut self, name: &str, known: Known) {
        if let (ACTOR, Known::Row(table, row)) = (name, &known) {
            self.actor = row.map(|row| (*table, row));
            return;
        }
        self.names.retain(|(other, _)| other != name);
        self.names.push((name.to_owned(), known));
    }

    /// Gives a name to a value that is written as in snapshots; false if it is none of its type.
    pub fn give(&mut self, name: &str, ty: &str, value: &SerdeJson) -> bool {
        let Some(ty) = type_named(self.domain, ty) else { return false };
        let text = value.to_string();
        let Some(value) = Json::parse(&text).ok().and_then(|json| codec::read_value(self.domain, ty, &json).ok())
        else {
            return false;
        };
        self.name(name, Known::Value(ty, value));
        true
    }

    /// Keeps the rows of an answer.
    pub fn note(&mut self, tool: &Tool, answer: &str) -> Result<Vec<Key>, SeenError> {
        let json = Json::parse(answer).map_err(|error| SeenError(error.to_string()))?;
        let mut found = Vec::new();
        let native = tool.native.as_ref();
        let of_native = native.and_then(|native| {
            native.gives.iter().find(|cell| cell.name == "id").and_then(|cell| match cell.ty {
                Type::Ref(table) => Some(table),
                _ => None,
            })
        });
        let Some(table) = tool.table.or(of_native) else { return Ok(found) };
        let list = match &json {
            Json::Object(_) if matches!(json.get("rows"), Some(Json::List(_))) => json.get("rows"),
            _ => Some(&json),
        };
        match list {
            Some(Json::List(items)) => found.extend(items.iter().filter_map(|item| self.keep(table, tool, item))),
            Some(one) => {
                found.extend(self.keep(table, tool, one));
                for child in &tool.with {
                    let name = &self.domain.table(child.table).name;
                    let own = name.rsplit('.').next().unwrap_or(name);
                    if let Some(Json::List(items)) = one.get(own).or_else(|| one.get(name)) {
                        for item in items {
                            self.keep(child.table, tool, item);
                        }
                    }
                }
            }
            None => {}
        }
        Ok(found)
    }

    fn keep(&mut self, table: TableId, tool: &Tool, item: &Json<'_>) -> Option<Key> {
        let domain = self.domain;
        let declared = domain.table(table);
        let id = match item.get("id")? {
            Json::Int(id) => RowId::try_from(*id).ok()?,
            _ => return None,
        };
        let cells = self.rows.entry((table, id)).or_insert_with(|| vec![Value::Null; declared.fields.len()]);
        for (at, field) in declared.fields.iter().enumerate() {
            if let Some(value) = item.get(&field.name).and_then(|json| codec::read_value(domain, field.ty, json).ok()) {
                cells[at] = value;
            }
        }
        cells[0] = Value::Ref(id);
        let cells = cells.clone();
        // What is shown of a referenced row is a cell of that row.
        for shown in tool.show.iter().filter(|_| tool.table == Some(table)) {
            let [(_, by), (to, field)] = shown.path[..] else { continue };
            let (Some(other), Some(json)) = (cells[by.index()].as_ref_id(), item.get(&shown.name)) else { continue };
            let fields = domain.table(to).fields.len();
            let row = self.rows.entry((to, other)).or_insert_with(|| vec![Value::Null; fields]);
            row[0] = Value::Ref(other);
            if let Ok(value) = codec::read_value(domain, shown.ty, json) {
                row[field.index()] = value;
            }
        }
        Some((table, id))
    }

    fn given(&self) -> (Vec<Given<'_>>, Vec<GivenValue<Key>>) {
        let mut names = Vec::with_capacity(self.names.len());
        let mut values = Vec::with_capacity(self.names.len());
        for (name, known) in &self.names {
            let (is, value) = match known {
                Known::Row(table, Some(row)) => (GivenType::Row(*table), GivenValue::Row((*table, *row))),
                Known::Row(table, None) => (GivenType::Row(*table), GivenValue::Value(Value::Null)),
                Known::Rows(table, rows) => {
                    let rows = rows.iter().map(|row| (*table, *row)).collect();
                    (GivenType::Rows(*table), GivenValue::Rows(rows))
                }
                Known::Value(ty, value) => (GivenType::Value(*ty), GivenValue::Value(value.clone())),
            };
            names.push(Given { name, is });
            values.push(value);
        }
        (names, values)
    }

    /// What an expression over names comes to, with its type. Of a type that is expected where one is.
    pub fn value(&self, text: &str, expected: Option<Type>, it: Option<Key>) -> Result<(Value, Type), SeenError> {
        let (names, values) = self.given();
        let scope = Scope { given: &names, it: it.map(|(table, _)| table), ..Scope::default() };
        let (expr, ty) = check_value(text, self.domain, scope, expected).map_err(|faults| told(text, &faults))?;
        Ok((self.evaluate(&expr, &values, it), ty))
    }

    fn evaluate(&self, expr: &Expr, given: &[GivenValue<Key>], it: Option<Key>) -> Value {
        let mut judge = self.judge(given);
        judge.it = it;
        judge.value(expr)
    }

    /// The rows of `t(…) where …` among those that were shown.
    pub fn rows(&self, text: &str) -> Result<(TableId, Vec<RowId>), SeenError> {
        let (names, values) = self.given();
        let scope = Scope { given: &names, ..Scope::default() };
        let (source, condition, table) =
            ways::rows_of(text, self.domain, scope).map_err(|faults| told(text, &faults))?;
        Ok((table, self.passing(&source, condition.as_ref(), &values)))
    }

    fn passing(&self, source: &Source, condition: Option<&Expr>, given: &[GivenValue<Key>]) -> Vec<RowId> {
        let rows = self.judge(given).rows(source);
        let holds = |row: &Key| {
            let Some(condition) = condition else { return true };
            let mut judge = self.judge(given);
            judge.it = Some(*row);
            judge.holds(condition)
        };
        rows.into_iter().filter(holds).map(|(_, id)| id).collect()
    }

    fn judge<'j>(&'j self, given: &'j [GivenValue<Key>]) -> Judge<'j, Seen<'d>> {
        let mut judge = Judge::new(self, self.now);
        judge.given = given;
        judge.actor = self.actor;
        judge
    }

    /// Finds something out, under its name.
    pub fn find(&mut self, find: &Find) -> Result<(), SeenError> {
        if find.pick == FindPick::Value {
            let (value, ty) = self.value(&find.of, None, None)?;
            let known = match ty {
                Type::Ref(table) => Known::Row(table, value.as_ref_id()),
                ty => Known::Value(ty, value),
            };
            self.name(&find.name, known);
            return Ok(());
        }
        let (table, mut rows) = self.rows(&find.of)?;
        if let Some(by) = &find.by {
            let mut keyed = Vec::new();
            for row in rows {
                keyed.push((self.value(by, None, Some((table, row)))?.0, row));
            }
            keyed.sort_by(
                |(a, x), (b, y)| if find.pick == FindPick::Last { (b, x).cmp(&(a, y)) } else { (a, x).cmp(&(b, y)) },
            );
            rows = keyed.into_iter().map(|(_, row)| row).collect();
        }
        let known = match (find.pick, find.count) {
            (FindPick::The, _) if rows.len() > 1 => {
                return Err(SeenError(format!("{} rows are `{}`: {}", rows.len(), find.name, find.of)));
            }
            (FindPick::All, _) => Known::Rows(table, rows),
            (FindPick::First | FindPick::Last, Some(count)) => {
                rows.truncate(count as usize);
                Known::Rows(table, rows)
            }
            _ => Known::Row(table, rows.first().copied()),
        };
        self.name(&find.name, known);
        Ok(())
    }

    /// Arguments of a tool with every expression worked out, each as the type that the tool takes.
    pub fn fill(&self, tool: &Tool, args: &SerdeJson, it: Option<Key>) -> Result<SerdeJson, SeenError> {
        let SerdeJson::Object(map) = args else { return self.filled(args, None, it) };
        let filled = map.iter().map(|(key, value)| {
            let ty = argument_type(self.domain, tool, key);
            Ok((key.clone(), self.filled(value, ty, it)?))
        });
        filled.collect::<Result<Map<_, _>, SeenError>>().map(SerdeJson::Object)
    }

    fn filled(&self, args: &SerdeJson, expected: Option<Type>, it: Option<Key>) -> Result<SerdeJson, SeenError> {
        match args {
            SerdeJson::Object(map) => {
                if let (1, Some(SerdeJson::String(text))) = (map.len(), map.get("$")) {
                    let (value, ty) = self.value(text, expected, it)?;
                    return Ok(self.json(ty, &value));
                }
                let form = map.iter().next().filter(|_| map.len() == 1).map(|(key, value)| (&**key, value));
                match form {
                    Some(("$text", SerdeJson::Array(parts))) => {
                        let texts: Result<String, SeenError> = parts.iter().map(|part| self.text(part, it)).collect();
                        return texts.map(SerdeJson::String);
                    }
                    Some(("$show", SerdeJson::Array(parts))) => return self.show(parts, it).map(SerdeJson::String),
                    Some(("$each", SerdeJson::Array(parts))) => return self.each(parts).map(SerdeJson::Array),
                    Some(("$list", SerdeJson::Array(parts))) => {
                        let text = |json: SerdeJson| match json {
                            SerdeJson::String(text) => text,
                            other => other.to_string(),
                        };
                        let items: Vec<String> = self.each(parts)?.into_iter().map(text).collect();
                        return Ok(SerdeJson::String(items.join(", ")));
                    }
                    _ => {}
                }
                let filled = map.iter().map(|(key, value)| Ok((key.clone(), self.filled(value, None, it)?)));
                filled.collect::<Result<Map<_, _>, SeenError>>().map(SerdeJson::Object)
            }
            SerdeJson::Array(list) => {
                let mut whole = Vec::with_capacity(list.len());
                for value in list {
                    // What is said for each row of a set goes into the list one by one.
                    let each = value.as_object().filter(|map| map.len() == 1 && map.contains_key("$each"));
                    match (each, self.filled(value, expected, it)?) {
                        (Some(_), SerdeJson::Array(items)) => whole.extend(items),
                        (_, item) => whole.push(item),
                    }
                }
                Ok(SerdeJson::Array(whole))
            }
            other => Ok(other.clone()),
        }
    }

    /// A piece of a text.
    fn text(&self, part: &SerdeJson, it: Option<Key>) -> Result<String, SeenError> {
        match part {
            SerdeJson::String(plain) => Ok(plain.clone()),
            other => match self.filled(other, None, it)? {
                SerdeJson::String(more) => Ok(more),
                other => Ok(other.to_string()),
            },
        }
    }

    /// `[expression, form]` as people write it; `[set, form, expression]` where the form is of several, each of which is `it`.
    fn show(&self, parts: &[SerdeJson], it: Option<Key>) -> Result<String, SeenError> {
        let words: Option<Vec<&str>> = parts.iter().map(SerdeJson::as_str).collect();
        let wrong = || SeenError("`$show` takes an expression and a form".to_owned());
        match words.as_deref() {
            Some([text, form]) => {
                let (value, ty) = self.value(text, None, it)?;
                Ok(written::value(self.domain, ty, &value, Form::named(form).unwrap_or_default()))
            }
            Some([set, form, text]) => {
                let (table, rows) = self.set(set)?;
                if Form::named(form) == Some(Form::Count) {
                    return Ok(written::count(rows.len()));
                }
                let mut items = Vec::new();
                for row in rows {
                    let (value, ty) = self.value(text, None, Some((table, *row)))?;
                    items.push(written::value(self.domain, ty, &value, Form::Plain));
                }
                Ok(written::list(&items))
            }
            _ => Err(wrong()),
        }
    }

    /// The rows that a name stands for.
    fn set(&self, name: &str) -> Result<(TableId, &[RowId]), SeenError> {
        match self.known(name) {
            Some(Known::Rows(table, rows)) => Ok((*table, rows)),
            _ => Err(SeenError(format!("`{name}` is no set"))),
        }
    }

    /// `[name, expression]`: what the expression, in which each row is `it`, comes to for the rows of a name; each value once. In the
    /// place of the expression may stand an object with expressions in it, which is made for every row.
    fn each(&self, parts: &[SerdeJson]) -> Result<Vec<SerdeJson>, SeenError> {
        let [SerdeJson::String(name), each] = parts else {
            return Err(SeenError("`$each` takes a name and an expression".to_owned()));
        };
        let (table, rows) = self.set(name)?;
        let mut list: Vec<SerdeJson> = Vec::new();
        for row in rows {
            let it = Some((table, *row));
            let SerdeJson::String(text) = each else {
                list.push(self.filled(each, None, it)?);
                continue;
            };
            let (value, ty) = self.value(text, None, it)?;
            let json = self.json(ty, &value);
            if !list.contains(&json) {
                list.push(json);
            }
        }
        Ok(list)
    }

    fn json(&self, ty: Type, value: &Value) -> SerdeJson {
        let mut bytes = Vec::new();
        codec::write_value(&mut bytes, self.domain, ty, value);
        serde_json::from_slice(&bytes).unwrap_or_default()
    }
}

fn told(text: &str, faults: &[benchwright_expr::Fault]) -> SeenError {
    let first = faults.first().map_or("", |fault| &fault.message);
    SeenError(format!("`{text}`: {first}"))
}

/// The type of an argument of a tool, where it has one of its own.
fn argument_type(domain: &Domain, tool: &Tool, name: &str) -> Option<Type> {
    if let Some(native) = &tool.native {
        return native.takes.iter().find(|argument| argument.cell.name == name).map(|argument| argument.cell.ty);
    }
    let table = domain.table(tool.table?);
    let own = [Some(name), name.strip_suffix("_from"), name.strip_suffix("_to")];
    let field = own.into_iter().flatten().find_map(|name| table.field_named(name))?;
    Some(table.field(field).ty)
}

/// A type by its name in the notation of fields.
pub fn type_named(domain: &Domain, name: &str) -> Option<Type> {
    const SCALARS: [(&str, Type); 9] = [
        ("bool", Type::Bool),
        ("int", Type::Int),
        ("money", Type::Money),
        ("quantity", Type::Quantity),
        ("text", Type::Text),
        ("date", Type::Date),
        ("datetime", Type::DateTime),
        ("time", Type::Time),
        ("duration", Type::Duration),
    ];
    if let Some((_, ty)) = SCALARS.iter().find(|(known, _)| *known == name) {
        return Some(*ty);
    }
    let at = domain.enums.iter().position(|known| known.name == name)?;
    Some(Type::Enum(benchwright_base::EnumId(at as u16)))
}

/// The name of a type in that notation; nothing for a reference.
pub fn type_name(domain: &Domain, ty: Type) -> Option<String> {
    Some(match ty {
        Type::Bool => "bool".to_owned(),
        Type::Int => "int".to_owned(),
        Type::Money => "money".to_owned(),
        Type::Quantity => "quantity".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Date => "date".to_owned(),
        Type::DateTime => "datetime".to_owned(),
        Type::Time => "time".to_owned(),
        Type::Duration => "duration".to_owned(),
        Type::Enum(id) => domain.enums[id.index()].name.clone(),
        Type::Months | Type::Ref(_) | Type::Null => return None,
    })
}

/// Plays a script with nothing but what it reads. Gives how many calls were made.
pub fn play(script: &Script, episode: &mut dyn Episode) -> Result<usize, ReplayError> {
    let mut calls = 0;
    play_with(script, episode, &mut |_, _, _| calls += 1)?;
    Ok(calls)
}

/// The same, telling every call as it is made, with its step, tool and arguments.
pub fn play_with(
    script: &Script,
    episode: &mut dyn Episode,
    each: &mut dyn FnMut(usize, &str, &SerdeJson),
) -> Result<(), ReplayError> {
    let wrong = |at: usize, why: String| ReplayError::Script { at, why: ScriptError::Unbound(why) };
    let Some(domain) = episode.domain().cloned() else {
        return Err(wrong(0, "this world has no declarations to read by".to_owned()));
    };
    let mut seen = begin(script, &domain, episode.now()).map_err(|error| wrong(0, error.0))?;
    for (at, step) in script.steps.iter().enumerate() {
        step_with(&mut seen, at, step, &mut |tool, arguments| episode.call(tool, arguments), each)?;
    }
    Ok(())
}

/// Makes a call: the tool, its arguments as JSON.
pub type CallFn<'c> = dyn FnMut(&str, &str) -> Result<String, Refusal> + 'c;

/// Begins to play a script: what the request gives is known.
pub fn begin<'d>(script: &Script, domain: &'d Domain, now: benchwright_base::DateTime) -> Result<Seen<'d>, SeenError> {
    let mut seen = Seen::new(domain, now);
    for fact in &script.given {
        if !seen.give(&fact.name, &fact.ty, &fact.value) {
            return Err(SeenError(format!("{} is no {}", fact.name, fact.ty)));
        }
    }
    Ok(seen)
}

/// Makes the calls of one step.
pub fn step_with(
    seen: &mut Seen<'_>,
    at: usize,
    step: &Step,
    call: &mut CallFn<'_>,
    each: &mut dyn FnMut(usize, &str, &SerdeJson),
) -> Result<(), ReplayError> {
    let wrong = |why: String| ReplayError::Script { at, why: ScriptError::Unbound(why) };
    let name = step.tool();
    let domain = seen.domain;
    let Some(tool) = domain.tool_named(&name).map(|tool| &domain.tools[tool]) else {
        return Err(wrong(format!("the domain has no tool `{name}`")));
    };
    let rows: Vec<Option<Key>> = match &step.each {
        None => vec![None],
        Some(set) => match seen.known(set) {
            Some(Known::Rows(table, rows)) => rows.iter().map(|row| Some((*table, *row))).collect(),
            Some(Known::Row(table, row)) => row.iter().map(|row| Some((*table, *row))).collect(),
            _ => return Err(wrong(format!("`{set}` is no set"))),
        },
    };
    for it in rows {
        let mut args = seen.fill(tool, &step.args, it).map_err(|error| wrong(error.0))?;
        let mut made = Vec::new();
        // A list is read to its end.
        loop {
            each(at, &name, &args);
            let answer = call(&name, &args.to_string()).map_err(|refusal| ReplayError::Refused {
                at,
                tool: name.clone(),
                refusal,
            })?;
            made.extend(seen.note(tool, &answer).map_err(|why| ReplayError::Answer { at, why: why.0 })?);
            let cursor = next_cursor(tool, &answer);
            match (cursor, &mut args) {
                (Some(cursor), SerdeJson::Object(map)) => {
                    map.insert("cursor".to_owned(), SerdeJson::String(cursor));
                }
                _ => break,
            }
        }
        if let Some(bind) = &step.bind {
            let Some((table, row)) = made.first() else {
                return Err(wrong(format!("the answer of {name} has no row")));
            };
            seen.name(bind, Known::Row(*table, Some(*row)));
        }
    }
    for find in &step.finds {
        seen.find(find).map_err(|error| wrong(error.0))?;
    }
    Ok(())
}

/// Where the next page of a list begins.
fn next_cursor(tool: &Tool, answer: &str) -> Option<String> {
    if !matches!(tool.verb, Verb::Find | Verb::List) {
        return None;
    }
    match Json::parse(answer).ok()?.get("next_cursor")? {
        Json::Text(cursor) => Some(cursor.to_string()),
        _ => None,
    }
}
