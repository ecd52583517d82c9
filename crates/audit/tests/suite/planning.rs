//! Planning tasks on the bench: made with several provers, attacked by every trial, and broken on purpose.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use benchwright_audit::{Held, NotRemade, Solvers, Subject, TRIALS, run};
use benchwright_catalog::Catalog;
use benchwright_grade::FULL;
use benchwright_pack::{Anchors, Ending, Snapshot, Task};
use benchwright_project::{Order, Solver, make};
use benchwright_solve::{CpSat, Highs, Portfolio};
use std::sync::LazyLock;

struct Bench {
    catalog: Catalog,
    first: CpSat,
    second: Highs,
}

impl Bench {
    fn open() -> Option<Bench> {
        let library = library()?;
        let (first, second) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
        Some(Bench { catalog: Catalog::built_in(), first, second })
    }

    fn make(&self, name: &str, tier: &str, seed: u64) -> Task {
        let pattern = self.catalog.pattern(name).unwrap();
        let family = self.catalog.family(&pattern.family, &pattern.domain).unwrap();
        let domain = self.catalog.find(&pattern.domain).unwrap().domain;
        let order = Order { pattern: &pattern, tier, objective: "best", seed, reading: None };
        let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
        let mut planner = Portfolio::new(&self.first, &self.second);
        make(order, family, &domain, &mut planner, &solver).unwrap()
    }

    /// What the trials find, those that are not clean by name.
    fn found(&self, task: &Task, made: &Task, only: Option<&str>) -> Vec<(&'static str, String)> {
        let remake = || Ok::<_, NotRemade>(made.clone());
        let solvers = Some(Solvers { first: &self.first, second: &self.second });
        let subject = match Subject::new(task, &self.catalog, solvers, &remake) {
            Ok(subject) => subject,
            Err(error) => return vec![("subject", error.to_string())],
        };
        let grader = match subject.grader() {
            Ok(grader) => grader,
            Err(error) => return vec![("grader", error.to_string())],
        };
        let trials = TRIALS.iter().filter(|trial| !trial.whole && only.is_none_or(|only| trial.name == only));
        let found = trials.filter_map(|trial| match run(trial, &subject, &grader).held {
            Held::Failed(why) | Held::NoVerdict(why) => Some((trial.name, why)),
            Held::Passed | Held::Na(_) => None,
        });
        found.collect()
    }
}

impl Bench {
    /// Holds a trial to finding what is broken.
    fn catches(&self, task: &Task, made: &Task, by: &str) {
        let found = self.found(task, made, Some(by));
        let (pattern, tier) = (&task.sealed.pattern, &task.sealed.tier);
        assert!(found.iter().any(|(trial, _)| *trial == by), "{by} does not find it in {pattern} {tier}: {found:?}");
    }
}

static MADE: LazyLock<Option<(Bench, Task)>> = LazyLock::new(|| {
    let bench = Bench::open()?;
    let task = bench.make("planning/coatings", "easy", 1);
    Some((bench, task))
});

/// Every trial that there is for it passes, and the certified plan is worth everything.
#[test]
fn a_planning_task_is_clean() {
    let Some((bench, task)) = &*MADE else { return };
    assert_eq!(bench.found(task, task, None), []);
    let verifier = &task.sealed.verifier;
    let anchors = verifier.anchors.unwrap();
    assert!(anchors.full == verifier.best[0] && anchors.half > anchors.full && anchors.none > anchors.half);
    let remake = || Ok::<_, NotRemade>(task.clone());
    let subject = Subject::new(task, &bench.catalog, None, &remake).unwrap();
    let verdict = subject.grader().unwrap().grade(&subject.play(&task.sealed.oracle).unwrap()).unwrap();
    assert_eq!((verdict.ending, verdict.reward, verdict.paper_pass), (Ending::Pass, FULL, true));
    // Without the last form a rule is broken, and nothing is left.
    let mut short = task.sealed.oracle.clone();
    short.steps[1].args["rows"].as_array_mut().unwrap().clear();
    let verdict = subject.grader().unwrap().grade(&subject.play(&short).unwrap()).unwrap();
    assert_eq!((verdict.ending, verdict.reward, verdict.paper_pass), (Ending::Fail, 0, false));
}

/// The same order gives the same bytes.
#[test]
fn a_planning_task_is_made_again_to_the_byte() {
    let Some((bench, task)) = &*MADE else { return };
    assert_eq!(bench.make("planning/coatings", "easy", 1).digest(), task.digest());
}

/// A row of the world's files, for changing it.
fn file<'w>(
    world: &'w mut Snapshot,
    domain: &benchwright_schema::Domain,
    path: &str,
) -> &'w mut Vec<benchwright_base::Value> {
    let table = domain.table_named("file").unwrap();
    let rows = &mut world.tables[table.index()].rows;
    rows.iter_mut().find(|row| row[1].as_text() == Some(path)).unwrap()
}

/// A task whose file says something else.
fn with_file(bench: &Bench, task: &Task, path: &str, change: impl Fn(&str) -> String) -> Task {
    let domain = bench.catalog.find(&task.open.domain).unwrap().domain;
    let mut world = Snapshot::from_bytes(&task.world, &domain).unwrap();
    let row = file(&mut world, &domain, path);
    let body = row.last().unwrap().as_text().unwrap().to_owned();
    let changed = change(&body);
    assert_ne!(body, changed, "{path}");
    *row.last_mut().unwrap() = benchwright_base::Value::text(&*changed);
    let mut task = task.clone();
    task.world = world.to_bytes(&domain);
    let digest = benchwright_base::Digest::of(&task.world).to_string();
    task.open.world.clone_from(&digest);
    task.sealed.verifier.world = digest;
    task
}

/// Compilers that are broken in one place each, and the trial that says so.
#[test]
fn a_broken_compiler_is_found_by_the_right_trial() {
    let Some((bench, task)) = &*MADE else { return };
    let caught = |task: &Task, made: &Task, by: &str| bench.catches(task, made, by);
    // A fact of a file that is not the case's: another number in one cell.
    let line = with_file(bench, task, "data/line.json", |body| {
        body.replacen("line_minutes\": 9", "line_minutes\": 8", 1).replacen(
            "line_minutes\": 10",
            "line_minutes\": 11",
            1,
        )
    });
    caught(&line, task, "closed-book");
    // Two columns of a file have changed places.
    let swapped = with_file(bench, task, "data/conflicts.csv", |body| body.replacen("first,then", "then,first", 1));
    caught(&swapped, task, "closed-book");
    // A stale row that is newer than the truth.
    let stale = with_file(bench, task, "data/items.csv", |body| body.replacen(",1,", ",3,", 1));
    caught(&stale, task, "closed-book");
    // A clause in no file: the sentence of a trap is lost.
    let mut silent = task.clone();
    let says = "Where a colour stands more than once in items.csv, the row with the highest version counts and the others never do.";
    silent.instruction = silent.instruction.replace(&format!("- {says}\n"), "");
    assert_ne!(silent.instruction, task.instruction);
    silent.open.instruction = benchwright_base::Digest::of(silent.instruction.as_bytes()).to_string();
    caught(&silent, task, "closed-book");
    // A sheet that tells the optimum.
    let best = task.sealed.verifier.best[0].to_string();
    let leak = with_file(bench, task, "dictionary.md", |body| format!("{body}\nThe best plan costs {best}.\n"));
    caught(&leak, task, "leak");
    // What is told inside of a workbook is found too.
    let book = with_file(bench, task, "data/demand.xlsx", |body| {
        let bytes = STANDARD.decode(body).unwrap();
        let text =
            benchwright_files::Table::new("Forecast", vec!["note".to_owned()], vec![vec![best.clone()]]).unwrap();
        let sheet = benchwright_files::xlsx::Sheet { table: &text, title: None, integers: &[] };
        assert!(bytes.starts_with(b"PK"));
        STANDARD.encode(benchwright_files::xlsx::write(&[sheet]).unwrap())
    });
    caught(&book, task, "leak");
    // A bound that is one too high: plans that are better than it raise an alarm.
    let mut bound = task.clone();
    let Anchors { full, .. } = task.sealed.verifier.anchors.unwrap();
    bound.sealed.verifier.anchors.as_mut().unwrap().full = full + 1;
    caught(&bound, task, "oracle");
    // A quality that rises: anchors in the wrong order are no verdict at all.
    let mut rising = task.clone();
    rising.sealed.verifier.anchors = Some(Anchors { full, half: full - 5, none: full - 50 });
    caught(&rising, task, "grader");
    // A certified value that can be bettered.
    let mut dear = task.clone();
    dear.sealed.verifier.best[0] += 1;
    caught(&dear, task, "second-solver");
    // A rule that the judge has lost.
    let mut lost = task.clone();
    lost.sealed.verifier.plan.rules.remove("coatings/shelf-life");
    caught(&lost, task, "near-miss");
    // An oracle that hands in one form only.
    let mut half = task.clone();
    half.sealed.oracle.steps.pop();
    caught(&half, task, "oracle");
}

/// The same of what only some workflows have: units, memos, bundles, and bounds that can be reckoned.
#[test]
fn a_broken_compiler_of_other_workflows_is_found_too() {
    let Some((bench, task)) = &*MADE else { return };
    let caught = |task: &Task, made: &Task, by: &str| bench.catches(task, made, by);
    // A unit whose factor was lost in one row.
    let unit = with_file(bench, task, "data/demand.xlsx", |body| {
        let bytes = STANDARD.decode(body).unwrap();
        let mut book = benchwright_files::xlsx::Workbook::open("demand", &bytes, &Default::default()).unwrap();
        let (header, mut rows) = book.table("Forecast", false).unwrap().table.into_parts();
        let column = |name: &str| header.iter().position(|known| known == name).unwrap();
        let (qty, uom) = (column("qty"), column("uom"));
        let row = rows.iter_mut().find(|row| row[uom] == "cl").unwrap();
        row[qty] = (row[qty].parse::<i64>().unwrap() / 100).to_string();
        let text = benchwright_files::Table::new("Forecast", header, rows).unwrap();
        let sheet = benchwright_files::xlsx::Sheet { table: &text, title: None, integers: &["qty"] };
        STANDARD.encode(benchwright_files::xlsx::write(&[sheet]).unwrap())
    });
    caught(&unit, task, "closed-book");
    // What is sealed of a trap is not what comes of it.
    let mut trap = task.clone();
    let said = trap.sealed.certificate.weights.iter_mut().find(|(name, _)| name.starts_with("trap ")).unwrap();
    *said.1 = "the plan names what is not there".to_owned();
    caught(&trap, task, "traps");
    // A rule that is said to bind and does not, or the other way round.
    let mut rule = task.clone();
    let said = rule.sealed.certificate.weights.iter_mut().find(|(name, _)| name.starts_with("rule ")).unwrap();
    *said.1 = if said.1 == "binds" { "does not bind" } else { "binds" }.to_owned();
    caught(&rule, task, "traps");
    // A memo that says another figure than the records have.
    let medium = bench.make("planning/coatings", "medium", 1);
    let memo =
        with_file(bench, &medium, "notes/2032-01-03-tank.md", |body| body.replacen("a space of ", "a space of 1", 1));
    caught(&memo, &medium, "closed-book");
    // A bound that does not follow from its multipliers, and multipliers of another model.
    let exact = bench.make("planning/island_grid", "easy", 1);
    assert!(exact.sealed.certificate.phases[0]["exact"].is_object());
    assert_eq!(bench.found(&exact, &exact, Some("bound")), []);
    let mut bound = exact.clone();
    let said = &mut bound.sealed.certificate.phases[0]["exact"]["bound"];
    *said = (said.as_i64().unwrap() - 1).into();
    caught(&bound, &exact, "bound");
    let mut other = exact.clone();
    let said = &mut other.sealed.certificate.phases[0]["exact"]["multipliers"][0][1];
    *said = (said.as_i64().unwrap() * 2).into();
    caught(&other, &exact, "bound");
    // A bound whose two cases were mistaken for each other.
    let cases = bench.make("planning/feeder_line", "easy", 1);
    assert!(cases.sealed.certificate.phases[0]["exact"]["yes"].is_object());
    assert_eq!(bench.found(&cases, &cases, Some("bound")), []);
    let mut exchanged = cases.clone();
    let exact = &mut exchanged.sealed.certificate.phases[0]["exact"];
    (exact["no"], exact["yes"]) = (exact["yes"].clone(), exact["no"].clone());
    caught(&exchanged, &cases, "bound");
    // A bundle that is missing: the plan without bundles is better than what was called best.
    let tours = bench.make("planning/wholesale_vans", "easy", 1);
    assert_eq!(bench.found(&tours, &tours, Some("dominance")), []);
    let mut missing = tours.clone();
    let anchors = missing.sealed.verifier.anchors.as_mut().unwrap();
    *anchors = Anchors { full: anchors.full + 100, half: anchors.half + 100, none: anchors.none + 100 };
    caught(&missing, &tours, "dominance");
}

/// A task in stages: it is certified by rolling, everything that is cheap to try holds, and what its compiler could break is found.
#[test]
fn a_task_in_stages_is_certified_stage_by_stage_and_broken_ones_are_found() {
    let Some((bench, _)) = &*MADE else { return };
    let task = bench.make("planning/coatings", "medium-stages", 1);
    for trial in ["idle", "oracle", "closed-book", "leak", "canary", "recourse"] {
        assert_eq!(bench.found(&task, &task, Some(trial)), [], "{trial}");
    }
    let verifier = &task.sealed.verifier;
    let anchors = verifier.anchors.unwrap();
    assert!(anchors.full < verifier.best[0] && anchors.half == verifier.best[0], "{anchors:?}");
    let remake = || Ok::<_, NotRemade>(task.clone());
    let subject = Subject::new(&task, &bench.catalog, None, &remake).unwrap();
    let verdict = subject.grader().unwrap().grade(&subject.play(&task.sealed.oracle).unwrap()).unwrap();
    assert_eq!((verdict.ending, verdict.reward), (Ending::Pass, FULL / 2));
    // What nobody can know at the first stage is not there at it.
    let domain = bench.catalog.find(&task.open.domain).unwrap().domain;
    let mut world = Snapshot::from_bytes(&task.world, &domain).unwrap();
    let stage = domain.table(domain.table_named("file").unwrap()).field_named("stage").unwrap().index();
    let row = file(&mut world, &domain, "stage-2/surge.csv");
    assert_eq!(row[stage], benchwright_base::Value::Int(2));
    row[stage] = benchwright_base::Value::Int(1);
    let mut early = task.clone();
    early.world = world.to_bytes(&domain);
    let digest = benchwright_base::Digest::of(&early.world).to_string();
    early.open.world.clone_from(&digest);
    early.sealed.verifier.world = digest;
    bench.catches(&early, &task, "leak");
    // A freeze that reads the wrong stage.
    let mut loose = task.clone();
    let freeze = loose.sealed.verifier.plan.rules.get_mut("coatings/frozen-runs").unwrap();
    let require = freeze.require.as_mut().unwrap();
    assert!(require.contains("stage = k - 1"));
    *require = require.replace("stage = k - 1", "stage = k");
    bench.catches(&loose, &task, "near-miss");
    // A fact that the judge has from the stage before.
    let mut late = task.clone();
    let known = late.sealed.verifier.bindings.facts.get_mut("line_minutes_by").unwrap();
    let before: Vec<_> =
        known.iter().filter_map(|(at, is)| Some((at.strip_prefix("2|")?.to_owned(), is.clone()))).collect();
    for (at, is) in before {
        known.insert(format!("3|{at}"), is);
    }
    bench.catches(&late, &task, "closed-book");
}

/// Tasks that ask for more than a plan: what is cheap to try holds of each dial, and where its point is lost, `traps` says so.
#[test]
fn a_dial_that_asks_for_nothing_is_found() {
    let Some((bench, _)) = &*MADE else { return };
    let made = |dial: &str| {
        let task = bench.make("planning/coatings", &format!("easy-{dial}"), 1);
        for trial in ["idle", "oracle", "closed-book", "leak", "traps"] {
            assert_eq!(bench.found(&task, &task, Some(trial)), [], "{dial}: {trial}");
        }
        task
    };
    // A twin that is its original.
    let twin = made("twin");
    let mut same = twin.clone();
    let was = same.sealed.case["(was)"][0].as_array().unwrap().clone();
    let at = |at: usize| was[at].as_u64().unwrap() as usize;
    let tables = ["family", "item", "period", "demand", "conflict", "plant"];
    let now = same.sealed.case[tables[at(0)]][at(1)][at(2)].clone();
    same.sealed.case["(was)"][0][3] = now;
    bench.catches(&same, &twin, "traps");
    // An answer that is a tenth off.
    let ask = made("ask");
    let mut wrong = ask.clone();
    let answer = &mut wrong.sealed.case["reached"][0][1];
    *answer = (answer.as_i64().unwrap() * 11 / 10).into();
    bench.catches(&wrong, &ask, "traps");
    // Limits that can all be kept.
    let over = made("over");
    let mut loose = over.clone();
    for limit in 0..2 {
        loose.sealed.case["plant"][0][limit] = 100_000.into();
    }
    bench.catches(&loose, &over, "traps");
    // Options without bounds.
    let front = made("front");
    let mut free = front.clone();
    let options = free.sealed.case["option"].as_array_mut().unwrap();
    options.iter_mut().for_each(|option| option[1] = 0.into());
    bench.catches(&free, &front, "traps");
}
