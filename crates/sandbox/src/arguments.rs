//! Arguments: from a JSON object to typed values, with refusals that name the argument and what it wants.

use crate::compiled::{Compiled, CompiledArgument, CompiledTool, Given, Part};
use benchwright_base::{FieldId, Json, RowId, TableId, Value, nearest};
use benchwright_expr::{Type, walk::Operand};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::{Argument, Domain, Setting, codec};
use smallvec::SmallVec;

/// The largest argument text that is read, in bytes: room for a document of 2 MiB with its escapes. A wire may read less.
pub const LARGEST_ARGUMENTS: usize = 4 << 20;
/// The most items a list argument may have.
pub(crate) const LONGEST_LIST: usize = 1000;

/// Reads the text of a call's arguments; no text means no arguments.
pub(crate) fn parse(text: &str) -> Result<Json<'_>, Refusal> {
    let bad = |message: String| Refusal::new(RefusalCode::InvalidArgument, message);
    if text.len() > LARGEST_ARGUMENTS {
        return Err(bad(format!("the arguments have {} bytes; at most {LARGEST_ARGUMENTS} are read", text.len())));
    }
    if !text.starts_with('{') && text.trim().is_empty() {
        return Ok(Json::Object(Vec::new()));
    }
    match Json::parse(text) {
        Ok(json @ Json::Object(_)) => Ok(json),
        Ok(other) => Err(bad(format!("the arguments must be a JSON object, not {}", other.kind()))),
        Err(error) => Err(bad(format!("the arguments are not JSON: {error}"))),
    }
}

/// Sorts the arguments of an object into the places of a tool.
pub(crate) fn place<'a>(tool: &CompiledTool, json: &'a Json<'a>) -> Result<Given<'a>, Refusal> {
    let mut values = SmallVec::from_elem(None, tool.arguments.len());
    let Json::Object(entries) = json else { return Ok(Given { values }) };
    // Arguments mostly come in the order of the schema, so the search goes on where it ended.
    let mut next = 0;
    for (name, value) in entries {
        let named = |argument: &CompiledArgument| *argument.name == **name;
        let (before, after) = tool.arguments.split_at(next);
        let found = after.iter().position(named).map(|at| at + next).or_else(|| before.iter().position(named));
        match found {
            Some(at) => {
                values[at] = Some(value);
                next = at + 1;
            }
            None => {
                let names = tool.arguments.iter().map(|argument| &*argument.name);
                let help = match (nearest(name, names.clone()), tool.arguments.is_empty()) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, true) => "the tool takes none".to_owned(),
                    (None, false) => format!("the tool takes {}", names.collect::<Vec<_>>().join(", ")),
                };
                return Err(Refusal::argument(name, format!("is not an argument of this tool; {help}")));
            }
        }
    }
    for (argument, value) in tool.arguments.iter().zip(&values) {
        if argument.required && value.is_none() {
            return Err(Refusal::argument(&argument.name, "is required"));
        }
    }
    Ok(Given { values })
}

impl<'a> Given<'a> {
    /// The argument for a part, if it was given, with its name.
    pub(crate) fn part<'t>(&self, tool: &'t CompiledTool, part: Part) -> Option<(&'t str, &'a Json<'a>)> {
        let at = tool.arguments.iter().position(|argument| argument.part == part)?;
        self.values[at].map(|value| (&*tool.arguments[at].name, value))
    }

    /// The row id that was given.
    pub(crate) fn id(&self, tool: &CompiledTool, domain: &Domain, table: TableId) -> Result<RowId, Refusal> {
        let Some((name, json)) = self.part(tool, Part::Id) else { return Err(Refusal::argument("id", "is required")) };
        match value(domain, name, Type::Ref(table), false, None, json)? {
            Value::Ref(id) => Ok(id),
            _ => Err(Refusal::argument(name, "is required")),
        }
    }

    /// The fields to write: fixed ones, and those that were given.
    pub(crate) fn settings(
        &self,
        tool: &CompiledTool,
        domain: &Domain,
        table: TableId,
        set: &[Setting],
    ) -> Result<Vec<(FieldId, Value)>, Refusal> {
        let mut settings = Vec::with_capacity(set.len());
        for (at, setting) in set.iter().enumerate() {
            if let Some(fixed) = &setting.fixed {
                settings.push((setting.field, fixed.clone()));
            } else if let Some(place) = tool.set_arguments[at]
                && let Some(json) = self.values[place]
            {
                let field = domain.table(table).field(setting.field);
                // Bounds are checked with the row as a whole.
                let value = value(domain, &field.name, field.ty, field.nullable, None, json)?;
                settings.push((setting.field, value));
            }
        }
        Ok(settings)
    }
}

/// One typed value.
pub(crate) fn value(
    domain: &Domain,
    name: &str,
    ty: Type,
    nullable: bool,
    bounds: Option<(i64, i64)>,
    json: &Json<'_>,
) -> Result<Value, Refusal> {
    // Most arguments are whole numbers within their bounds.
    if let (Type::Int, Json::Int(n)) = (ty, json)
        && bounds.is_none_or(|(low, high)| (low..=high).contains(n))
    {
        return Ok(Value::Int(*n));
    }
    let value = codec::read_value(domain, ty, json).map_err(|error| Refusal::argument(name, error))?;
    if value.is_null() && !nullable {
        return Err(Refusal::argument(name, "may not be null"));
    }
    if !crate::sabotage::on(crate::sabotage::Sabotage::SkipBounds) {
        codec::check_bounds(&value, bounds).map_err(|error| Refusal::argument(name, error))?;
    }
    Ok(value)
}

/// The items of a list argument.
pub(crate) fn list<'j, 'a>(name: &str, json: &'j Json<'a>) -> Result<&'j [Json<'a>], Refusal> {
    match json {
        Json::List(items) if items.len() > LONGEST_LIST => {
            Err(Refusal::argument(name, format!("has {} items; at most {LONGEST_LIST} are taken", items.len())))
        }
        Json::List(items) => Ok(items),
        other => Err(Refusal::argument(name, format!("wants a list, got {}", other.kind()))),
    }
}

/// Checks that an argument is a list of objects. The limit of all arguments is the limit of how many.
pub(crate) fn objects(name: &str, json: &Json<'_>) -> Result<(), Refusal> {
    let Json::List(items) = json else {
        return Err(Refusal::argument(name, format!("wants a list, got {}", json.kind())));
    };
    match items.iter().find(|item| !matches!(item, Json::Object(_))) {
        Some(other) => Err(Refusal::argument(name, format!("wants a list of objects, got {}", other.kind()))),
        None => Ok(()),
    }
}

/// The values of child rows given as a list of objects.
pub(crate) fn children(
    compiled: &Compiled,
    table: TableId,
    set: &[Setting],
    name: &str,
    json: &Json<'_>,
) -> Result<Vec<Vec<(FieldId, Value)>>, Refusal> {
    let declared = compiled.domain.table(table);
    let mut rows = Vec::new();
    for item in list(name, json)? {
        let Json::Object(entries) = item else {
            return Err(Refusal::argument(name, format!("wants a list of objects, got {}", item.kind())));
        };
        let mut row = Vec::new();
        for (key, json) in entries {
            let setting = set.iter().find(|s| s.fixed.is_none() && declared.field(s.field).name == **key);
            let Some(setting) = setting else {
                let names = set.iter().filter(|s| s.fixed.is_none()).map(|s| &*declared.field(s.field).name);
                let near = nearest(key, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                return Err(Refusal::argument(name, format!("has an item with `{key}`, which it does not take{near}")));
            };
            let field = declared.field(setting.field);
            let place = format!("{name}.{key}");
            row.push((setting.field, value(&compiled.domain, &place, field.ty, field.nullable, field.bounds, json)?));
        }
        for setting in set {
            if let Some(fixed) = &setting.fixed {
                row.push((setting.field, fixed.clone()));
            } else if setting.required && !row.iter().any(|(field, _)| *field == setting.field) {
                let key = &declared.field(setting.field).name;
                return Err(Refusal::argument(name, format!("has an item without `{key}`, which is required")));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The values of an argument of a native tool: one, or all of a list.
pub(crate) fn native(domain: &Domain, argument: &Argument, json: &Json<'_>) -> Result<Operand<Value>, Refusal> {
    let cell = &argument.cell;
    let one = |json: &Json<'_>| value(domain, &cell.name, cell.ty, cell.nullable, cell.bounds, json);
    if argument.list {
        let items = list(&cell.name, json)?;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(one(item)?);
        }
        return Ok(Operand::Many(values));
    }
    one(json).map(Operand::One)
}

/// Checks an argument of a native tool that is a text.
pub(crate) fn text(argument: &Argument, text: &str) -> Result<(), Refusal> {
    if crate::sabotage::on(crate::sabotage::Sabotage::SkipBounds) {
        return Ok(());
    }
    codec::check_text(text, argument.cell.bounds).map_err(|error| Refusal::argument(&argument.cell.name, error))
}
