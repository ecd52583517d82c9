//! The audit of the audit: compilers with one fault each, and the trial that finds it. The table is `README.md` beside this
//! file; `BENCHWRIGHT_UPDATE=1` writes it anew.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod family;
mod faults;
mod planted;

use crate::support::library;
use benchwright_audit::{
    AuditReport, Finding, Held, NotRemade, Solvers, Subject, TRIALS, Trial, run,
    trials::suite::{SuiteMember, suite},
};
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_pack::{Split, Suite, SuiteBars, Task};
use benchwright_project::{Family, Order, Solver, make, salted};
use benchwright_schema::Domain;
use benchwright_solve::{Answer, CpSat, Engine, EngineError, Highs, Limits, Model, PhasePlanner};
use family::Broken;
use faults::{Cell, FAULTS, Fault};
use planted::{CELLS, PLANTED};
use std::{cell::RefCell, collections::BTreeMap, fmt::Write, sync::Arc};

/// An engine that answers a question it was asked before without solving it again: most faults leave most questions as they are.
struct Remembering<E> {
    engine: E,
    known: RefCell<BTreeMap<String, Answer>>,
}

impl<E: Engine> Remembering<E> {
    fn new(engine: E) -> Remembering<E> {
        Remembering { engine, known: RefCell::default() }
    }
}

impl<E: Engine> Engine for Remembering<E> {
    fn version(&self) -> String {
        self.engine.version()
    }
    fn solve(&self, model: &Model, limits: &Limits) -> Result<Answer, EngineError> {
        let question = benchwright_base::Digest::of(format!("{model:?} {limits:?}").as_bytes()).to_string();
        if let Some(answer) = self.known.borrow().get(&question) {
            return Ok(answer.clone());
        }
        let answer = self.engine.solve(model, limits)?;
        self.known.borrow_mut().insert(question, answer.clone());
        Ok(answer)
    }
}

/// The solvers and the catalogue.
struct Shop {
    catalog: Catalog,
    domain: Arc<Domain>,
    first: Remembering<CpSat>,
    second: Remembering<Highs>,
    solver: Solver,
}

impl Shop {
    /// `None` only where the machine says that it has no solver.
    fn open() -> Option<Shop> {
        let library = library()?;
        let catalog = Catalog::built_in();
        let domain = catalog.find("erp").unwrap().domain;
        let (first, second) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
        let solver = Solver { version: first.version(), library: String::new() };
        Some(Shop { catalog, domain, first: Remembering::new(first), second: Remembering::new(second), solver })
    }

    fn make(&self, cell: &Cell, seed: u64, family: &dyn Family) -> Result<Task, String> {
        let pattern = self.catalog.pattern(cell.pattern).unwrap();
        let order = Order { pattern: &pattern, tier: cell.tier, objective: cell.objective, seed, reading: None };
        let mut planner = PhasePlanner::new(&self.first);
        make(order, family, &self.domain, &mut planner, &self.solver).map_err(|error| error.to_string())
    }

    /// What some trials find on the task that a broken compiler makes of a cell.
    fn findings(&self, fault: &Fault, trials: &[&str]) -> Result<BTreeMap<&'static str, Finding>, String> {
        let family: &'static Broken = Broken::new(fault.compiler);
        let remake = || -> Result<Task, NotRemade> {
            let mut task = self.make(fault.cell, fault.cell.seed, family)?;
            if let Some(change) = fault.task {
                let right = task.clone();
                change(&mut task);
                assert!(right != task || fault.memory.is_some(), "{}: the fault changes nothing", fault.name);
            }
            Ok(task)
        };
        let task = remake().map_err(|why| why.to_string())?;

        let solvers = Solvers { first: &self.first, second: &self.second };
        let subject = Subject::of_family(&task, &self.catalog, family, Some(solvers), &remake);
        let subject = subject.map_err(|why| why.to_string())?;
        family.check_that_facts_differ(&subject.case);
        let mut first = subject.first.clone();
        if let Some(change) = fault.memory {
            change(&self.domain, &mut first);
        }
        let grader = Grader::new(&self.domain, &task.sealed.verifier, &first, family.natives()).unwrap();
        let wanted = TRIALS.iter().filter(|trial| trials.contains(&trial.name));
        Ok(wanted.map(|trial| (trial.name, run(trial, &subject, &grader))).collect())
    }
}

/// What is said of a suite of twenty seeds, of which nothing is asked but that no two tasks are the same.
fn of_a_suite(shop: &Shop, fault: &Fault) -> Finding {
    let family: &'static Broken = Broken::new(fault.compiler);
    let members: Vec<SuiteMember> =
        (1..=20).map(|seed| SuiteMember::of(&salted(shop.make(fault.cell, seed, family).unwrap(), SALT))).collect();
    let any = Some(1_000);
    let bars = SuiteBars { recurring: any, near_duplicates: any, idle_rules: any, unmet_bounds: any, unbreakable: any };
    let whole = Suite {
        name: "twenty".to_owned(),
        version: 1,
        family: "erp".to_owned(),
        split: Split::Test,
        canary: String::new(),
        salt: Some(SALT.to_owned()),
        inject: 0,
        bars,
        solver: None,
        unbreakable: BTreeMap::new(),
        tasks: Vec::new(),
    };
    suite(&whole, &members, &AuditReport::default())
}

#[test]
fn tasks_that_are_the_same_are_found_by_the_trial_of_suites() {
    let Some(shop) = Shop::open() else { return };
    let fault = PLANTED.iter().find(|fault| fault.caught_by == ["suite"]).unwrap();
    assert!(!failed(&of_a_suite(&shop, &Fault::none(fault.cell))));
    let found = of_a_suite(&shop, fault);
    assert!(matches!(&found.held, Held::Failed(why) if why.contains("the same world")), "{:?}", found.held);
}

/// All trials that a cell is small enough for.
fn names(cell: &Cell) -> Vec<&'static str> {
    let fits = |trial: &&Trial| trial.name != "dominance" || cell.pattern.starts_with("procurement/");
    TRIALS.iter().filter(fits).map(|trial| trial.name).collect()
}

/// The trials that are to find the planted faults of a cell.
fn planted(cell: &Cell) -> impl Iterator<Item = &'static str> {
    PLANTED.iter().filter(move |fault| fault.cell == cell).flat_map(|fault| fault.caught_by.iter().copied())
}

fn failed(finding: &Finding) -> bool {
    matches!(finding.held, Held::Failed(_))
}

#[test]
fn the_right_compiler_passes() {
    let Some(shop) = Shop::open() else { return };
    let mut wrong = Vec::new();
    for cell in Cell::ALL {
        let right = Fault::none(cell);
        let mut names = names(cell);
        names.extend(planted(cell));
        let used = |name: &str| FAULTS.iter().any(|f| f.cell == cell && f.caught_by.contains(&name));
        for (trial, finding) in shop.findings(&right, &names).unwrap() {
            // A trial that is to find faults here must be able to pass here.
            if failed(&finding) || (finding.held != Held::Passed && used(trial)) {
                wrong.push(format!("{} {trial}: {:?}", cell.pattern, finding.held));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The salt of a suite that is made here.
const SALT: &str = "0123456789abcdef0123456789abcdef";

/// What a fault that changes nothing is tried with: the trials that take a moment.
const CHEAP: [&str; 5] = ["idle", "oracle", "clauses", "leak", "closed-book"];

#[test]
fn the_right_compiler_passes_where_faults_are_planted() {
    let Some(shop) = Shop::open() else { return };
    let mut wrong = Vec::new();
    for cell in CELLS {
        let names: Vec<&str> = planted(cell).chain(CHEAP).collect();
        for (trial, finding) in shop.findings(&Fault::none(cell), &names).unwrap() {
            if failed(&finding) {
                wrong.push(format!("{} {trial}: {:?}", cell.pattern, finding.held));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What was found, for whoever asked for every trial.
#[expect(clippy::print_stdout, reason = "it is asked for by a variable")]
fn tell(planted: &str, found: &[&str]) {
    println!("{planted}: {found:?}");
}

/// Holds the planted faults among some to what the table says of them.
fn found_or_nothing(among: fn(&Fault) -> bool) {
    let Some(shop) = Shop::open() else { return };
    let mut wrong = Vec::new();
    for fault in PLANTED.iter().filter(|fault| among(fault)) {
        // What is wrong with two tasks is seen on no single one: that fault has a test of its own.
        if fault.caught_by == ["suite"] {
            continue;
        }
        let slips = fault.caught_by.is_empty();
        // To see what every trial says of those that slip: `BENCHWRIGHT_EVERY_TRIAL=1`, with output. It takes long.
        let every = slips && std::env::var("BENCHWRIGHT_EVERY_TRIAL").is_ok_and(|value| value == "1");
        let all = names(fault.cell);
        let names = match slips {
            _ if every => &all[..],
            true => &CHEAP[..],
            false => fault.caught_by,
        };
        match shop.findings(fault, names) {
            // What does not compile comes before no trial.
            Err(_) if fault.caught_by == ["compile"] => {}
            Ok(_) if fault.caught_by == ["compile"] => wrong.push(format!("{} compiles", fault.planted)),
            Err(why) => wrong.push(format!("{} {}: {why}", fault.planted, fault.name)),
            Ok(found) if every => {
                let found: Vec<&str> = found.iter().filter(|(_, of)| failed(of)).map(|(name, _)| *name).collect();
                tell(fault.planted, &found);
            }
            Ok(found) => {
                for (name, finding) in found.iter().filter(|(_, finding)| failed(finding) == slips) {
                    let held = &finding.held;
                    wrong.push(format!("{} {}: {name} says {held:?}", fault.planted, fault.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_planted_fault_of_rules_is_found_or_changes_nothing() {
    found_or_nothing(|fault| fault.planted.starts_with('P') && !buys_only(fault));
}

#[test]
fn every_planted_fault_of_rules_on_purchases_is_found_or_changes_nothing() {
    found_or_nothing(|fault| fault.planted.starts_with('P') && buys_only(fault));
}

#[test]
fn every_planted_fault_of_what_follows_is_found_or_changes_nothing() {
    found_or_nothing(|fault| fault.planted.starts_with('C') && !buys_only(fault));
}

#[test]
fn every_planted_fault_of_texts_on_purchases_is_found_or_changes_nothing() {
    found_or_nothing(|fault| fault.planted.starts_with('C') && buys_only(fault));
}

fn buys_only(fault: &Fault) -> bool {
    fault.cell.pattern == "procurement/routine-replenishment-cycle"
}

#[test]
fn every_fault_is_found() {
    let Some(shop) = Shop::open() else { return };
    let mut missed = Vec::new();
    for fault in FAULTS {
        let found = match shop.findings(fault, fault.caught_by) {
            Ok(found) => found,
            Err(why) => {
                missed.push(format!("{}: {why}", fault.name));
                continue;
            }
        };
        assert!(!fault.caught_by.is_empty(), "{}: nothing is expected to find it", fault.name);
        for name in fault.caught_by {
            if !failed(&found[name]) {
                missed.push(format!("{}: {name} says {:?}", fault.name, found[name].held));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn the_table_is_fresh() {
    let mut table = String::from(
        "# Broken compilers\n\nEach line is a compiler with one fault, put into the right one by `faults.rs`, and the \
         trials that are held to find it. The right compiler passes the same trials on the same tasks. Those \
         with a letter were planted by an outsider (`planted.rs`). What nothing can find changes no \
         verdict, for the reason that stands there. \
         This file is written by the test: `BENCHWRIGHT_UPDATE=1 cargo test -p benchwright-audit --test suite broken::the_table`.\n\n\
         | # | what is wrong | where | found by |\n|--:|---|---|---|\n",
    );
    for (at, fault) in FAULTS.iter().chain(PLANTED).enumerate() {
        let trials = match fault.caught_by {
            [] => format!("nothing can: {}", fault.changes_nothing),
            trials => trials.join(", "),
        };
        assert_eq!(fault.caught_by.is_empty(), !fault.changes_nothing.is_empty(), "{}", fault.name);
        let number = if fault.planted.is_empty() { (at + 1).to_string() } else { fault.planted.to_owned() };
        writeln!(table, "| {number} | {} | {} | {trials} |", fault.name, fault.cell.pattern).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/broken/README.md");
    if std::env::var("BENCHWRIGHT_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(path, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), table, "run with BENCHWRIGHT_UPDATE=1");
    assert!(FAULTS.len() >= 51 && PLANTED.len() >= 41);
}
