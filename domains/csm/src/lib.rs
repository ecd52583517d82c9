//! The two tools of customer service that are more than one table operation: how much of an entitlement is used up this
//! month, and which service clocks run out soon.

use benchwright_base::Value;
use benchwright_pack::Refusal;
use benchwright_sandbox::{Gives, NativeCall, Natives, RowView};

/// The code of the native tools, by name.
pub const NATIVES: &Natives =
    &[("check_entitlement_usage", check_entitlement_usage), ("list_breaching_cases", list_breaching_cases)];

/// The states in which somebody still has to do something about a case.
const OPEN: [&str; 3] = ["new", "in_progress", "pending"];

fn check_entitlement_usage(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let Value::Ref(id) = call.argument("entitlement") else {
        return Err(Refusal::argument("entitlement", "is required"));
    };
    let entitlement = call.row("entitlement", id)?;
    let month = call.now().date().first_of_month();
    let since = month.midnight();
    let cases = call.rows("customer_case", &[("entitlement", Value::Ref(id))])?;
    let opened = |case: &&RowView| case.instant("opened_on").is_some_and(|opened| opened >= since);
    let used = cases.iter().filter(opened).count() as i64;
    // Zero stands for no limit.
    let limit = match entitlement.get("max_cases_per_month") {
        Value::Int(limit) if limit > 0 => Some(limit),
        _ => None,
    };
    Ok(Gives::One(vec![
        Value::Int(used),
        limit.map_or(Value::Null, Value::Int),
        limit.map_or(Value::Null, |limit| Value::Int((limit - used).max(0))),
        Value::Bool(limit.is_none_or(|limit| used <= limit)),
        Value::Date(month),
    ]))
}

fn list_breaching_cases(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let Value::Int(within) = call.argument("within_minutes") else {
        return Err(Refusal::argument("within_minutes", "is required"));
    };
    let account = call.argument("account");
    if let Value::Ref(id) = account {
        call.row("account", id)?;
    }
    let now = call.now();
    let running = call.word("case_sla", "stage", "running")?;
    let mut found = Vec::new();
    for clock in call.rows("case_sla", &[("stage", running)])? {
        let (Some(case), Some(sla), Some(due)) =
            (clock.get("case").as_ref_id(), clock.get("sla").as_ref_id(), clock.instant("due_at"))
        else {
            continue;
        };
        let minutes_left = (due.0 - now.0).div_euclid(60);
        if minutes_left > within {
            continue;
        }
        let (case, sla) = (call.row("customer_case", case)?, call.row("sla_definition", sla)?);
        if !OPEN.iter().any(|state| case.is("state", state)) || !(account.is_null() || case.get("account") == account) {
            continue;
        }
        let values = vec![
            Value::Ref(case.id()),
            case.get("number"),
            Value::Ref(sla.id()),
            sla.get("metric"),
            Value::DateTime(due),
            Value::Int(minutes_left),
        ];
        found.push((due, clock.id(), values));
    }
    found.sort_by_key(|(due, clock, _)| (*due, *clock));
    Ok(Gives::Many(found.into_iter().map(|(_, _, values)| values).collect()))
}
