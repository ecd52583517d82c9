//! Several domains as one: tables stay apart under the names of their domains (`csm.user`), people are the same everywhere,
//! and a tool is called by its own name unless two domains have one of that name.

mod bridges;
mod moved;
mod roles;

pub use bridges::{Bridges, Composition};

use crate::model::{Domain, Member, Seed, SeedField, Table, TextPart, Tool};
use benchwright_base::{DateTime, Digest, Value};
use benchwright_expr::{Shift, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Why domains cannot be joined.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct JoinError(String);

impl JoinError {
    fn new(why: impl Into<String>) -> JoinError {
        JoinError(why.into())
    }
}

/// Between the names of domains in the name of a joined one, and between the roles in a joined one's role.
pub(crate) const AND: char = '+';

/// Joins domains, in the order of their names. `clashing` are the tool names that more than one of
/// **all** domains has, whether it is joined here or not, so that the name of a tool never depends on what its domain is joined with.
pub fn join(
    composition: &Composition,
    domains: &[&Domain],
    clashing: &BTreeSet<String>,
    bridges: &Bridges,
) -> Result<Domain, JoinError> {
    let names: Vec<&str> = domains.iter().map(|domain| &*domain.name).collect();
    if names.len() < 2 || !names.is_sorted_by(|a, b| a < b) {
        return Err(JoinError::new(
            "a joined world is made of two or more different domains, in the order of their names",
        ));
    }
    let digests: Vec<String> = domains.iter().map(|domain| domain.digest.to_string()).collect();
    let told = [("composition", composition.text.as_bytes()), ("bridges", bridges.text.as_bytes())];
    let parts = names.iter().zip(&digests).map(|(name, digest)| (*name, digest.as_bytes()));
    let mut joined = Domain {
        title: composition.title.clone(),
        role: composition.role.clone(),
        about: composition.about.clone(),
        // One clock: no member stands before what it knows.
        now: domains.iter().map(|domain| domain.now).max().unwrap_or(DateTime(0)),
        ..Domain::empty(names.join(&AND.to_string()), Digest::of_parts(told.into_iter().chain(parts)))
    };
    // What there is once stands before all members.
    if let Some(domain) = domains.iter().find(|domain| domain.once().0 > 0) {
        let (tables, enums) = domain.once();
        let is_once = |tool: &&Tool| tool.table.is_some_and(|table| table.index() < tables);
        joined.enums.extend(domain.enums[..enums].iter().cloned());
        joined.tables.extend(domain.tables[..tables].iter().cloned());
        joined.tools.extend(domain.tools.iter().take_while(is_once).cloned());
        joined.shared = domain.roles.first().map_or_else(Vec::new, |role| role.access[..tables].to_vec());
    }
    for domain in domains {
        add(&mut joined, domain, clashing, bridges)?;
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = joined.tools.iter().find(|tool| !seen.insert(&tool.name)) {
        return Err(JoinError::new(format!("two tools would be called `{}`", twice.name)));
    }
    joined.actor = joined.members.iter().find_map(|member| member.actor);
    joined.roles = roles::levels(&joined.members, &joined.shared);
    share_people(&mut joined, bridges)?;
    bridges.mirror(&mut joined)?;
    Ok(joined)
}

/// Adds a member: its declarations under new names and places.
fn add(joined: &mut Domain, domain: &Domain, clashing: &BTreeSet<String>, bridges: &Bridges) -> Result<(), JoinError> {
    let name = &domain.name;
    if !domain.members.is_empty() {
        return Err(JoinError::new(format!("`{name}` is joined already")));
    }
    if domain.tables.iter().any(|table| table.odoo.is_some()) {
        let why =
            format!("`{name}` answers the calls of a real system, whose names cannot be changed; it is not joined");
        return Err(JoinError::new(why));
    }
    let places = (joined.tables.len() + domain.tables.len(), joined.enums.len() + domain.enums.len());
    if places.0 > usize::from(u16::MAX) || places.1 > usize::from(u16::MAX) {
        return Err(JoinError::new("together they have too many tables"));
    }
    let (once_tables, once_enums) = domain.once();
    let is_once = |tool: &&Tool| tool.table.is_some_and(|table| table.index() < once_tables);
    let once_tools = domain.tools.iter().take_while(is_once).count();
    let same = |known: &Table, table: &Table| known.name == table.name && known.fields.len() == table.fields.len();
    let shared = joined.tables.iter().take_while(|table| table.once);
    if once_tables > 0
        && (shared.clone().count() != once_tables
            || !shared.zip(&domain.tables).all(|(known, table)| same(known, table)))
    {
        return Err(JoinError::new(format!("`{name}` has other tables that are there once")));
    }
    let shift = Shift {
        relations: (joined.tables.len() - once_tables) as u16,
        enums: (joined.enums.len() - once_enums) as u16,
        kept_relations: once_tables as u16,
        kept_enums: once_enums as u16,
    };
    let (first_table, first_tool) = (joined.tables.len(), joined.tools.len());
    for known in &domain.enums[once_enums..] {
        let mut known = known.clone();
        known.name = format!("{name}.{}", known.name);
        joined.enums.push(known);
    }
    for table in &domain.tables[once_tables..] {
        let mut table = table.clone();
        moved::table(&mut table, shift);
        table.name = format!("{name}.{}", table.name);
        joined.tables.push(table);
    }
    for tool in &domain.tools[once_tools..] {
        let mut tool = tool.clone();
        moved::tool(&mut tool, shift);
        tool.name = served_name(name, &tool.name, clashing);
        joined.tools.push(tool);
    }
    for note in &domain.notes {
        let mut note = note.clone();
        shift.source(&mut note);
        joined.notes.push(note);
    }
    for rule in &domain.rules {
        let mut rule = rule.clone();
        rule.id = format!("{name}/{}", rule.id);
        for (table, require) in &mut rule.on {
            *table = shift.relation(*table);
            shift.expr(require);
        }
        moved::ways(&mut rule.ways, shift, first_tool - once_tools);
        joined.rules.push(rule);
    }
    for injection in &domain.injections {
        joined.injections.push(moved::injection(injection.clone(), name, shift, first_tool - once_tools));
    }
    let actor = domain.actor;
    let address = match (bridges.people.get(name), actor) {
        (Some(person), Some(table)) => {
            let declared = domain.table(table);
            let field = declared.field_named(&person.field).filter(|_| declared.name == person.table);
            let field = field.filter(|field| declared.field(*field).ty == Type::Text);
            let missing = || JoinError::new(format!("{name} has no people with `{}.{}`", person.table, person.field));
            Some(field.ok_or_else(missing)?)
        }
        _ => None,
    };
    let mut roles = domain.roles.clone();
    roles.iter_mut().for_each(|role| drop(role.access.drain(..once_tables)));
    let grants = roles.iter_mut().flat_map(|role| &mut role.access).flat_map(|access| &mut access.grants);
    grants.filter_map(|grant| grant.condition.as_mut()).for_each(|condition| shift.expr(condition));
    joined.members.push(Member {
        name: name.clone(),
        tables: first_table..joined.tables.len(),
        tools: first_tool..joined.tools.len(),
        tool_names: domain.tools[once_tools..].iter().map(|tool| tool.name.clone()).collect(),
        actor: actor.map(|table| shift.relation(table)),
        address,
        roles,
    });
    if let Some(seed) = &domain.seed {
        add_seed(joined, name, seed, shift)?;
    }
    Ok(())
}

/// The name by which a tool of a domain is served wherever domains are joined.
fn served_name(domain: &str, tool: &str, clashing: &BTreeSet<String>) -> String {
    if clashing.contains(tool) { format!("{}_{tool}", domain.replace('-', "_")) } else { tool.to_owned() }
}

fn add_seed(joined: &mut Domain, name: &str, seed: &Seed, shift: Shift) -> Result<(), JoinError> {
    let all =
        joined.seed.get_or_insert_with(|| Seed { sizes: seed.sizes.clone(), pools: Vec::new(), rows: Vec::new() });
    if all.sizes != seed.sizes {
        return Err(JoinError::new(format!("`{name}` has other sizes: {}", seed.sizes.join(", "))));
    }
    let first = all.pools.len();
    all.pools.extend(seed.pools.iter().map(|(pool, words)| (format!("{name}.{pool}"), words.clone())));
    for step in &seed.rows {
        let mut step = step.clone();
        moved::step(&mut step, shift, first);
        all.rows.push(step);
    }
    Ok(())
}

/// Makes the people of the company the same in every member: who they are is drawn once for each person.
fn share_people(joined: &mut Domain, bridges: &Bridges) -> Result<(), JoinError> {
    let Some(seed) = &mut joined.seed else { return Ok(()) };
    // The words are those of the first member that has them.
    let mut shared: BTreeMap<&str, usize> = BTreeMap::new();
    let place_of = |pools: &[(String, Vec<String>)], full: &str| pools.iter().position(|(known, _)| known == full);
    for pool in &bridges.pools {
        let mut places = joined.members.iter().filter_map(|m| place_of(&seed.pools, &format!("{}.{pool}", m.name)));
        shared.extend(places.next().map(|place| (&**pool, place)));
    }
    for member in &joined.members {
        let (Some(person), Some(table), Some(address)) =
            (bridges.people.get(&member.name), member.actor, member.address)
        else {
            continue;
        };
        let own: BTreeMap<usize, usize> = shared
            .iter()
            .filter_map(|(pool, place)| Some((place_of(&seed.pools, &format!("{}.{pool}", member.name))?, *place)))
            .collect();
        let declared = &joined.tables[table.index()];
        let mut found = false;
        for step in seed.rows.iter_mut().filter(|step| step.table == table) {
            let Some((_, SeedField::Text(parts))) = step.fields.iter_mut().find(|(field, _)| *field == address) else {
                continue;
            };
            let Some(at) = parts.iter().position(|part| matches!(part, TextPart::Number(_))) else { continue };
            let is_own = match &person.host {
                Some(host) => parts[at + 1..] == [TextPart::Plain(format!("@{host}"))],
                None => true,
            };
            if !is_own {
                continue;
            }
            found = true;
            parts.truncate(at);
            parts.extend([TextPart::Person, TextPart::Plain(format!("@{}", bridges.company))]);
            for (_, how) in &mut step.fields {
                moved::pools(how, &|place| own.get(&place).copied().unwrap_or(place));
            }
            let never = |how: &SeedField| match how {
                SeedField::OneOf(choices) => choices.iter().all(|(value, _)| *value == Value::Bool(false)),
                _ => false,
            };
            let is_truth = |field| declared.field(field).ty == Type::Bool;
            let gone = step
                .fields
                .iter()
                .any(|(field, how)| is_truth(*field) && bridges.is_active(declared, *field) && never(how));
            step.people = Some(crate::model::People { gone, pools: shared.values().copied().collect() });
        }
        if !found {
            return Err(JoinError::new(format!("no step of {}'s seed makes people of the company", member.name)));
        }
    }
    Ok(())
}
