//! The tools of IT service management that are more than one table operation: what rests on an item, incidents from
//! templates, children in one step, clocks that run out soon, and what stands in the way of a change.

use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Gives, NativeCall, Natives};
use std::collections::BTreeMap;

/// The code of the native tools, by name.
pub const NATIVES: &Natives = &[
    ("find_impacted_services", find_impacted_services),
    ("create_incident_from_template", create_incident_from_template),
    ("add_child_incidents", add_child_incidents),
    ("list_slas_near_breach", list_slas_near_breach),
    ("check_change_conflicts", check_change_conflicts),
];

/// The states in which somebody still has to do something about an incident.
const OPEN: [&str; 3] = ["new", "in_progress", "on_hold"];
/// The states in which a change no longer needs its window.
const OVER: [&str; 3] = ["review", "closed", "canceled"];

fn find_impacted_services(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let ci = call.reference("ci")?;
    let mut found: BTreeMap<RowId, (i64, RowId)> = BTreeMap::new();
    for (item, steps) in resting_on(call, ci)? {
        for link in call.rows("service_ci", &[("ci", Value::Ref(item))])? {
            if let Some(service) = link.get("service").as_ref_id() {
                let nearest = found.entry(service).or_insert((steps, item));
                *nearest = (*nearest).min((steps, item));
            }
        }
    }
    let mut rows = Vec::with_capacity(found.len());
    for (id, (steps, through)) in found {
        let service = call.row("service", id)?;
        let [name, status, criticality] = ["name", "status", "criticality"].map(|field| service.get(field));
        let values = vec![Value::Ref(id), name, status, criticality, Value::Ref(through), Value::Int(steps)];
        rows.push(((steps, id), values));
    }
    rows.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(rows.into_iter().map(|(_, values)| values).collect()))
}

fn create_incident_from_template(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let template = call.row("incident_template", call.reference("template")?)?;
    if template.get("active") != Value::Bool(true) {
        return Err(Refusal::argument("template", "is not active"));
    }
    let caller = call.row("user", call.reference("caller")?)?;
    let mut values = vec![("caller", Value::Ref(caller.id())), ("org", caller.get("org"))];
    for field in ["short_description", "category", "impact", "urgency", "service", "assignment_group"] {
        values.push((field, template.get(field)));
    }
    for field in ["description", "ci", "channel"] {
        let given = call.argument(field);
        if !given.is_null() {
            values.push((field, given));
        }
    }
    let id = call.create("incident", &values)?;
    let made = call.row("incident", id)?;
    let mut gives = vec![Value::Ref(id)];
    for field in
        ["number", "short_description", "category", "impact", "urgency", "priority", "service", "assignment_group"]
    {
        gives.push(made.get(field));
    }
    Ok(Gives::One(gives))
}

fn add_child_incidents(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let parent = call.reference("parent")?;
    call.row("incident", parent)?;
    let mut rows = Vec::new();
    for child in call.arguments("children").to_vec() {
        let number = match child.as_ref_id() {
            Some(id) => call.row("incident", id)?.get("number"),
            None => return Err(Refusal::argument("children", "wants incidents")),
        };
        // A second parent is a duplicate of `child`; loops are held by a rule.
        let link = call.create("child_incident", &[("parent", Value::Ref(parent)), ("child", child.clone())])?;
        rows.push(vec![Value::Ref(link), child, number]);
    }
    Ok(Gives::Many(rows))
}

fn list_slas_near_breach(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let Value::Int(within) = call.argument("within_minutes") else {
        return Err(Refusal::argument("within_minutes", "is required"));
    };
    let wanted = [("org", "organization"), ("assignment_group", "user_group")];
    for (argument, table) in wanted {
        if let Value::Ref(id) = call.argument(argument) {
            call.row(table, id)?;
        }
    }
    let now = call.now();
    let running = call.word("incident_sla", "stage", "in_progress")?;
    let mut found = Vec::new();
    for clock in call.rows("incident_sla", &[("stage", running)])? {
        let (Some(incident), Some(sla), Some(due)) =
            (clock.get("incident").as_ref_id(), clock.get("sla").as_ref_id(), clock.instant("due_at"))
        else {
            continue;
        };
        let minutes_left = (due.0 - now.0).div_euclid(60);
        if minutes_left > within {
            continue;
        }
        let (incident, sla) = (call.row("incident", incident)?, call.row("sla_definition", sla)?);
        let asked = wanted.iter().all(|(argument, _)| {
            let value = call.argument(argument);
            value.is_null() || incident.get(argument) == value
        });
        if !asked || !OPEN.iter().any(|status| incident.is("status", status)) {
            continue;
        }
        let values = vec![
            Value::Ref(incident.id()),
            incident.get("number"),
            Value::Ref(sla.id()),
            sla.get("metric"),
            Value::DateTime(due),
            Value::Int(minutes_left),
        ];
        found.push(((due, clock.id()), values));
    }
    found.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(found.into_iter().map(|(_, values)| values).collect()))
}

fn check_change_conflicts(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let ci = call.reference("ci")?;
    let (Value::DateTime(start), Value::DateTime(end)) = (call.argument("starts_at"), call.argument("ends_at")) else {
        return Err(Refusal::argument("starts_at", "and `ends_at` are required"));
    };
    if end <= start {
        return Err(Refusal::argument("ends_at", "must be after `starts_at`"));
    }
    let own = call.argument("change").as_ref_id();
    if let Some(own) = own {
        call.row("change", own)?;
    }
    let items = resting_on(call, ci)?;
    let overlaps = |from: DateTime, to: DateTime| from < end && to > start;
    let mut found = Vec::new();
    for (item, steps) in &items {
        let kind = if *steps == 0 { 0 } else { 1 };
        for change in call.rows("change", &[("ci", Value::Ref(*item))])? {
            let (Some(from), Some(to)) = (change.instant("planned_start"), change.instant("planned_end")) else {
                continue;
            };
            let over = OVER.iter().any(|status| change.is("status", status));
            if over || Some(change.id()) == own || !overlaps(from, to) {
                continue;
            }
            let text = |field: &str| change.get(field).as_text().unwrap_or_default().to_owned();
            let title = format!("{}: {}", text("number"), text("short_description"));
            let values = vec![
                Value::Enum(kind),
                Value::Ref(change.id()),
                Value::Null,
                Value::text(title),
                Value::DateTime(from),
                Value::DateTime(to),
            ];
            found.push(((from, kind, change.id()), values));
        }
    }
    let mut services = Vec::new();
    for item in items.keys() {
        for link in call.rows("service_ci", &[("ci", Value::Ref(*item))])? {
            services.push(link.get("service"));
        }
    }
    let org = call.row("configuration_item", ci)?.get("org");
    for freeze in call.rows("change_freeze", &[("org", org)])? {
        let service = freeze.get("service");
        let (Some(from), Some(to)) = (freeze.instant("starts_at"), freeze.instant("ends_at")) else { continue };
        if overlaps(from, to) && (service.is_null() || services.contains(&service)) {
            let values = vec![
                Value::Enum(2),
                Value::Null,
                Value::Ref(freeze.id()),
                freeze.get("name"),
                Value::DateTime(from),
                Value::DateTime(to),
            ];
            found.push(((from, 2, freeze.id()), values));
        }
    }
    found.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(found.into_iter().map(|(_, values)| values).collect()))
}

/// The item and every item that rests on it, with how many steps away it is. Parents rest on their children; a circle ends
/// where it was entered.
fn resting_on(call: &NativeCall<'_, '_>, ci: RowId) -> Result<BTreeMap<RowId, i64>, Refusal> {
    call.row("configuration_item", ci)?;
    let mut seen = BTreeMap::from([(ci, 0)]);
    let mut edge = vec![ci];
    let mut steps = 0;
    while !edge.is_empty() {
        steps += 1;
        let mut next = Vec::new();
        for child in edge {
            for relationship in call.rows("ci_relationship", &[("child", Value::Ref(child))])? {
                if let Some(parent) = relationship.get("parent").as_ref_id()
                    && !seen.contains_key(&parent)
                {
                    seen.insert(parent, steps);
                    next.push(parent);
                }
            }
        }
        edge = next;
    }
    Ok(seen)
}
