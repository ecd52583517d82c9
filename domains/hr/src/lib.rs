//! The tools of the people office that are more than one table operation: secret data with its audit line, work that begins with
//! its tasks, cases past their target, and leave that is decided against the balance.

use benchwright_base::{Date, DateTime, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, Natives, RowView};
use std::collections::BTreeMap;

/// The code of the native tools, by name.
pub const NATIVES: &Natives = &[
    ("update_sensitive_profile_data", update_sensitive_profile_data),
    ("start_case_work", start_case_work),
    ("list_overdue_cases", list_overdue_cases),
    ("decide_leave_request", decide_leave_request),
];

/// The states in which a case waits for the people office.
const OPEN: [&str; 5] = ["draft", "ready", "work_in_progress", "awaiting_approval", "awaiting_acceptance"];

/// The most days that one request may span.
const LONGEST: i32 = 1000;

fn update_sensitive_profile_data(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let profile = call.row("hr_profile", call.reference("profile")?)?;
    let Some(actor) = call.actor() else {
        return Err(Refusal::new(
            RefusalCode::Forbidden,
            "nobody in particular acts, so nobody can be named in the audit",
        ));
    };
    let fields = ["national_tax_id", "bank_account", "home_address"];
    let given: Vec<(&str, Value)> =
        fields.iter().map(|field| (*field, call.argument(field))).filter(|(_, value)| !value.is_null()).collect();
    if given.is_empty() {
        return Err(Refusal::argument("bank_account", "or another field must be given"));
    }
    let action = call.word("security_audit", "action", "update")?;
    let mut lines = Vec::new();
    for (field, value) in given {
        if !call.update("hr_profile", profile.id(), &[(field, value)])? {
            continue;
        }
        let line = [
            ("actor", Value::Ref(actor)),
            ("profile", Value::Ref(profile.id())),
            ("action", action.clone()),
            ("field", Value::text(field)),
        ];
        let line = call.create("security_audit", &line)?;
        lines.push(vec![Value::text(field), Value::Ref(line)]);
    }
    Ok(Gives::Many(lines))
}

fn start_case_work(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let case = call.row("hr_case", call.reference("case")?)?;
    let work = call.word("hr_case", "status", "work_in_progress")?;
    call.update("hr_case", case.id(), &[("status", work)])?;
    let mut templates = Vec::new();
    if let Some(service) = case.get("hr_service").as_ref_id()
        && let template @ Value::Ref(_) = call.row("hr_service", service)?.get("template")
    {
        templates = call.rows("hr_task_template", &[("template", template)])?;
    }
    let rank = |template: &RowView| match template.get("rank") {
        Value::Int(rank) => rank,
        _ => 0,
    };
    templates.sort_by_key(|template| (rank(template), template.id()));
    let present = call.rows("hr_case_task", &[("parent_case", Value::Ref(case.id()))])?;
    let mut made = Vec::new();
    for template in templates {
        let this = Value::Ref(template.id());
        if present.iter().any(|task| task.get("template") == this) {
            continue;
        }
        let group = match template.get("assignment_group") {
            Value::Null => case.get("assignment_group"),
            group => group,
        };
        let [name, kind, mandatory] = ["name", "task_type", "mandatory"].map(|field| template.get(field));
        let values = [
            ("parent_case", Value::Ref(case.id())),
            ("template", this),
            ("short_description", name.clone()),
            ("task_type", kind.clone()),
            ("assignment_group", group.clone()),
            ("mandatory", mandatory.clone()),
        ];
        let id = call.create("hr_case_task", &values)?;
        made.push(vec![Value::Ref(id), name, kind, group, mandatory]);
    }
    Ok(Gives::Many(made))
}

fn list_overdue_cases(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let group = call.argument("assignment_group");
    if let Value::Ref(id) = group {
        call.row("user_group", id)?;
    }
    let now = call.now();
    let running = call.word("case_sla", "stage", "running")?;
    let mut targets: BTreeMap<RowId, DateTime> = BTreeMap::new();
    let mut clocked: BTreeMap<RowId, ()> = BTreeMap::new();
    for clock in call.rows("case_sla", &[])? {
        let Some(case) = clock.get("case").as_ref_id() else { continue };
        clocked.insert(case, ());
        if let (Some(due), true) = (clock.instant("due_on"), clock.get("stage") == running) {
            let target = targets.entry(case).or_insert(due);
            *target = (*target).min(due);
        }
    }
    let mut found = Vec::new();
    for case in call.rows("hr_case", &[])? {
        let due = match targets.get(&case.id()) {
            Some(due) => Some(*due),
            None if clocked.contains_key(&case.id()) => None,
            None => case.instant("due_on"),
        };
        let Some(due) = due.filter(|due| *due < now) else { continue };
        let asked = group.is_null() || case.get("assignment_group") == group;
        if !asked || !OPEN.iter().any(|status| case.is("status", status)) {
            continue;
        }
        let values = vec![
            Value::Ref(case.id()),
            case.get("number"),
            Value::DateTime(due),
            Value::Int((now.0 - due.0) / 3600),
            case.get("escalation"),
            case.get("assigned_to"),
        ];
        found.push(((due, case.id()), values));
    }
    found.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(found.into_iter().map(|(_, values)| values).collect()))
}

fn decide_leave_request(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let request = call.row("leave_request", call.reference("request")?)?;
    let decision = call.argument("decision");
    let approves = decision == call.word("leave_request", "state", "approved")?;
    let cancels = decision == call.word("leave_request", "state", "cancelled")?;
    let (Value::Date(first), Value::Date(last)) = (request.get("first_day"), request.get("last_day")) else {
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
    let was_approved = request.is("state", "approved");
    let moves = approves != was_approved && (approves || cancels);
    let mut values = vec![("state", decision)];
    if approves {
        values.push(("days", Value::Int(days)));
    }
    call.update("leave_request", request.id(), &values)?;
    let paid = match request.get("leave_type") {
        Value::Ref(kind) => call.row("leave_type", kind)?.get("paid") == Value::Bool(true),
        _ => false,
    };
    let mut left = None;
    for (year, count) in per_year.into_iter().filter(|_| paid) {
        let key = [
            ("profile", request.get("profile")),
            ("leave_type", request.get("leave_type")),
            ("year", Value::Int(year)),
        ];
        let balance = call.rows("leave_balance", &key)?.into_iter().next();
        let Some(balance) = balance else {
            if moves {
                let message = format!("there is no balance of this leave for {year}");
                return Err(Refusal::new(RefusalCode::NotFound, message));
            }
            continue;
        };
        let Value::Int(mut days_left) = balance.get("days_left") else { continue };
        if moves {
            days_left += if approves { -count } else { count };
            call.update("leave_balance", balance.id(), &[("days_left", Value::Int(days_left))])?;
        }
        left = Some(days_left);
    }
    Ok(Gives::One(vec![Value::Int(days), left.map_or(Value::Null, Value::Int)]))
}
