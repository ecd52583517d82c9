//! `bench erp`: the same oracle episode (reset, calls, snapshot, grade) on the embedded ERP and on a real Odoo, both through the
//! gateway by one client, and on the embedded one in process too. Wall time, because the other side is another program.

use crate::error::{OrWrong as _, Result, hold, wrong};
use benchwright_catalog::Catalog;
use benchwright_odoo::{Client, Site};
use benchwright_pack::{BoundKeys, Ending, Store, Task};
use benchwright_project::{Case, NotAnswered, ToolAccess};
use benchwright_report::layout::columns;
use benchwright_serve::{Options, Server, Settings};
use benchwright_workshop::{Temporary, carried, engines, tasks::Judged};
use benchwright_world::replay;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

/// The pattern of the task that is played, of those that the program carries.
const PATTERN: &str = "procurement/lean-context-purchasing-cycle";
/// Episodes: on Odoo, through the gateway, in process.
const EPISODES: [u32; 3] = [5, 200, 2_000];
const QUICK: [u32; 3] = [1, 20, 200];

/// What episodes of one kind took.
#[derive(Clone, Copy, Default)]
struct Spent {
    episodes: u32,
    calls: u32,
    reset: Duration,
    called: Duration,
    grade: Duration,
}

impl Spent {
    fn episodes_per_s(&self) -> f64 {
        let whole = (self.reset + self.called + self.grade).as_secs_f64();
        if whole > 0.0 { f64::from(self.episodes) / whole } else { 0.0 }
    }

    fn to_json(self) -> Json {
        let milliseconds = |spent: Duration, of: u32| rounded(spent.as_secs_f64() * 1e3 / f64::from(of.max(1)));
        json!({
            "reset_ms": milliseconds(self.reset, self.episodes),
            "call_ms": milliseconds(self.called, self.calls),
            "grade_ms": milliseconds(self.grade, self.episodes),
            "episodes_per_s": rounded(self.episodes_per_s()),
            "episodes": self.episodes,
            "calls": self.calls / self.episodes.max(1),
        })
    }
}

fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// What was measured.
pub(super) struct Figures {
    odoo: Spent,
    gateway: Spent,
    embedded: Spent,
    version: String,
}

/// Measures. Needs a running Odoo.
pub(super) fn run(catalog: &Catalog, quick: bool) -> Result<Figures> {
    let site = Site::find(1)?;
    let folder = Temporary::new()?;
    let store = carried::unpack_demo(folder.path())?;
    let task = find(&store)?;
    let [on_odoo, on_gateway, in_process] = if quick { QUICK } else { EPISODES };
    let embedded = here(catalog, &task, in_process)?;
    let (odoo, gateway) = over_http(catalog, &site, &store, &task, on_odoo, on_gateway)?;
    Ok(Figures { odoo, gateway, embedded, version: site.version })
}

fn find(store: &Store) -> Result<Task> {
    for id in store.ids()? {
        let task = store.task(&id)?;
        if task.sealed.pattern == PATTERN {
            return Ok(task);
        }
    }
    wrong!("the program carries no task of {PATTERN}")
}

/// Episodes in this process.
fn here(catalog: &Catalog, task: &Task, episodes: u32) -> Result<Spent> {
    let judged = Judged::open(catalog, task)?;
    let grader = judged.grader()?;
    let ledger = judged.bound_keys();
    let mut spent = Spent { episodes, ..Spent::default() };
    for _ in 0..episodes {
        let begun = Instant::now();
        let mut episode = judged.begin()?;
        spent.reset += begun.elapsed();
        let begun = Instant::now();
        replay(&task.sealed.oracle, &mut ledger.clone(), &mut episode)?;
        spent.called += begun.elapsed();
        let begun = Instant::now();
        let verdict = grader.grade(&episode.snapshot())?;
        spent.grade += begun.elapsed();
        hold!(verdict.ending == Ending::Pass, "the oracle does not pass");
    }
    spent.calls = episodes * task.sealed.oracle.steps.len() as u32;
    Ok(spent)
}

/// Episodes through the gateway: on Odoo, and on the embedded ERP.
fn over_http(
    catalog: &Catalog,
    site: &Site,
    store: &Store,
    task: &Task,
    on_odoo: u32,
    on_gateway: u32,
) -> Result<(Spent, Spent)> {
    let usual = engines::settings(catalog);
    let settings = Settings {
        engines: usual.engines.clone().with(engines::odoo(catalog, site.clone())),
        tasks: Some(store.root().to_owned()),
        may_read_sealed: true,
        ..usual
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let server = runtime.block_on(Server::start(Options { settings, ..Options::default() }))?;
    let gateway = Gateway {
        agent: ureq::Agent::config_builder().proxy(None).http_status_as_error(false).build().new_agent(),
        base: format!("http://{}", server.control_address()),
        token: server.control_token().reveal().to_owned(),
    };
    // The first episode plants the world, which is no reset.
    gateway.episodes(catalog, task, "odoo", 1)?;
    let odoo = gateway.episodes(catalog, task, "odoo", on_odoo)?;
    let embedded = gateway.episodes(catalog, task, "embedded", on_gateway)?;
    runtime.block_on(server.stop());
    Ok((odoo, embedded))
}

/// A client of the gateway.
struct Gateway {
    agent: ureq::Agent,
    base: String,
    token: String,
}

impl Gateway {
    fn ask(&self, path: &str, token: &str, body: &Json) -> Result<Json> {
        let request =
            self.agent.post(format!("{}{path}", self.base)).header("Authorization", format!("Bearer {token}"));
        let mut answer = request.send(body.to_string().as_bytes())?;
        let (status, text) = (answer.status(), answer.body_mut().with_config().limit(64 << 20).read_to_string()?);
        hold!(status.is_success(), "{path} answered {status}: {text}");
        Ok(serde_json::from_str(&text)?)
    }

    fn episodes(&self, catalog: &Catalog, task: &Task, engine: &str, episodes: u32) -> Result<Spent> {
        let judged = Judged::open(catalog, task)?;
        let sealed = &task.sealed;
        let case =
            Case { objective: sealed.objective.clone(), switches: sealed.switches.clone(), data: sealed.case.clone() };
        let mut spent = Spent { episodes, ..Spent::default() };
        for _ in 0..episodes {
            let begun = Instant::now();
            let created = self.ask("/episodes", &self.token, &json!({ "task": task.open.id, "engine": engine }))?;
            spent.reset += begun.elapsed();
            let text = |value: &Json| value.as_str().map(str::to_owned).or_wrong(|| "the gateway told no address");
            let (id, token) = (text(&created["id"])?, text(&created["token"])?);
            // Where records stand is found by their names, on both alike; it is no part of the episode that is measured.
            let mut access = Tools { gateway: self, id: &id, token: &token };
            let reader = judged
                .family
                .and_then(|family| family.reader())
                .or_wrong(|| "the family offers no reader of its briefs")?;
            let ids = reader.addresses(&case, &mut access).or_wrong(|| "addresses")?;
            let mut ledger = BoundKeys::new(ids);
            let client = Client::new(&format!("{}/episodes/{id}", self.base), &token);
            let begun = Instant::now();
            for step in &sealed.oracle.steps {
                let answer = client.call("", &step.model, &step.method, &ledger.fill(&step.args)?)?;
                ledger.note(step, &answer)?;
            }
            spent.called += begun.elapsed();
            let begun = Instant::now();
            let verdict = self.ask(&format!("/episodes/{id}/grade"), &self.token, &json!({}))?;
            spent.grade += begun.elapsed();
            hold!(verdict["ending"] == "pass", "the oracle does not pass on {engine}: {verdict}");
            let close = self.agent.delete(format!("{}/episodes/{id}", self.base));
            close.header("Authorization", format!("Bearer {}", self.token)).call()?;
        }
        spent.calls = episodes * sealed.oracle.steps.len() as u32;
        Ok(spent)
    }
}

/// The tools of an episode behind the gateway.
struct Tools<'g> {
    gateway: &'g Gateway,
    id: &'g str,
    token: &'g str,
}

impl ToolAccess for Tools<'_> {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        let path = format!("/episodes/{}/tools/{tool}", self.id);
        self.gateway.ask(&path, self.token, &arguments).map_err(|error| NotAnswered(error.to_string()))
    }
}

impl Figures {
    fn ratio(&self) -> f64 {
        let slow = self.odoo.episodes_per_s();
        if slow > 0.0 { self.embedded.episodes_per_s() / slow } else { 0.0 }
    }

    /// Whether the embedded ERP falls short of a thousand times the episodes.
    pub(super) fn missed(&self) -> bool {
        self.ratio() < 1_000.0
    }

    pub(super) fn to_json(&self) -> Json {
        json!({
            "odoo": self.odoo.to_json(),
            "embedded": self.embedded.to_json(),
            "embedded_gateway": self.gateway.to_json(),
            "ratio": rounded(self.ratio()),
            "gateway_ratio": rounded(self.gateway.episodes_per_s() / self.odoo.episodes_per_s().max(f64::MIN_POSITIVE)),
            "version": self.version,
        })
    }

    pub(super) fn to_table(&self) -> String {
        let line = |name: &str, spent: &Spent| {
            let figures = spent.to_json();
            let show = |key: &str| figures[key].to_string();
            vec![name.to_owned(), show("reset_ms"), show("call_ms"), show("grade_ms"), show("episodes_per_s")]
        };
        let head = ["", "reset, ms", "call, ms", "grade, ms", "episodes/s"].map(str::to_owned).to_vec();
        let rows = [
            head,
            line("Odoo, gateway", &self.odoo),
            line("embedded, gateway", &self.gateway),
            line("embedded, in process", &self.embedded),
        ];
        format!("{}ratio {:.0}\n", columns(&rows, &[1, 2, 3, 4], 0), self.ratio())
    }
}
