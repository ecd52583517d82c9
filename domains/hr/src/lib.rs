//! The tools of the people office that are more than one table operation: secret data with its audit line, work that begins with
//! its tasks, cases past their target, and leave that is decided against the balance.

mod names;

use benchwright_base::{Date, DateTime, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{
    ArgumentName, Column, ColumnOf, Gives, NativeCall, Natives, RowView, cell, columns, natives, words,
};
use names::{NAMES, a, c, t, w};
use std::collections::BTreeMap;

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("update_sensitive_profile_data", update_sensitive_profile_data),
    ("start_case_work", start_case_work),
    ("list_overdue_cases", list_overdue_cases),
    ("decide_leave_request", decide_leave_request),
];

/// Whether a case waits for the people office.
fn is_open(case: &RowView<t::hr_case>) -> bool {
    case.is_any(c::status, words![draft, ready, work_in_progress, awaiting_approval, awaiting_acceptance])
}

/// The most days that one request may span.
const LONGEST: i32 = 1000;

fn update_sensitive_profile_data(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let profile = call.row(t::hr_profile, call.reference(a::profile)?)?;
    let Some(actor) = call.actor() else {
        return Err(Refusal::new(
            RefusalCode::Forbidden,
            "nobody in particular acts, so nobody can be named in the audit",
        ));
    };
    let fields: [(ArgumentName, Column<t::hr_profile>); 3] = [
        (a::national_tax_id, c::national_tax_id.of()),
        (a::bank_account, c::bank_account.of()),
        (a::home_address, c::home_address.of()),
    ];
    let mut given = Vec::new();
    for (argument, column) in fields {
        let value = call.argument(argument)?;
        if !value.is_null() {
            given.push((argument.name(), column, value));
        }
    }
    if given.is_empty() {
        return Err(Refusal::argument("bank_account", "or another field must be given"));
    }
    let action = call.word(t::security_audit, c::action, w::update);
    let mut lines = Vec::new();
    for (field, column, value) in given {
        if !call.update(t::hr_profile, profile.id(), &[cell(column, value)])? {
            continue;
        }
        let line = [
            cell(c::actor, Value::Ref(actor)),
            cell(c::profile, Value::Ref(profile.id())),
            cell(c::action, action.clone()),
            cell(c::field, Value::text(field)),
        ];
        let line = call.create(t::security_audit, &line)?;
        lines.push(vec![Value::text(field), Value::Ref(line)]);
    }
    Ok(Gives::Many(lines))
}

fn start_case_work(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let case = call.row(t::hr_case, call.reference(a::case)?)?;
    let work = call.word(t::hr_case, c::status, w::work_in_progress);
    call.update(t::hr_case, case.id(), &[cell(c::status, work)])?;
    let mut templates = Vec::new();
    if let Some(service) = case.get(c::hr_service).as_ref_id()
        && let template @ Value::Ref(_) = call.row(t::hr_service, service)?.get(c::template)
    {
        templates = call.rows(t::hr_task_template, &[cell(c::template, template)])?;
    }
    let rank = |template: &RowView<t::hr_task_template>| match template.get(c::rank) {
        Value::Int(rank) => rank,
        _ => 0,
    };
    templates.sort_by_key(|template| (rank(template), template.id()));
    let present = call.rows(t::hr_case_task, &[cell(c::parent_case, Value::Ref(case.id()))])?;
    let mut made = Vec::new();
    for template in templates {
        let this = Value::Ref(template.id());
        if present.iter().any(|task| task.get(c::template) == this) {
            continue;
        }
        let group = match template.get(c::assignment_group) {
            Value::Null => case.get(c::assignment_group),
            group => group,
        };
        let [name, kind, mandatory] = columns![name, task_type, mandatory].map(|column| template.get(column));
        let values = [
            cell(c::parent_case, Value::Ref(case.id())),
            cell(c::template, this),
            cell(c::short_description, name.clone()),
            cell(c::task_type, kind.clone()),
            cell(c::assignment_group, group.clone()),
            cell(c::mandatory, mandatory.clone()),
        ];
        let id = call.create(t::hr_case_task, &values)?;
        made.push(vec![Value::Ref(id), name, kind, group, mandatory]);
    }
    Ok(Gives::Many(made))
}

fn list_overdue_cases(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let group = call.argument(a::assignment_group)?;
    if let Value::Ref(id) = group {
        call.row(t::user_group, id)?;
    }
    let now = call.now();
    let running = call.word(t::case_sla, c::stage, w::running);
    let mut targets: BTreeMap<RowId, DateTime> = BTreeMap::new();
    let mut clocked: BTreeMap<RowId, ()> = BTreeMap::new();
    for clock in call.rows(t::case_sla, &[])? {
        let Some(case) = clock.get(c::case).as_ref_id() else { continue };
        clocked.insert(case, ());
        if let (Some(due), true) = (clock.instant(c::due_on), clock.get(c::stage) == running) {
            let target = targets.entry(case).or_insert(due);
            *target = (*target).min(due);
        }
    }
    let mut found = Vec::new();
    for case in call.rows(t::hr_case, &[])? {
        let due = match targets.get(&case.id()) {
            Some(due) => Some(*due),
            None if clocked.contains_key(&case.id()) => None,
            None => case.instant(c::due_on),
        };
        let Some(due) = due.filter(|due| *due < now) else { continue };
        let asked = group.is_null() || case.get(c::assignment_group) == group;
        if !asked || !is_open(&case) {
            continue;
        }
        let values = vec![
            Value::Ref(case.id()),
            case.get(c::number),
            Value::DateTime(due),
            Value::Int((now.0 - due.0) / 3600),
            case.get(c::escalation),
            case.get(c::assigned_to),
        ];
        found.push(((due, case.id()), values));
    }
    found.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(found.into_iter().map(|(_, values)| values).collect()))
}

fn decide_leave_request(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let request = call.row(t::leave_request, call.reference(a::request)?)?;
    let decision = call.argument(a::decision)?;
    let approves = decision == call.word(t::leave_request, c::state, w::approved);
    let cancels = decision == call.word(t::leave_request, c::state, w::cancelled);
    let (Value::Date(first), Value::Date(last)) = (request.get(c::first_day), request.get(c::last_day)) else {
        return Err(Refusal::argument("request", "has no days"));
    };
    if last.0 - first.0 > LONGEST {
        return Err(Refusal::argument("request", format!("spans more than {LONGEST} days")));
    }
    let mut per_year: BTreeMap<i64, i64> = BTreeMap::new();
    for day in first.0..=last.0 {
        let day = Date(day);
        if day.weekday() < 5 {
            *per_year.entry(i64::from(day.civil().0)).or_default() += 1;
        }
    }
    let days: i64 = per_year.values().sum();
    if approves && days == 0 {
        return Err(Refusal::argument("request", "has no working day in it"));
    }
    let was_approved = request.is(c::state, w::approved);
    let moves = approves != was_approved && (approves || cancels);
    let mut values = vec![cell(c::state, decision)];
    if approves {
        values.push(cell(c::days, Value::Int(days)));
    }
    call.update(t::leave_request, request.id(), &values)?;
    let paid = match request.get(c::leave_type) {
        Value::Ref(kind) => call.row(t::leave_type, kind)?.get(c::paid) == Value::Bool(true),
        _ => false,
    };
    let mut left = None;
    for (year, count) in per_year.into_iter().filter(|_| paid) {
        let key = [
            cell(c::profile, request.get(c::profile)),
            cell(c::leave_type, request.get(c::leave_type)),
            cell(c::year, Value::Int(year)),
        ];
        let balance = call.rows(t::leave_balance, &key)?.into_iter().next();
        let Some(balance) = balance else {
            if moves {
                let message = format!("there is no balance of this leave for {year}");
                return Err(Refusal::new(RefusalCode::NotFound, message));
            }
            continue;
        };
        let Value::Int(mut days_left) = balance.get(c::days_left) else { continue };
        if moves {
            days_left += if approves { -count } else { count };
            call.update(t::leave_balance, balance.id(), &[cell(c::days_left, Value::Int(days_left))])?;
        }
        left = Some(days_left);
    }
    Ok(Gives::One(vec![Value::Int(days), left.map_or(Value::Null, Value::Int)]))
}
