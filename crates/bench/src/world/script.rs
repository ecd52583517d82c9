//! The scripted agent: the committed list of calls and checks, one script for each table to begin at. A check has one
//! meaning and two forms, an expression for the sandbox and a query for SQLite.

use super::reference::{parent_of, table_name};
use crate::error::{Error, OrWrong as _, Result, wrong};
use benchwright_base::{FieldId, RowId, Value};
use benchwright_expr::{Compare, Expr, Scope, Source, TestOp, Type, check_truth};
use benchwright_schema::Domain;
use serde_json::Value as Json;

const CALLS: &str = include_str!("../../data/calls.json");

/// What one episode does.
pub(super) struct Script {
    /// The calls, in order: twelve reads, five updates, three new rows.
    pub(super) calls: Vec<Call>,
    /// What is asked of the last state.
    pub(super) checks: Vec<Check>,
}

/// One call.
pub(super) struct Call {
    pub(super) tool: String,
    /// A JSON object as text, as an agent sends it.
    pub(super) arguments: String,
}

/// Whether a row is closed with a quantity and its parent is there.
pub(super) struct Check {
    pub(super) id: RowId,
    pub(super) qty: i64,
    /// For the sandbox.
    pub(super) expr: Expr,
    /// For SQLite: a count, with the id and the quantity as parameters.
    pub(super) sql: String,
}

/// The calls of a script that write.
pub(super) const WRITES: std::ops::Range<usize> = 12..20;

/// Reads the committed scripts.
pub(super) fn scripts(domain: &Domain) -> Result<Vec<Script>> {
    let json: Json = serde_json::from_str(CALLS).or_wrong(|| "calls.json")?;
    let list = |json: &Json, key: &str| -> Result<Vec<Json>> {
        let items = json.get(key).and_then(Json::as_array).or_wrong(|| format!("calls.json has no list `{key}`"))?;
        Ok(items.clone())
    };
    let scripts = json.as_array().or_wrong(|| "calls.json is not a list")?.iter().map(|script| {
        let calls: Vec<Call> = list(script, "calls")?.iter().map(read_call).collect::<Result<_>>()?;
        let checks = list(script, "checks")?.iter().map(|check| read_check(domain, check)).collect::<Result<_>>()?;
        if calls.len() != WRITES.end {
            wrong!("a script of calls.json has {} calls, not {}", calls.len(), WRITES.end);
        }
        Ok(Script { calls, checks })
    });
    scripts.collect()
}

fn read_call(json: &Json) -> Result<Call> {
    let tool = json.get("tool").and_then(Json::as_str).or_wrong(|| "a call has no `tool`")?;
    let arguments = json.get("arguments").or_wrong(|| "a call has no `arguments`")?;
    Ok(Call { tool: tool.to_owned(), arguments: arguments.to_string() })
}

fn read_check(domain: &Domain, json: &Json) -> Result<Check> {
    let name = json.get("table").and_then(Json::as_str).or_wrong(|| "a check has no `table`")?;
    let number = |key: &str| json.get(key).and_then(Json::as_i64).or_wrong(|| format!("a check has no `{key}`"));
    let (id, qty) = (RowId::try_from(number("id")?)?, number("qty")?);
    let table = domain.table_named(name).or_wrong(|| format!("a check names {name}, which is not there"))?;
    let parent = table_name(parent_of(table.index()));
    // The language has no literal for a row, so that rules speak of kinds of rows; the test by id is added to the tree.
    let text = format!("exists a in {name}(status = closed, qty = {qty}) where exists {parent}(id = a.parent_id)");
    let mut expr =
        check_truth(&text, domain, Scope::default()).map_err(|faults| Error::Wrong(format!("{text}: {faults:?}")))?;
    let Expr::Fold(fold) = &mut expr else { wrong!("{text} is not a fold") };
    let Some(Source::Rows { tests, .. }) = fold.binders.first_mut().map(|binder| &mut binder.source) else {
        wrong!("{text} has no rows");
    };
    let row = Expr::Literal(Value::Ref(id), Type::Ref(table));
    tests.insert(0, (vec![(table, FieldId::ID)], TestOp::Compare(Compare::Eq), vec![row]));
    let sql = format!(
        "SELECT COUNT(*) FROM {name} a JOIN {parent} b ON a.parent_id = b.id \
         WHERE a.id = ?1 AND a.status = 'closed' AND a.qty = ?2"
    );
    Ok(Check { id, qty, expr, sql })
}
