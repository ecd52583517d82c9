//! Compilers of scenarios with one fault each: a task as the right one makes it, with one thing spoiled as a faulty one would, and the
//! trials that are held to find it.

use super::desk::{Desk, EXAMPLES};
use benchwright_base::Digest;
use benchwright_pack::{
    Delta, FindPick, Task,
    effects::{AnswerValue, CheckKind, Effects, ExpectedCell, ExpectedRow, Target},
};
use serde_json::{Value as Json, json};

/// A compiler with one fault.
pub(crate) struct Fault {
    /// What is wrong.
    pub(crate) name: &'static str,
    /// The example, as its objective.
    pub(crate) on: (&'static str, &'static str),
    /// Spoils a task.
    pub(crate) change: fn(&Desk, &mut Task),
    /// Whether the task is right when it is made again.
    pub(crate) once: bool,
    /// The trials that find it.
    pub(crate) caught_by: &'static [&'static str],
}

const fn fault(
    name: &'static str,
    on: (&'static str, &'static str),
    change: fn(&Desk, &mut Task),
    caught_by: &'static [&'static str],
) -> Fault {
    Fault { name, on, change, once: false, caught_by }
}

const ARTICLE: (&str, &str) = (EXAMPLES[0], "done");
const DRAFT: (&str, &str) = (EXAMPLES[0], "still-a-draft");
const SEAT: (&str, &str) = (EXAMPLES[0], "not-an-administrator");
const NO_TOOL: (&str, &str) = (EXAMPLES[0], "no-publishing");
const NO_CASE: (&str, &str) = (EXAMPLES[0], "no-such-product");
const CHANGE: (&str, &str) = (EXAMPLES[1], "done");
const OUTAGE: (&str, &str) = (EXAMPLES[2], "done");

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    // What is expected.
    fault("a way's row is not expected", ARTICLE, way_missing, &["oracle"]),
    fault("a way's row stands under another rule", ARTICLE, way_misnamed, &["near-miss"]),
    fault("a way's row counts as asked for", ARTICLE, way_asked, &["oracle"]),
    fault("a cell that was written is not expected", ARTICLE, cell_missing, &["oracle"]),
    fault("a cell may be anything", ARTICLE, cell_any, &["cells", "clauses"]),
    fault("a cell may be one of two, and one was told", ARTICLE, cell_loose, &["near-miss", "clauses"]),
    fault("a default is wanted in the place of the value", ARTICLE, default_wanted, &["oracle"]),
    fault("a cell is expected that is so from the first", ARTICLE, cell_idle, &["oracle"]),
    fault("a new row is expected twice", ARTICLE, row_twice, &["oracle"]),
    fault("a clause is neither done nor expected", ARTICLE, clause_lost, &["oracle"]),
    fault("a way is neither taken nor expected", ARTICLE, way_lost, &["oracle"]),
    fault("a rule on what is written is not listed", CHANGE, rule_unlisted, &["clauses"]),
    fault("a text need not mention a fact", OUTAGE, slot_lost, &["clauses"]),
    fault("a fact that a text must mention may be left out", OUTAGE, slot_optional, &["clauses"]),
    fault("a text is wanted word for word", CHANGE, text_exact, &["clauses"]),
    fault("every text of the world is a fact of the request", OUTAGE, facts_wide, &["near-miss"]),
    fault("the answer is another", OUTAGE, answer_wrong, &["oracle"]),
    // The script.
    fault("the script holds an id", ARTICLE, id_in_script, &["closed-book"]),
    fault("the script lacks a read", ARTICLE, read_missing, &["oracle"]),
    fault("the script is played with keys", ARTICLE, by_keys, &["closed-book"]),
    fault("the script knows a day that the request does not give", CHANGE, day_untold, &["closed-book"]),
    fault("the seat is a lesser one", CHANGE, lesser_seat, &["oracle"]),
    fault("the agent may make three calls", CHANGE, few_calls, &["oracle"]),
    // The words.
    fault("a span is lost", CHANGE, span_lost, &["clauses"]),
    fault("the words of a condition are missing", CHANGE, words_missing, &["clauses", "ablate"]),
    fault("the request has a number from nowhere", CHANGE, number, &["clauses"]),
    fault("the request names another record than is meant", ARTICLE, other_record, &["clauses"]),
    fault("the policy lacks a rule", ARTICLE, policy_lacks, &["clauses"]),
    fault("the policy has a rule twice", ARTICLE, policy_twice, &["clauses"]),
    fault("the policy is wrong on who holds a rule", ARTICLE, policy_holder, &["clauses"]),
    fault("the request has the id of a row", ARTICLE, id_in_request, &["leak", "clauses"]),
    fault("the instruction names the scenario", ARTICLE, names_scenario, &["leak"]),
    fault("the id tells the seed", ARTICLE, id_tells, &["leak"]),
    fault("a blocked request hints at it", DRAFT, hints, &["leak"]),
    // The world.
    fault("a condition does nothing in the world", CHANGE, edge_missing, &["clauses"]),
    fault("two facts stand in the way", DRAFT, two_facts, &["dominance"]),
    // Reasons.
    fault("another rule is a reason too", DRAFT, reason_wide, &["dominance"]),
    fault("another rule is the reason", DRAFT, reason_other, &["dominance"]),
    fault("the reason is of another kind", DRAFT, kind_other, &["dominance"]),
    fault("the script declines for another reason than is expected", DRAFT, declines_otherwise, &["oracle"]),
    fault("a record that the request happens to name is a reason", SEAT, record_wide, &["dominance"]),
    fault("the seat may do what it is said not to", SEAT, greater_seat, &["dominance"]),
    fault("the tool that is missing is offered", NO_TOOL, tool_offered, &["dominance"]),
    fault("what nobody has is there", NO_CASE, is_there, &["dominance"]),
    // Made again.
    Fault {
        name: "made again it is another",
        on: ARTICLE,
        change: |_, task| task.sealed.certificate.variables = 7,
        once: true,
        caught_by: &["regenerate"],
    },
    // What names stand for.
    fault("a name stands for another row than its words say", CHANGE, another_row, &["second-solver"]),
    fault("the script finds none of the rows that a set is", CHANGE, row_unread, &["second-solver"]),
];

fn effects(task: &mut Task) -> &mut Effects {
    task.sealed.effects.as_mut().unwrap()
}

fn row<'t>(task: &'t mut Task, of: &str) -> &'t mut ExpectedRow {
    effects(task).expected.iter_mut().find(|row| row.of == of).unwrap()
}

fn way(task: &mut Task) -> &mut ExpectedRow {
    effects(task).expected.iter_mut().find(|row| row.kind == CheckKind::Compliance).unwrap()
}

/// Changes the instruction, and with it the digest that the open part has.
fn say(task: &mut Task, change: impl FnOnce(&str) -> String) {
    task.instruction = change(&task.instruction);
    task.open.instruction = Digest::of(task.instruction.as_bytes()).to_string();
}

/// Changes what was planted, and with it all that hangs on the first state.
fn plant(desk: &Desk, task: &mut Task, change: impl FnOnce(&mut Delta)) {
    let mut delta = Delta::from_bytes(&task.world).unwrap();
    change(&mut delta);
    let base = desk.catalog.base(&delta.domain, &delta.size, delta.seed).unwrap();
    let world = base.planted(&delta.changes(base.domain()).unwrap()).unwrap();
    delta.digest = world.origin().to_string();
    effects(task).world = delta.digest.clone();
    task.sealed.case["world"] = delta.digest.clone().into();
    task.world = delta.to_bytes();
    task.open.world = Digest::of(&task.world).to_string();
}

fn way_missing(_: &Desk, task: &mut Task) {
    let of = way(task).of.clone();
    let expected = &mut effects(task).expected;
    let at = expected.iter().position(|row| row.of == of).unwrap();
    expected.remove(at);
}

fn way_misnamed(desk: &Desk, task: &mut Task) {
    let domain = desk.catalog.find(&task.open.domain).unwrap().domain;
    let of = way(task).of.clone();
    let known: Vec<String> = effects(task).expected.iter().map(|row| row.of.clone()).collect();
    let other = domain.rules.iter().find(|rule| !rule.ways.is_empty() && !known.contains(&rule.id)).unwrap();
    effects(task).expected.iter_mut().filter(|row| row.of == of).for_each(|row| row.of = other.id.clone());
    // A compiler that blames the wrong rule does so everywhere.
    let ways = task.sealed.case["ways"].as_array_mut().unwrap();
    ways.iter_mut().filter(|way| way.as_str() == Some(&of)).for_each(|way| *way = other.id.clone().into());
}

fn way_asked(_: &Desk, task: &mut Task) {
    way(task).kind = CheckKind::Completion;
}

fn cell_missing(_: &Desk, task: &mut Task) {
    let cells = &mut row(task, "hand").cells;
    assert!(cells.len() > 1);
    cells.remove("assigned_to").unwrap();
}

fn cell_any(_: &Desk, task: &mut Task) {
    row(task, "link").cells.insert("used_as".to_owned(), ExpectedCell::Any);
}

fn cell_loose(_: &Desk, task: &mut Task) {
    let both = ExpectedCell::OneOf(vec![json!("suggested"), json!("applied")]);
    row(task, "link").cells.insert("used_as".to_owned(), both);
}

fn default_wanted(_: &Desk, task: &mut Task) {
    row(task, "link").cells.insert("used_as".to_owned(), ExpectedCell::Is(json!("applied")));
}

fn cell_idle(desk: &Desk, task: &mut Task) {
    let (world, first) = desk.catalog.first_state(&task.world).unwrap();
    let hand = row(task, "hand");
    let Target::Id(id) = hand.row else { panic!("it is a row that is there") };
    let domain = world.domain();
    let table = domain.table_named(&hand.table).unwrap();
    let field = domain.table(table).field_named("priority").unwrap();
    let cells = first.tables[table.index()].rows.iter().find(|cells| cells[0].as_ref_id() == Some(id)).unwrap();
    let shown =
        benchwright_schema::codec::show_value(domain, domain.table(table).field(field).ty, &cells[field.index()]);
    hand.cells.insert("priority".to_owned(), ExpectedCell::Is(shown.into()));
}

fn row_twice(_: &Desk, task: &mut Task) {
    let mut again = row(task, "link").clone();
    again.name = Some("again".to_owned());
    effects(task).expected.push(again);
}

/// The steps of a tool that writes a table, taken out of the script.
fn without_writes(desk: &Desk, task: &mut Task, table: &str) {
    let domain = desk.catalog.find(&task.open.domain).unwrap().domain;
    let table = domain.table_named(table).unwrap();
    task.sealed.oracle.steps.retain(|step| {
        let tool = &domain.tools[domain.tool_named(&step.tool()).unwrap()];
        tool.reads_only() || tool.table != Some(table)
    });
}

fn clause_lost(desk: &Desk, task: &mut Task) {
    effects(task).expected.retain(|row| row.of != "link");
    without_writes(desk, task, "case_knowledge");
}

fn way_lost(desk: &Desk, task: &mut Task) {
    effects(task).expected.retain(|row| row.table != "knowledge");
    without_writes(desk, task, "knowledge");
}

fn rule_unlisted(_: &Desk, task: &mut Task) {
    effects(task).rules.remove(0);
}

/// The texts that are wanted, in order.
fn texts(task: &mut Task) -> impl Iterator<Item = &mut benchwright_pack::effects::Prose> {
    effects(task).expected.iter_mut().flat_map(|row| row.cells.values_mut()).filter_map(|cell| match cell {
        ExpectedCell::Prose(prose) => Some(prose),
        _ => None,
    })
}

fn slot_lost(_: &Desk, task: &mut Task) {
    let prose = texts(task).find(|prose| prose.slots.iter().any(|slot| !slot.optional)).unwrap();
    let at = prose.slots.iter().position(|slot| !slot.optional).unwrap();
    prose.slots.remove(at);
}

fn slot_optional(_: &Desk, task: &mut Task) {
    let prose = texts(task).find(|prose| prose.slots.iter().any(|slot| !slot.optional)).unwrap();
    prose.slots.iter_mut().for_each(|slot| slot.optional = true);
}

fn text_exact(_: &Desk, task: &mut Task) {
    let cell = effects(task).expected.iter_mut().flat_map(|row| row.cells.values_mut());
    let cell = cell.into_iter().find(|cell| matches!(cell, ExpectedCell::Prose(_))).unwrap();
    *cell = ExpectedCell::Is(json!("Patch it and check that it is back"));
}

fn facts_wide(desk: &Desk, task: &mut Task) {
    let (_, first) = desk.catalog.first_state(&task.world).unwrap();
    let cells = first.tables.iter().flat_map(|table| table.rows.iter().flatten());
    effects(task).facts = cells.filter_map(|cell| cell.as_text().map(str::to_owned)).collect();
}

fn answer_wrong(_: &Desk, task: &mut Task) {
    effects(task).answer.as_mut().unwrap().is = vec![AnswerValue::Known(vec!["INC9999999".to_owned()])];
}

/// The id of the row that a clause is about.
fn id_of(task: &mut Task, of: &str) -> u32 {
    match row(task, of).row {
        Target::Id(id) => id,
        _ => panic!("{of} is about a row that is there"),
    }
}

fn id_in_script(desk: &Desk, task: &mut Task) {
    let domain = desk.catalog.find(&task.open.domain).unwrap().domain;
    let table = domain.table_named(&row(task, "hand").table);
    let id = id_of(task, "hand");
    let step = task.sealed.oracle.steps.iter_mut().find(|step| {
        let tool = &domain.tools[domain.tool_named(&step.tool()).unwrap()];
        !tool.reads_only() && tool.table == table && step.args.get("id").is_some()
    });
    step.unwrap().args["id"] = id.into();
}

fn read_missing(_: &Desk, task: &mut Task) {
    let at = task.sealed.oracle.steps.iter().position(|step| !step.finds.is_empty()).unwrap();
    task.sealed.oracle.steps.remove(at);
}

fn by_keys(_: &Desk, task: &mut Task) {
    task.sealed.oracle.reads = false;
}

fn day_untold(_: &Desk, task: &mut Task) {
    let given = task
        .sealed
        .oracle
        .given
        .iter_mut()
        .find(|fact| fact.value.as_str().is_some_and(|text| text.contains("T20:00")));
    given.unwrap().value = Json::from("2026-07-19T20:00:00Z");
}

fn lesser_seat(_: &Desk, task: &mut Task) {
    task.open.role = "agent".to_owned();
}

fn few_calls(_: &Desk, task: &mut Task) {
    task.open.calls = 3;
}

fn span_lost(_: &Desk, task: &mut Task) {
    task.sealed.clauses.retain(|clause| clause.tells != ["duty.is_backup"]);
}

fn words_missing(_: &Desk, task: &mut Task) {
    let told = task.sealed.clauses.iter().find(|clause| clause.tells == ["duty.is_backup"]).unwrap().text.clone();
    say(task, |text| text.replacen(&told, "", 1));
}

fn number(_: &Desk, task: &mut Task) {
    say(task, |text| format!("{} At most 17.\n", text.trim_end()));
}

fn other_record(desk: &Desk, task: &mut Task) {
    let (world, first) = desk.catalog.first_state(&task.world).unwrap();
    let id = id_of(task, "hand");
    let table = world.domain().table_named("customer_case").unwrap();
    let field = world.domain().table(table).field_named("number").unwrap();
    let number = |wanted: bool| {
        let rows = &first.tables[table.index()].rows;
        let cells = rows.iter().find(|cells| (cells[0].as_ref_id() == Some(id)) == wanted).unwrap();
        cells[field.index()].as_text().unwrap().to_owned()
    };
    let (right, wrong) = (number(true), number(false));
    say(task, |text| text.replace(&right, &wrong));
    task.sealed.clauses.iter_mut().for_each(|clause| clause.text = clause.text.replace(&right, &wrong));
}

/// The first line of the policy.
fn rule_line(text: &str) -> String {
    let policy = text.split_once("## Policy").unwrap().1;
    policy.lines().find(|line| line.starts_with("- `") && !line.contains("are refused")).unwrap().to_owned()
}

fn policy_lacks(_: &Desk, task: &mut Task) {
    say(task, |text| text.replacen(&format!("{}\n", rule_line(text)), "", 1));
}

fn policy_twice(_: &Desk, task: &mut Task) {
    say(task, |text| text.replacen(&rule_line(text), &[rule_line(text), rule_line(text)].join("\n"), 1));
}

fn policy_holder(_: &Desk, task: &mut Task) {
    say(task, |text| {
        text.replacen(&rule_line(text), &format!("{} (Calls that break it are refused.)", rule_line(text)), 1)
    });
}

fn id_in_request(_: &Desk, task: &mut Task) {
    let id = id_of(task, "hand");
    say(task, |text| format!("{} (Case {id}.)\n", text.trim_end()));
}

fn names_scenario(_: &Desk, task: &mut Task) {
    say(task, |text| text.replacen("# Your desk", "# Your desk: article-and-engineer", 1));
}

fn id_tells(_: &Desk, task: &mut Task) {
    let id = format!("csm-{}", task.sealed.seed);
    task.open.id.clone_from(&id);
    task.sealed.id = id;
}

fn hints(_: &Desk, task: &mut Task) {
    say(task, |text| text.replacen("## Request", "You may have to decline.\n\n## Request", 1));
}

fn edge_missing(desk: &Desk, task: &mut Task) {
    let (world, first) = desk.catalog.first_state(&task.world).unwrap();
    let domain = world.domain();
    let table = domain.table_named("on_call_shift").unwrap();
    let at = |name: &str| domain.table(table).field_named(name).unwrap().index();
    let (group, weekday, backup) = (at("group"), at("weekday"), at("is_backup"));
    let yes = benchwright_base::Value::Bool(true);
    let rows = &first.tables[table.index()].rows;
    plant(desk, task, |delta| {
        let shifts = delta.tables.iter_mut().find(|known| known.table == "on_call_shift").unwrap();
        // The one on call was planted last, before its edges.
        let planted: Vec<u32> = shifts.rows.iter().map(|cells| cells[0].as_u64().unwrap() as u32).collect();
        let duty = rows
            .iter()
            .rfind(|cells| cells[0].as_ref_id().is_some_and(|id| planted.contains(&id)) && cells[backup] != yes)
            .unwrap();
        let is_edge = |cells: &&Vec<benchwright_base::Value>| {
            cells[group] == duty[group] && cells[weekday] == duty[weekday] && cells[backup] == yes
        };
        let gone: Vec<u32> = rows.iter().filter(is_edge).filter_map(|cells| cells[0].as_ref_id()).collect();
        assert!(!gone.is_empty());
        shifts.rows.retain(|cells| !gone.contains(&(cells[0].as_u64().unwrap() as u32)));
        shifts.gone.extend(gone);
        shifts.gone.sort_unstable();
        shifts.gone.dedup();
    });
}

fn two_facts(desk: &Desk, task: &mut Task) {
    let frozen = desk.make(EXAMPLES[0], "read-only", task.sealed.split.seed(task.sealed.seed));
    let frozen = Delta::from_bytes(&frozen.world).unwrap();
    let notice = frozen.tables.iter().find(|table| table.table == "service_notice").unwrap().clone();
    let domain = desk.catalog.find(&task.open.domain).unwrap().domain;
    plant(desk, task, |delta| {
        assert_eq!(delta.base, frozen.base);
        delta.tables.retain(|table| table.table != "service_notice");
        delta.tables.push(notice);
        delta.tables.sort_by_key(|table| domain.table_named(&table.table));
    });
}

const OTHER_RULE: &str = "contact-of-account";

fn reason_wide(_: &Desk, task: &mut Task) {
    effects(task).refusal.as_mut().unwrap().rules.push(OTHER_RULE.to_owned());
}

fn reason_other(_: &Desk, task: &mut Task) {
    effects(task).refusal.as_mut().unwrap().rules = vec![OTHER_RULE.to_owned()];
    task.sealed.oracle.steps[0].args["rule"] = OTHER_RULE.into();
}

fn kind_other(_: &Desk, task: &mut Task) {
    effects(task).refusal.as_mut().unwrap().obstacle = "permission".to_owned();
    task.sealed.oracle.steps[0].args["kind"] = "permission".into();
}

fn declines_otherwise(_: &Desk, task: &mut Task) {
    task.sealed.oracle.steps[0].args["kind"] = "no_tool".into();
}

fn record_wide(_: &Desk, task: &mut Task) {
    let lead = task.sealed.case["cast"]["lead"].as_str().unwrap().to_owned();
    effects(task).refusal.as_mut().unwrap().records.push(lead);
}

fn greater_seat(_: &Desk, task: &mut Task) {
    task.open.role = "admin".to_owned();
    task.open.actor = None;
}

fn tool_offered(_: &Desk, task: &mut Task) {
    task.open.tools.clear();
}

fn is_there(desk: &Desk, task: &mut Task) {
    let (world, first) = desk.catalog.first_state(&task.world).unwrap();
    let table = world.domain().table_named("customer_case").unwrap();
    let field = world.domain().table(table).field_named("number").unwrap();
    let known = first.tables[table.index()].rows[0][field.index()].as_text().unwrap().to_owned();
    let refusal = effects(task).refusal.as_mut().unwrap();
    let lost = std::mem::replace(&mut refusal.records, vec![known.clone()]).remove(0);
    task.sealed.oracle.steps[0].args["record"] = known.clone().into();
    say(task, |text| text.replace(&lost, &known));
    task.sealed.clauses.iter_mut().for_each(|clause| clause.text = clause.text.replace(&lost, &known));
}

fn another_row(desk: &Desk, task: &mut Task) {
    let (scenario, _) = desk.catalog.scenario(&task.sealed.pattern).unwrap();
    let is_found = |name: &str| scenario.cast.iter().any(|member| member.name == name && !member.is_drawn());
    let rows = task.sealed.case["rows"].as_object_mut().unwrap();
    let (_, rows) = rows.iter_mut().find(|(name, _)| is_found(name)).unwrap();
    let first = rows[0].as_u64().unwrap();
    rows[0] = (first + 1).into();
}

/// The script takes the first none of several where all are meant.
fn row_unread(desk: &Desk, task: &mut Task) {
    let (scenario, _) = desk.catalog.scenario(&task.sealed.pattern).unwrap();
    let finds = task.sealed.oracle.steps.iter_mut().flat_map(|step| &mut step.finds);
    let find =
        finds.into_iter().find(|find| find.pick == FindPick::All && scenario.member(&find.name).is_some()).unwrap();
    (find.pick, find.by, find.count) = (FindPick::First, Some("it.id".to_owned()), Some(0));
}
