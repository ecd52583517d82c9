//! Joined worlds: the compositions load, keep the laws, call tools by names that do not depend on the composition, and know the
//! same people in all their domains. `BENCHWRIGHT_LAW_CALLS` sets how many random calls are made.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{Json, RowId, Value};
use benchwright_catalog::{Catalog, Found};
use benchwright_pack::RefusalCode;
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Domain, Member};
use benchwright_testkit::{
    cases::{Coverage, run_file},
    laws::{self, Report},
    member::cases_of_member,
};
use benchwright_world::Seat;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

/// What the operations domains are joined to, as the benchmark asks for it.
const WANTED: [&str; 19] = [
    "calendar+csm",
    "calendar+csm+drive+email+hr+itsm+teams",
    "calendar+email+itsm",
    "calendar+hr",
    "calendar+itsm",
    "calendar+teams",
    "csm+drive+email",
    "csm+email",
    "csm+itsm",
    "csm+teams",
    "drive+email",
    "drive+email+hr",
    "drive+hr",
    "drive+teams",
    "email+hr",
    "email+itsm",
    "hr+itsm",
    "hr+teams",
    "itsm+teams",
];
const ALL: &str = WANTED[1];

fn catalog() -> Catalog {
    Catalog::from_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains"))
}

fn look(world: &Arc<Sandbox>) -> Episode {
    let seat = Seat { role: world.domain().roles[0].name.clone(), actor: None };
    world.begin(&seat, Conditions::default()).unwrap()
}

/// Calls over all compositions: a fifth of what single domains get.
fn calls() -> usize {
    std::env::var("BENCHWRIGHT_LAW_CALLS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000) / 5
}

/// Runs the cases of every domain in the world that joins all seven.
fn member_cases(everything: &Found) -> Coverage {
    let domains = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains");
    let catalog = catalog();
    let place = |name: &str| catalog.place(name).unwrap().unwrap();
    let of_member = |member: &Member| {
        let mut coverage = Coverage::default();
        let mut files: Vec<_> = fs::read_dir(place(&member.name).join("cases")).unwrap().collect();
        files.sort_by_key(|file| file.as_ref().unwrap().path());
        for file in files {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            if let Some(told) = cases_of_member(&text, &everything.domain, member) {
                let name = format!("{} in all seven", path.strip_prefix(&domains).unwrap().display());
                coverage.add(run_file(everything, &name, &told).unwrap_or_else(|error| panic!("{error}")));
            }
        }
        coverage
    };
    let mut total = Coverage::default();
    std::thread::scope(|scope| {
        let (left, right) = everything.domain.members.split_at(4);
        let halves = [left, right].map(|half| {
            let of_member = &of_member;
            scope.spawn(move || half.iter().map(of_member).collect::<Vec<_>>())
        });
        halves.into_iter().flat_map(|half| half.join().unwrap()).for_each(|coverage| total.add(coverage));
    });
    total
}

#[test]
fn every_composition_loads_and_keeps_the_laws() {
    let catalog = catalog();
    assert_eq!(catalog.compositions().unwrap(), WANTED);
    let share = calls() / WANTED.len();
    let run = |name: &str, seed: u64| {
        let world = catalog.world(name, "small", 1).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(world.tools_without_code(), Vec::<&str>::new(), "{name}");
        let report = laws::run(&world, seed, share);
        let answered: BTreeSet<&String> = report.successes.keys().collect();
        let tools = world.domain().tools.len();
        println!(
            "{name}: {} calls, {} answered, {} of {tools} tools, refused {:?}",
            report.calls,
            report.answered,
            answered.len(),
            report.refused
        );
        assert!(report.broken.is_empty(), "{name}: {:#?}", report.broken);
        report
    };
    let (left, right) = WANTED.split_at(WANTED.len() / 2);
    let mut total = Report::default();
    std::thread::scope(|scope| {
        let halves = [left, right].map(|half| {
            let run = &run;
            scope.spawn(move || half.iter().enumerate().map(|(at, name)| run(name, at as u64 + 1)).collect::<Vec<_>>())
        });
        halves.into_iter().flat_map(|half| half.join().unwrap()).for_each(|report| total.add(report));
    });
    println!("joined: {} calls, {} answered, {} tools answered", total.calls, total.answered, total.successes.len());
    let everything = catalog.find(ALL).unwrap();
    println!("random calls alone leave {} to be shown", total.missing(&everything.domain).len());
    let coverage = member_cases(&everything);
    println!("cases of members: {} with {} calls", coverage.cases, coverage.calls);
    total.add_cases(coverage);
    // Names of tools, tables and rules are the same in every composition, so what all of them showed can be taken together.
    let missing = total.missing(&everything.domain);
    assert!(missing.is_empty(), "{missing:#?}");
    assert_eq!(total.calls, share * WANTED.len());
    assert!(total.answered * 4 > total.calls, "{} of {} answered", total.answered, total.calls);
}

/// For each tool of each domain, the name by which a joined world serves it.
fn served(domain: &Domain) -> BTreeMap<(String, String), String> {
    let names = |member: &benchwright_schema::Member| {
        let tools = domain.tools[member.tools.clone()].iter().map(|tool| tool.name.clone());
        let own = member.tool_names.iter().map(|own| (member.name.clone(), own.clone()));
        own.zip(tools).collect::<Vec<_>>()
    };
    domain.members.iter().flat_map(names).collect()
}

/// How many tables and tools there are once, however many domains are joined.
fn once(domain: &Domain) -> (usize, usize) {
    let is_once = |tool: &&benchwright_schema::Tool| tool.table.is_some_and(|table| domain.table(table).once);
    (domain.tables.iter().filter(|table| table.once).count(), domain.tools.iter().filter(is_once).count())
}

#[test]
fn the_name_of_a_tool_does_not_depend_on_the_composition() {
    let catalog = catalog();
    let everything = catalog.find(ALL).unwrap();
    let names = served(&everything.domain);
    let different: BTreeSet<&String> = names.values().collect();
    let own = everything.domain.tools.len() - once(&everything.domain).1;
    assert_eq!((names.len(), different.len()), (own, own));
    for composition in WANTED {
        for (tool, name) in served(&catalog.find(composition).unwrap().domain) {
            assert_eq!(names[&tool], name, "{tool:?} in {composition}");
        }
    }
    // A name is its own where no other domain has it, and begins with its domain where one has.
    let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in catalog.names().unwrap() {
        for tool in &catalog.find(&name).unwrap().domain.tools {
            owners.entry(tool.name.clone()).or_default().insert(name.clone());
        }
    }
    let mut prefixed = 0;
    for ((domain, own), name) in &names {
        let clashes = owners[own].len() > 1;
        prefixed += usize::from(clashes);
        assert_eq!(*name, if clashes { format!("{domain}_{own}") } else { own.clone() });
    }
    assert!(prefixed > 0 && prefixed < names.len(), "{prefixed} of {}", names.len());
    println!("{} tools, {prefixed} with their domain before them", names.len());
}

#[test]
fn every_tool_of_every_world_has_a_name_that_models_accept() {
    // Most interfaces of models refuse a list with a name that is not ^[a-zA-Z0-9_-]{1,64}$.
    let fits = |name: &str| {
        (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    let catalog = catalog();
    let worlds = [catalog.names().unwrap(), catalog.compositions().unwrap()].concat();
    // The longest prefixes and names come together where everything is joined that can be.
    let all: Vec<String> = catalog.names().unwrap().into_iter().filter(|name| name != "erp").collect();
    let mut seen = 0;
    for world in worlds.into_iter().chain([all.join("+")]) {
        let domain = catalog.find(&world).unwrap_or_else(|error| panic!("{world}: {error}")).domain;
        let odd: Vec<&str> = domain.tools.iter().map(|tool| &*tool.name).filter(|name| !fits(name)).collect();
        assert!(odd.is_empty(), "{world}: {odd:?}");
        seen += domain.tools.len();
    }
    println!("{seen} tools");
}

#[test]
fn a_joined_world_has_what_its_domains_have() {
    let catalog = catalog();
    let joined = catalog.world("csm+itsm", "small", 1).unwrap();
    let domain = joined.domain();
    let mut places = (0, 0, 0);
    let episode = look(&joined);
    for (member, name) in domain.members.iter().zip(["csm", "itsm"]) {
        let alone = catalog.world(name, "small", 1).unwrap();
        let own = alone.domain();
        let (tables, tools) = (own.tables.len() - once(own).0, own.tools.len() - once(own).1);
        assert_eq!((member.tables.len(), member.tools.len()), (tables, tools));
        places = (places.0 + tables, places.1 + tools, places.2 + own.rules.len());
        let other = look(&alone);
        for (at, table) in own.tables.iter().enumerate().filter(|(_, table)| !table.once) {
            let full = format!("{name}.{}", table.name);
            let id = domain.table_named(&full).unwrap();
            assert_eq!(domain.table(id).own_name(), table.name);
            let (here, there) = (episode.rows(id).count(), other.rows(own.table_named(&table.name).unwrap()).count());
            assert_eq!(here, there, "rows of {full} ({at})");
        }
        for rule in &own.rules {
            assert!(domain.rules.iter().any(|known| known.id == format!("{name}/{}", rule.id)), "{}", rule.id);
        }
    }
    let shared = once(domain);
    assert!(shared.0 > 0 && shared.1 > 0, "what is said back is there once");
    assert_eq!(
        (places.0 + shared.0, places.1 + shared.1, places.2),
        (domain.tables.len(), domain.tools.len(), domain.rules.len())
    );
    // The order in which domains are named does not matter, and the same seed gives the same bytes.
    let again = catalog.world("itsm+csm", "small", 1).unwrap();
    assert_eq!(again.domain().name, "csm+itsm");
    assert_eq!(look(&again).snapshot_bytes(), episode.snapshot_bytes());
    let back = catalog.world_of_snapshot(&episode.snapshot_bytes()).unwrap();
    assert_eq!(look(&back).state_hash(), episode.state_hash());
}

/// The people of each member: address to the name, as far as one can be read.
fn people(world: &Arc<Sandbox>) -> Vec<BTreeMap<String, String>> {
    let domain = world.domain();
    let episode = look(world);
    let of_member = |member: &benchwright_schema::Member| {
        let (table, address) = (member.actor.unwrap(), member.address.unwrap());
        let declared = domain.table(table);
        let text = |row: &benchwright_sandbox::Row, field: &str| {
            let value = declared.field_named(field).map(|field| row.get(field).clone());
            value.and_then(|value| value.as_text().map(str::to_owned))
        };
        let rows = episode.rows(table).map(|row| {
            let parts = || Some(format!("{} {}", text(row, "first_name")?, text(row, "last_name")?));
            let name = text(row, "name").or_else(|| text(row, "display_name")).or_else(parts).unwrap();
            (row.get(address).as_text().unwrap().to_owned(), name)
        });
        rows.collect::<BTreeMap<String, String>>()
    };
    domain.members.iter().map(of_member).collect()
}

#[test]
fn the_same_people_are_in_every_domain() {
    let catalog = catalog();
    for name in WANTED {
        let world = catalog.world(name, "small", 1).unwrap();
        let people = people(&world);
        let company = |address: &&String| address.ends_with("@lindqvist.example");
        for (at, here) in people.iter().enumerate() {
            for there in &people[at + 1..] {
                let both: Vec<&String> = here.keys().filter(|address| there.contains_key(*address)).collect();
                for address in &both {
                    assert_eq!(here[*address], there[*address], "{name}: {address}");
                }
                let fewer = here.keys().filter(company).count().min(there.keys().filter(company).count());
                // Everybody of the company whom the smaller system knows is in the larger one, but for those who have left:
                // one system may remember more of them.
                let shared = both.iter().filter(|address| address.ends_with("@lindqvist.example")).count();
                assert!(shared + 3 >= fewer && shared >= 3, "{name}: {shared} shared of {fewer}");
            }
        }
    }
}

#[test]
fn who_somebody_is_does_not_depend_on_the_composition() {
    let catalog = catalog();
    let [first, second] = ["csm+email", "calendar+hr"].map(|name| people(&catalog.world(name, "small", 1).unwrap()));
    let known = first[0].keys().filter(|address| second[1].contains_key(*address)).count();
    assert!(known >= 5, "{known}");
    let other = people(&catalog.world("csm+email", "small", 2).unwrap());
    assert_ne!(first, other);
}

#[test]
fn customers_and_guests_are_known_across_domains() {
    let catalog = catalog();
    let addresses = |world: &Arc<Sandbox>, table: &str, field: &str| -> BTreeSet<String> {
        let id = world.domain().table_named(table).unwrap();
        let field = world.domain().table(id).field_named(field).unwrap();
        look(world).rows(id).filter_map(|row| row.get(field).as_text().map(str::to_owned)).collect()
    };
    let world = catalog.world("csm+email", "small", 1).unwrap();
    let [customers, book] =
        [("csm.contact", "email"), ("email.contact", "address")].map(|(table, field)| addresses(&world, table, field));
    let known = book.intersection(&customers).count();
    assert!(known * 2 >= book.len() && known > 0, "{known} of {}", book.len());
    let world = catalog.world("calendar+teams", "medium", 1).unwrap();
    let [guests, members] = [("calendar.attendee", "email"), ("teams.user", "user_principal_name")]
        .map(|(table, field)| addresses(&world, table, field));
    assert!(guests.intersection(&members).count() >= 3, "{guests:?}");
}

fn address_of(world: &Arc<Sandbox>, member: usize, person: RowId) -> Value {
    let member = &world.domain().members[member];
    let episode = look(world);
    episode.rows(member.actor.unwrap()).find(|row| row.id() == person).unwrap().get(member.address.unwrap()).clone()
}

#[test]
fn one_person_acts_in_every_domain_with_a_role_in_each() {
    let catalog = catalog();
    let world = catalog.world(ALL, "small", 1).unwrap();
    let role = &world.domain().roles[0].name;
    assert!(role.starts_with("calendar.") && role.matches('+').count() == 6, "{role}");
    let seat = Seat { role: role.clone(), actor: world.person_for(role) };
    let episode = world.begin(&seat, Conditions::default()).unwrap();
    let people: Vec<RowId> = episode.people().iter().map(|person| person.unwrap()).collect();
    let addresses: BTreeSet<Value> =
        people.iter().enumerate().map(|(member, person)| address_of(&world, member, *person)).collect();
    assert_eq!((people.len(), addresses.len()), (7, 1));

    // A role in one member gives nothing in another.
    let world = catalog.world("csm+itsm", "small", 1).unwrap();
    let begin = |role: &str| {
        let seat = Seat { role: role.to_owned(), actor: world.person_for(role) };
        world.begin(&seat, Conditions::default())
    };
    let mut agent = begin("csm.agent").unwrap();
    assert!(agent.call("csm_list_users", "{}").is_ok(), "{:?}", agent.call("csm_list_users", "{}"));
    assert_eq!(agent.call("create_incident", "{}").unwrap_err().code, RefusalCode::InvalidArgument);
    let table = world.domain().table_named("itsm.incident").unwrap();
    let list = world.domain().tools.iter().find(|tool| tool.table == Some(table) && tool.reads_only()).unwrap();
    assert_eq!(agent.call(&list.name, "{}").unwrap_err().code, RefusalCode::Forbidden);
    let mut both = begin("itsm.agent+csm.agent").unwrap();
    assert_eq!(both.role().name, "csm.agent+itsm.agent");
    assert!(both.call(&list.name, "{}").is_ok());
    assert_eq!(both.trace().role, "csm.agent+itsm.agent");
    for wrong in ["agent", "csm.agent+csm.admin", "csm.nobody", "hr.admin", ""] {
        assert!(begin(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn who_acts_has_an_id_of_their_own_in_each_domain() {
    let world = catalog().world("calendar+drive", "medium", 1).unwrap();
    let domain = world.domain();
    let [calendar, drive] = [0, 1].map(|member| domain.members[member].actor.unwrap());
    let file = domain.table_named("drive.file").unwrap();
    let owner = domain.table(file).field_named("owner").unwrap();
    let first = look(&world);
    // Somebody who owns a file, and has another id in the calendar, which in the drive is somebody else's who owns one too.
    let file_of =
        |person: RowId| first.rows(file).find(|row| *row.get(owner) == Value::Ref(person)).map(|row| row.id());
    let role = "calendar.admin+drive.owner";
    let someone = first.rows(calendar).find_map(|row| {
        let seat = Seat { role: role.to_owned(), actor: Some(row.id()) };
        let episode = world.begin(&seat, Conditions::default()).unwrap();
        let there = episode.people()[1].filter(|there| *there != row.id())?;
        Some((episode, there, file_of(there)?, file_of(row.id())?))
    });
    let (mut episode, there, own, other) = someone.unwrap();
    assert_eq!(address_of(&world, 0, episode.person().unwrap()), address_of(&world, 1, there));
    // A condition of a role, a stamp and native code all mean the person of the drive.
    let update = |id: RowId| format!("{{\"id\":{id},\"description\":\"read\"}}");
    assert_eq!(episode.call("update_files", &update(other)).unwrap_err().code, RefusalCode::Forbidden);
    episode.call("update_files", &update(own)).unwrap();
    let answer =
        episode.call("create_file", &format!("{{\"name\":\"a\",\"mime_type\":\"pdf\",\"owner\":{there}}}")).unwrap();
    assert!(answer.contains(&format!("\"last_modified_by\":{there}")), "{answer}");
    let made = match Json::parse(&answer).unwrap().get("id") {
        Some(Json::Int(id)) => *id,
        other => panic!("{other:?}"),
    };
    let answer = episode.call("copy_files", &format!("{{\"file\":{made}}}")).unwrap();
    assert!(answer.contains(&format!("\"owner\":{there}")), "{answer}");
    // Ids say nothing across domains: not everybody has the same in both.
    let same = |row: &benchwright_sandbox::Row| {
        let (here, address) = (domain.members[0].address.unwrap(), domain.members[1].address.unwrap());
        let other = first.rows(drive).find(|other| other.get(address) == row.get(here));
        other.map(|other| other.id() == row.id())
    };
    let same: Vec<bool> = first.rows(calendar).filter_map(same).collect();
    let equal = same.iter().filter(|same| **same).count();
    assert!(same.len() >= 30 && equal * 2 < same.len(), "{equal} of {}", same.len());
}

#[test]
fn what_cannot_be_joined_is_told() {
    let catalog = catalog();
    for (name, told) in [
        ("csm+csm", "two or more different domains"),
        ("csm+", "two or more different domains"),
        ("csm+itsn", "did you mean `itsm`?"),
        ("csm+erp", "it is not joined"),
    ] {
        let error = catalog.find(name).err().unwrap().to_string();
        assert!(error.contains(told), "{name}: {error}");
    }
    // Whatever else can be: a set of domains that no file tells of.
    let found = catalog.find("hr+csm+meal").unwrap();
    assert_eq!((&*found.domain.name, found.domain.members.len()), ("csm+hr+meal", 3));
    assert_eq!(found.domain.title.matches(" and ").count(), 1, "{}", found.domain.title);
}
