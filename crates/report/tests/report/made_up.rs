//! Made-up runs: nothing in them was measured. They have the layout of a suite of 300 tasks and agents of rising strength.

use crate::draw::Draw;
use benchwright_base::{Digest, Stream};
use benchwright_pack::run::{
    Limits, RUN_VERSION, RunPlan, Score, Spent, TaskLine, TrialEnd, TrialKey, TrialRecord, Used,
};
use benchwright_pack::{Anchors, Check, CheckStatus, Ending, PhaseScore, Verdict};
use benchwright_report::html::{Answer, CallView, Changed, Made, PlanRows, Said, Turn, What};
use std::collections::BTreeMap;

/// Pattern, tier, objective, tasks.
const PATTERNS: [(&str, &str, &str, usize); 29] = [
    ("procurement/routine-replenishment-cycle", "easy", "constraint_only", 8),
    ("procurement/buy-and-bill-immediately", "easy", "constraint_only", 8),
    ("procurement/buy-with-a-fixed-deposit", "easy", "constraint_only", 8),
    ("procurement/buy-with-a-percentage-deposit", "easy", "min_new_spend", 8),
    ("procurement/screen-a-preloaded-backlog-before-buying", "medium", "min_new_spend", 10),
    ("procurement/screen-mixed-intake-before-buying", "medium", "min_new_spend", 11),
    ("procurement/screen-buy-and-invoice", "medium", "min_new_spend", 11),
    ("procurement/lean-context-purchasing-cycle", "easy", "min_new_spend", 10),
    ("recovery/supplier-cancellation-rescue", "easy", "repair_plan", 8),
    ("recovery/supplier-cancellation-rescue-with-production-fallback", "medium", "repair_plan", 10),
    ("recovery/line-outage-recovery-plan", "hard", "repair_plan", 10),
    ("production/one-line-make-or-buy-plan", "medium", "min_new_spend", 11),
    ("production/lowest-cost-sourcing-route", "medium", "min_new_spend", 11),
    ("production/capacity-smoothing-production-plan", "medium", "capacity_preservation", 11),
    ("production/restricted-module-manufacturing-plan", "hard", "min_new_spend", 10),
    ("production/two-stage-build-with-cheapest-branch", "medium", "min_new_spend", 11),
    ("production/two-stage-build-with-qualification-rules", "medium", "min_new_spend", 11),
    ("production/shared-overflow-manufacturing-plan", "medium", "min_new_spend", 11),
    ("production/parallel-branch-production", "hard", "capacity_preservation", 10),
    ("production/sequential-build-chain-production", "hard", "capacity_preservation", 10),
    ("production/shared-component-production", "hard", "min_new_spend", 11),
    ("production/factory-only-by-policy", "medium", "min_new_spend", 11),
    ("production/factory-only-by-system-design", "medium", "min_new_spend", 11),
    ("production/factory-only-by-market-reality", "medium", "min_new_spend", 12),
    ("production/screened-backlog-with-vendor-consolidation", "medium", "vendor_consolidation", 12),
    ("production/capacity-smoothing-plan-with-billing", "medium", "min_new_spend", 12),
    ("production/screened-restricted-module-plan", "hard", "vendor_consolidation", 11),
    ("production/screened-shared-overflow-plan-with-invoicing", "hard", "vendor_consolidation", 11),
    ("production/screened-shared-component-plan", "hard", "min_new_spend", 11),
];

/// Agent, strength on a logistic scale, dollars per call in millionths where it has a price.
const AGENTS: [(&str, f64, Option<u64>); 5] = [
    ("idle", -50.0, Some(0)),
    ("greedy", -1.6, Some(0)),
    ("react:small-model", -0.6, Some(700)),
    ("react:large-model", 1.1, Some(5_200)),
    ("plan-first:large-model", 1.7, Some(6_900)),
];

/// Rules and their families.
const RULES: [(&str, &str); 8] = [
    ("erp/min-order-quantity", "supply"),
    ("erp/budget", "supply"),
    ("erp/promised-day", "demand"),
    ("erp/cover", "demand"),
    ("erp/build-span", "production"),
    ("erp/invoice-total", "billing"),
    ("erp/origin", "trace"),
    ("erp/nothing-else", "frame"),
];

/// A run of 300 tasks with five agents.
pub(crate) fn made_up_run(attempts: u32, seed: u64) -> (RunPlan, Vec<TrialRecord>) {
    let mut draw = Draw(Stream::new(seed, &["made-up"]));
    let (mut tasks, mut hardness) = (Vec::new(), Vec::new());
    for (pattern, tier, objective, count) in PATTERNS {
        let level = match tier {
            "easy" => -1.0,
            "medium" => 0.2,
            _ => 1.4,
        };
        let own = level + 0.7 * draw.normal();
        for n in 0..count {
            let size = draw.0.between(2, 9) + if tier == "hard" { 6 } else { 0 };
            let horizon = (size * 3 + draw.0.between(0, 6)) as u32;
            let id = format!("task-{:04}", tasks.len() + 1);
            tasks.push(TaskLine {
                digest: Digest::of(format!("{pattern} {n}").as_bytes()).to_string(),
                id,
                domain: "erp".into(),
                pattern: pattern.into(),
                tier: tier.into(),
                dials: Vec::new(),
                objective: objective.into(),
                cluster: pattern.into(),
                pair: None,
                obstacle: None,
                problem: None,
                horizon,
                parameters: BTreeMap::from([
                    ("orders".into(), size),
                    ("rules".into(), draw.0.between(12, 30)),
                    ("variables".into(), size * size + draw.0.between(0, 40)),
                    ("vendors".into(), draw.0.between(2, 7)),
                ]),
            });
            hardness.push(own + 0.12 * (f64::from(horizon) - 20.0) / 2.0 + 0.5 * draw.normal());
        }
    }
    let plan = RunPlan {
        version: RUN_VERSION,
        tasks,
        agents: AGENTS.iter().map(|(name, ..)| (*name).into()).collect(),
        settings: BTreeMap::new(),
        attempts,
        limits: Limits::default(),
    };
    let mut records = Vec::new();
    for (agent, strength, price) in AGENTS {
        for (task, hard) in plan.tasks.iter().zip(&hardness) {
            for attempt in 1..=attempts {
                let key = TrialKey { task: task.digest.clone(), agent: agent.into(), attempt };
                records.push(trial(&mut draw, key, task, strength - hard, price));
            }
        }
    }
    (plan, records)
}

/// One made-up trial.
fn trial(draw: &mut Draw, key: TrialKey, task: &TaskLine, lead: f64, price: Option<u64>) -> TrialRecord {
    let chance = |x: f64| 1.0 / (1.0 + (-x).exp());
    let model = key.agent.contains(':');
    let calls = if lead < -30.0 { 0 } else { task.horizon + draw.0.between(0, 12) as u32 };
    let wall = 40_000 + u64::from(calls) * if model { 1_900_000 } else { 900 };
    let used = Used {
        calls,
        refused: calls / 9,
        turns: model.then_some(calls + 1),
        tokens_in: model.then_some(u64::from(calls) * 3_100),
        tokens_out: model.then_some(u64::from(calls) * 140),
        cost: price.map(|price| price * u64::from(calls)),
    };
    let spent = Spent { wall, world: 30_000 + u64::from(calls) * 300, turns: Vec::new() };
    if model && draw.0.chance(1, 90) {
        let end = TrialEnd::Error { cause: "rate-limit".into(), detail: "429 after 6 tries".into() };
        return TrialRecord { key, end, used, trusted: false, failed: None, spent };
    }
    let clean = draw.uniform() < chance(lead + 0.8);
    let best = clean && draw.uniform() < chance(lead + 1.2);
    let failed: BTreeMap<String, String> = if clean {
        BTreeMap::new()
    } else {
        let weights = if model { [5, 9, 4, 6, 7, 3, 8, 2] } else { [9, 5, 8, 8, 4, 4, 4, 1] };
        (0..draw.0.between(1, 3))
            .filter_map(|_| draw.0.weighted(&weights))
            .map(|at| (RULES[at].0.to_owned(), RULES[at].1.to_owned()))
            .collect()
    };
    let constraints = 1_000_000 - 90_000 * failed.len() as i64;
    let objective = if best { 1_000_000 } else { draw.0.between(300_000, 950_000) };
    let reward = match (lead < -30.0, clean) {
        (true, _) => 0,
        (_, true) => 400_000 + objective * 6 / 10,
        _ => constraints * 4 / 10,
    };
    let limit = (model && draw.0.chance(1, 40)).then(|| "turns".to_owned());
    let score = Score {
        pass: best,
        reward,
        constraints,
        trace: 1_000_000,
        objective,
        clean,
        best,
        side_effect: failed.values().any(|family| family == "frame"),
        paper_pass: reward >= 990_000,
        alarm: false,
        followed: None,
        failed,
        gates: Vec::new(),
        limit,
    };
    TrialRecord { key, end: TrialEnd::Scored(score), used, trusted: false, failed: None, spent }
}

/// A made-up page of a trial.
pub(crate) struct MadeUpPage<'a> {
    pub(crate) number: i64,
    pub(crate) record: &'a TrialRecord,
    pub(crate) made: Made,
}

/// Pages of the first failed trials of each agent.
pub(crate) fn pages<'a>(plan: &'a RunPlan, records: &'a [TrialRecord]) -> Vec<MadeUpPage<'a>> {
    let numbers: BTreeMap<(String, String, u32), i64> =
        plan.keys().zip(1..).map(|(key, number)| ((key.task, key.agent, key.attempt), number)).collect();
    let mut out = Vec::new();
    for agent in &plan.agents {
        let failed = |record: &&TrialRecord| match &record.end {
            TrialEnd::Scored(score) => !score.pass && record.key.agent == *agent,
            TrialEnd::Error { .. } => false,
        };
        let page = |record: &'a TrialRecord| {
            let TrialKey { task, agent, attempt } = record.key.clone();
            MadeUpPage { number: numbers[&(task, agent, attempt)], record, made: made(record) }
        };
        out.extend(records.iter().filter(failed).take(6).map(page));
    }
    out
}

/// What a made-up trial shows.
pub(crate) fn made(record: &TrialRecord) -> Made {
    let TrialEnd::Scored(score) = &record.end else { panic!("only scored trials have a page here") };
    let check = |rule: &str, family: &str, status, why: Option<&str>| Check {
        of: std::sync::Arc::new(benchwright_pack::Instance {
            rule: rule.into(),
            code: family.to_uppercase(),
            family: family.into(),
            at: vec!["SO-2".into(), "P-17".into()],
        }),
        status,
        why: why.map(str::to_owned),
    };
    let mut checks: Vec<Check> =
        RULES.iter().map(|(rule, family)| check(rule, family, CheckStatus::Pass, None)).collect();
    for (rule, family) in &score.failed {
        checks.push(check(rule, family, CheckStatus::Fail, Some("40 ordered, at least 60 wanted")));
    }
    let call = |tool: &str, arguments: &str, answer| {
        Said::Call(CallView { tool: tool.into(), arguments: arguments.into(), answer })
    };
    let turn = |text: &str, reasoning: Option<&str>, micros| {
        Said::Turn(Turn {
            text: text.into(),
            reasoning: reasoning.map(str::to_owned),
            tokens_in: Some(3_100),
            tokens_out: Some(140),
            micros: Some(micros),
        })
    };
    let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<String>>();
    let cell = |name: &str, before: &str, after: &str| (name.to_owned(), before.to_owned(), after.to_owned());
    Made {
        instruction: "# Spring buying\n\nBuy what the open orders need, from **listed suppliers**, at the least new spend.\n\n\
                      Every order must be covered on its promised day.\n\n| order | units |\n|---|---:|\n| SO-2 | 60 |\n"
            .into(),
        said: vec![
            Said::System("You work in a system of records.".into()),
            Said::User("Buy what the open orders need.".into()),
            turn("I look at the orders first.", Some("The orders decide what is bought."), 1_900_000),
            call("sale_order_search", "{\"state\":\"sale\"}", Answer::Answered("[{\"id\":7,\"name\":\"SO-2\"}]".into())),
            turn("", None, 2_700_000),
            call(
                "purchase_order_create",
                "{\"partner\":3,\"lines\":[{\"product\":17,\"quantity\":40}]}",
                Answer::Answered("{\"id\":12}".into()),
            ),
            call(
                "purchase_order_confirm",
                "{\"id\":99}",
                Answer::Refused("not_found: there is no purchase order 99".into()),
            ),
            Said::Program { code: Some(3), signal: None, out: String::new(), err: "no such host".into() },
        ],
        verdict: Some(Verdict {
            ending: Ending::Fail,
            reward: score.reward,
            constraints: score.constraints,
            trace: score.trace,
            objective: score.objective,
            progress: 0,
            parts: Vec::new(),
            gates: score.gates.clone(),
            phases: vec![PhaseScore {
                name: "new spend".into(),
                value: Some(48_200),
                best: 41_900,
                score: 780_000,
                within: false,
            }],
            alarm: false,
            injection: None,
            paper_pass: false,
            checks,
        }),
        changes: vec![
            Changed {
                table: "purchase_order".into(),
                record: "12".into(),
                what: What::Added,
                cells: vec![cell("partner", "", "3 Acme"), cell("state", "", "draft")],
            },
            Changed {
                table: "sale_order".into(),
                record: "7 SO-2".into(),
                what: What::Changed,
                cells: vec![cell("state", "sale", "done")],
            },
        ],
        plan: vec![PlanRows {
            view: "buy".into(),
            fields: row(&["product", "qty", "price"]),
            certified: vec![row(&["P-17", "60", "6.98"])],
            found: vec![row(&["P-17", "40", "6.98"])],
        }],
        phases: vec![(Some("482.00".into()), "419.00".into())],
        anchors: Some((Anchors { full: 40_000, half: 45_000, none: 60_000 }, ["400.00", "450.00", "600.00"].map(str::to_owned))),
        whys: BTreeMap::new(),
        sentences: BTreeMap::from([("erp/cover".into(), vec!["Every order must be covered on its promised day.".into()])]),
    }
}
