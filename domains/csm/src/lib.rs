//! The two tools of customer service that are more than one table operation: how much of an entitlement is used up this
//! month, and which service clocks run out soon.

mod names;

use benchwright_base::Value;
use benchwright_pack::Refusal;
use benchwright_sandbox::{Gives, NativeCall, Natives, RowView, cell, natives, words};
use names::{NAMES, a, c, t, w};

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("check_entitlement_usage", check_entitlement_usage),
    ("list_breaching_cases", list_breaching_cases),
];

/// Whether somebody still has to do something about a case.
fn is_open(case: &RowView<t::customer_case>) -> bool {
    case.is_any(c::state, words![new, in_progress, pending])
}

fn check_entitlement_usage(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let Value::Ref(id) = call.argument(a::entitlement)? else {
        return Err(Refusal::argument("entitlement", "is required"));
    };
    let entitlement = call.row(t::entitlement, id)?;
    let month = call.now().date().first_of_month();
    let since = month.midnight();
    let cases = call.rows(t::customer_case, &[cell(c::entitlement, Value::Ref(id))])?;
    let opened = |case: &&RowView<t::customer_case>| case.instant(c::opened_on).is_some_and(|opened| opened >= since);
    let used = cases.iter().filter(opened).count() as i64;
    // Zero stands for no limit.
    let limit = match entitlement.get(c::max_cases_per_month) {
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
    let Value::Int(within) = call.argument(a::within_minutes)? else {
        return Err(Refusal::argument("within_minutes", "is required"));
    };
    let account = call.argument(a::account)?;
    if let Value::Ref(id) = account {
        call.row(t::account, id)?;
    }
    let now = call.now();
    let running = call.word(t::case_sla, c::stage, w::running);
    let mut found = Vec::new();
    for clock in call.rows(t::case_sla, &[cell(c::stage, running)])? {
        let (Some(case), Some(sla), Some(due)) =
            (clock.get(c::case).as_ref_id(), clock.get(c::sla).as_ref_id(), clock.instant(c::due_at))
        else {
            continue;
        };
        let minutes_left = (due.0 - now.0).div_euclid(60);
        if minutes_left > within {
            continue;
        }
        let (case, sla) = (call.row(t::customer_case, case)?, call.row(t::sla_definition, sla)?);
        if !is_open(&case) || !(account.is_null() || case.get(c::account) == account) {
            continue;
        }
        let values = vec![
            Value::Ref(case.id()),
            case.get(c::number),
            Value::Ref(sla.id()),
            sla.get(c::metric),
            Value::DateTime(due),
            Value::Int(minutes_left),
        ];
        found.push((due, clock.id(), values));
    }
    found.sort_by_key(|(due, clock, _)| (*due, *clock));
    Ok(Gives::Many(found.into_iter().map(|(_, _, values)| values).collect()))
}
