//! The record calls, generic over tables: create, write, unlink, read, search_read, search, search_count, fields_get. What
//! a model does beyond that hangs on the hooks at the end.

use super::{invoicing, present, production, purchasing, sales, search, stock, values};
use benchwright_base::{FieldId, Json, RowId, TableId, Value, nearest, number};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, RowView};
use benchwright_schema::{Derived, DerivedKind, Table, field_list};

/// A call of a tool.
pub(super) type Call<'c, 'd> = NativeCall<'c, 'd>;
/// What a tool answers.
pub(super) type Answer = Result<Gives, Refusal>;

/// The largest answer, in bytes; a larger one is refused, because a part of it would pass for the whole.
const LARGEST_ANSWER: usize = 1 << 20;

/// The tables whose rows refuse a change before all of it is looked at.
const LOOKS_FIRST: [&str; 5] =
    ["sale_order_line", "purchase_order_line", "account_move", "mrp_workorder", "stock_move"];

/// The values of a row by name, for code about one model.
pub(super) trait Read {
    /// A number in its smallest unit; nothing is 0.
    fn number(&self, field: &str) -> i64;
    /// The row that a field refers to.
    fn link(&self, field: &str) -> Option<RowId>;
    /// A boolean.
    fn flag(&self, field: &str) -> bool;
    /// A text; nothing is empty.
    fn words(&self, field: &str) -> String;
}

impl Read for RowView {
    fn number(&self, field: &str) -> i64 {
        self.get(field).as_number().unwrap_or_default()
    }
    fn link(&self, field: &str) -> Option<RowId> {
        self.get(field).as_ref_id()
    }
    fn flag(&self, field: &str) -> bool {
        self.get(field) == Value::Bool(true)
    }
    fn words(&self, field: &str) -> String {
        self.get(field).as_text().unwrap_or_default().to_owned()
    }
}

/// The fields of a row to be written.
pub(super) struct Cells {
    table: TableId,
    cells: Vec<(FieldId, Value)>,
}

impl Cells {
    /// A value that is to be written.
    pub(super) fn get(&self, call: &Call<'_, '_>, field: &str) -> Option<&Value> {
        let id = call.domain().table(self.table).field_named(field)?;
        self.cells.iter().find(|(field, _)| *field == id).map(|(_, value)| value)
    }

    /// Whether a value is to be written that is not null.
    pub(super) fn has(&self, call: &Call<'_, '_>, field: &str) -> bool {
        self.get(call, field).is_some_and(|value| !value.is_null())
    }

    /// The row that is to be referred to.
    pub(super) fn link(&self, call: &Call<'_, '_>, field: &str) -> Option<RowId> {
        self.get(call, field).and_then(Value::as_ref_id)
    }

    /// Sets a value, in place of one that is there.
    pub(super) fn set(&mut self, call: &Call<'_, '_>, field: &str, value: Value) -> Result<(), Refusal> {
        let id = call.field(self.table, field)?;
        self.cells.retain(|(field, _)| *field != id);
        self.cells.push((id, value));
        Ok(())
    }
}

/// What an object of values says: cells, and commands on rows that belong to the row.
struct Vals<'c, 'd> {
    cells: Cells,
    many: Vec<(&'d Derived, &'c Json<'c>)>,
    /// The first thing in it that cannot be read.
    fault: Option<Refusal>,
}

impl Vals<'_, '_> {
    /// The same, unless something in it cannot be read.
    fn faultless(mut self) -> Result<Self, Refusal> {
        self.fault.take().map_or(Ok(self), Err)
    }
}

/// A refusal because of the state of a record.
pub(super) fn wrong_state(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::TransitionNotAllowed, message)
}

/// A refusal of what Odoo does not let happen.
pub(super) fn cannot(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::RuleViolated, message)
}

/// The end of a call that writes: the clock moves on by a second.
pub(super) fn done(call: &mut Call<'_, '_>, answer: impl Into<Vec<u8>>) -> Answer {
    call.advance(1);
    Ok(Gives::Json(answer.into()))
}

/// The ids that a call names, each once, in order.
pub(super) fn ids(call: &Call<'_, '_>) -> Vec<RowId> {
    let mut ids: Vec<RowId> = Vec::new();
    for id in call.arguments("ids").iter().filter_map(Value::as_ref_id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// The name of a model as calls know it.
pub(super) fn model_name(table: &Table) -> &str {
    table.odoo.as_deref().unwrap_or(&table.name)
}

// ---------------------------------------------------------------- reading

/// `read`
pub(super) fn read(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let fields = present::fields(call, table, "fields")?;
    let mut out = vec![b'['];
    for id in ids(call) {
        if let Some(row) = call.find(table, id)? {
            if out.len() > 1 {
                out.push(b',');
            }
            present::write_row(&mut out, call, table, row, &fields)?;
        }
    }
    out.push(b']');
    bounded(out)
}

/// `search_read`
pub(super) fn search_read(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let fields = present::fields(call, table, "fields")?;
    let mut out = vec![b'['];
    for row in search::find(call, table)? {
        if out.len() > 1 {
            out.push(b',');
        }
        present::write_row(&mut out, call, table, row, &fields)?;
        if out.len() > LARGEST_ANSWER {
            break;
        }
    }
    out.push(b']');
    bounded(out)
}

fn bounded(out: Vec<u8>) -> Answer {
    if out.len() > LARGEST_ANSWER {
        return Err(Refusal::argument("limit", "is needed: the answer is too large; ask for fewer rows or fields"));
    }
    Ok(Gives::Json(out))
}

/// `search`
pub(super) fn search(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let mut out = Vec::new();
    values::write_ids(&mut out, search::find(call, table)?.iter().map(|row| row.id()));
    Ok(Gives::Json(out))
}

/// `search_count`
pub(super) fn search_count(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    Ok(Gives::Json(search::find(call, table)?.len().to_string().into_bytes()))
}

/// `fields_get`
pub(super) fn fields_get(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let wanted = call.raw("allfields").map(|_| present::fields(call, table, "allfields")).transpose()?;
    let asked = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|field| field.name() == name));
    let attribute = |name: &str| match call.raw("attributes") {
        Some(Json::List(list)) if !list.is_empty() => {
            list.iter().any(|wanted| matches!(wanted, Json::Text(text) if text == name))
        }
        _ => true,
    };
    let domain = call.domain();
    Ok(Gives::Json(field_list(domain, domain.table(table), &asked, &attribute)))
}

// ---------------------------------------------------------------- writing

/// `create`
pub(super) fn create(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let Some(Json::List(list)) = call.raw("vals_list") else {
        return Err(Refusal::argument("vals_list", "wants a list of objects"));
    };
    let mut made = Vec::with_capacity(list.len());
    for vals in list {
        let id = create_row(call, table, vals, "vals_list", None)?;
        if call.domain().table(table).name == "purchase_order_line" {
            purchasing::line_added(call, id)?;
        }
        made.push(id);
    }
    let mut out = Vec::new();
    values::write_ids(&mut out, made);
    done(call, out)
}

/// `write`
pub(super) fn write(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let Some(vals) = call.raw("vals") else { return Err(Refusal::argument("vals", "is required")) };
    for id in ids(call) {
        write_row(call, table, id, vals, "vals")?;
    }
    done(call, "true")
}

/// `unlink`
pub(super) fn unlink(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    for id in ids(call) {
        unlink_row(call, table, id)?;
    }
    done(call, "true")
}

/// Makes a row of an object of values; `parent` is the field by which it belongs to a row, and that row.
fn create_row<'c>(
    call: &mut Call<'c, '_>,
    table: TableId,
    vals: &'c Json<'c>,
    argument: &str,
    parent: Option<(FieldId, RowId)>,
) -> Result<RowId, Refusal> {
    let mut vals = read_vals(call, table, vals, argument)?.faultless()?;
    if let Some((field, id)) = parent {
        vals.cells.cells.retain(|(known, _)| *known != field);
        vals.cells.cells.push((field, Value::Ref(id)));
    }
    let given: Vec<&str> = vals.many.iter().map(|(derived, _)| &*derived.name).collect();
    if let Some(known) = before_create(call, table, &mut vals.cells)? {
        return Ok(known);
    }
    require_all(call, table, &vals.cells, argument)?;
    let id = call.insert(table, vals.cells.cells)?;
    for (derived, commands) in &vals.many {
        apply_commands(call, id, derived, commands)?;
    }
    after_create(call, table, id, &given)?;
    Ok(id)
}

/// What a new row must have is named before the row is made, so that the refusal speaks of the call.
fn require_all(call: &Call<'_, '_>, table: TableId, cells: &Cells, argument: &str) -> Result<(), Refusal> {
    let declared = call.domain().table(table);
    for (at, field) in declared.fields.iter().enumerate().skip(1) {
        let must = !field.nullable && field.default.is_none() && field.stamp.is_none();
        if must && !cells.cells.iter().any(|(id, value)| id.index() == at && !value.is_null()) {
            let message = format!("`{argument}` has no `{}` for {}", field.name, model_name(declared));
            return Err(cannot(message).about(argument));
        }
    }
    Ok(())
}

/// Changes a row by an object of values.
fn write_row<'c>(
    call: &mut Call<'c, '_>,
    table: TableId,
    id: RowId,
    vals: &'c Json<'c>,
    argument: &str,
) -> Result<(), Refusal> {
    let name = call.domain().table(table).name.as_str();
    let old = call.row(name, id)?;
    let mut vals = read_vals(call, table, vals, argument)?;
    if vals.fault.is_none() || LOOKS_FIRST.contains(&name) {
        before_write(call, table, id, &mut vals.cells)?;
    }
    let vals = vals.faultless()?;
    let declared = call.domain().table(table);
    for (field, value) in &vals.cells.cells {
        let field = declared.field(*field);
        if value.is_null() && !field.nullable {
            return Err(cannot(format!("`{argument}` may not take `{}` away", field.name)).about(argument));
        }
    }
    if !vals.cells.cells.is_empty() {
        call.change(table, id, vals.cells.cells.clone())?;
    }
    for (derived, commands) in &vals.many {
        apply_commands(call, id, derived, commands)?;
    }
    after_write(call, table, id, &old, &vals.cells)
}

/// Deletes a row, if its model lets it go.
fn unlink_row(call: &mut Call<'_, '_>, table: TableId, id: RowId) -> Result<(), Refusal> {
    let name = call.domain().table(table).name.as_str();
    let old = call.row(name, id)?;
    before_unlink(call, table, id)?;
    call.remove(table, id)?;
    if name == "purchase_order_line" { purchasing::line_gone(call, &old) } else { Ok(()) }
}

/// Reads an object of values. What cannot be read is kept as a fault, because some models refuse a change before they look at
/// all of it.
fn read_vals<'c, 'd>(
    call: &Call<'c, 'd>,
    table: TableId,
    vals: &'c Json<'c>,
    argument: &str,
) -> Result<Vals<'c, 'd>, Refusal> {
    let domain = call.domain();
    let declared = domain.table(table);
    let Json::Object(entries) = vals else {
        return Err(Refusal::argument(argument, format!("wants an object of values, got {}", vals.kind())));
    };
    let mut cells = Vec::with_capacity(entries.len() + 4);
    let (mut many, mut fault) = (Vec::new(), None);
    for (name, json) in entries {
        let wrong = match (declared.field_named(name), declared.derived_named(name)) {
            (Some(id), _) if declared.field(id).stamp.is_some() => {
                format!("which the system sets on {}", model_name(declared))
            }
            (Some(id), _) => match values::read(domain, declared.field(id).ty, json) {
                Ok(value) => {
                    cells.push((id, value));
                    continue;
                }
                Err(error) => format!("which {error}"),
            },
            (None, Some(derived)) => {
                if matches!(derived.kind, DerivedKind::Children { .. } | DerivedKind::Linked { .. }) {
                    many.push((derived, json));
                    continue;
                }
                format!("which is computed on {}", model_name(declared))
            }
            (None, None) => {
                let near = nearest(name, declared.field_names());
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("which is no field of {}{near}", model_name(declared))
            }
        };
        fault = fault.or_else(|| Some(Refusal::argument(argument, format!("has `{name}`, {wrong}"))));
    }
    Ok(Vals { cells: Cells { table, cells }, many, fault })
}

// ---------------------------------------------------------------- commands on rows that belong to a row

/// Carries out `[[0,0,{…}], [1,id,{…}], [2,id], [3,id], [4,id], [5], [6,0,[ids]]]`, or a plain list of ids.
fn apply_commands<'c>(
    call: &mut Call<'c, '_>,
    id: RowId,
    derived: &Derived,
    commands: &'c Json<'c>,
) -> Result<(), Refusal> {
    let name = &derived.name;
    let wrong = || Refusal::argument(name, "wants a list of commands such as [0,0,{…}] or [6,0,[ids]]");
    let list = match commands {
        Json::Bool(false) => return replace(call, id, derived.kind, &[]),
        Json::List(list) => list,
        _ => return Err(wrong()),
    };
    if list.len() > 1000 {
        return Err(Refusal::argument(name, "has more than 1000 commands"));
    }
    if !list.is_empty() && list.iter().all(|item| matches!(item, Json::Int(_))) {
        return replace(call, id, derived.kind, &read_ids(name, commands)?);
    }
    for command in list {
        let Json::List(parts) = command else { return Err(wrong()) };
        let target = |at: usize| match parts.get(at) {
            Some(Json::Int(n)) => u32::try_from(*n).ok().filter(|n| *n > 0).ok_or_else(wrong),
            _ => Err(wrong()),
        };
        match (parts.first(), derived.kind) {
            (Some(Json::Int(0)), DerivedKind::Children { table: child, field }) => {
                let vals = parts.get(2).ok_or_else(wrong)?;
                create_row(call, child, vals, name, Some((field, id)))?;
            }
            (Some(Json::Int(1)), DerivedKind::Children { table: child, field }) => {
                let row = target(1)?;
                belongs(call, child, field, row, id, name)?;
                write_row(call, child, row, parts.get(2).ok_or_else(wrong)?, name)?;
            }
            (Some(Json::Int(2)), DerivedKind::Children { table: child, field }) => {
                let row = target(1)?;
                belongs(call, child, field, row, id, name)?;
                unlink_row(call, child, row)?;
            }
            (Some(Json::Int(0..=2)), _) => {
                return Err(Refusal::argument(name, "takes only the commands 3, 4, 5 and 6: its rows are not its own"));
            }
            (Some(Json::Int(3)), kind) => cut(call, id, kind, target(1)?, name)?,
            (Some(Json::Int(4)), kind) => join(call, id, kind, target(1)?)?,
            (Some(Json::Int(5)), kind) => replace(call, id, kind, &[])?,
            (Some(Json::Int(6)), kind) => {
                let ids = read_ids(name, parts.get(2).ok_or_else(wrong)?)?;
                replace(call, id, kind, &ids)?;
            }
            _ => return Err(wrong()),
        }
    }
    Ok(())
}

fn read_ids(name: &str, json: &Json<'_>) -> Result<Vec<RowId>, Refusal> {
    let Json::List(items) = json else { return Err(Refusal::argument(name, "wants a list of ids")) };
    let id = |item: &Json<'_>| match item {
        Json::Int(n) => u32::try_from(*n).ok().filter(|n| *n > 0),
        _ => None,
    };
    items.iter().map(|item| id(item).ok_or_else(|| Refusal::argument(name, "wants a list of ids"))).collect()
}

fn belongs(
    call: &Call<'_, '_>,
    child: TableId,
    field: FieldId,
    row: RowId,
    parent: RowId,
    name: &str,
) -> Result<(), Refusal> {
    match call.find(child, row)? {
        Some(found) if found.get(field).as_ref_id() == Some(parent) => Ok(()),
        _ => Err(Refusal::new(RefusalCode::NotFound, format!("{row} is not among `{name}`")).about(name)),
    }
}

/// The rows that belong to a row now.
pub(super) fn members(call: &Call<'_, '_>, id: RowId, kind: DerivedKind) -> Result<Vec<RowId>, Refusal> {
    Ok(match kind {
        DerivedKind::Children { table, field } => {
            call.referring(table, field, id)?.into_iter().map(|row| row.id()).collect()
        }
        DerivedKind::Linked { link, from, to, .. } => {
            call.referring(link, from, id)?.into_iter().filter_map(|row| row.get(to).as_ref_id()).collect()
        }
        DerivedKind::Value(_) | DerivedKind::Rows(_) => Vec::new(),
    })
}

/// Makes a row belong to another.
fn join(call: &mut Call<'_, '_>, id: RowId, kind: DerivedKind, target: RowId) -> Result<(), Refusal> {
    if members(call, id, kind)?.contains(&target) {
        return Ok(());
    }
    match kind {
        DerivedKind::Children { table, field } => _ = call.change(table, target, vec![(field, Value::Ref(id))])?,
        DerivedKind::Linked { link, from, to, .. } => {
            call.insert(link, vec![(from, Value::Ref(id)), (to, Value::Ref(target))])?;
        }
        DerivedKind::Value(_) | DerivedKind::Rows(_) => {}
    }
    Ok(())
}

/// Makes a row belong to another no more; what cannot be without it is deleted.
fn cut(call: &mut Call<'_, '_>, id: RowId, kind: DerivedKind, target: RowId, name: &str) -> Result<(), Refusal> {
    match kind {
        DerivedKind::Children { table, field } => {
            belongs(call, table, field, target, id, name)?;
            if call.domain().table(table).field(field).nullable {
                call.change(table, target, vec![(field, Value::Null)])?;
            } else {
                unlink_row(call, table, target)?;
            }
        }
        DerivedKind::Linked { link, from, to, .. } => {
            let joints = call.referring(link, from, id)?;
            let joint = joints.into_iter().find(|row| row.get(to).as_ref_id() == Some(target)).map(|row| row.id());
            if let Some(joint) = joint {
                call.remove(link, joint)?;
            }
        }
        DerivedKind::Value(_) | DerivedKind::Rows(_) => {}
    }
    Ok(())
}

/// Makes exactly these rows belong to a row.
fn replace(call: &mut Call<'_, '_>, id: RowId, kind: DerivedKind, wanted: &[RowId]) -> Result<(), Refusal> {
    for member in members(call, id, kind)? {
        if !wanted.contains(&member) {
            cut(call, id, kind, member, "ids")?;
        }
    }
    wanted.iter().try_for_each(|target| join(call, id, kind, *target))
}

// ---------------------------------------------------------------- what models do beyond that

/// Fills in what a new row gets from other records. A row that is there already may stand for the new one.
fn before_create(call: &mut Call<'_, '_>, table: TableId, cells: &mut Cells) -> Result<Option<RowId>, Refusal> {
    match &*call.domain().table(table).name {
        "sale_order" => sales::fill_order(call, cells)?,
        "sale_order_line" => sales::fill_line(call, cells)?,
        "purchase_order" => purchasing::fill_order(call, cells)?,
        "purchase_order_line" => purchasing::fill_line(call, cells)?,
        "mrp_production" => production::fill(call, cells)?,
        "account_move" => invoicing::fill_entry(call, cells)?,
        "account_move_line" => invoicing::fill_line(call, cells)?,
        "stock_move" => production::fill_move(call, cells)?,
        "product_supplierinfo" => purchasing::fill_offer(call, cells)?,
        "stock_quant" => return stock::count_again(call, cells),
        _ => {}
    }
    Ok(None)
}

/// A new document belongs to who makes it, unless it says otherwise.
pub(super) fn fill_user(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    match call.actor() {
        Some(actor) if cells.get(call, "user_id").is_none() => cells.set(call, "user_id", Value::Ref(actor)),
        _ => Ok(()),
    }
}

/// Makes what belongs to a new row; `given` names the lists that came with it.
fn after_create(call: &mut Call<'_, '_>, table: TableId, id: RowId, given: &[&str]) -> Result<(), Refusal> {
    match &*call.domain().table(table).name {
        "purchase_order" => purchasing::order_made(call, id),
        "sale_order_line" => sales::line_changed(call, id, None),
        "purchase_order_line" => purchasing::line_made(call, id),
        "mrp_production" => production::made(call, id, given),
        "stock_move" => stock::reserve(call, id),
        "sale_advance_payment_inv" => invoicing::wizard_made(call, id, given),
        _ => Ok(()),
    }
}

fn before_write(call: &mut Call<'_, '_>, table: TableId, id: RowId, cells: &mut Cells) -> Result<(), Refusal> {
    match &*call.domain().table(table).name {
        "sale_order_line" => sales::may_change_line(call, id, cells),
        "purchase_order_line" => purchasing::may_change_line(call, id, cells),
        "mrp_production" => production::may_change(call, id, cells),
        "mrp_workorder" => production::may_change_workorder(call, id, cells),
        "account_move" => invoicing::may_change(call, id, cells),
        "account_move_line" => invoicing::may_change_line(call, id),
        "stock_move" => stock::may_change_move(call, id),
        "stock_quant" => stock::counted(call, cells),
        _ => Ok(()),
    }
}

fn after_write(
    call: &mut Call<'_, '_>,
    table: TableId,
    id: RowId,
    old: &RowView,
    cells: &Cells,
) -> Result<(), Refusal> {
    match &*call.domain().table(table).name {
        "sale_order_line" => {
            sales::reprice_line(call, id, cells)?;
            sales::line_changed(call, id, Some(old))
        }
        "purchase_order" => purchasing::order_changed(call, id, old, cells),
        "purchase_order_line" => purchasing::line_changed(call, id, old, cells),
        "mrp_production" => production::changed(call, id, old, cells),
        "mrp_workorder" => production::workorder_changed(call, id, old, cells),
        "account_move" => invoicing::changed(call, id, old, cells),
        "stock_move" => stock::reserve(call, id),
        _ => Ok(()),
    }
}

fn before_unlink(call: &mut Call<'_, '_>, table: TableId, id: RowId) -> Result<(), Refusal> {
    match &*call.domain().table(table).name {
        "sale_order" => sales::may_unlink(call, id),
        "sale_order_line" => sales::may_unlink_line(call, id),
        "purchase_order" => purchasing::may_unlink(call, id),
        "purchase_order_line" => purchasing::may_unlink_line(call, id),
        "mrp_production" => production::may_unlink(call, id),
        "account_move" => invoicing::may_unlink(call, id),
        "account_move_line" => invoicing::may_change_line(call, id),
        "stock_move" => stock::may_change_move(call, id),
        _ => Ok(()),
    }
}

/// `message_post`: a note on records.
pub(super) fn message_post(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let declared = call.domain().table(table);
    let (model, body) = (model_name(declared), call.argument("body"));
    let author = call.actor().map_or(Value::Null, Value::Ref);
    let mut last = 0;
    for id in ids(call) {
        call.row(&declared.name, id)?;
        last = call.create(
            "mail_message",
            &[
                ("model", Value::text(model)),
                ("res_id", Value::Int(i64::from(id))),
                ("body", body.clone()),
                ("author_id", author.clone()),
            ],
        )?;
    }
    let mut out = Vec::new();
    number::write_int(&mut out, i64::from(last));
    done(call, out)
}
