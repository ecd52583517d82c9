//! The faults, one each, and the trials that are held to find them.

use super::family::Wrong;
use benchwright_base::Value;
use benchwright_pack::{Clause, Script, Snapshot, Task};
use benchwright_project::{Brief, Draw, FirstState};
use benchwright_schema::{
    Domain,
    plan::{Binding, Bindings, FreeText, Plan, PlanText, RuleText, ViewText},
};
use benchwright_spec::{Candidates, Cell as Field};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering},
};

/// Which task a compiler is tried on.
#[derive(PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) pattern: &'static str,
    pub(crate) tier: &'static str,
    pub(crate) objective: &'static str,
    pub(crate) seed: u64,
}

/// Buys, with margin, terms and deposits.
pub(crate) const DEPOSIT: Cell =
    Cell { pattern: "procurement/buy-with-a-fixed-deposit", tier: "easy", objective: "min_new_spend", seed: 41 };
/// The same with room for worse plans.
pub(crate) const ROOMY: Cell =
    Cell { pattern: "procurement/buy-with-a-fixed-deposit", tier: "medium", objective: "min_new_spend", seed: 2 };
/// Keeps and repairs a plan that stood.
pub(crate) const RESCUE: Cell =
    Cell { pattern: "recovery/supplier-cancellation-rescue", tier: "easy", objective: "repair_plan", seed: 2 };
/// Builds and buys.
pub(crate) const BUILD: Cell =
    Cell { pattern: "production/one-line-make-or-buy-plan", tier: "medium", objective: "min_new_spend", seed: 3 };
/// Takes in drafts and requests, and declines some.
pub(crate) const SCREEN: Cell = Cell {
    pattern: "procurement/screen-mixed-intake-before-buying",
    tier: "easy",
    objective: "min_new_spend",
    seed: 5,
};

impl Cell {
    pub(crate) const ALL: [&'static Cell; 5] = [&DEPOSIT, &ROOMY, &RESCUE, &BUILD, &SCREEN];
}

/// A broken compiler.
pub(crate) struct Fault {
    /// Its number among the faults that an outsider planted; empty for the others.
    pub(crate) planted: &'static str,
    /// What is wrong with it.
    pub(crate) name: &'static str,
    /// The task it is tried on.
    pub(crate) cell: &'static Cell,
    /// What the family gets wrong.
    pub(crate) compiler: Wrong,
    /// What goes wrong when the artifacts are put together.
    pub(crate) task: Option<fn(&mut Task)>,
    /// What the judge wrongly takes for the first state.
    pub(crate) memory: Option<fn(&Domain, &mut Snapshot)>,
    /// The trials that find it. None: it slips, and the test holds that too.
    pub(crate) caught_by: &'static [&'static str],
    /// Why no verdict changes, where nothing finds it.
    pub(crate) changes_nothing: &'static str,
}

impl Fault {
    /// No fault.
    pub(crate) const fn none(cell: &'static Cell) -> Fault {
        Fault {
            planted: "",
            name: "nothing",
            cell,
            compiler: Wrong::Nothing,
            task: None,
            memory: None,
            caught_by: &[],
            changes_nothing: "",
        }
    }
}

const fn compiled(
    name: &'static str,
    cell: &'static Cell,
    compiler: Wrong,
    caught_by: &'static [&'static str],
) -> Fault {
    Fault { planted: "", name, cell, compiler, task: None, memory: None, caught_by, changes_nothing: "" }
}

const fn projected(
    name: &'static str,
    cell: &'static Cell,
    task: fn(&mut Task),
    caught_by: &'static [&'static str],
) -> Fault {
    Fault {
        planted: "",
        name,
        cell,
        compiler: Wrong::Nothing,
        task: Some(task),
        memory: None,
        caught_by,
        changes_nothing: "",
    }
}

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    // The world and the facts.
    compiled("the world has one unit more in stock", &DEPOSIT, Wrong::World(more_stock), &["closed-book"]),
    compiled("a price list is a dollar dearer than the facts", &DEPOSIT, Wrong::World(dearer_list), &["closed-book"]),
    compiled("a supplier's maximum is missing in its notes", &DEPOSIT, Wrong::World(no_maximum), &["closed-book"]),
    compiled("a price step is missing in the world", &DEPOSIT, Wrong::World(no_step), &["closed-book"]),
    compiled("the recipe in the world takes one part more", &BUILD, Wrong::World(more_parts), &["closed-book"]),
    compiled("the notes on a centre grant a minute more", &BUILD, Wrong::World(more_minutes), &["closed-book"]),
    compiled("the payment term of 30 days runs 31", &DEPOSIT, Wrong::World(longer_term), &["oracle"]),
    compiled("orders are due a day later than told", &DEPOSIT, Wrong::Facts(later_due), &["clauses"]),
    compiled("deliveries take a day less than listed", &DEPOSIT, Wrong::Facts(shorter_lead), &["closed-book"]),
    compiled(
        "a switch is on although the case has no such data",
        &DEPOSIT,
        Wrong::Sample(odd_switch),
        &["closed-book"],
    ),
    // The text.
    compiled("a rule has no sentence", &DEPOSIT, Wrong::Brief(untold_rule), &["clauses"]),
    compiled("a sentence has no rule", &DEPOSIT, Wrong::Brief(idle_sentence), &["clauses"]),
    compiled(
        "a sentence stands in the clauses but not in the text",
        &DEPOSIT,
        Wrong::Brief(lost_sentence),
        &["clauses"],
    ),
    compiled("the text asks for another number of units", &DEPOSIT, Wrong::Brief(other_units), &["closed-book"]),
    compiled("the text names another margin", &DEPOSIT, Wrong::Brief(other_margin), &["closed-book"]),
    compiled("the text names another date", &DEPOSIT, Wrong::Brief(other_date), &["closed-book"]),
    compiled("the text names another deposit", &DEPOSIT, Wrong::Brief(other_deposit), &["closed-book"]),
    compiled("the text differs each time", &DEPOSIT, Wrong::Brief(counted), &["regenerate"]),
    // The oracle.
    compiled("the oracle forgets origins", &DEPOSIT, Wrong::Script(no_origin), &["oracle"]),
    compiled("the oracle writes another step's price", &DEPOSIT, Wrong::Script(other_price), &["oracle"]),
    compiled("the oracle leaves an order unconfirmed", &DEPOSIT, Wrong::Script(unconfirmed), &["oracle"]),
    compiled("the oracle keeps what the supplier called off", &RESCUE, Wrong::Script(kept), &["oracle"]),
    compiled("the oracle does not cancel a declined draft", &SCREEN, Wrong::Script(draft_left), &["oracle"]),
    // The optimum.
    compiled("a rule that nobody tells forbids surplus", &ROOMY, Wrong::Plan(no_surplus), &["clauses"]),
    compiled("no more than three quarters of a maximum is tried", &ROOMY, Wrong::Tight(timid), &["dominance"]),
    compiled("receipts are settled nine days later than need be", &ROOMY, Wrong::Plan(late_receipts), &["dominance"]),
    compiled("spending has a floor that the world is said to tell", &ROOMY, Wrong::Plan(floor), &["clauses"]),
    compiled(
        "spending counts the prices that the agent wrote, and no rule holds them",
        &ROOMY,
        Wrong::PlanAndBrief(own_prices, untold_price),
        &["dominance"],
    ),
    projected("the certified value is too low", &DEPOSIT, |task| shift(task, -10), &["oracle"]),
    projected("the certified value is too high", &DEPOSIT, |task| shift(task, 10), &["oracle"]),
    projected(
        "the certified value is too high and a floor in the verifier hides it",
        &ROOMY,
        hidden,
        &["oracle", "second-solver"],
    ),
    // The verifier.
    projected(
        "the verifier has lost a rule that the solver reads",
        &DEPOSIT,
        |task| lose(task, "erp/min-order-quantity"),
        &["near-miss", "clauses"],
    ),
    projected(
        "the verifier has lost a rule on documents",
        &DEPOSIT,
        |task| lose(task, "erp/deposit-invoice"),
        &["near-miss", "clauses"],
    ),
    projected(
        "a rule that the solver reads never applies",
        &DEPOSIT,
        |task| never(task, "erp/min-order-quantity"),
        &["near-miss"],
    ),
    projected("a rule on documents never applies", &DEPOSIT, |task| never(task, "erp/list-price"), &["near-miss"]),
    projected("a rule passes where its view is empty", &SCREEN, empty_view, &["near-miss"]),
    projected("a smallest order is one less in the verifier", &DEPOSIT, smaller_least, &["outsider", "closed-book"]),
    projected(
        "a delivery may come one day too early",
        &DEPOSIT,
        |task| require(task, "erp/supplier-lead", ">= lead(b.vendor, b.product)", "+ 1 >= lead(b.vendor, b.product)"),
        &["near-miss"],
    ),
    projected(
        "a promise may be one day late",
        &DEPOSIT,
        |task| require(task, "erp/promised-day", "s.promised <= due_day(o)", "s.promised <= due_day(o) + 1"),
        &["near-miss"],
    ),
    projected(
        "the maximum is forbidden too",
        &DEPOSIT,
        |task| require(task, "erp/promised-day", "s.promised <= due_day(o)", "s.promised < due_day(o)"),
        &["oracle"],
    ),
    projected(
        "a build may end a day early",
        &BUILD,
        |task| require(task, "erp/build-span", "m.due >= m.start", "m.due + 1 >= m.start"),
        &["near-miss"],
    ),
    projected("the score does not fall", &ROOMY, flat_score, &["worse"]),
    projected("the shares of the score are not whole", &RESCUE, missing_share, &["oracle"]),
    projected("the frame lets price lists be changed", &DEPOSIT, open_lists, &["frame"]),
    projected("the frame lets anybody add partners", &SCREEN, new_partners, &["frame"]),
    projected("the judge does not know which records stand around the job", &DEPOSIT, lost_keys, &["near-miss"]),
    Fault {
        planted: "",
        name: "the judge remembers another first state, so idling counts as work",
        cell: &SCREEN,
        compiler: Wrong::Nothing,
        task: Some(|task| task.sealed.verifier.gates.clear()),
        memory: Some(other_memory),
        caught_by: &["idle"],
        changes_nothing: "",
    },
    // What nobody wrote.
    compiled("nothing holds the day of an invoice", &DEPOSIT, Wrong::Plan(any_invoice_day), &["cells"]),
    compiled("nothing holds what is built so far", &BUILD, Wrong::Plan(any_progress), &["cells"]),
    compiled("offers may be added", &DEPOSIT, Wrong::Plan(new_offers), &["aftermath"]),
    compiled("the words of items may be changed", &DEPOSIT, Wrong::Plan(other_words), &["aftermath"]),
    // What is sealed.
    compiled("a supplier's notes hold the key of its record", &DEPOSIT, Wrong::World(told_key), &["leak"]),
    projected(
        "the id names the pattern",
        &DEPOSIT,
        |task| task.open.id = "erp-buy-with-a-fixed-deposit-1".to_owned(),
        &["leak"],
    ),
    projected("the id holds the seed", &DEPOSIT, |task| task.open.id = format!("erp-{}", task.sealed.seed), &["leak"]),
    projected("the instruction tells the optimum", &DEPOSIT, told_optimum, &["leak"]),
    // The parts of the job.
    projected("an order is paid for although nobody billed it", &DEPOSIT, orders_unbilled, &["monotone"]),
    projected("goods are paid for once nothing is left open", &DEPOSIT, goods_unasked, &["monotone"]),
];

// ---------------------------------------------------------------- the world

/// The first row of a table whose key begins so, and its field.
fn cell<'f>(domain: &Domain, first: &'f mut FirstState, table: &str, begins: &str, field: &str) -> &'f mut Value {
    let at = domain.table_named(table).unwrap();
    let field = domain.table(at).field_named(field).unwrap().index();
    let keys = &first.keys[table];
    let (id, _) = keys.iter().find(|(_, key)| key.starts_with(begins)).unwrap();
    let rows = &mut first.snapshot.tables[at.index()].rows;
    let row = rows.iter_mut().find(|row| row[0] == Value::Ref(*id)).unwrap();
    &mut row[field]
}

fn add(value: &mut Value, more: i64) {
    match value {
        Value::Int(n) | Value::Money(n) | Value::Quantity(n) => *n += more,
        other => panic!("{other:?} is no number"),
    }
}

fn more_stock(domain: &Domain, first: &mut FirstState) {
    add(cell(domain, first, "stock_quant", "stock/", "quantity"), 1000);
}

fn dearer_list(domain: &Domain, first: &mut FirstState) {
    add(cell(domain, first, "product_supplierinfo", "offer/", "price"), 100);
}

fn no_maximum(domain: &Domain, first: &mut FirstState) {
    let note = cell(domain, first, "res_partner", "vendor/", "comment");
    let lines: Vec<String> = note.as_text().unwrap().lines().map(str::to_owned).collect();
    *note = Value::text(lines[1..].join("\n"));
}

/// Deletes the last price step of the first offer.
fn no_step(domain: &Domain, first: &mut FirstState) {
    let keys = first.keys.get_mut("product_supplierinfo").unwrap();
    let (id, _) = keys.iter().rev().find(|(_, key)| key.starts_with("offer/")).unwrap();
    let id = *id;
    keys.remove(&id);
    let table = domain.table_named("product_supplierinfo").unwrap().index();
    first.snapshot.tables[table].rows.retain(|row| row[0] != Value::Ref(id));
}

fn more_parts(domain: &Domain, first: &mut FirstState) {
    add(cell(domain, first, "mrp_bom_line", "bom/", "product_qty"), 1000);
}

fn more_minutes(domain: &Domain, first: &mut FirstState) {
    let note = cell(domain, first, "mrp_workcenter", "centre/", "note");
    let text = note.as_text().unwrap();
    let (head, tail) = text.split_once("at most ").unwrap();
    let (minutes, tail) = tail.split_once(' ').unwrap();
    *note = Value::text(format!("{head}at most {} {tail}", minutes.parse::<i64>().unwrap() + 1));
}

fn longer_term(domain: &Domain, first: &mut FirstState) {
    add(cell(domain, first, "account_payment_term_line", "term/30", "nb_days"), 1);
}

fn told_key(domain: &Domain, first: &mut FirstState) {
    let note = cell(domain, first, "res_partner", "vendor/", "comment");
    let text = note.as_text().unwrap().to_owned();
    let key = first.keys["res_partner"].values().find(|key| key.starts_with("vendor/")).unwrap().clone();
    *cell(domain, first, "res_partner", "vendor/", "comment") = Value::text(format!("{text}\nFile {key}."));
}

// ---------------------------------------------------------------- facts

pub(crate) fn every_fact(facts: &mut Bindings, name: &str, more: i64) {
    for value in facts.facts.get_mut(name).unwrap().values_mut() {
        match value {
            Binding::Number(n) => *n += more,
            Binding::Key(key) => panic!("{key} is no number"),
        }
    }
}

fn later_due(facts: &mut Bindings) {
    every_fact(facts, "due_day", 1);
}

fn shorter_lead(facts: &mut Bindings) {
    every_fact(facts, "lead", -1);
}

fn odd_switch(case: &mut benchwright_project::Case) {
    assert!(!case.switches.iter().any(|switch| switch == "daily"), "{:?}", case.switches);
    case.switches.push("daily".to_owned());
}

// ---------------------------------------------------------------- the text

fn without(brief: &mut Brief, rule: &str, and_text: bool) {
    let at = brief.clauses.iter().position(|clause| clause.tells.iter().any(|id| id == rule)).unwrap();
    if and_text {
        let clause = brief.clauses.remove(at);
        replace(brief, &clause.text, "");
    } else {
        let text = brief.clauses[at].text.clone();
        replace(brief, &text, "");
    }
}

pub(crate) fn replace(brief: &mut Brief, old: &str, new: &str) {
    assert!(brief.text.contains(old), "`{old}` is not there");
    brief.text = brief.text.replacen(old, new, 1);
    for clause in &mut brief.clauses {
        clause.text = clause.text.replacen(old, new, 1);
    }
}

fn untold_rule(_: &Draw<'_>, brief: &mut Brief) {
    without(brief, "erp/supplier-lead", true);
}

fn lost_sentence(_: &Draw<'_>, brief: &mut Brief) {
    let clause = brief.clauses.iter().find(|clause| clause.tells.iter().any(|id| id == "erp/supplier-lead")).unwrap();
    let text = clause.text.clone();
    brief.text = brief.text.replacen(&text, "", 1);
}

fn idle_sentence(_: &Draw<'_>, brief: &mut Brief) {
    let text = "Every supplier must be called before noon.".to_owned();
    brief.text.push_str(&text);
    brief.clauses.push(Clause { tells: vec!["erp/early-calls".to_owned()], text });
}

/// Another number of units in the first row of the table of requests.
fn other_units(_: &Draw<'_>, brief: &mut Brief) {
    let row = brief.text.lines().find(|line| line.starts_with("| ") && line.contains("20")).unwrap().to_owned();
    let cells: Vec<&str> = row.split(" | ").collect();
    let at = cells.iter().position(|cell| cell.trim().parse::<i64>().is_ok()).unwrap();
    let mut changed: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    changed[at] = (cells[at].trim().parse::<i64>().unwrap() + 1).to_string();
    replace(brief, &row, &changed.join(" | "));
}

fn other_margin(_: &Draw<'_>, brief: &mut Brief) {
    let (head, _) = brief.text.split_once(" percent").unwrap();
    let share = head.split_whitespace().next_back().unwrap().to_owned();
    let other = share.parse::<f64>().unwrap() as i64 - 3;
    replace(brief, &format!("{share} percent"), &format!("{other} percent"));
}

/// The first needed-by date, a day later.
fn other_date(_: &Draw<'_>, brief: &mut Brief) {
    let row = brief.text.lines().find(|line| line.starts_with("| ") && line.contains("20")).unwrap().to_owned();
    let date =
        row.split(" | ").find_map(|cell| benchwright_base::Date::parse(cell.trim().trim_end_matches(" |"))).unwrap();
    let changed = row.replace(&date.to_string(), &date.add_days(1).unwrap().to_string());
    replace(brief, &row, &changed);
}

fn other_deposit(_: &Draw<'_>, brief: &mut Brief) {
    let (head, _) = brief.text.split_once(" per order").unwrap();
    let amount = head.split_whitespace().next_back().unwrap().to_owned();
    replace(brief, &format!("{amount} per order"), "$275.00 per order");
}

fn counted(_: &Draw<'_>, brief: &mut Brief) {
    static TIMES: AtomicU32 = AtomicU32::new(0);
    let mark = " ".repeat(1 + TIMES.fetch_add(1, Ordering::Relaxed) as usize);
    brief.text.push_str(&mark);
}

// ---------------------------------------------------------------- the oracle

/// Every set of values that a script writes.
fn values(script: &mut Script, model: &str, change: impl Fn(&mut Json)) {
    let steps = script.steps.iter_mut().filter(|step| step.model == model);
    for vals in steps.filter_map(|step| step.args.get_mut("vals_list")?.get_mut(0)) {
        change(vals);
    }
}

fn no_origin(script: &mut Script) {
    values(script, "purchase.order", |vals| {
        vals.as_object_mut().unwrap().remove("origin");
    });
}

fn other_price(script: &mut Script) {
    values(script, "purchase.order", |vals| {
        if let Some(line) = vals["order_line"][0][2].as_object_mut() {
            let price = line["price_unit"].as_f64().unwrap();
            line.insert("price_unit".to_owned(), json!(price + 1.0));
        }
    });
}

fn unconfirmed(script: &mut Script) {
    let at = script.steps.iter().position(|step| step.model == "purchase.order" && step.method == "button_confirm");
    if let Some(at) = at {
        script.steps.remove(at);
    }
}

fn kept(script: &mut Script) {
    script.steps.retain(|step| step.method != "button_cancel");
}

fn draft_left(script: &mut Script) {
    let cancelled = |step: &benchwright_pack::Step| step.model == "sale.order" && step.method == "action_cancel";
    script.steps.retain(|step| !cancelled(step));
}

// ---------------------------------------------------------------- the optimum

/// The field of a view, by name.
pub(crate) fn place(plan: &Plan, view: &str, field: &str) -> (usize, usize) {
    let view = plan.view_named(view).unwrap();
    (view, plan.views[view].field_named(field).unwrap())
}

fn timid(plan: &Plan, candidates: &mut Candidates) {
    let (buy, qty) = place(plan, "buy", "qty");
    for row in &mut candidates[buy] {
        if let Field::Free(low, high) = &mut row.fields[qty] {
            *high = (*high * 3 / 4).max(*low);
        }
    }
}

fn late_receipts(plan: &mut PlanText) {
    let line = plan.settled.iter_mut().find(|line| line.starts_with("buy.arrive")).unwrap();
    line.push_str(" + 9");
}

fn no_surplus(plan: &mut PlanText) {
    let cover = plan.rules["erp/total-supply"].require.clone().unwrap();
    let rule = RuleText {
        code: "SUP.EXACT".to_owned(),
        family: "supply".to_owned(),
        require: Some(cover.replace(">=", "=")),
        told_by: Some("world".to_owned()),
        ..RuleText::default()
    };
    plan.rules.insert("erp/no-surplus".to_owned(), rule);
}

fn floor(plan: &mut PlanText) {
    let rule = RuleText {
        code: "SUP.FLOOR".to_owned(),
        family: "supply".to_owned(),
        require: Some("100 * $spend >= 90 * spend_cap()".to_owned()),
        told_by: Some("world".to_owned()),
        ..RuleText::default()
    };
    plan.rules.insert("erp/floor".to_owned(), rule);
}

fn own_prices(plan: &mut PlanText) {
    let spend = plan.lets.get_mut("spend").unwrap();
    *spend = spend.replace("price(b.vendor, b.product, b.qty) * b.qty", "b.price * b.qty");
    plan.rules.remove("erp/tier-price").unwrap();
}

fn untold_price(_: &Draw<'_>, brief: &mut Brief) {
    assert!(!brief.clauses.iter().any(|clause| clause.tells.iter().any(|id| id == "erp/tier-price")));
    brief.text.push('\n');
}

/// Certifies another value, by so many percent.
fn shift(task: &mut Task, percent: i64) {
    let best = &mut task.sealed.verifier.best[0];
    *best += *best * percent / 100;
}

/// Certifies too high a value, and forbids what is better.
fn hidden(task: &mut Task) {
    shift(task, 10);
    let floor = task.sealed.verifier.best[0];
    let rule = RuleText {
        code: "SUP.FLOOR".to_owned(),
        family: "supply".to_owned(),
        require: Some(format!("$spend >= {floor}")),
        ..RuleText::default()
    };
    task.sealed.verifier.plan.rules.insert("erp/floor".to_owned(), rule);
}

// ---------------------------------------------------------------- the verifier

fn rule<'t>(task: &'t mut Task, id: &str) -> &'t mut RuleText {
    task.sealed.verifier.plan.rules.get_mut(id).unwrap()
}

fn lose(task: &mut Task, id: &str) {
    task.sealed.verifier.plan.rules.remove(id).unwrap();
}

fn never(task: &mut Task, id: &str) {
    rule(task, id).applies = Some("false".to_owned());
}

pub(crate) fn require(task: &mut Task, id: &str, old: &str, new: &str) {
    let require = rule(task, id).require.as_mut().unwrap();
    assert!(require.contains(old), "{require}");
    *require = require.replace(old, new);
}

fn empty_view(task: &mut Task) {
    let view = task.sealed.verifier.plan.views.get_mut("open_sale").unwrap();
    view.only = Some("false".to_owned());
}

fn smaller_least(task: &mut Task) {
    every_fact(&mut task.sealed.verifier.bindings, "moq", -1);
}

fn objective(task: &mut Task) -> &mut benchwright_schema::plan::ObjectiveText {
    let verifier = &mut task.sealed.verifier;
    verifier.plan.objectives.get_mut(&verifier.objective).unwrap()
}

fn flat_score(task: &mut Task) {
    objective(task).phases[0].decay = 0;
}

fn missing_share(task: &mut Task) {
    objective(task).phases[1].share = 5;
}

fn open_lists(task: &mut Task) {
    let fields = ["price", "min_qty", "delay", "partner_id", "product_tmpl_id"].map(str::to_owned);
    task.sealed.verifier.plan.frame.change.insert("product_supplierinfo".to_owned(), fields.to_vec());
}

fn new_partners(task: &mut Task) {
    // Nobody answers for what a new partner is, which no verifier may leave open; so it is all declared free.
    let plan = &mut task.sealed.verifier.plan;
    plan.frame.new.insert("res_partner".to_owned(), "true".to_owned());
    let fields = "name ref email phone street city is_company customer_rank supplier_rank comment property_payment_term_id \
                  property_supplier_payment_term_id active";
    let free = |field: &str| (field.to_owned(), FreeText::Because("a contact harms nobody".to_owned()));
    plan.free.insert("res_partner".to_owned(), fields.split_whitespace().map(free).collect());
}

fn lost_keys(task: &mut Task) {
    for key in task.sealed.verifier.keys.values_mut().flat_map(|keys| keys.values_mut()) {
        if let Some(own) = key.strip_prefix("adj/") {
            *key = format!("other/{own}");
        }
    }
}

/// The judge takes an order that stood for one with another origin.
fn other_memory(domain: &Domain, first: &mut Snapshot) {
    let table = domain.table_named("sale_order").unwrap();
    let reference = domain.table(table).field_named("client_order_ref").unwrap().index();
    first.tables[table.index()].rows[0][reference] = Value::text("before");
}

// ---------------------------------------------------------------- the parts of the job

fn orders_unbilled(task: &mut Task) {
    task.sealed.verifier.plan.parts.get_mut("order").unwrap().of = vec!["demand".to_owned()];
}

fn goods_unasked(task: &mut Task) {
    task.sealed.verifier.plan.parts.get_mut("goods").unwrap().of = vec!["erp/purchases-confirmed".to_owned()];
}

// ---------------------------------------------------------------- what nobody wrote

fn any_invoice_day(plan: &mut PlanText) {
    let rule = plan.rules.get_mut("erp/invoice-day").unwrap();
    rule.require = Some("exists bill(order = o, state = 'posted')".to_owned());
}

fn any_progress(plan: &mut PlanText) {
    let condition = plan.frame.new.get_mut("mrp_production").unwrap();
    *condition = condition.replace("qty_producing = 0", "qty_producing >= 0");
}

fn new_offers(plan: &mut PlanText) {
    let condition = plan.frame.system.get_mut("product_supplierinfo").unwrap();
    *condition = format!("price >= 0 or ({condition})");
}

/// In records that the oracle does not touch: a view reads them, and no rule reads the view.
fn other_words(plan: &mut PlanText) {
    plan.frame.change.insert("product_product".to_owned(), vec!["description".to_owned()]);
    let fields = BTreeMap::from([("words".to_owned(), "text: description".to_owned())]);
    let (from, only) = ("product_product".to_owned(), None);
    plan.views.insert("worded".to_owned(), ViewText { from, only, within: Vec::new(), key: Vec::new(), fields });
}

// ---------------------------------------------------------------- what is sealed

fn told_optimum(task: &mut Task) {
    let best = task.sealed.verifier.best[0];
    task.instruction.push_str(&format!("It can be done for ${}.{:02}.\n", best / 100, best % 100));
}
