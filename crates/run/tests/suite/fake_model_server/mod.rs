//! Agents against a model server that fails in every way: what is the server's fault is an error with its cause, what is the
//! model's fault is answered, and a limit is graded.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod office;
mod server;

use crate::{folder::folder, made_up::jumping};
use benchwright_base::Digest;
use benchwright_pack::{
    RunPlan, TaskLine,
    run::{Limits, RUN_VERSION, TrialEnd},
};
use benchwright_run::{
    Agent, AgentError, Driver, Finished, Host as _, Keeping, LedgerStore as _, Played, Progress, SqliteLedger, Stop,
    TrialFolder,
    model::{AgentSpec, Cause, Dialect, Message, Model, ModelAgent, ModelOptions, Prices, Redactor, Retry, Secret},
    run,
};
use office::Office;
use serde_json::Value as Json;
use server::{Act, FakeModelServer};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

const CANARY: &str = "sk-canary-4711-do-not-print";
const TRIES: u32 = 3;

/// Every way to speak to a server.
fn ways() -> impl Iterator<Item = (Dialect, bool)> {
    Dialect::ALL.into_iter().flat_map(|dialect| [(dialect, false), (dialect, true)])
}

fn options(server: &FakeModelServer, (dialect, stream): (Dialect, bool)) -> ModelOptions {
    let mut options = ModelOptions::new("some-model", server.base_url.clone());
    options.key = Some(Secret::new(CANARY));
    options.dialect = dialect;
    options.stream = stream;
    options.connect = Duration::from_millis(500);
    options.stall = Duration::from_millis(300);
    options.retry = Retry { tries: TRIES, first: Duration::from_secs(2), longest: Duration::from_secs(60) };
    options
}

/// A model that notes its waits instead of waiting.
fn model(options: ModelOptions) -> (Arc<Model>, Arc<Mutex<Vec<u64>>>) {
    let waits = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&waits);
    let sleeper = Box::new(move |wait: Duration| noted.lock().unwrap().push(wait.as_secs()));
    (Arc::new(Model::with_sleeper(options, Redactor::default(), sleeper).unwrap()), waits)
}

fn agent(spec: &str, model: &Arc<Model>) -> ModelAgent {
    let AgentSpec::Model(spec) = AgentSpec::parse(spec).unwrap() else { panic!("{spec} is a policy") };
    ModelAgent::new(spec, Arc::clone(model))
}

/// What came of a trial.
struct Trial {
    played: Result<Played, AgentError>,
    left: Finished,
    waits: Vec<u64>,
    server: FakeModelServer,
}

impl Trial {
    fn stop(&self) -> &Stop {
        &self.played.as_ref().unwrap().stop
    }
    fn cause(&self) -> &str {
        &self.played.as_ref().unwrap_err().cause
    }
    fn passed(&self) -> bool {
        self.left.verdict.reward == 1_000_000
    }
    fn requests(&self) -> usize {
        self.server.asked().len()
    }
    /// The answers of tools: their texts and whether they are refusals.
    fn answers(&self) -> Vec<(String, bool)> {
        let lines = &self.played.as_ref().unwrap().transcript;
        let tools = lines.iter().filter(|line| line["role"] == "tool");
        tools.map(|line| (line["text"].as_str().unwrap().to_owned(), line["refused"] == true)).collect()
    }
}

fn limits(turns: u32) -> Limits {
    Limits { turns, seconds: 60, tokens: None, cost: None }
}

fn trial_with(
    spec: &str,
    way: (Dialect, bool),
    acts: Vec<Act>,
    limits: &Limits,
    tune: &dyn Fn(&mut ModelOptions),
) -> Trial {
    // Patience is short only where it is put to the test, so that a busy machine is not taken for a stalled server.
    let is_short = acts.iter().any(|act| matches!(act, Act::Stall | Act::StallMidway | Act::Drip));
    let server = FakeModelServer::start(way.0, acts);
    let mut options = options(&server, way);
    if !is_short {
        options.stall = Duration::from_secs(20);
    }
    tune(&mut options);
    let (model, waits) = model(options);
    let office = Office::new(20);
    let mut episode = office.begin("task").unwrap();
    let task = office.open("task").unwrap();
    let played = agent(spec, &model).play(&office, &task, &mut *episode, 1, limits);
    let left = episode.finish(true).unwrap();
    let waits = waits.lock().unwrap().clone();
    Trial { played, left, waits, server }
}

fn trial(way: (Dialect, bool), acts: Vec<Act>) -> Trial {
    trial_with("react:some-model", way, acts, &limits(30), &|_| {})
}

fn call(name: &'static str, arguments: &str) -> Act {
    Act::Say("I call a tool.", vec![(name, arguments.to_owned())])
}

fn order() -> Act {
    call("order_create", r#"{"units": 3}"#)
}

fn done() -> Act {
    Act::Say("All is done.", Vec::new())
}

#[test]
fn a_good_model_makes_the_order_in_every_dialect() {
    for way in ways() {
        let list = ("order_list", String::new());
        let both = Act::Say("I make it and look.", vec![("order_create", r#"{"units": 3}"#.to_owned()), list]);
        let trial = trial(way, vec![both, done()]);
        assert_eq!(trial.stop(), &Stop::Done, "{way:?}");
        assert!(trial.passed());
        let played = trial.played.as_ref().unwrap();
        let used = (played.turns, played.tokens_in, played.tokens_out, played.cost);
        assert_eq!(used, (Some(2), Some(20), Some(10), None), "an unknown price is no cost of 0");
        assert_eq!(trial.answers(), [(r#"{"id":1}"#.to_owned(), false), (r#"{"rows":[3]}"#.to_owned(), false)]);
        let asked = trial.server.asked();
        let (path, header) = match way.0 {
            Dialect::Chat => ("/v1/chat/completions", "authorization"),
            Dialect::Messages => ("/v1/messages", "x-api-key"),
            Dialect::Responses => ("/v1/responses", "authorization"),
        };
        assert!(asked.iter().all(|asked| asked.path == path && asked.headers[header].ends_with(CANARY)));
        // The second request carries the calls and both answers.
        let second = asked[1].body.to_string();
        assert!(
            ["call-0", "call-1", "order_list", r#"{\"rows\":[3]}"#].iter().all(|words| second.contains(words)),
            "{second}"
        );
        assert_eq!(asked[0].body["tools"].as_array().unwrap().len(), 5);
        assert_eq!(asked[0].body["model"], "some-model");
    }
}

#[test]
fn what_passes_is_tried_again_and_the_trial_goes_well() {
    let busy = || Act::Status(429, Some(7), "slow down".to_owned());
    let broken = || Act::Status(500, None, "oh dear".to_owned());
    for way in ways() {
        let trial = trial(way, vec![busy(), broken(), order(), Act::ErrorInside, Act::HangUp, done()]);
        assert_eq!(trial.stop(), &Stop::Done, "{way:?}");
        assert!(trial.passed());
        assert_eq!(trial.requests(), 6);
        assert_eq!(trial.waits, [7, 4, 2, 4], "what the server asks for, then doubled; afresh for each request");
        assert_eq!(trial.played.unwrap().turns, Some(2));
    }
}

#[test]
fn a_server_that_keeps_failing_is_an_error_with_its_cause_after_as_many_tries_as_the_policy_says() {
    let check = |way: (Dialect, bool)| {
        for (act, cause) in [
            (Act::Status(429, Some(1), String::new()), "rate-limit"),
            (Act::Status(500, None, String::new()), "server"),
            (Act::Status(529, None, String::new()), "server"),
            (Act::Close, "server"),
            (Act::ErrorInside, "server"),
            (Act::Stall, "stall"),
            (Act::StallMidway, "stall"),
            (Act::HangUp, "stream"),
            (Act::EndMidway, "stream"),
            (Act::Gibberish, "stream"),
            (Act::Endless, "stream"),
        ] {
            // The order is made first: what is done already is not scored either.
            let trial = trial(way, vec![order(), act.clone()]);
            assert_eq!(trial.cause(), cause, "{way:?} {act:?} {:?}", trial.played);
            assert_eq!(trial.requests(), 1 + TRIES as usize, "{way:?} {act:?}");
            assert_eq!(trial.waits, [2, 4]);
        }
    };
    // Stalls take their time: all ways at once.
    std::thread::scope(|scope| ways().for_each(|way| drop(scope.spawn(move || check(way)))));
}

#[test]
fn what_another_try_cannot_mend_is_not_tried_again() {
    for way in ways() {
        for (status, cause) in [(401, "auth"), (403, "auth"), (400, "request"), (404, "request"), (302, "request")] {
            let trial = trial(way, vec![Act::Status(status, None, "no such thing".to_owned())]);
            assert_eq!(trial.cause(), cause);
            assert_eq!((trial.requests(), trial.waits.len()), (1, 0));
            assert!(trial.played.unwrap_err().detail.contains("no such thing"));
        }
        // A task that does not fit the model at all is no fault of the agent.
        let trial = trial(way, vec![Act::Status(400, None, "prompt is too long".to_owned())]);
        assert_eq!((trial.cause(), trial.requests()), ("request", 1));
    }
}

#[test]
fn nobody_at_the_address_is_a_server_error() {
    let server = FakeModelServer::start(Dialect::Chat, vec![done()]);
    let mut options = options(&server, (Dialect::Chat, true));
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    options.base_url = format!("http://{free}/v1");
    let (model, waits) = model(options);
    let error = model.ask(&[Message::User("hello".to_owned())], &[], Duration::from_secs(5)).unwrap_err();
    assert_eq!((error.cause, error.tries), (Cause::Server, TRIES));
    assert_eq!(*waits.lock().unwrap(), [2, 4]);
}

#[test]
fn what_the_model_does_badly_is_answered_and_the_trial_goes_on() {
    for way in ways() {
        let trial = trial(
            way,
            vec![
                call("order_create", r#"{"units": 3"#),
                call("order_create", "[3]"),
                call("order_make", r#"{"units": 3}"#),
                call("", "{}"),
                call("order_create", r#"{"units": "three"}"#),
                order(),
                done(),
            ],
        );
        assert_eq!(trial.stop(), &Stop::Done, "{way:?}");
        assert!(trial.passed());
        assert_eq!((trial.requests(), trial.waits.len()), (7, 0), "nothing was tried again");
        let answers = trial.answers();
        let words = ["no JSON", "no JSON object", "no tool `order_make`", "no tool ``", "is no number"];
        for (answer, words) in answers.iter().zip(words) {
            assert!(answer.1 && answer.0.contains(words), "{way:?} {answer:?}");
        }
        assert_eq!(answers.len(), 6);
        // Servers refuse arguments that are no object and names that no tool can have: they are not said back.
        let last = trial.server.asked().pop().unwrap().body.to_string();
        assert!(last.contains("unnamed") && !last.contains(r#"{\"units\": 3\"#), "{last}");
    }
}

#[test]
fn a_limit_stops_the_trial_and_what_is_there_is_graded() {
    let loops = || vec![order(), call("order_list", "{}")];
    for way in ways() {
        let stopped = |acts: Vec<Act>, limits: Limits| {
            let prices =
                |options: &mut ModelOptions| options.prices = Some(Prices { input: 1_000_000, output: 2_000_000 });
            let trial = trial_with("react:some-model", way, acts, &limits, &prices);
            let Stop::Limit(which) = trial.stop() else { panic!("it was done") };
            assert!(trial.passed(), "what was done counts");
            assert_eq!(trial.waits.len(), 0);
            (which.clone(), trial.requests(), trial.played.as_ref().unwrap().cost)
        };
        // Each turn takes 15 tokens and costs 20 millionths.
        assert_eq!(stopped(loops(), limits(6)), ("turns".to_owned(), 6, Some(120)), "{way:?}");
        assert_eq!(stopped(loops(), limits(99)), ("calls".to_owned(), 21, Some(420)), "an endless loop");
        let few = Limits { tokens: Some(31), ..limits(99) };
        assert_eq!(stopped(loops(), few), ("tokens".to_owned(), 3, Some(60)));
        let cheap = Limits { cost: Some(80), ..limits(99) };
        assert_eq!(stopped(loops(), cheap), ("cost".to_owned(), 4, Some(80)));
        assert_eq!(stopped(vec![order(), Act::Cut("And then I")], limits(9)).0, "length");
        let long = Act::Status(400, None, r#"{"error":{"code":"context_length_exceeded"}}"#.to_owned());
        assert_eq!(stopped(vec![order(), long], limits(9)).0, "length");
    }
    let no_time = Limits { seconds: 0, ..limits(9) };
    let trial = trial_with("react:some-model", (Dialect::Chat, true), vec![done()], &no_time, &|_| {});
    assert_eq!((trial.stop(), trial.requests()), (&Stop::Limit("time".to_owned()), 0));
    // Time that the server lost is not the agent's.
    let (second, patient) = (Limits { seconds: 1, ..limits(9) }, |options: &mut ModelOptions| options.retry.tries = 9);
    let acts = vec![Act::Stall, Act::Stall, Act::Stall, Act::Stall, order(), done()];
    let trial = trial_with("react:some-model", (Dialect::Chat, true), acts, &second, &patient);
    assert_eq!((trial.stop(), trial.requests(), trial.passed()), (&Stop::Done, 6, true));
    // An answer that never ends is given up when the time is; it was no silence, so it is not tried again.
    let trial = trial_with("react:some-model", (Dialect::Chat, true), vec![order(), Act::Drip], &second, &|_| {});
    assert_eq!((trial.stop(), trial.requests()), (&Stop::Limit("time".to_owned()), 2));
    assert!(trial.passed());
}

#[test]
fn a_limit_that_cannot_be_kept_is_an_error_of_the_runner() {
    let cheap = Limits { cost: Some(80), ..limits(9) };
    let trial = trial_with("react:some-model", (Dialect::Chat, true), vec![done()], &cheap, &|_| {});
    assert_eq!((trial.cause(), trial.requests()), ("runner", 0), "no prices");
    for way in ways() {
        let few = Limits { tokens: Some(80), ..limits(9) };
        let trial = trial_with("react:some-model", way, vec![Act::Uncounted("Hm.")], &few, &|_| {});
        assert_eq!(trial.cause(), "runner", "the server does not count");
        let trial = trial_with("react:some-model", way, vec![Act::Uncounted("Hm.")], &limits(9), &|_| {});
        let played = trial.played.unwrap();
        assert_eq!((played.tokens_in, played.tokens_out, played.stop), (None, None, Stop::Done), "unknown is not 0");
    }
}

#[test]
fn words_alone_end_the_trial_and_earn_nothing() {
    let trial = trial((Dialect::Chat, true), vec![Act::Say("I have made the order. Reward: 1.0", Vec::new())]);
    assert_eq!(trial.stop(), &Stop::Done);
    assert!(!trial.passed());
}

#[test]
fn a_long_answer_is_cut_for_the_model() {
    let trial = trial((Dialect::Messages, true), vec![call("colour_list", ""), done()]);
    let (text, refused) = trial.answers().remove(0);
    assert!(!refused && text.len() < 40_200 && text.contains("go on with `cursor`"));
}

fn names(asked: &server::Asked) -> Vec<String> {
    let tools = asked.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn settings_offer_fewer_tools_and_what_is_not_offered_does_not_exist() {
    let way = (Dialect::Chat, true);
    for (setting, offered) in [("", 5), ("@oracle", 2), ("@oracle+1", 3), ("@oracle+15", 5)] {
        let spec = format!("react:some-model{setting}");
        let acts = vec![call("invoice_create", "{}"), order(), done()];
        let trial = trial_with(&spec, way, acts, &limits(9), &|_| {});
        let names = names(&trial.server.asked()[0]);
        assert_eq!(names.len(), offered, "{setting} {names:?}");
        assert!(names.starts_with(&["order_create".to_owned(), "order_list".to_owned()]));
        if offered == 3 {
            assert_eq!(names[2], "order_cancel", "the nearest");
        }
        let is_offered = names.contains(&"invoice_create".to_owned());
        assert_eq!(trial.answers()[0].1, !is_offered);
        assert_eq!(trial.left.trace.calls.len(), 1 + usize::from(is_offered), "it never reached the world");
        assert!(trial.passed());
    }
}

#[test]
fn a_planner_writes_without_tools_and_then_acts_on_its_plan() {
    for way in ways() {
        let acts = vec![Act::Say("1. Make the order, carefully.", Vec::new()), order(), done()];
        let trial = trial_with("plan:some-model", way, acts, &limits(9), &|_| {});
        assert_eq!((trial.stop(), trial.passed()), (&Stop::Done, true));
        assert_eq!(trial.played.as_ref().unwrap().turns, Some(3), "the plan is a turn");
        let asked = trial.server.asked();
        assert!(asked[0].body.get("tools").is_none() && asked[0].body.to_string().contains("order_create"));
        let second = asked[1].body.to_string();
        assert!(asked[1].body.get("tools").is_some() && second.contains("Make the order, carefully."));
        assert!(!second.contains("You cannot call tools yourself"), "it begins afresh");
    }
    let trial = trial_with("plan:some-model", (Dialect::Chat, true), vec![Act::Cut("1. Make")], &limits(9), &|_| {});
    assert_eq!(trial.stop(), &Stop::Limit("length".to_owned()));
}

#[test]
fn a_given_plan_tells_the_oracle_and_no_other_agent_sees_it() {
    for (spec, is_told) in [("given:some-model", true), ("react:some-model", false), ("react:some-model@oracle", false)]
    {
        let trial = trial_with(spec, (Dialect::Responses, false), vec![order(), done()], &limits(9), &|_| {});
        let first = trial.server.asked()[0].body.to_string();
        assert_eq!(first.contains("1. order_create: This is order create.\\n   {units: 3}"), is_told, "{first}");
    }
}

fn plan(agents: &[&str]) -> RunPlan {
    let line = TaskLine {
        id: "task".to_owned(),
        digest: Digest::of(b"task").to_string(),
        domain: "office".to_owned(),
        pattern: "office/order".to_owned(),
        tier: "easy".to_owned(),
        dials: Vec::new(),
        objective: "none".to_owned(),
        cluster: "office/order".to_owned(),
        pair: None,
        obstacle: None,
        problem: None,
        horizon: 1,
        parameters: Default::default(),
    };
    let agents = agents.iter().map(|name| (*name).to_owned()).collect();
    RunPlan {
        version: RUN_VERSION,
        tasks: vec![line],
        agents,
        settings: BTreeMap::new(),
        attempts: 1,
        limits: limits(9),
    }
}

/// Works off a run of one trial for each agent, and gives the ends by agent.
fn work_off(root: &Path, plan: &RunPlan, server: &FakeModelServer) -> Vec<(String, TrialEnd)> {
    let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite"), jumping()).unwrap();
    let (id, is_new) = ledger.open("office", plan, false).unwrap();
    if !is_new {
        ledger.reopen_errors(id).unwrap();
    }
    let mut options = options(server, (Dialect::Chat, true));
    options.stall = Duration::from_secs(20);
    let (model, _) = model(options);
    let agents: Vec<Box<dyn Agent + Send>> =
        plan.agents.iter().map(|name| Box::new(agent(name, &model)) as Box<dyn Agent + Send>).collect();
    let (stop, office) = (AtomicBool::new(false), Office::new(20));
    let (keeping, hold) = (Keeping::Folders(TrialFolder::of(root)), Some(1_000_000_000));
    let driver = Driver { host: &office, ledger: &ledger, agents: &agents, keeping, hold, jobs: 1, stop: &stop };
    run(&driver, id, &Progress::default()).unwrap();
    let records = ledger.chain(id).unwrap().records;
    records.into_iter().map(|(_, record)| (record.key.agent, record.end)).collect()
}

#[test]
fn in_a_run_a_failing_server_is_an_error_and_is_tried_again_on_resume_while_a_bad_model_is_scored() {
    let (root, plan) = (folder("model-run"), plan(&["react:some-model"]));
    let failing = FakeModelServer::start(Dialect::Chat, vec![order(), Act::Status(503, None, "down".to_owned())]);
    let ends = work_off(&root, &plan, &failing);
    assert!(matches!(&ends[0].1, TrialEnd::Error { cause, .. } if cause == "server"), "{ends:?}");
    let refusing = FakeModelServer::start(Dialect::Chat, vec![Act::Status(401, None, "who are you".to_owned())]);
    let ends = work_off(&root, &plan, &refusing);
    assert!(matches!(&ends[0].1, TrialEnd::Error { cause, .. } if cause == "auth"), "{ends:?}");
    assert_eq!(refusing.asked().len(), 1, "a key that is refused is not tried again");
    let lazy = FakeModelServer::start(Dialect::Chat, vec![call("nothing", "{"), done()]);
    let ends = work_off(&root, &plan, &lazy);
    assert!(matches!(&ends[0].1, TrialEnd::Scored(score) if score.reward == 0 && score.limit.is_none()), "{ends:?}");
    let good = FakeModelServer::start(Dialect::Chat, vec![order(), done()]);
    work_off(&root, &plan, &good);
    assert_eq!(good.asked().len(), 0, "what is scored is not tried again");
}

/// All bytes of all files under a folder.
fn bytes_under(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.extend_from_slice(path.to_string_lossy().as_bytes());
        all.extend(if path.is_dir() { bytes_under(&path) } else { fs::read(&path).unwrap() });
    }
    all
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

#[test]
fn threat_12_a_key_appears_nowhere_in_what_is_kept_or_printed() {
    // The model repeats the key in its words, in a tool's name and in arguments, once with escapes.
    let escaped = CANARY.replace("canary", "c\\u0061nary");
    let words: &'static str = Box::leak(format!("The key is {CANARY}.").into_boxed_str());
    let acts = vec![
        Act::Say(words, vec![(CANARY, "{}".to_owned())]),
        Act::Say("", vec![("order_create", format!(r#"{{"units":3,"note":"{CANARY}","more":"{escaped}"}}"#))]),
        Act::Say("", vec![("order_list", format!("{{{CANARY}"))]),
        Act::Say(words, Vec::new()),
    ];
    let (root, plan) = (folder("model-canary"), plan(&["react:some-model"]));
    let server = FakeModelServer::start(Dialect::Chat, acts);
    let ends = work_off(&root, &plan, &server);
    assert!(matches!(&ends[0].1, TrialEnd::Scored(score) if score.pass), "{ends:?}");
    let kept = bytes_under(&root);
    assert!(holds(&kept, "[redacted]") && holds(&kept, "order_create") && !holds(&kept, CANARY));
    let transcript = TrialFolder::of(&root).read(1).unwrap();
    assert!(!Json::from(transcript.transcript).to_string().contains(CANARY));
    assert!(transcript.trace.calls[0].arguments.contains(r#""more":"[redacted]""#), "not even with escapes");
    // A server that repeats the key in its error, where the place to cut the message is inside the key.
    for front in [0, 370, 380, 390] {
        let said = format!("{}{CANARY}", "x".repeat(front));
        for (status, tries) in [(400, 1), (500, TRIES)] {
            let server = FakeModelServer::start(Dialect::Chat, vec![Act::Status(status, None, said.clone())]);
            let (model, _) = model(options(&server, (Dialect::Chat, false)));
            let error = model.ask(&[Message::User("hello".to_owned())], &[], Duration::from_secs(5)).unwrap_err();
            assert_eq!(error.tries, tries);
            let agent_error = AgentError::from(error.clone());
            let printed = format!("{error} {error:?} {agent_error} {agent_error:?} {model:?} {:?}", model.options());
            assert!(!printed.contains("sk-can"), "{printed}");
        }
    }
    // Other values that the shell names, of eight or more characters.
    let server = FakeModelServer::start(Dialect::Chat, vec![Act::Say("hunter2-hunter2 and tiny", Vec::new())]);
    let redactor = Redactor::new(["hunter2-hunter2".to_owned(), "tiny".to_owned()]);
    let model = Model::new(options(&server, (Dialect::Chat, true)), redactor).unwrap();
    let asked = model.ask(&[Message::User("hello".to_owned())], &[], Duration::from_secs(5)).unwrap();
    assert_eq!(asked.reply.text, "[redacted] and tiny");
    assert!(!format!("{model:?}").contains(CANARY));
}

#[test]
fn what_is_no_address_is_refused_before_anything_is_sent() {
    for wrong in
        ["api.example.com/v1", "ftp://example.com", "https://me:secret@example.com/v1", "https://", "http://a b/"]
    {
        let error = Model::new(ModelOptions::new("m", wrong), Redactor::default()).unwrap_err();
        assert_eq!((error.cause, error.tries), (Cause::Request, 0), "{wrong}");
        assert!(!error.to_string().contains("secret"));
    }
    let mut options = ModelOptions::new("m", "https://example.com/v1");
    options.key = Some(Secret::new("two words"));
    assert!(Model::new(options, Redactor::default()).is_err());
}

#[test]
fn no_more_requests_run_at_a_time_than_the_model_allows() {
    // With one place, a stalled request holds the others back: three in a row take three times as long.
    let server = FakeModelServer::start(Dialect::Chat, vec![Act::Stall]);
    let mut options = options(&server, (Dialect::Chat, true));
    options.at_once = 1;
    options.retry.tries = 1;
    let (model, _) = model(options);
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| model.ask(&[Message::User("hello".to_owned())], &[], Duration::from_secs(5)).unwrap_err());
        }
    });
    assert!(begun.elapsed() >= Duration::from_millis(890), "{:?}", begun.elapsed());
    assert_eq!(server.asked().len(), 3);
}
