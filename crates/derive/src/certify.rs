//! Why a request cannot be carried out: the certificate of a blocked variant, derived from its world, its seat and its tools, with the
//! reasons that whoever declines may give.

use crate::{
    Scene, calls,
    calls::{Desk, Matter, Unwritable, Write},
    demand::{self, Demanded, MendOrder, Origin, Stuck, called},
    eval::Eye,
    names::Request,
    sorted, throw,
};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::{RefusalCode, effects::ExpectedRefusal};
use benchwright_project::Discard;
use benchwright_sandbox::Scratch;
use benchwright_schema::{Domain, codec};
use benchwright_spec::scenario::{Blocked, BlockingRule, Clause, Form, Obstacle, Scenario};
use benchwright_world::seen::Known;
use serde_json::{Value as Json, json};

/// A certificate: the reasons that are accepted, and how it came about.
pub(crate) struct Certificate {
    pub(crate) refusal: ExpectedRefusal,
    /// For people, and for whoever checks it.
    pub(crate) told: Json,
}

/// Certifies that a variant of a drawn request cannot be carried out, for the reason that it declares.
pub(crate) fn certify(
    scene: &Scene<'_>,
    variant: &Blocked,
    clauses: &[Clause],
    request: &Request,
) -> Result<Certificate, Discard> {
    match variant.obstacle {
        Obstacle::Policy => policy(scene, variant, clauses),
        Obstacle::Permission | Obstacle::NoTool => unwritable(scene, variant, clauses),
        Obstacle::NotFound => not_found(scene, variant, request),
        Obstacle::Contradiction => contradiction(scene, variant, clauses),
    }
}

fn ask(scene: &Scene<'_>, clauses: &[Clause], scratch: &Scratch) -> Result<Demanded, Box<(Stuck, Demanded)>> {
    demand::demand(scene.scenario, clauses, scratch, &scene.bound, &scene.seat, MendOrder::FirstFirst)
}

fn policy(scene: &Scene<'_>, variant: &Blocked, clauses: &[Clause]) -> Result<Certificate, Discard> {
    let domain = scene.domain();
    match &variant.rule {
        Some(BlockingRule::Rule(rule)) => {
            let stuck = match ask(scene, clauses, &scene.scratch) {
                Ok(_) => return Err(throw("nothing stands in the way".to_owned())),
                Err(stuck) => stuck,
            };
            let id = domain.rules[*rule].id.clone();
            let row = match &stuck.0 {
                Stuck::Rule(broken) if broken.rule == *rule => {
                    let row = stuck.1.scratch.row(broken.table, broken.row);
                    row.map(|cells| called(domain, broken.table, cells))
                }
                Stuck::Rule(broken) => {
                    return Err(throw(format!("{} stands in the way", domain.rules[broken.rule].id)));
                }
                // A call that a clause names is refused by the rule itself.
                Stuck::Refused(_, refusal) if refusal.rule.as_ref() == Some(&id) => None,
                other => return Err(throw(scene.told(other))),
            };
            // Every rule that stays broken is this one: without it the rest is clean.
            let others = stuck.1.scratch.broken().into_iter().find(|broken| broken.rule != *rule);
            if let Some(other) = others {
                return Err(throw(format!("{} stands in the way too", domain.rules[other.rule].id)));
            }
            let ways: Vec<&str> = domain.rules[*rule].ways.iter().map(|way| &*way.says).collect();
            let told = json!({ "rule": id, "on": row, "ways": ways, "without the rule": "clean" });
            Ok(Certificate { refusal: refusal(variant, vec![id], Vec::new()), told })
        }
        Some(BlockingRule::Lifecycle(table, field)) => {
            let name = format!("{}.{}", domain.table(*table).name, domain.table(*table).field(*field).name);
            let why = match written(scene, variant, clauses) {
                Ok(_) => return Err(throw("nothing stands in the way".to_owned())),
                Err(why) => why,
            };
            match why {
                Obstructed::Unwritable(why) if why.iter().all(|why| is_lifecycle(why, *table, *field)) => {
                    let on = why.iter().find_map(|why| match why {
                        Unwritable::Lifecycle { table, row, .. } => Some((*table, *row)),
                        _ => None,
                    });
                    let on = on.and_then(|(table, row)| Some(called(domain, table, scene.scratch.row(table, row)?)));
                    let told = json!({ "lifecycle": name, "on": on });
                    Ok(Certificate { refusal: refusal(variant, vec![name], Vec::new()), told })
                }
                other => Err(throw(format!("something else stands in the way: {}", obstructed(scene, &other)))),
            }
        }
        None => Err(Discard::Fault("a policy names its rule".to_owned())),
    }
}

fn is_lifecycle(why: &Unwritable, on: TableId, of: FieldId) -> bool {
    matches!(why, Unwritable::Lifecycle { table, field, .. } if (*table, *field) == (on, of))
}

fn refusal(variant: &Blocked, rules: Vec<String>, records: Vec<String>) -> ExpectedRefusal {
    ExpectedRefusal { obstacle: variant.obstacle.word().to_owned(), rules, records }
}

/// Why no calls could be found.
enum Obstructed {
    Stuck(Stuck),
    Unwritable(Vec<Unwritable>),
}

fn obstructed(scene: &Scene<'_>, why: &Obstructed) -> String {
    match why {
        Obstructed::Stuck(stuck) => scene.told(stuck),
        Obstructed::Unwritable(why) => crate::unwritten(scene.domain(), why),
    }
}

fn written(scene: &Scene<'_>, variant: &Blocked, clauses: &[Clause]) -> Result<(Demanded, Vec<Write>), Obstructed> {
    let demanded = ask(scene, clauses, &scene.scratch).map_err(|stuck| Obstructed::Stuck(stuck.0))?;
    let deeds = sorted(&demanded.deeds, scene.domain());
    let desk = Desk { domain: scene.domain(), role: &scene.role, without: &variant.without };
    let writes = calls::writes(Matter {
        deeds: &deeds,
        desk: &desk,
        first: &scene.scratch,
        last: &demanded.scratch,
        bound: &demanded.bound,
    });
    writes.map(|writes| (demanded, writes)).map_err(Obstructed::Unwritable)
}

/// No right, or no tool: all of what is demanded that nobody in the seat can write, each of which is a reason.
fn unwritable(scene: &Scene<'_>, variant: &Blocked, clauses: &[Clause]) -> Result<Certificate, Discard> {
    let domain = scene.domain();
    let mut why = match written(scene, variant, clauses) {
        Ok(_) => Vec::new(),
        Err(Obstructed::Unwritable(why)) => why,
        // A call that a clause names is made while the state is demanded, in the seat.
        Err(Obstructed::Stuck(Stuck::Refused(_, refusal))) if refusal.code == RefusalCode::Forbidden => Vec::new(),
        Err(other) => return Err(throw(format!("something else stands in the way: {}", obstructed(scene, &other)))),
    };
    if variant.obstacle == Obstacle::Permission {
        why.extend(forbidden(scene, clauses)?);
    }
    if why.is_empty() {
        return Err(throw("nothing stands in the way".to_owned()));
    }
    let (mut rules, mut records, mut tables) = (Vec::new(), Vec::new(), Vec::new());
    for why in &why {
        let (table, row, origin, obstacle) = match why {
            Unwritable::NoTool { table, row, origin } => (*table, *row, origin, Obstacle::NoTool),
            Unwritable::Forbidden { table, row, origin } => (*table, *row, origin, Obstacle::Permission),
            Unwritable::Lifecycle { .. } => return Err(throw("a lifecycle stands in the way".to_owned())),
        };
        if obstacle != variant.obstacle {
            return Err(throw(format!("{} stands in the way", obstacle.word())));
        }
        let natives = natives_for(scene, variant, table);
        if obstacle == Obstacle::NoTool && !natives.is_empty() {
            return Err(throw(format!("{} could do it", natives.join(", "))));
        }
        if let Origin::Way { rule, .. } = origin {
            rules.push(domain.rules[*rule].id.clone());
        }
        let declared = domain.table(table);
        tables.push(declared.name.clone());
        records.extend([declared.own_name().replace('_', " "), declared.own_name().to_owned(), declared.name.clone()]);
        records.extend(row.into_iter().flat_map(|row| keys_of(scene, table, row)));
    }
    rules.sort();
    rules.dedup();
    tables.dedup();
    each_once(&mut records);
    let told = json!({ "table": tables, "record": records, "rule": rules });
    Ok(Certificate { refusal: refusal(variant, rules, records), told })
}

/// The native tools that are offered and write a table; what exactly they write, nothing declares.
fn natives_for<'s>(scene: &'s Scene<'_>, variant: &Blocked, table: TableId) -> Vec<&'s str> {
    let tools = scene.domain().tools.iter().filter(|tool| !variant.without.contains(&tool.name));
    let natives = tools.filter(|tool| tool.native.as_ref().is_some_and(|native| native.writes.contains(&table)));
    natives.map(|tool| &*tool.name).collect()
}

/// Drops what stands in a list already, and keeps its order.
fn each_once(list: &mut Vec<String>) {
    let mut seen = std::collections::BTreeSet::new();
    list.retain(|item| seen.insert(item.clone()));
}

/// Everything that the seat may not do of what whoever sat there before it would do: each call of theirs is tried where they make it.
fn forbidden(scene: &Scene<'_>, clauses: &[Clause]) -> Result<Vec<Unwritable>, Discard> {
    let domain = scene.domain();
    let (role, seat) = scene.seat_named(&scene.scenario.seat)?;
    let mut scratch = Scratch::new(&scene.world).seated(seat.actor);
    let asked = demand::demand(scene.scenario, clauses, &scratch, &scene.bound, &seat, MendOrder::FirstFirst);
    let demanded = asked.map_err(|stuck| throw(scene.told(&stuck.0)))?;
    let deeds = sorted(&demanded.deeds, domain);
    let desk = Desk { domain, role: &role, without: &[] };
    let matter =
        Matter { deeds: &deeds, desk: &desk, first: &scene.scratch, last: &demanded.scratch, bound: &demanded.bound };
    let writes = calls::writes(matter).map_err(|why| throw(crate::unwritten(domain, &why)))?;
    let mut found = Vec::new();
    for write in &writes {
        let tool = &domain.tools[write.tool];
        let args = calls::plain_args(&write.args, &demanded.scratch).to_string();
        let tried = scratch.clone().call(&scene.seat, &tool.name, &args).err();
        if tried.is_some_and(|refusal| refusal.code == RefusalCode::Forbidden) {
            let deed = &deeds[write.deeds[0]];
            let row = match &deed.act {
                demand::DeedAct::Change { row, .. } | demand::DeedAct::Drop { row, .. } => Some(*row),
                _ => None,
            };
            let native = tool.native.iter().flat_map(|native| native.writes.iter().copied());
            let own = tool.table.into_iter().map(|table| (table, row)).chain(native.map(|table| (table, None)));
            found.extend(own.map(|(table, row)| Unwritable::Forbidden { table, row, origin: deed.origin.clone() }));
        }
        // Where rows have got other ids, a call may not fit; what it would be refused for is seen all the same.
        let _ = scratch.call(&seat, &tool.name, &args);
    }
    Ok(found)
}

/// What a row is known by: its own keys; one that has none, by those of the rows that it refers to.
fn keys_of(scene: &Scene<'_>, table: TableId, row: RowId) -> Vec<String> {
    let domain = scene.domain();
    let cells = scene.scratch.row(table, row).unwrap_or_default();
    let own = own_keys(domain, table, cells);
    if !own.is_empty() {
        return own;
    }
    let mut keys = Vec::new();
    for (field, cell) in domain.table(table).fields.iter().zip(cells).skip(1) {
        if let (Type::Ref(to), Value::Ref(other)) = (field.ty, cell)
            && let Some(cells) = scene.scratch.row(to, *other)
        {
            keys.extend(own_keys(domain, to, cells));
        }
    }
    keys
}

/// The texts by which people know a row: what it is numbered, called or addressed by, and whatever tells it from all others.
fn own_keys(domain: &Domain, table: TableId, cells: &[Value]) -> Vec<String> {
    const SHOWN: [&str; 7] =
        ["number", "name", "display_name", "email", "serial_number", "user_principal_name", "employee_number"];
    const TITLES: [&str; 3] = ["title", "summary", "subject"];
    let declared = domain.table(table);
    let is_key = |field: FieldId| declared.keys.iter().any(|key| key.fields.contains(&field));
    let mut keys = Vec::new();
    for (at, field) in declared.fields.iter().enumerate().skip(1) {
        let is_shown = field.ty == Type::Text && (SHOWN.contains(&&*field.name) || is_key(FieldId(at as u16)));
        if let Some(value) = cells.get(at).filter(|value| is_shown && !field.secret && !value.is_null()) {
            keys.push(codec::show_value(domain, field.ty, value));
        }
    }
    let titles = TITLES.iter().filter_map(|name| declared.field_named(name));
    let titles = titles.filter_map(|field| cells.get(field.index())).filter(|value| !value.is_null());
    keys.extend(titles.map(|title| codec::show_value(domain, Type::Text, title)));
    keys
}

fn not_found(scene: &Scene<'_>, variant: &Blocked, request: &Request) -> Result<Certificate, Discard> {
    let scenario = scene.scenario;
    let Some(lost) = &variant.lost else { return Err(Discard::Fault("nothing is lost".to_owned())) };
    let member = &scenario.cast[lost.member];
    let mut records = vec![member.name.replace('_', " "), member.name.clone()];
    match (&lost.path, &request.lost) {
        (Some(_), Some(shown)) => {
            records = vec![shown.clone()];
        }
        (Some(_), None) => return Err(throw("what is lost is not shown".to_owned())),
        (None, _) => {
            if !is_empty(scenario, scene, lost.member) {
                return Err(throw(format!("{} is there", member.name)));
            }
            // What it was to be found by may be named as well.
            if let Form::Rows { source, .. } = &member.form {
                records.extend(words_of(scene, source));
                if let benchwright_expr::Source::Rows { relation, .. } = source {
                    records.push(scene.domain().table(*relation).own_name().replace('_', " "));
                }
            }
        }
    }
    let told = json!({ "member": member.name, "source": member.text, "record": records });
    Ok(Certificate { refusal: refusal(variant, Vec::new(), records), told })
}

/// Whether nobody in the whole world is what a member stands for.
fn is_empty(scenario: &Scenario, scene: &Scene<'_>, at: usize) -> bool {
    let Form::Rows { source, condition, .. } = &scenario.cast[at].form else { return false };
    let eye = Eye::of(&scene.scratch, &scene.bound[..at]);
    eye.rows(source, condition.as_ref(), None).is_empty()
}

/// The texts that a source looks for.
fn words_of(scene: &Scene<'_>, source: &benchwright_expr::Source) -> Vec<String> {
    let benchwright_expr::Source::Rows { tests, .. } = source else { return Vec::new() };
    let eye = Eye::of(&scene.scratch, &scene.bound);
    let mut words = Vec::new();
    for (_, _, values) in tests {
        for value in values {
            match eye.value(value, None) {
                Value::Text(text) => words.push(text.to_string()),
                Value::Ref(_) => {
                    if let benchwright_expr::Expr::Field(slot, path) = value
                        && path.is_empty()
                        && let Some(Known::Row(table, Some(row))) = scene.bound.get(*slot)
                    {
                        words.extend(own_keys(
                            scene.domain(),
                            *table,
                            scene.scratch.row(*table, *row).unwrap_or_default(),
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    words
}

fn contradiction(scene: &Scene<'_>, variant: &Blocked, clauses: &[Clause]) -> Result<Certificate, Discard> {
    let domain = scene.domain();
    let stuck = match ask(scene, clauses, &scene.scratch) {
        Ok(demanded) => {
            let eye = Eye::of(&demanded.scratch, &demanded.bound);
            let failed = variant.ensure.iter().find(|ensure| !eye.holds(&ensure.holds, None));
            match failed {
                Some(ensure) => Stuck::Ensure(ensure.id.clone()),
                None => return Err(throw("nothing stands in the way".to_owned())),
            }
        }
        Err(stuck) => stuck.0,
    };
    let (records, told) = match &stuck {
        Stuck::Contradiction(table, row, field) => {
            let field = domain.table(*table).field(*field).name.clone();
            (keys_of(scene, *table, *row), json!({ "cell": format!("{}.{field}", domain.table(*table).name) }))
        }
        Stuck::Ensure(id) => {
            let mut records = Vec::new();
            for known in &scene.bound {
                if let Known::Row(table, Some(row)) = known {
                    records.extend(own_keys(domain, *table, scene.scratch.row(*table, *row).unwrap_or_default()));
                }
            }
            (records, json!({ "ensure": id }))
        }
        other => return Err(throw(scene.told(other))),
    };
    if records.is_empty() {
        return Err(throw("nothing names what the contradiction is about".to_owned()));
    }
    Ok(Certificate { refusal: refusal(variant, Vec::new(), records), told })
}
