//! The cases of every domain hold, and they cover what they must.

use benchwright_base::TableId;
use benchwright_catalog::Catalog;
use benchwright_expr::Type;
use benchwright_schema::{CaseFile, Domain, Tool};
use benchwright_testkit::cases::{Coverage, run_file};
use std::{fs, path::Path};

/// At least so many cases call each tool that writes.
const CASES_PER_WRITER: usize = 2;

/// The domain whose cases are those of a part's tools too.
const FIRST_OF_A_PART: &str = "coatings";

#[test]
fn every_case_of_every_domain_holds_and_each_writing_tool_and_rule_has_its_cases() {
    let domains = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains");
    let catalog = Catalog::from_folder(&domains);
    let mut failures = Vec::new();
    for name in catalog.names().unwrap() {
        let found = catalog.find(&name).unwrap_or_else(|error| panic!("{error}"));
        let place = catalog.place(&name).unwrap().unwrap();
        let cases = place.join("cases");
        if !cases.is_dir() {
            // The tools of a part are tested with the part.
            let has_tools = place.join("tools.toml").exists();
            assert!(!has_tools && !found.domain.tools.is_empty(), "{name} has tools of its own and no cases");
            continue;
        }
        let mut files: Vec<_> = fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        // The episode that the bench measures is a case too.
        files.extend(Some(place.join("bench.case")).filter(|bench| bench.is_file()));
        let mut coverage = Coverage::default();
        for file in files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "case")) {
            let shown = file.strip_prefix(&domains).unwrap().to_string_lossy();
            match run_file(&found, &shown, &fs::read_to_string(file).unwrap()) {
                Ok(more) => coverage.add(more),
                Err(error) => failures.push(error),
            }
        }
        // What there is once in a joined world is the same in every domain, and has its cases in one of them.
        let is_once = |tool: &Tool| tool.table.is_some_and(|table| found.domain.table(table).once);
        // So are the tools of a part, which has its cases in the first domain that was made with it.
        let of_part = !place.join("tools.toml").exists() && name != FIRST_OF_A_PART;
        let elsewhere = |tool: &Tool| of_part || (name != "csm" && is_once(tool));
        for tool in found.domain.tools.iter().filter(|tool| !tool.reads_only() && !elsewhere(tool)) {
            let cases = coverage.tools.get(&tool.name).map_or(0, |cases| cases.len());
            if cases < CASES_PER_WRITER {
                failures.push(format!(
                    "{name}: {} writes and is called in {cases} cases, not {CASES_PER_WRITER}",
                    tool.name
                ));
            }
        }
        // Record calls answer in a form of their own and touch many rows; their cases say what matters of it.
        let plain = |tool: &&Tool| {
            !tool.reads_only() && !elsewhere(tool) && !tool.native.as_ref().is_some_and(|native| native.json)
        };
        for tool in found.domain.tools.iter().filter(plain) {
            for (what, seen) in [("a whole diff", &coverage.written), ("a refusal by the world", &coverage.refused)] {
                // Whatever is said back is written down: only its arguments can be wrong.
                let cannot = is_once(tool) && what.starts_with("a refusal");
                if !cannot && !seen.contains(&tool.name) {
                    failures.push(format!("{name}: no case has {what} of {}", tool.name));
                }
            }
        }
        for table in &found.domain.tables {
            for lifecycle in &table.lifecycles {
                let field = table.field(lifecycle.field);
                let Type::Enum(words) = field.ty else { continue };
                for word in &found.domain.enums[words.index()].words {
                    let state = (table.name.clone(), field.name.clone(), word.clone());
                    let is_written = found.domain.tools.iter().any(|tool| writes(tool, &table.name, &found.domain));
                    if is_written && !coverage.states.contains(&state) {
                        failures.push(format!("{name}: no call brings {}.{} to {word}", table.name, field.name));
                    }
                }
            }
        }
        for rule in &found.domain.rules {
            for (what, seen) in [("keeps", &coverage.kept), ("breaks", &coverage.broken)] {
                if !seen.contains(&rule.id) {
                    failures.push(format!("{name}: no case {what} {}", rule.id));
                }
            }
        }
        println!("{name}: {} cases, {} calls", coverage.cases, coverage.calls);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The edges of the native work, each with the case that shows it and a tool that the case calls.
const EDGES: [(&str, &str, &str); 10] = [
    ("calendar", "a series keeps its wall clock over the change of clocks, and an exception", "get_event_instances"),
    ("calendar", "a time that the clocks skip is an hour later", "get_event_instances"),
    ("calendar", "a whole day stays a whole day when the clocks change", "get_event_instances"),
    ("drive", "a folder is not moved below itself", "move_files"),
    ("drive", "inherited access goes with the permission on the folder", "delete_permission"),
    ("drive", "inherited access goes and comes with a move", "move_files"),
    ("drive", "the last yes approves, and then it is over", "answer_approval"),
    ("email", "a filter is run over mail that is there", "apply_filter_to_existing"),
    ("itsm", "a chain of approvals", "decide_change_approval"),
    ("itsm", "breaks two-levels-of-incidents: a grandchild, a loop", "add_child_incident"),
];

#[test]
fn the_edges_of_native_work_have_cases_of_their_own() {
    let catalog = Catalog::from_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains"));
    for (domain, title, tool) in EDGES {
        let files = fs::read_dir(catalog.place(domain).unwrap().unwrap().join("cases")).unwrap();
        let texts: Vec<String> = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let cases = texts.iter().flat_map(|text| CaseFile::parse(text).unwrap().cases);
        let found: Vec<_> = cases.filter(|case| case.title.starts_with(title)).collect();
        let call = format!("call {tool} ");
        let calls = |case: &benchwright_schema::Case<'_>| case.steps.iter().any(|(_, line)| line.starts_with(&call));
        assert!(found.len() == 1 && calls(&found[0]), "{domain}: no one case `{title}` that calls {tool}");
    }
}

/// Whether a tool that is no record call writes a table.
fn writes(tool: &Tool, table: &str, domain: &Domain) -> bool {
    let is = |id: &TableId| domain.table(*id).name == table;
    match &tool.native {
        Some(native) => !native.json && native.writes.iter().any(is),
        None => !tool.reads_only() && tool.table.as_ref().is_some_and(is),
    }
}
