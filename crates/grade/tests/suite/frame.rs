//! The frame of a small shop: what it holds of new and changed rows, what it leaves free, what the system does by itself, and that a
//! breach takes everything and is told by the rule that answers for it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{Date, Digest, Value};
use benchwright_grade::{FULL, GradeError, Grader};
use benchwright_pack::{CheckStatus, Ending, Scoring, Snapshot, SnapshotTable, Verdict, Verifier, Weights};
use benchwright_schema::{
    Domain, Folder, load,
    plan::{Bindings, PlanText},
};
use std::collections::BTreeMap;

const TABLES: &str = r#"
[person]
name = "text"

[order]
ref      = "text?"
customer = "-> person"
units    = "quantity = 0"
due      = "date?"
memo     = "text?"
amount   = "money = 0"

[offer]
person = "-> person"
price  = "money = 0"
"#;

const PLAN: &str = r#"
[sorts]
request = "order"
client  = "person"

[sets]
requests = "request"

[facts]
asked     = "(request): int else 0"
due_day   = "(request): int"
client_of = "(request): client"

[views.sell]
from   = "order"
within = ["request"]
[views.sell.fields]
request = "request: ref"
client  = "client: customer"
qty     = "units: units"

[rules."shop/asked"]
code    = "ASKED"
family  = "demand"
per     = "r in requests"
require = "(sum sell(request = r) of qty) = asked(r)"

[rules."shop/client"]
code       = "CLIENT"
family     = "trace"
per        = "r in requests"
state_only = true
require    = "all sell(request = r) it.client = client_of(r)"

[rules."shop/offers"]
code   = "OFFERS"
family = "trace"
frame  = true

[rules."shop/outside"]
code   = "OUTSIDE"
family = "frame"
frame  = true

[rules."shop/rest"]
code   = "REST"
family = "frame"
frame  = true

[objectives.any]
phases = []

[frame]
apart      = "other/"
apart_rule = "shop/outside"
rule       = "shop/rest"
answers    = { offer = "shop/offers" }
new        = { order = "exists r in requests where r = request(ref) and client_of(r) = client(customer)" }
system     = { offer = "price = 5.00 and exists order(customer = person)" }
change     = { order = ["units", "memo", "customer"] }

[held.order]
due    = "due = null or day(due) <= due_day(request(ref))"
amount = "amount <= 10.00 and units(units) < 10"

[free.order]
memo = "nobody reads a memo"
"#;

/// Places of tables and fields.
const ORDER: usize = 1;
const OFFER: usize = 2;
const CUSTOMER: usize = 2;
const UNITS: usize = 3;
const DUE: usize = 4;
const MEMO: usize = 5;
const AMOUNT: usize = 6;
/// The customer of the job, and somebody who is none of it.
const ANN: Value = Value::Ref(1);
const BOB: Value = Value::Ref(2);

struct Shop {
    domain: Domain,
    first: Snapshot,
    verifier: Verifier,
}

impl Shop {
    fn new() -> Shop {
        let files = [
            ("domain.toml", "name = \"shop\"\ntitle = \"A shop\"\nrole = \"clerk\"\nabout = \"Three tables.\"\n"),
            ("tables.toml", TABLES),
            ("tools.toml", "list_orders = \"list order\"\n"),
            ("policy.toml", "[access]\nadmin = [\"any on *\"]\n"),
        ];
        let folder = Folder::new("shop", files.map(|(name, text)| (name.to_owned(), text.to_owned())));
        let domain = load(&folder).unwrap_or_else(|faults| panic!("{faults:?}"));
        let people = vec![vec![ANN, Value::text("Ann")], vec![BOB, Value::text("Bob")]];
        // More than an order may come to, which was so before anybody did anything.
        let orders = vec![order(1, "R1", ANN, 0, 20_00)];
        let table = |rows: Vec<Vec<Value>>| SnapshotTable { next_id: rows.len() as u32 + 1, next_number: 1, rows };
        let first = Snapshot {
            domain: domain.name.clone(),
            domain_digest: domain.digest,
            first: None,
            now: domain.now,
            tables: vec![table(people), table(orders), table(Vec::new())],
        };
        let mut bindings = Bindings { anchor: "2026-03-02".to_owned(), ..Bindings::default() };
        bindings.members.insert("request".to_owned(), vec!["R1".to_owned(), "R2".to_owned()]);
        bindings.members.insert("client".to_owned(), vec!["client/ann".to_owned()]);
        bindings.set("requests", ["R1", "R2"]);
        for (request, asked) in [("R1", 3), ("R2", 2)] {
            bindings.fact("asked", &[request], asked);
            bindings.fact("due_day", &[request], 5);
            bindings.fact_key("client_of", &[request], "client/ann");
        }
        let keys = BTreeMap::from([(1, "client/ann".to_owned()), (2, "other/bob".to_owned())]);
        let verifier = Verifier {
            version: Verifier::VERSION,
            world: Digest::of(&first.to_bytes(&domain)).to_string(),
            scoring: Scoring {
                trace_family: Some("trace".to_owned()),
                weights: Weights { constraints: 25, objective: 60, trace: 15 },
                broken_percent: 25,
                paper_bar_percent: 0,
            },
            plan: PlanText::from_toml("plan.toml", PLAN).unwrap_or_else(|faults| panic!("{faults:?}")),
            bindings,
            keys: BTreeMap::from([("person".to_owned(), keys)]),
            objective: "any".to_owned(),
            best: Vec::new(),
            anchors: None,
            gates: Vec::new(),
            answer: BTreeMap::new(),
        };
        Shop { domain, first, verifier }
    }

    /// The verdict on the right state, changed.
    fn graded(&self, change: impl FnOnce(&mut Snapshot)) -> Verdict {
        let mut last = self.first.clone();
        last.tables[ORDER].rows[0][UNITS] = Value::Quantity(3_000);
        let mut second = order(2, "R2", ANN, 2_000, 4_00);
        second[DUE] = Value::Date(Date::parse("2026-03-07").unwrap());
        last.tables[ORDER].rows.push(second);
        change(&mut last);
        self.judged(last)
    }

    /// The verdict on the first state, changed.
    fn begun(&self, change: impl FnOnce(&mut Snapshot)) -> Verdict {
        let mut last = self.first.clone();
        change(&mut last);
        self.judged(last)
    }

    fn judged(&self, mut last: Snapshot) -> Verdict {
        last.first = Some(Digest::of(&self.first.to_bytes(&self.domain)));
        Grader::new(&self.domain, &self.verifier, &self.first, &[]).unwrap().grade(&last).unwrap()
    }
}

fn order(id: u32, reference: &str, customer: Value, units: i64, amount: i64) -> Vec<Value> {
    let [due, memo] = [Value::Null, Value::Null];
    let units = Value::Quantity(units);
    vec![Value::Ref(id), Value::text(reference), customer, units, due, memo, Value::Money(amount)]
}

fn offer(person: Value, price: i64) -> Vec<Value> {
    vec![Value::Ref(1), person, Value::Money(price)]
}

/// The breach that a verdict tells, after the rule that answers for it and takes everything.
fn breach(verdict: &Verdict) -> String {
    assert_eq!((verdict.ending, verdict.reward, verdict.paper_pass), (Ending::Fail, 0, false), "{verdict:?}");
    assert_eq!(verdict.gates.len(), 1, "{verdict:?}");
    let failed =
        verdict.checks.iter().find(|check| check.status == CheckStatus::Fail && check.rule == verdict.gates[0]);
    format!("{}: {}", verdict.gates[0], failed.unwrap().why.as_deref().unwrap())
}

#[test]
fn the_plan_has_no_fault_and_right_work_earns_everything() {
    let shop = Shop::new();
    assert_eq!(shop.verifier.plan.check(&shop.domain, &[]), []);
    let verdict = shop.graded(|_| {});
    assert_eq!((verdict.ending, verdict.reward, verdict.gates), (Ending::Pass, FULL, Vec::new()));
}

#[test]
fn what_is_held_is_held_of_new_and_of_changed_rows() {
    let shop = Shop::new();
    let late = shop.graded(|state| state.tables[ORDER].rows[1][DUE] = Value::Date(Date::parse("2026-03-08").unwrap()));
    assert_eq!(
        breach(&late),
        "shop/rest: order 2: due does not keep `due = null or day(due) <= due_day(request(ref))`"
    );
    let dear = shop.graded(|state| state.tables[ORDER].rows[1][AMOUNT] = Value::Money(10_01));
    assert_eq!(breach(&dear), "shop/rest: order 2: amount does not keep `amount <= 10.00 and units(units) < 10`");
    // A broken unit is no number of units, and what cannot be computed keeps nothing.
    let half = shop.graded(|state| state.tables[ORDER].rows[1][UNITS] = Value::Quantity(1_500));
    assert_eq!(breach(&half), "shop/rest: order 2: amount does not keep `amount <= 10.00 and units(units) < 10`");
}

#[test]
fn what_was_so_at_first_is_nobodys_fault_until_its_field_is_changed() {
    let shop = Shop::new();
    assert_eq!(shop.first.tables[ORDER].rows[0][AMOUNT], Value::Money(20_00));
    assert_eq!(shop.graded(|_| {}).reward, FULL);
    let told = shop.graded(|state| state.tables[ORDER].rows[0][AMOUNT] = Value::Money(19_00));
    let why = "order 1: amount was changed; order 1: amount does not keep `amount <= 10.00 and units(units) < 10`";
    assert_eq!(breach(&told), format!("shop/rest: {why}"));
}

#[test]
fn a_new_row_belongs_to_the_job_by_its_facts() {
    let shop = Shop::new();
    let added = |reference: &str, customer: Value| {
        shop.graded(|state| state.tables[ORDER].rows.push(order(3, reference, customer, 0, 0)))
    };
    assert_eq!(added("R2", ANN).reward, FULL);
    assert_eq!(breach(&added("R3", ANN)), "shop/rest: a row of order was added");
    assert_eq!(breach(&added("R2", BOB)), "shop/outside: a new row of order refers to a record outside the job");
    let moved = shop.graded(|state| state.tables[ORDER].rows[0][CUSTOMER] = BOB);
    let told = "shop/outside: order 1: customer refers to a record outside the job";
    assert_eq!(moved.gates, ["shop/outside"]);
    assert_eq!(breach(&moved), told);
}

#[test]
fn what_the_system_makes_is_nobodys_fault_and_no_work() {
    let shop = Shop::new();
    assert_eq!(shop.graded(|state| state.tables[OFFER].rows.push(offer(ANN, 5_00))).reward, FULL);
    let own = shop.graded(|state| state.tables[OFFER].rows.push(offer(ANN, 1)));
    assert_eq!(breach(&own), "shop/offers: a row of offer was added");

    let idle = vec!["activity".to_owned()];
    assert_eq!(shop.begun(|state| state.tables[OFFER].rows.push(offer(ANN, 5_00))).gates, idle);
    assert_eq!(shop.begun(|state| state.tables[ORDER].rows[0][MEMO] = Value::text("hello")).gates, idle);
    assert_eq!(shop.begun(|state| state.tables[ORDER].rows[0][UNITS] = Value::Quantity(1_000)).gates, [""; 0]);
}

#[test]
fn what_the_frame_judges_is_in_no_share() {
    let mut shop = Shop::new();
    let verdict = shop.graded(|state| state.tables[OFFER].rows.push(offer(ANN, 1)));
    assert_eq!((verdict.constraints, verdict.trace), (FULL, FULL), "a breach is a gate and nothing else");
    // A family in which there are only such rules would be whole whatever was done.
    shop.verifier.plan.rules.remove("shop/client");
    let told = Grader::new(&shop.domain, &shop.verifier, &shop.first, &[]).map(drop).unwrap_err();
    assert!(matches!(told, GradeError::TraceFamily(_)), "{told}");
}
