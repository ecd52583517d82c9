//! The tools of calendars that are more than one table operation: lines that become events, occurrences of series, who is busy,
//! and which rooms are free.

mod names;
mod phrases;
mod recurrence;
mod zones;

use benchwright_base::{DateTime, RowId, Value, date::DAY};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ColumnOf, Gives, NativeCall, Natives, RowView, cell, columns, natives};
use names::{NAMES, a, c, t, w};
use recurrence::Recurrence;
use zones::Zone;

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("quick_add_event", quick_add_event),
    ("get_event_instances", get_event_instances),
    ("clear_calendar", clear_calendar),
    ("query_freebusy", query_freebusy),
    ("find_available_rooms", find_available_rooms),
];

/// The longest window that is looked at, in days.
const LONGEST: i64 = 1100;
const HOUR: i64 = 3600;

/// One time at which an event takes place.
struct Occurrence {
    /// The event itself, or the one that takes the place of the occurrence.
    event: RowView<t::event>,
    start: DateTime,
    end: DateTime,
    /// When it would begin if it had not been moved.
    original: DateTime,
    is_exception: bool,
}

fn quick_add_event(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let calendar = call.row(t::calendar, call.reference(a::calendar)?)?;
    let organizer = match call.argument(a::organizer)? {
        Value::Ref(id) => Value::Ref(call.row(t::user, id)?.id()),
        _ => calendar.get(c::owner),
    };
    let text = call.argument(a::text)?;
    let zone = zone_of(&calendar);
    let now = zone.wall(call.now());
    let today = now.date();
    let phrase = phrases::read(text.as_text().unwrap_or_default(), today);
    let wall = match (phrase.day, phrase.time) {
        (Some(day), time) => DateTime(day.midnight().0 + time.unwrap_or(9 * HOUR)),
        (None, Some(time)) => {
            let at = today.midnight().0 + time;
            DateTime(if at > now.0 { at } else { at + DAY })
        }
        (None, None) => DateTime((now.0.div_euclid(HOUR) + 1) * HOUR),
    };
    let start = zone.instant(wall);
    let end = DateTime(start.0 + HOUR);
    let (title, timezone) = (Value::text(phrase.title), calendar.get(c::timezone));
    let values = [
        cell(c::calendar, Value::Ref(calendar.id())),
        cell(c::summary, title.clone()),
        cell(c::start, Value::DateTime(start)),
        cell(c::end, Value::DateTime(end)),
        cell(c::timezone, timezone.clone()),
        cell(c::organizer, organizer),
    ];
    let id = call.create(t::event, &values)?;
    Ok(Gives::One(vec![Value::Ref(id), title, Value::DateTime(start), Value::DateTime(end), timezone]))
}

fn get_event_instances(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let event = call.row(t::event, call.reference(a::event)?)?;
    let (from, to) = window(call)?;
    let rule = event.get(c::recurrence);
    if let Some(text) = rule.as_text()
        && Recurrence::read(text).is_none()
    {
        return Err(Refusal::argument("event", format!("recurs by `{text}`, which cannot be read")));
    }
    let rows = occurrences(call, &event, from, to)?.into_iter().map(|found| {
        vec![
            Value::Ref(found.event.id()),
            Value::DateTime(found.start),
            Value::DateTime(found.end),
            Value::DateTime(found.original),
            found.event.get(c::summary),
            Value::Bool(found.is_exception),
        ]
    });
    Ok(Gives::Many(rows.collect()))
}

fn clear_calendar(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let calendar = call.row(t::calendar, call.reference(a::calendar)?)?;
    if calendar.get(c::is_primary) != Value::Bool(true) {
        return Err(Refusal::argument("calendar", "is not a primary calendar; delete it instead"));
    }
    let events = call.rows(t::event, &[cell(c::calendar, Value::Ref(calendar.id()))])?;
    // Exceptions go with their series.
    for event in events.iter().filter(|event| is_master_or_lone(event, &events)) {
        call.delete(t::event, event.id())?;
    }
    Ok(Gives::One(vec![Value::Int(events.len() as i64)]))
}

fn query_freebusy(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let (from, to) = window(call)?;
    let mut asked: Vec<RowId> = Vec::new();
    for calendar in call.arguments(a::calendars)?.iter().filter_map(Value::as_ref_id) {
        if !asked.contains(&calendar) {
            asked.push(calendar);
        }
    }
    let mut rows = Vec::new();
    for id in asked {
        let calendar = call.row(t::calendar, id)?;
        let mut events = call.rows(t::event, &[cell(c::calendar, Value::Ref(id))])?;
        if calendar.get(c::is_primary) == Value::Bool(true)
            && let Some(owner) = calendar.get(c::owner).as_ref_id()
        {
            let email = call.row(t::user, owner)?.get(c::email);
            for invitation in call.rows(t::attendee, &[cell(c::email, email)])? {
                if let (Some(event), false) =
                    (invitation.get(c::event).as_ref_id(), invitation.is(c::response, w::declined))
                {
                    events.push(call.row(t::event, event)?);
                }
            }
        }
        for room in call.rows(t::room, &[cell(c::calendar, Value::Ref(id))])? {
            events.extend(call.rows(t::event, &[cell(c::room, Value::Ref(room.id()))])?);
        }
        for (start, end) in busy(call, &events, from, to)? {
            rows.push(vec![Value::Ref(id), Value::DateTime(start), Value::DateTime(end)]);
        }
    }
    Ok(Gives::Many(rows))
}

fn find_available_rooms(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let (from, to) = window(call)?;
    let building = call.argument(a::building)?;
    if let Value::Ref(id) = building {
        call.row(t::building, id)?;
    }
    let least = match call.argument(a::capacity)? {
        Value::Int(least) => least,
        _ => 1,
    };
    let mut found = Vec::new();
    for room in call.rows(t::room, &[cell(c::bookable, Value::Bool(true))])? {
        let Value::Int(capacity) = room.get(c::capacity) else { continue };
        let elsewhere = !building.is_null() && room.get(c::building) != building;
        if capacity < least || elsewhere {
            continue;
        }
        let features = call.rows(t::room_feature, &[cell(c::room, Value::Ref(room.id()))])?;
        let has = |wanted: &Value| features.iter().any(|feature| feature.get(c::feature) == *wanted);
        if !call.arguments(a::features)?.iter().all(has) {
            continue;
        }
        let booked = call.rows(t::event, &[cell(c::room, Value::Ref(room.id()))])?;
        let mut taken = false;
        for event in booked.iter().filter(|event| is_master_or_lone(event, &booked)) {
            taken |= !occurrences(call, event, from, to)?.is_empty();
        }
        if !taken {
            let mut values = vec![Value::Ref(room.id())];
            values.extend(columns![name, building, floor, capacity].map(|column| room.get(column)));
            found.push(((capacity, room.id()), values));
        }
    }
    found.sort_by_key(|(key, _)| *key);
    Ok(Gives::Many(found.into_iter().map(|(_, values)| values).collect()))
}

/// The window asked for.
fn window(call: &NativeCall<'_, '_>) -> Result<(DateTime, DateTime), Refusal> {
    let (Value::DateTime(from), Value::DateTime(to)) = (call.argument(a::from)?, call.argument(a::to)?) else {
        return Err(Refusal::argument("from", "and `to` are required"));
    };
    if to <= from {
        return Err(Refusal::argument("to", "must be after `from`"));
    }
    if to.0 - from.0 > LONGEST * DAY {
        return Err(Refusal::argument("to", format!("must be at most {LONGEST} days after `from`")));
    }
    Ok((from, to))
}

/// An exception is told with its series, if the series is there too.
fn is_master_or_lone(event: &RowView<t::event>, among: &[RowView<t::event>]) -> bool {
    match event.get(c::series) {
        Value::Ref(series) => among.iter().all(|other| other.id() != series),
        _ => true,
    }
}

/// Times at which somebody is busy with these events, joined where they touch, within a window.
fn busy(
    call: &NativeCall<'_, '_>,
    events: &[RowView<t::event>],
    from: DateTime,
    to: DateTime,
) -> Result<Vec<(DateTime, DateTime)>, Refusal> {
    let mut times = Vec::new();
    for event in events.iter().filter(|event| is_master_or_lone(event, events)) {
        for found in occurrences(call, event, from, to)? {
            if !found.event.is(c::transparency, w::transparent) {
                times.push((found.start.max(from), found.end.min(to)));
            }
        }
    }
    times.sort_unstable();
    let mut joined: Vec<(DateTime, DateTime)> = Vec::new();
    for (start, end) in times {
        match joined.last_mut() {
            Some((_, last)) if start <= *last => *last = (*last).max(end),
            _ => joined.push((start, end)),
        }
    }
    Ok(joined)
}

/// When an event takes place within a window, exceptions applied, cancelled ones left out. A recurrence that cannot be read
/// stands for its first occurrence.
fn occurrences(
    call: &NativeCall<'_, '_>,
    event: &RowView<t::event>,
    from: DateTime,
    to: DateTime,
) -> Result<Vec<Occurrence>, Refusal> {
    let (Some(start), Some(end)) = (event.instant(c::start), event.instant(c::end)) else { return Ok(Vec::new()) };
    if event.is(c::status, w::cancelled) {
        return Ok(Vec::new());
    }
    let touches = |start: DateTime, end: DateTime| start < to && end > from;
    let zone = zone_of(event);
    let rule = event.get(c::recurrence).as_text().and_then(Recurrence::read);
    let exceptions = match rule {
        Some(_) => call.rows(t::event, &[cell(c::series, Value::Ref(event.id()))])?,
        None => Vec::new(),
    };
    let since = DateTime(from.0 - (end.0 - start.0));
    let starts = rule.map_or_else(|| vec![start], |rule| rule.starts(start, zone, since, to));
    let mut found = Vec::new();
    for at in starts {
        // Whole days stay whole days when the clocks change.
        let until = if event.get(c::all_day) == Value::Bool(true) {
            let wall = zone.wall(end).0 - zone.wall(start).0;
            zone.instant(DateTime(zone.wall(at).0 + wall))
        } else {
            DateTime(at.0 + end.0 - start.0)
        };
        let replaced = exceptions.iter().any(|other| other.instant(c::original_start) == Some(at));
        if !replaced && touches(at, until) {
            let event = event.clone();
            found.push(Occurrence { event, start: at, end: until, original: at, is_exception: false });
        }
    }
    for other in exceptions {
        if let (Some(start), Some(end)) = (other.instant(c::start), other.instant(c::end))
            && touches(start, end)
            && !other.is(c::status, w::cancelled)
        {
            let original = other.instant(c::original_start).unwrap_or(start);
            found.push(Occurrence { event: other, start, end, original, is_exception: true });
        }
    }
    found.sort_by_key(|found| (found.start, found.event.id()));
    Ok(found)
}

fn zone_of<T>(row: &RowView<T>) -> Zone
where
    c::timezone: ColumnOf<T>,
{
    match row.get(c::timezone) {
        Value::Enum(place) => Zone::of(place),
        _ => Zone::of(0),
    }
}
