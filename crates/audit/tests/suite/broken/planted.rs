//! The faults that an outsider planted to see whether the audit finds them, each under the number that it was given. One with
//! no trial behind it slips: that is held too, so whoever makes a trial find it says so here. What the plan's own compiler refuses is found by `compile`.
//!
//! The fault C15 (a phrase on groups of centres is lost) is left out: no task has such groups, so nothing is wrong with any.

use super::{
    family::Wrong,
    faults::{BUILD, Cell, DEPOSIT, Fault, RESCUE, ROOMY, every_fact, place, replace},
};
use benchwright_pack::Task;
use benchwright_project::{Brief, Draw};
use benchwright_schema::plan::{Binding, Bindings, Plan, PlanText};
use benchwright_spec::{Candidate, Candidates, Cell as Field, Rows};
use serde_json::{Value as Json, json};

/// Buys and nothing else.
const ROUTINE: Cell =
    Cell { pattern: "procurement/routine-replenishment-cycle", tier: "medium", objective: "min_new_spend", seed: 7 };
/// Asks for a share of an order's value before it delivers.
const SHARE: Cell =
    Cell { pattern: "procurement/buy-with-a-percentage-deposit", tier: "medium", objective: "min_new_spend", seed: 41 };
/// Has requests exactly on the bounds of the intake.
const INTAKE: Cell = Cell {
    pattern: "procurement/screen-mixed-intake-before-buying",
    tier: "medium",
    objective: "min_new_spend",
    seed: 6001,
};
/// Builds and buys, in the hardest tier.
const HARD: Cell =
    Cell { pattern: "production/one-line-make-or-buy-plan", tier: "hard", objective: "min_new_spend", seed: 3 };

/// Buys from suppliers who take their time.
const LATE: Cell =
    Cell { pattern: "procurement/screen-buy-and-invoice", tier: "medium", objective: "min_new_spend", seed: 7011 };

/// The cells that only planted faults are tried on.
pub(crate) const CELLS: [&Cell; 5] = [&ROUTINE, &SHARE, &INTAKE, &HARD, &LATE];

const fn fault(
    planted: &'static str,
    name: &'static str,
    cell: &'static Cell,
    compiler: Wrong,
    caught_by: &'static [&'static str],
) -> Fault {
    Fault { planted, name, cell, compiler, task: None, memory: None, caught_by, changes_nothing: "" }
}

/// All of them, by their numbers.
pub(crate) const PLANTED: &[Fault] = &[
    // Rules, views, objectives and the frame.
    fault("P1", "spending forgets what builds cost", &BUILD, Wrong::Plan(no_builds), &["outsider"]),
    fault(
        "P2",
        "the view of sales counts quotations",
        &ROUTINE,
        Wrong::Plan(quotations),
        &["both-sides", "cells", "monotone"],
    ),
    fault("P3", "the view of purchases counts requests for quotation", &ROUTINE, Wrong::Plan(requests), &["monotone"]),
    fault(
        "P4",
        "the sentence on promises says later for earlier",
        &ROUTINE,
        Wrong::Plan(or_later),
        &["ablate", "closed-book"],
    ),
    fault("P5", "the sentence on order lines allows two", &ROUTINE, Wrong::Plan(two_lines), &["ablate", "closed-book"]),
    fault(
        "P6",
        "the sentence on minutes counts them for each day",
        &BUILD,
        Wrong::Plan(each_day),
        &["ablate", "closed-book"],
    ),
    fault(
        "P7",
        "the sentence on sources asks for semicolons",
        &ROUTINE,
        Wrong::Plan(semicolons),
        &["ablate", "closed-book"],
    ),
    fault("P8", "the sentence on supply says the day after", &ROUTINE, Wrong::Plan(day_after), &["closed-book"]),
    fault("P9", "the frame lets prices and recipes change", &ROUTINE, Wrong::Plan(open_products), &["compile"]),
    fault("P9d", "the frame lets partners and products be added", &ROUTINE, Wrong::Plan(new_products), &["compile"]),
    fault("P10", "$2,500 above the best still counts as best", &ROOMY, Wrong::Plan(tolerant), &["compile"]),
    fault("P12", "an early promise need not be covered", &LATE, Wrong::Plan(early_uncovered), &["outsider"]),
    Fault {
        changes_nothing: "other rules hold price and units, so an order is worth what its request is, which is within the limit",
        ..fault("P13", "a customer's limit may be passed by 90 cents", &ROUTINE, Wrong::Plan(limit_slack), &[])
    },
    fault(
        "P13b",
        "prices may be above the list or 90 cents below",
        &ROUTINE,
        Wrong::Plan(price_slack),
        &["near-miss", "outsider"],
    ),
    Fault {
        changes_nothing: "both invoices come to the order's value line by line, so that more on one is less on the other",
        ..fault("P13c", "an invoice may be for more than is due", &DEPOSIT, Wrong::Plan(larger_invoice), &[])
    },
    fault(
        "P14",
        "a build may take fewer parts than its recipe",
        &BUILD,
        Wrong::Plan(fewer_parts),
        &["both-sides", "cells", "near-miss"],
    ),
    fault(
        "P15",
        "payment terms may be shorter than agreed",
        &DEPOSIT,
        Wrong::Plan(shorter_terms),
        &["both-sides", "cells", "near-miss"],
    ),
    fault("P17", "a told rule hides that nobody may buy more than 40", &ROOMY, Wrong::Plan(hidden_cap), &["outsider"]),
    fault(
        "P19",
        "a told rule hides that leads of ten days are refused",
        &LATE,
        Wrong::Plan(hidden_lead),
        &["outsider"],
    ),
    // What follows from a case, for writer and reader alike.
    fault("C1", "the cap on spending is three percent too wide", &ROOMY, Wrong::Facts(wider_cap), &["outsider"]),
    fault(
        "C2",
        "requests on the bounds of the intake are declined",
        &INTAKE,
        Wrong::Derived(narrow_window),
        &["outsider"],
    ),
    fault("C3", "building costs a tenth more than the records say", &BUILD, Wrong::Facts(dearer_builds), &["outsider"]),
    fault("C4", "the last day is not covered", &ROOMY, Wrong::Facts(no_last_day), &["outsider"]),
    fault("C5", "the old plan forgets the suppliers that stay", &RESCUE, Wrong::Facts(no_old_suppliers), &["outsider"]),
    fault(
        "C6",
        "every third supplier is hidden from every search",
        &BUILD,
        Wrong::AllCandidates(hidden_suppliers),
        &["outsider"],
    ),
    // The text.
    fault(
        "C7a",
        "the brief does not say which fields an order has",
        &ROUTINE,
        Wrong::Brief(no_order_fields),
        &["ablate", "closed-book"],
    ),
    fault(
        "C7b",
        "the brief does not say which field the receipt is",
        &ROUTINE,
        Wrong::Brief(no_receipt_field),
        &["ablate", "closed-book"],
    ),
    fault(
        "C7c",
        "the brief does not say which days count",
        &ROUTINE,
        Wrong::Brief(no_calendar),
        &["ablate", "closed-book"],
    ),
    fault("C7d", "the brief does not speak of notes", &ROUTINE, Wrong::Brief(no_notes), &["ablate", "closed-book"]),
    fault(
        "C7e",
        "the brief does not say what becomes of the old plan",
        &RESCUE,
        Wrong::Brief(no_old_plan),
        &["ablate", "closed-book"],
    ),
    fault("C7f", "the brief does not say how requests are tested", &INTAKE, Wrong::Brief(no_intake), &["closed-book"]),
    fault("C8", "the brief says that a value on the bound fails", &INTAKE, Wrong::Brief(bound_fails), &["closed-book"]),
    fault(
        "C8b",
        "the brief says that only working days count",
        &ROUTINE,
        Wrong::Brief(working_days),
        &["ablate", "closed-book"],
    ),
    // How tasks are drawn, attacked and judged.
    fault("C9", "two seeds draw the same task", &ROUTINE, Wrong::Seed(halved), &["suite"]),
    fault("C10", "no near-miss moves a date or a price", &ROOMY, Wrong::NearCandidates(no_moves), &["near-miss"]),
    Fault {
        task: Some(six_hours_early),
        ..fault("C11", "dates are read six hours early", &ROUTINE, Wrong::Nothing, &["cells"])
    },
    fault(
        "C12",
        "a deposit is due from 80 percent of the threshold",
        &SHARE,
        Wrong::Derived(lower_threshold),
        &["outsider"],
    ),
    fault(
        "C13",
        "the final invoice is not said to be less the deposit",
        &DEPOSIT,
        Wrong::Brief(no_less),
        &["ablate", "closed-book"],
    ),
    fault(
        "C14",
        "the brief does not count builds as spending",
        &BUILD,
        Wrong::Brief(spending_on_purchases),
        &["ablate", "closed-book"],
    ),
    fault(
        "C16",
        "the brief names sales orders as the source of parts",
        &BUILD,
        Wrong::Brief(parts_for_sales),
        &["ablate", "closed-book"],
    ),
    fault(
        "C17",
        "the first request is told of another customer",
        &ROUTINE,
        Wrong::Brief(other_customer),
        &["closed-book"],
    ),
    fault(
        "C18",
        "in the hardest tier alone the brief allows two order lines",
        &HARD,
        Wrong::Brief(two_lines_when_hard),
        &["ablate", "closed-book"],
    ),
];

// ---------------------------------------------------------------- rules, views, objectives, frame

/// Replaces something in an expression that has it.
fn swap(text: &mut String, old: &str, new: &str) {
    assert!(text.contains(old), "`{old}` is not in `{text}`");
    *text = text.replace(old, new);
}

fn require(plan: &mut PlanText, rule: &str, old: &str, new: &str) {
    swap(plan.rules.get_mut(rule).unwrap().require.as_mut().unwrap(), old, new);
}

/// Tells a rule in other words only.
fn say(plan: &mut PlanText, rule: &str, sentence: &str) {
    plan.rules.get_mut(rule).unwrap().says = vec![sentence.to_owned()];
}

fn no_builds(plan: &mut PlanText) {
    let spend = plan.lets.get_mut("spend").unwrap();
    swap(spend, " + (sum m in build of unit_cost(m.product, m.centre) * m.qty)", "");
}

fn quotations(plan: &mut PlanText) {
    for view in ["sell", "sold"] {
        let only = plan.views.get_mut(view).unwrap().only.as_mut().unwrap();
        swap(only, "order_id.state = sale", "order_id.state in {draft, sale}");
    }
}

fn requests(plan: &mut PlanText) {
    for view in ["buy", "bought"] {
        let only = plan.views.get_mut(view).unwrap().only.as_mut().unwrap();
        swap(only, "order_id.state = purchase", "order_id.state in {draft, purchase}");
    }
}

fn or_later(plan: &mut PlanText) {
    say(plan, "erp/promised-day", "Promise delivery on the needed-by date or later; never earlier.");
}

fn two_lines(plan: &mut PlanText) {
    say(plan, "erp/one-line-per-offer", "Place at most two order lines with any supplier for any item.");
}

fn each_day(plan: &mut PlanText) {
    let sentence = "The minutes in a centre's notes are a total for each day, shared by all items built there.{groups}";
    say(plan, "erp/centre-minutes", sentence);
}

fn semicolons(plan: &mut PlanText) {
    for sentence in &mut plan.rules.get_mut("erp/purchase-origin").unwrap().says {
        swap(sentence, "separated by commas", "separated by semicolons");
    }
}

fn day_after(plan: &mut PlanText) {
    for sentence in &mut plan.rules.get_mut("erp/cover").unwrap().says {
        swap(sentence, "{usable}", "from the day after on");
    }
}

fn open_products(plan: &mut PlanText) {
    let fields = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let prices = fields(&["list_price", "standard_price", "name", "default_code", "active"]);
    plan.frame.change.insert("product_product".to_owned(), prices);
    plan.frame.change.insert("mrp_bom_line".to_owned(), fields(&["product_qty"]));
}

fn new_products(plan: &mut PlanText) {
    for table in ["res_partner", "product_product"] {
        plan.frame.new.insert(table.to_owned(), "true".to_owned());
    }
}

fn tolerant(plan: &mut PlanText) {
    for phase in plan.objectives.values_mut().flat_map(|objective| &mut objective.phases) {
        phase.tolerance *= 10_000;
    }
}

fn early_uncovered(plan: &mut PlanText) {
    let early = "due_day(o) <= t or exists sell(order = o, promised <= t)";
    require(plan, "erp/cover", early, "due_day(o) <= t");
}

fn limit_slack(plan: &mut PlanText) {
    require(plan, "erp/customer-limit", "limit(o) * 100", "(limit(o) + 90) * 100");
}

fn price_slack(plan: &mut PlanText) {
    require(plan, "erp/list-price", "s.price = list_price(s.product)", "s.price >= list_price(s.product) - 90");
    require(plan, "erp/order-value", "= value(o)", ">= value(o) - 90");
}

fn larger_invoice(plan: &mut PlanText) {
    require(plan, "erp/final-invoice", "= rest(o)", ">= rest(o)");
    require(plan, "erp/deposit-invoice", "= deposit(o)", ">= deposit(o)");
}

fn fewer_parts(plan: &mut PlanText) {
    require(plan, "erp/recipe", "c.qty = bom(", "c.qty <= bom(");
}

fn shorter_terms(plan: &mut PlanText) {
    require(plan, "erp/order-terms", "s.term = term_days()", "s.term <= term_days()");
    require(plan, "erp/invoice-terms", "b.term = term_days()", "b.term <= term_days()");
}

fn hidden_cap(plan: &mut PlanText) {
    require(plan, "erp/supplier-lead", "lead(b.vendor, b.product)", "lead(b.vendor, b.product) and b.qty <= 40");
}

fn hidden_lead(plan: &mut PlanText) {
    let offered = "offered(b.vendor, b.product) = 1";
    require(plan, "erp/listed-supplier", offered, &format!("{offered} and lead(b.vendor, b.product) <= 9"));
}

// ---------------------------------------------------------------- facts

fn percent(facts: &mut Bindings, name: &str, percent: i64) {
    for value in facts.facts.get_mut(name).unwrap().values_mut() {
        match value {
            Binding::Number(n) => *n = *n * percent / 100,
            Binding::Key(key) => panic!("{key} is no number"),
        }
    }
}

fn wider_cap(facts: &mut Bindings) {
    percent(facts, "spend_cap", 103);
}

fn dearer_builds(facts: &mut Bindings) {
    percent(facts, "unit_cost", 110);
}

fn no_last_day(facts: &mut Bindings) {
    let last = facts.sets.get_mut("days").unwrap().pop();
    assert!(last.is_some());
}

/// Of what stood, only what the lost supplier should have delivered is remembered.
fn no_old_suppliers(facts: &mut Bindings) {
    let barred: Vec<String> = facts.facts["barred"].keys().cloned().collect();
    let known = facts.facts.get_mut("base_buy").unwrap();
    let all = known.len();
    known.retain(|of, _| barred.iter().any(|vendor| of.starts_with(&format!("{vendor}|"))));
    assert!(known.len() < all, "nobody else was to deliver");
    every_fact(facts, "base_buy", 0);
}

fn narrow_window(case: &mut Json) {
    let window = case["screen"]["window"].as_array_mut().unwrap();
    let at = |place: usize| window[place].as_i64().unwrap();
    *window = vec![json!(at(0) + 1), json!(at(1) - 1)];
}

fn lower_threshold(case: &mut Json) {
    let from = &mut case["billing"]["deposit"]["from"];
    *from = json!(from.as_i64().unwrap() * 8 / 10);
}

// ---------------------------------------------------------------- candidates

fn hidden_suppliers(plan: &Plan, candidates: &mut Candidates) {
    let (buy, vendor) = place(plan, "buy", "vendor");
    candidates[buy].retain(|row| !matches!(row.fields[vendor], Field::Fixed(member) if member % 3 == 1));
}

/// Takes away the rows that differ from one of the plan in a date or a price only.
fn no_moves(plan: &Plan, rows: &Rows, candidates: &mut Candidates) {
    for (view, moved) in [("sell", &["promised"][..]), ("buy", &["arrive", "price"])] {
        let (view, quantity) = place(plan, view, "qty");
        let moved: Vec<usize> = moved.iter().map(|field| plan.views[view].field_named(field).unwrap()).collect();
        let differs = |row: &Vec<i64>, candidate: &Candidate, at: usize| candidate.fields[at] != Field::Fixed(row[at]);
        let is_move = |candidate: &Candidate, row: &Vec<i64>| {
            let others = (0..row.len()).filter(|at| *at != quantity && !moved.contains(at));
            let mut alike = others.map(|at| !differs(row, candidate, at));
            alike.all(|alike| alike) && moved.iter().filter(|at| differs(row, candidate, **at)).count() == 1
        };
        candidates[view].retain(|candidate| !rows.0[view].iter().any(|row| is_move(candidate, row)));
    }
}

fn halved(seed: u64) -> u64 {
    seed / 2
}

// ---------------------------------------------------------------- the judge

fn six_hours_early(task: &mut Task) {
    for field in task.sealed.verifier.plan.views.values_mut().flat_map(|view| view.fields.values_mut()) {
        // The dates of invoices have no time of day.
        if let Some(read) = field.strip_prefix("day: ").filter(|read| !read.contains("invoice_date")) {
            *field = format!("day: {read} - 6 hours");
        }
    }
}

// ---------------------------------------------------------------- the text

/// Takes the sentences that hold one of some fragments out of a text.
fn without(text: &str, fragments: &[&str]) -> String {
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        for sentence in line.split_inclusive(". ") {
            if !fragments.iter().any(|fragment| sentence.contains(fragment)) {
                kept.push_str(sentence);
            } else if sentence.ends_with('\n') {
                kept.push('\n');
            }
        }
    }
    kept
}

/// Takes them out of the whole brief.
fn drop_sentences(brief: &mut Brief, fragments: &[&str]) {
    brief.text = without(&brief.text, fragments);
    for clause in &mut brief.clauses {
        clause.text = without(&clause.text, fragments).trim().to_owned();
    }
    brief.clauses.retain(|clause| !clause.text.is_empty());
}

fn no_order_fields(_: &Draw<'_>, brief: &mut Brief) {
    drop_sentences(brief, &["(commitment_date)", "(client_order_ref)"]);
}

fn no_receipt_field(_: &Draw<'_>, brief: &mut Brief) {
    drop_sentences(brief, &["(date_planned)"]);
}

fn no_calendar(_: &Draw<'_>, brief: &mut Brief) {
    drop_sentences(brief, &["calendar days count", "at noon", "Use noon", "oday is ", "from today,"]);
}

fn no_notes(_: &Draw<'_>, brief: &mut Brief) {
    drop_sentences(brief, &["stands in the notes", "Read the notes", "Those on a supplier's", "Do not miss the notes"]);
}

fn no_old_plan(_: &Draw<'_>, brief: &mut Brief) {
    let fragments = [
        "The plan as it was is",
        "Keep what still serves",
        "Everything else of the plan",
        "You may keep it or cancel it",
        "are the plan as it was",
        "What you leave alone",
    ];
    drop_sentences(brief, &fragments);
}

fn no_intake(_: &Draw<'_>, brief: &mut Brief) {
    let fragments =
        ["all of these tests", "A value exactly on", "These are the intake rules", "against the intake rules"];
    drop_sentences(brief, &fragments);
}

fn bound_fails(_: &Draw<'_>, brief: &mut Brief) {
    replace(brief, "exactly on the bound passes", "exactly on the bound fails");
}

fn working_days(_: &Draw<'_>, brief: &mut Brief) {
    let told = [
        "all calendar days count, weekends and holidays included",
        "All calendar days count, with no break for weekends or holidays",
        "all calendar days count, weekends too",
    ];
    let told = told.iter().find(|told| brief.text.contains(**told)).unwrap();
    replace(brief, told, if told.starts_with('A') { "Only working days count" } else { "only working days count" });
}

fn no_less(_: &Draw<'_>, brief: &mut Brief) {
    replace(brief, ", less the deposit where one was billed", "");
}

fn spending_on_purchases(_: &Draw<'_>, brief: &mut Brief) {
    replace(brief, " plus all builds at their minutes times the hourly cost of the centre", "");
}

fn parts_for_sales(_: &Draw<'_>, brief: &mut Brief) {
    let told = "the sales orders that get the finished goods or, for parts, the builds that take them";
    replace(brief, told, "the sales orders that get the goods");
}

/// The first line of the table of requests, with the customer of the last.
fn other_customer(_: &Draw<'_>, brief: &mut Brief) {
    let lines: Vec<String> = brief.text.lines().filter(|line| line.starts_with("| REQ-")).map(str::to_owned).collect();
    let cells = |line: &String| line.split(" | ").map(str::to_owned).collect::<Vec<String>>();
    let (mut first, last) = (cells(&lines[0]), cells(&lines[lines.len() - 1]));
    first[1].clone_from(&last[1]);
    first[2].clone_from(&last[2]);
    replace(brief, &lines[0], &first.join(" | "));
}

fn two_lines_when_hard(draw: &Draw<'_>, brief: &mut Brief) {
    if draw.tier == "hard" {
        replace(brief, "at most one order line", "at most two order lines");
    }
}
