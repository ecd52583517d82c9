//! The tools of IT service management that are more than one table operation: what rests on an item, incidents from
//! templates, children in one step, clocks that run out soon, and what stands in the way of a change.

mod names;

use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ColumnOf, Gives, NativeCall, Natives, RowView, cell, columns, natives, words};
use names::{NAMES, a, c, t, w};
use std::collections::BTreeMap;

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("find_impacted_services", find_impacted_services),
    ("create_incident_from_template", create_incident_from_template),
    ("add_child_incidents", add_child_incidents),
    ("list_slas_near_breach", list_slas_near_breach),
    ("check_change_conflicts", check_change_conflicts),
];

/// Whether somebody still has to do something about an incident.
fn is_open(incident: &RowView<t::incident>) -> bool {
    incident.is_any(c::status, words![new, in_progress, on_hold])
}

/// Whether a change no longer needs its window.
fn is_over(change: &RowView<t::change>) -> bool {
    change.is_any(c::status, words![review, closed, canceled])
}

fn find_impacted_services(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let ci = call.reference(a::ci)?;
    let mut found: BTreeMap<RowId, (i64, RowId)> = BTreeMap::new();
    for (item, steps) in resting_on(call, ci)? {
        for link in call.rows(t::service_ci, &[cell(c::ci, Value::Ref(item))])? {
            if let Some(service) = link.get(c::service).as_ref_id() {
                let nearest = found.entry(service).or_insert((steps, item));
                *nearest = (*nearest).min((steps, item));
            }
        }
    }
    let mut rows = Vec::with_capacity(found.len());
    for (id, (steps, through)) in found {
        let service = call.row(t::service, id)?;
        let [name, status, criticality] = columns![name, status, criticality].map(|column| service.get(column));
        let values = vec![Value::Ref(id), name, status, criticality, Value::Ref(through), Value::Int(steps)];
        rows.push(((steps, id), values));
    }
    rows.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(rows.into_iter().map(|(_, values)| values).collect()))
}

fn create_incident_from_template(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let template = call.row(t::incident_template, call.reference(a::template)?)?;
    if template.get(c::active) != Value::Bool(true) {
        return Err(Refusal::argument("template", "is not active"));
    }
    let caller = call.row(t::user, call.reference(a::caller)?)?;
    let mut values = vec![cell(c::caller, Value::Ref(caller.id())), cell(c::org, caller.get(c::org))];
    values.extend([
        cell(c::short_description, template.get(c::short_description)),
        cell(c::category, template.get(c::category)),
        cell(c::impact, template.get(c::impact)),
        cell(c::urgency, template.get(c::urgency)),
        cell(c::service, template.get(c::service)),
        cell(c::assignment_group, template.get(c::assignment_group)),
    ]);
    let given = [(a::description, c::description.of()), (a::ci, c::ci.of()), (a::channel, c::channel.of())];
    for (argument, column) in given {
        let given = call.argument(argument)?;
        if !given.is_null() {
            values.push(cell(column, given));
        }
    }
    let id = call.create(t::incident, &values)?;
    let made = call.row(t::incident, id)?;
    let mut gives = vec![Value::Ref(id)];
    for column in columns![number, short_description, category, impact, urgency, priority, service, assignment_group] {
        gives.push(made.get(column));
    }
    Ok(Gives::One(gives))
}

fn add_child_incidents(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let parent = call.reference(a::parent)?;
    call.row(t::incident, parent)?;
    let mut rows = Vec::new();
    for child in call.arguments(a::children)?.to_vec() {
        let number = match child.as_ref_id() {
            Some(id) => call.row(t::incident, id)?.get(c::number),
            None => return Err(Refusal::argument("children", "wants incidents")),
        };
        // A second parent is a duplicate of `child`; loops are held by a rule.
        let link =
            call.create(t::child_incident, &[cell(c::parent, Value::Ref(parent)), cell(c::child, child.clone())])?;
        rows.push(vec![Value::Ref(link), child, number]);
    }
    Ok(Gives::Many(rows))
}

fn list_slas_near_breach(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let Value::Int(within) = call.argument(a::within_minutes)? else {
        return Err(Refusal::argument("within_minutes", "is required"));
    };
    let (org, group) = (call.argument(a::org)?, call.argument(a::assignment_group)?);
    if let Value::Ref(id) = org {
        call.row(t::organization, id)?;
    }
    if let Value::Ref(id) = group {
        call.row(t::user_group, id)?;
    }
    let now = call.now();
    let running = call.word(t::incident_sla, c::stage, w::in_progress);
    let mut found = Vec::new();
    for clock in call.rows(t::incident_sla, &[cell(c::stage, running)])? {
        let (Some(incident), Some(sla), Some(due)) =
            (clock.get(c::incident).as_ref_id(), clock.get(c::sla).as_ref_id(), clock.instant(c::due_at))
        else {
            continue;
        };
        let minutes_left = (due.0 - now.0).div_euclid(60);
        if minutes_left > within {
            continue;
        }
        let (incident, sla) = (call.row(t::incident, incident)?, call.row(t::sla_definition, sla)?);
        let asked = (org.is_null() || incident.get(c::org) == org)
            && (group.is_null() || incident.get(c::assignment_group) == group);
        if !asked || !is_open(&incident) {
            continue;
        }
        let values = vec![
            Value::Ref(incident.id()),
            incident.get(c::number),
            Value::Ref(sla.id()),
            sla.get(c::metric),
            Value::DateTime(due),
            Value::Int(minutes_left),
        ];
        found.push(((due, clock.id()), values));
    }
    found.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(found.into_iter().map(|(_, values)| values).collect()))
}

fn check_change_conflicts(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let ci = call.reference(a::ci)?;
    let (Value::DateTime(start), Value::DateTime(end)) = (call.argument(a::starts_at)?, call.argument(a::ends_at)?)
    else {
        return Err(Refusal::argument("starts_at", "and `ends_at` are required"));
    };
    if end <= start {
        return Err(Refusal::argument("ends_at", "must be after `starts_at`"));
    }
    let own = call.argument(a::change)?.as_ref_id();
    if let Some(own) = own {
        call.row(t::change, own)?;
    }
    let items = resting_on(call, ci)?;
    let overlaps = |from: DateTime, to: DateTime| from < end && to > start;
    let mut found = Vec::new();
    for (item, steps) in &items {
        let kind = if *steps == 0 { 0 } else { 1 };
        for change in call.rows(t::change, &[cell(c::ci, Value::Ref(*item))])? {
            let (Some(from), Some(to)) = (change.instant(c::planned_start), change.instant(c::planned_end)) else {
                continue;
            };
            if is_over(&change) || Some(change.id()) == own || !overlaps(from, to) {
                continue;
            }
            let title = format!("{}: {}", change.words(c::number), change.words(c::short_description));
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
        for link in call.rows(t::service_ci, &[cell(c::ci, Value::Ref(*item))])? {
            services.push(link.get(c::service));
        }
    }
    let org = call.row(t::configuration_item, ci)?.get(c::org);
    for freeze in call.rows(t::change_freeze, &[cell(c::org, org)])? {
        let service = freeze.get(c::service);
        let (Some(from), Some(to)) = (freeze.instant(c::starts_at), freeze.instant(c::ends_at)) else { continue };
        if overlaps(from, to) && (service.is_null() || services.contains(&service)) {
            let values = vec![
                Value::Enum(2),
                Value::Null,
                Value::Ref(freeze.id()),
                freeze.get(c::name),
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
    call.row(t::configuration_item, ci)?;
    let mut seen = BTreeMap::from([(ci, 0)]);
    let mut edge = vec![ci];
    let mut steps = 0;
    while !edge.is_empty() {
        steps += 1;
        let mut next = Vec::new();
        for child in edge {
            for relationship in call.rows(t::ci_relationship, &[cell(c::child, Value::Ref(child))])? {
                if let Some(parent) = relationship.get(c::parent).as_ref_id()
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
