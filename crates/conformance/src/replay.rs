//! Differential replay: drawn sequences of calls on both engines, compared call by call and state by state.

use crate::error::{OrWrong as _, Result};
use crate::pair::{Shared, answers_differ};
use benchwright_calls::documents::{KINDS, Moves};
use benchwright_catalog::Catalog;
use benchwright_odoo::Site;
use benchwright_pack::{Step, Store, Task};
use benchwright_report::layout::columns;
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, fs, io::Write as _, path::Path, time::Instant};

/// How many calls a sequence has.
const LENGTH: usize = 20;
/// How many examples of a deviation are kept.
const EXAMPLES: usize = 3;

/// From so many sequences on, calls must have come often enough.
const ENOUGH: usize = 500;
/// How often each must have succeeded on Odoo, and have been refused.
const LEAST: [usize; 2] = [30, 10];
/// The calls that must: methods of every record are counted over all models.
const COUNTED: [&str; 23] = [
    "search",
    "search_read",
    "search_count",
    "read",
    "fields_get",
    "create",
    "write",
    "unlink",
    "sale.order/action_confirm",
    "sale.order/action_cancel",
    "purchase.order/button_confirm",
    "purchase.order/button_cancel",
    "purchase.order/button_draft",
    "mrp.production/action_confirm",
    "mrp.production/button_plan",
    "mrp.production/button_mark_done",
    "mrp.production/action_cancel",
    "mrp.workorder/write",
    "create_invoices percentage",
    "create_invoices fixed",
    "create_invoices delivered",
    "account.move/action_post",
    "stock.quant/action_apply_inventory",
];

/// What is to be replayed.
pub struct Wanted<'a> {
    /// The folder of tasks.
    pub dir: &'a Path,
    /// The task whose world is used; else the smallest that has all kinds of records.
    pub task: Option<&'a str>,
    /// The number of the first sequence.
    pub from: usize,
    /// How many.
    pub sequences: usize,
    /// The seed they are drawn from.
    pub seed: u64,
    /// Where a line for each sequence is kept; one whose line is there is not run again.
    pub journal: Option<&'a Path>,
}

/// What came of it.
#[derive(Default)]
pub struct Summary {
    sequences: usize,
    calls: usize,
    /// By call: how many succeeded on Odoo, how many were refused.
    methods: BTreeMap<String, [usize; 2]>,
    /// The same of the calls that must come often enough.
    counted: BTreeMap<&'static str, [usize; 2]>,
    /// By kind: how many, and examples.
    deviations: BTreeMap<String, (usize, Vec<String>)>,
    seconds: u64,
}

impl Summary {
    /// Counts a sequence, as its line has it.
    fn add(&mut self, line: &Json) {
        self.sequences += 1;
        for call in line["calls"].as_array().into_iter().flatten() {
            let (model, method) = (call[0].as_str().unwrap_or_default(), call[1].as_str().unwrap_or_default());
            let (name, came) = (format!("{model}/{method}"), usize::from(call[4] != 200));
            let bill =
                call[2]["ids"][0]["$"].as_str().and_then(|key| KINDS.iter().find(|kind| key.starts_with(**kind)));
            let bill = bill.map(|kind| format!("{method} {kind}"));
            for counted in COUNTED {
                if counted == method || counted == name || bill.as_deref() == Some(counted) {
                    self.counted.entry(counted).or_default()[came] += 1;
                }
            }
            self.methods.entry(name).or_default()[came] += 1;
            self.calls += 1;
        }
        for found in line["deviations"].as_array().into_iter().flatten() {
            let text = |at: usize| found[at].as_str().unwrap_or_default().to_owned();
            self.deviates(text(0), text(1));
        }
    }

    fn deviates(&mut self, kind: String, example: String) {
        let (count, examples) = self.deviations.entry(kind).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(example);
        }
    }

    /// How many kinds of deviation were found.
    pub fn deviations(&self) -> usize {
        self.deviations.len()
    }

    fn succeeded(&self) -> usize {
        self.methods.values().map(|[yes, _]| yes).sum()
    }

    /// What came too seldom; of few sequences nothing is asked.
    pub fn missed(&self) -> Vec<String> {
        if self.sequences < ENOUGH {
            return Vec::new();
        }
        let mut missed = Vec::new();
        if self.succeeded() * 2 < self.calls {
            missed.push(format!("{} of {} calls succeeded", self.succeeded(), self.calls));
        }
        for name in COUNTED {
            let [yes, no] = self.counted.get(name).copied().unwrap_or_default();
            if yes < LEAST[0] || no < LEAST[1] {
                missed.push(format!("{name} succeeded {yes} times and was refused {no} times"));
            }
        }
        missed
    }

    /// The document of what came of it.
    pub fn to_json(&self, site: &Site) -> Json {
        let succeeded = self.succeeded();
        let methods: BTreeMap<&String, Json> =
            self.methods.iter().map(|(name, [yes, no])| (name, json!({ "succeeded": yes, "refused": no }))).collect();
        let deviations: BTreeMap<&String, Json> = self
            .deviations
            .iter()
            .map(|(kind, (count, examples))| (kind, json!({ "count": count, "examples": examples })))
            .collect();
        json!({
            "sequences": self.sequences, "calls": self.calls, "succeeded": succeeded, "seconds": self.seconds,
            "version": site.version, "methods": methods, "deviations": deviations, "missed": self.missed(),
            "counted": COUNTED.iter().map(|name| {
                let [yes, no] = self.counted.get(name).copied().unwrap_or_default();
                ((*name).to_owned(), json!({ "succeeded": yes, "refused": no }))
            }).collect::<serde_json::Map<String, Json>>(),
        })
    }

    /// The same for a reader.
    pub fn to_table(&self, site: &Site) -> String {
        let succeeded = self.succeeded();
        let mut out = format!(
            "{} sequences, {} calls, {succeeded} succeeded on Odoo {}; {} kinds of deviation; {} s\n",
            self.sequences,
            self.calls,
            site.version,
            self.deviations.len(),
            self.seconds
        );
        for (kind, (count, examples)) in &self.deviations {
            out.push_str(&format!("{count:5}  {kind}\n       {}\n", examples.join("\n       ")));
        }
        let head = ["call", "succeeded", "refused"].map(str::to_owned).to_vec();
        let rows = COUNTED.iter().map(|name| {
            let [yes, no] = self.counted.get(name).copied().unwrap_or_default();
            vec![(*name).to_owned(), yes.to_string(), no.to_string()]
        });
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
        out.push_str(&columns(&rows, &[1, 2], 0));
        for missed in self.missed() {
            out.push_str(&format!("missed: {missed}\n"));
        }
        out
    }
}

/// The task whose world is used: the one asked for, or the smallest that has drafts, recipes and work to be placed.
pub(crate) fn choose(store: &Store, wanted: Option<&str>) -> Result<Task> {
    if let Some(id) = wanted {
        return Ok(store.task(id)?);
    }
    let mut best: Option<(usize, Task)> = None;
    for id in store.ids()? {
        let task = store.task(&id)?;
        let keys = &task.sealed.verifier.keys;
        let ours = |table: &str| {
            keys.get(table).map_or(0, |rows| rows.values().filter(|key| !key.starts_with("adj/")).count())
        };
        let fits = ours("mrp_bom") >= 2 && ours("sale_order") >= 2 && ours("mrp_workcenter_alternative") >= 1;
        let size = ours("res_partner") + ours("product_supplierinfo") + ours("sale_order");
        if fits && best.as_ref().is_none_or(|(least, _)| size < *least) {
            best = Some((size, task));
        }
    }
    best.map(|(_, task)| task)
        .or_wrong(|| "the folder has no task with drafts, two recipes and alternative work centres")
}

/// Replays drawn sequences on both.
pub fn run(catalog: &Catalog, site: &Site, wanted: &Wanted<'_>) -> Result<Summary> {
    let begun = Instant::now();
    let task = choose(&Store::at(wanted.dir), wanted.task)?;
    let shared = Shared::plant(catalog, site, &task)?;
    let mut known: BTreeMap<u64, Json> = BTreeMap::new();
    let read = |journal| fs::read_to_string(journal).unwrap_or_default();
    for line in wanted.journal.map(read).unwrap_or_default().lines() {
        // A line that was cut short is run again.
        if let Ok(line) = serde_json::from_str::<Json>(line) {
            known.insert(line["turn"].as_u64().unwrap_or(u64::MAX), line);
        }
    }
    let open = |journal: &Path| fs::OpenOptions::new().create(true).append(true).open(journal);
    let mut journal = wanted.journal.map(open).transpose()?;
    let mut summary = Summary::default();
    for turn in wanted.from..wanted.from + wanted.sequences {
        let line = match known.remove(&(turn as u64)) {
            Some(line) => line,
            None => {
                let line = sequence(&shared, wanted.seed, turn)?;
                if let Some(journal) = &mut journal {
                    writeln!(journal, "{line}")?;
                }
                line
            }
        };
        summary.add(&line);
    }
    summary.seconds = begun.elapsed().as_secs();
    Ok(summary)
}

/// One sequence. It ends early where the two have parted, because what follows says nothing new.
fn sequence(shared: &Shared, seed: u64, turn: usize) -> Result<Json> {
    let mut pair = shared.begin()?;
    let mut moves = Moves::new(shared, seed, turn);
    let mut made: Vec<Json> = Vec::new();
    let mut found: Vec<[String; 2]> = Vec::new();
    'calls: while made.len() < LENGTH {
        for step in moves.draw() {
            let Some(both) = pair.step(&step)? else { continue 'calls };
            let ok = both.odoo.status == 200;
            made.push(line(&step, both.twin.status, both.odoo.status));
            for difference in answers_differ(&step, &both, pair.done()) {
                let say = |answer: &benchwright_odoo::Answer| {
                    let said: Json = serde_json::from_str(&answer.body).unwrap_or_default();
                    said["message"].as_str().map_or_else(String::new, |said| said.chars().take(160).collect())
                };
                let example = format!(
                    "{turn}/{}: {difference} | {} | {} | {}",
                    made.len(),
                    step.args,
                    say(&both.twin),
                    say(&both.odoo)
                );
                let kind: String = difference.split(" is ").next().unwrap_or_default().to_owned();
                found.push([format!("answer {kind}"), example]);
            }
            if (both.twin.status == 200) != (both.odoo.status == 200) {
                break 'calls;
            }
            if !ok || made.len() >= LENGTH {
                continue 'calls;
            }
        }
    }
    if found.is_empty() {
        for difference in pair.differences()? {
            let example = format!(
                "{turn}: {} {} {}: {} | {}",
                difference.table, difference.row, difference.field, difference.left, difference.right
            );
            found.push([format!("state {}.{}", difference.table, difference.field), example]);
        }
    }
    Ok(json!({ "turn": turn, "calls": made, "deviations": found }))
}

fn line(step: &Step, twin: u16, odoo: u16) -> Json {
    json!([step.model, step.method, step.args, twin, odoo])
}
