//! Asks one model at an HTTP address for its next message, and tries again after failures that may pass (too many requests,
//! a failing server, a cut answer). Time that is lost so is told apart, because it is not the agent's.

use super::{
    chat,
    error::{Cause, Fault, ModelError},
    events::Events,
    gate::Gate,
    messages, responses,
    secret::{Redactor, Secret},
    talk::{Message, Reply},
};
use crate::{ToolCard, events};
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    fmt,
    io::{self, BufReader, Read as _},
    time::{Duration, Instant},
};
use ureq::Timeout;

/// The most bytes of an answer that are read.
const LARGEST: u64 = 8 << 20;
/// The most bytes of a refusal that are read, and the most characters that are kept.
const REFUSAL: (u64, usize) = (64 << 10, 400);
/// The longest that a server can make us wait by asking for it.
const LONGEST_ASKED: Duration = Duration::from_secs(600);

/// How a server is spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// Chat Completions: `BASE/chat/completions`.
    #[default]
    Chat,
    /// Anthropic Messages: `BASE/messages`.
    Messages,
    /// OpenAI Responses: `BASE/responses`.
    Responses,
}

impl Dialect {
    /// Every dialect, in the order of the manual.
    pub const ALL: [Dialect; 3] = [Dialect::Chat, Dialect::Messages, Dialect::Responses];

    /// Its word on a command line.
    pub fn word(self) -> &'static str {
        match self {
            Dialect::Chat => "chat",
            Dialect::Messages => "messages",
            Dialect::Responses => "responses",
        }
    }

    /// The dialect of a word.
    pub fn from_word(word: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.word() == word)
    }

    fn path(self) -> &'static str {
        match self {
            Dialect::Chat => "/chat/completions",
            Dialect::Messages => "/messages",
            Dialect::Responses => "/responses",
        }
    }

    fn request(self, options: &ModelOptions, said: &[Message], tools: &[&ToolCard]) -> Json {
        match self {
            Dialect::Chat => chat::request(options, said, tools),
            Dialect::Messages => messages::request(options, said, tools),
            Dialect::Responses => responses::request(options, said, tools),
        }
    }

    fn whole(self, body: &Json) -> Result<Reply, Fault> {
        match self {
            Dialect::Chat => chat::whole(body),
            Dialect::Messages => messages::whole(body),
            Dialect::Responses => responses::whole(body),
        }
    }

    fn stream(self, events: &mut Events<'_>) -> Result<Reply, Fault> {
        match self {
            Dialect::Chat => chat::stream(events),
            Dialect::Messages => messages::stream(events),
            Dialect::Responses => responses::stream(events),
        }
    }
}

/// What a million tokens cost, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prices {
    /// For a million tokens that the model reads.
    pub input: u64,
    /// For a million tokens that the model writes.
    pub output: u64,
}

impl Prices {
    /// What tokens cost, in millionths of a dollar, rounded up.
    pub fn cost(&self, tokens_in: u64, tokens_out: u64) -> u64 {
        let whole = u128::from(tokens_in) * u128::from(self.input) + u128::from(tokens_out) * u128::from(self.output);
        u64::try_from(whole.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// How often a request is tried, and how long is waited between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retry {
    /// How often in all, at least once.
    pub tries: u32,
    /// The first wait; each next one is twice as long.
    pub first: Duration,
    /// The longest wait. A server that asks for more by `Retry-After` gets up to ten minutes.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { tries: 5, first: Duration::from_secs(2), longest: Duration::from_secs(60) }
    }
}

impl Retry {
    /// The wait after so many tries.
    fn wait(&self, tries: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first.saturating_mul(1 << tries.saturating_sub(1).min(20)).min(self.longest);
        doubled.max(asked.unwrap_or_default().min(LONGEST_ASKED))
    }
}

/// What is to be known of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelOptions {
    /// Its name at the server.
    pub model: String,
    /// The address up to and with the version, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The key, where the server wants one.
    pub key: Option<Secret>,
    /// How the server is spoken to.
    pub dialect: Dialect,
    /// Whether answers come in pieces.
    pub stream: bool,
    /// The temperature; the server's own where nothing is said.
    pub temperature: Option<f64>,
    /// The most tokens of an answer; the server's own where nothing is said, 8,192 in the dialect of Messages.
    pub max_output: Option<u32>,
    /// What tokens cost; without it costs are unknown.
    pub prices: Option<Prices>,
    /// How long a connection may take.
    pub connect: Duration,
    /// How long no byte may come. An answer in one piece has to begin within this time.
    pub stall: Duration,
    /// How often it is tried.
    pub retry: Retry,
    /// How many requests at a time, over all workers.
    pub at_once: usize,
}

impl ModelOptions {
    /// A model at an address, with the defaults for all else.
    pub fn new(model: impl Into<String>, base_url: impl Into<String>) -> ModelOptions {
        ModelOptions {
            model: model.into(),
            base_url: base_url.into(),
            key: None,
            dialect: Dialect::Chat,
            stream: true,
            temperature: None,
            max_output: None,
            prices: None,
            connect: Duration::from_secs(30),
            stall: Duration::from_secs(120),
            retry: Retry::default(),
            at_once: 8,
        }
    }

    /// What decides its answers besides its name. Where it is reached is not part of it: a server may move.
    pub(crate) fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::from([("dialect".to_owned(), self.dialect.word().to_owned())]);
        settings.extend(self.temperature.map(|temperature| ("temperature".to_owned(), temperature.to_string())));
        settings.extend(self.max_output.map(|most| ("max_output".to_owned(), most.to_string())));
        settings
    }

    /// Whether the server is on this machine.
    fn is_here(&self) -> bool {
        let host = self.base_url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        matches!(name.map_or(host, |(name, _)| name), "localhost" | "127.0.0.1" | "[::1]")
    }

    /// What is wrong with it, if anything is.
    fn fault(&self) -> Option<String> {
        let Some(rest) = ["https://", "http://"].iter().find_map(|scheme| self.base_url.strip_prefix(scheme)) else {
            return Some("the base URL has to begin with https:// or http://".to_owned());
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.is_empty() || rest.contains(char::is_whitespace) || rest.contains(['?', '#']) {
            return Some("the base URL is no plain address, such as https://host/v1".to_owned());
        }
        if host.contains('@') {
            return Some("the base URL must not hold a password; give the key apart".to_owned());
        }
        let key = self.key.as_ref().map_or("", Secret::reveal);
        if !key.chars().all(|c| c.is_ascii_graphic()) {
            return Some("the key holds characters that no header can carry".to_owned());
        }
        let temperature = self.temperature.unwrap_or_default();
        (!temperature.is_finite() || temperature < 0.0).then(|| "the temperature is no number from 0 on".to_owned())
    }
}

/// Waits; a test counts instead.
pub type Sleeper = Box<dyn Fn(Duration) + Send + Sync>;

/// A model. Workers share it.
pub struct Model {
    options: ModelOptions,
    agent: ureq::Agent,
    gate: Gate,
    redactor: Redactor,
    sleeper: Sleeper,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A reply, and the time that was lost to others: waiting for a place, for a try that failed, and between tries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The reply, without secrets.
    pub reply: Reply,
    /// The time that does not count as the agent's.
    pub lost: Duration,
}

impl Model {
    /// A model. Its key is added to what the redactor knows.
    pub fn new(options: ModelOptions, redactor: Redactor) -> Result<Model, ModelError> {
        Model::with_sleeper(options, redactor, Box::new(std::thread::sleep))
    }

    /// The same, waiting by `sleeper` between tries.
    pub fn with_sleeper(options: ModelOptions, redactor: Redactor, sleeper: Sleeper) -> Result<Model, ModelError> {
        if let Some(detail) = options.fault() {
            return Err(ModelError { cause: Cause::Request, detail, tries: 0 });
        }
        let mut redactor = redactor;
        options.key.iter().for_each(|key| redactor.add_secret(key));
        let mut config = ureq::Agent::config_builder();
        if options.is_here() {
            // No proxy leads back to this machine.
            config = config.proxy(None);
        }
        let config = config
            .http_status_as_error(false)
            // A redirect could carry the key elsewhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(options.connect))
            .timeout_per_read(Some(options.stall))
            .timeout_per_write(Some(options.stall))
            .user_agent(concat!("benchwright/", env!("CARGO_PKG_VERSION")))
            .build();
        let gate = Gate::new(options.at_once);
        Ok(Model { options, agent: config.new_agent(), gate, redactor, sleeper })
    }

    /// What is known of it.
    pub fn options(&self) -> &ModelOptions {
        &self.options
    }

    /// What takes secrets out of everything that is kept.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Asks for the next message. An answer that takes longer than `left` is given up, but never sooner than silence is
    /// known for what it is.
    pub fn ask(&self, said: &[Message], tools: &[&ToolCard], left: Duration) -> Result<Asked, ModelError> {
        let body = self.options.dialect.request(&self.options, said, tools).to_string();
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            tries += 1;
            let place = self.gate.enter();
            let lost = begun.elapsed();
            let tried = self.attempt(&body, left);
            drop(place);
            let cause = tried.as_ref().err().map(|fault| fault.cause.word());
            events::asked(&self.options.model, tries, begun.elapsed().saturating_sub(lost), cause);
            let fault = match tried {
                Ok(reply) => return Ok(Asked { reply: self.clean(reply), lost }),
                Err(fault) => fault,
            };
            if !fault.cause.passes() || tries >= self.options.retry.tries {
                // Cut after secrets are taken out, so that no half of one is left.
                let detail = self.redactor.text(&fault.detail).chars().take(REFUSAL.1).collect();
                return Err(ModelError { cause: fault.cause, detail, tries });
            }
            (self.sleeper)(self.options.retry.wait(tries, fault.after));
        }
    }

    /// A reply without secrets: what a model repeats must not reach the world, and so the trace, either.
    fn clean(&self, mut reply: Reply) -> Reply {
        reply.text = self.redactor.text(&reply.text);
        reply.reasoning = self.redactor.text(&reply.reasoning);
        for call in &mut reply.calls {
            call.id = self.redactor.text(&call.id);
            call.name = self.redactor.text(&call.name);
            call.arguments = self.redactor.json_text(&call.arguments);
        }
        reply
    }

    fn attempt(&self, body: &str, left: Duration) -> Result<Reply, Fault> {
        let (options, dialect) = (&self.options, self.options.dialect);
        let url = format!("{}{}", options.base_url.trim_end_matches('/'), dialect.path());
        let most = left.max(options.connect + options.stall * 2);
        let mut request = self.agent.post(url).header("content-type", "application/json");
        if let Some(key) = &options.key {
            request = match dialect {
                Dialect::Messages => request.header("x-api-key", key.reveal()),
                _ => request.header("authorization", format!("Bearer {}", key.reveal())),
            };
        }
        if dialect == Dialect::Messages {
            request = request.header("anthropic-version", "2023-06-01");
        }
        let request = request.config().timeout_global(Some(most)).build();
        let answer = request.send(body).map_err(before_the_answer)?;
        let status = answer.status().as_u16();
        let asked = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let is_stream = answer.headers().get("content-type");
        let is_stream = is_stream.and_then(|kind| kind.to_str().ok()).is_some_and(|kind| kind.contains("event-stream"));
        let from = answer.into_body().into_with_config().limit(LARGEST).reader();
        if !(200..300).contains(&status) {
            return Err(refused(status, from, asked.map(Duration::from_secs)));
        }
        let mut from = BufReader::new(from);
        if options.stream && is_stream {
            return dialect.stream(&mut Events::of(&mut from, &in_the_answer));
        }
        // A server that does not stream answers in one piece whatever was asked.
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map_err(in_the_answer)?;
        let read = serde_json::from_slice(&bytes);
        dialect.whole(&read.map_err(|error| Fault::stream(format!("the answer is no JSON: {error}")))?)
    }
}

/// What a status other than 2xx means.
fn refused(status: u16, from: impl io::Read, after: Option<Duration>) -> Fault {
    let mut bytes = Vec::new();
    // The status says enough where the rest cannot be read.
    let _ = from.take(REFUSAL.0).read_to_end(&mut bytes);
    let said = String::from_utf8_lossy(&bytes);
    let too_long = ["context_length_exceeded", "prompt is too long", "maximum context length", "context window"];
    let cause = match status {
        429 => Cause::RateLimit,
        401 | 403 => Cause::Auth,
        408 | 500.. => Cause::Server,
        400 | 413 | 422 if too_long.iter().any(|words| said.contains(words)) => Cause::Context,
        _ => Cause::Request,
    };
    Fault { cause, detail: format!("status {status}: {}", said.trim()), after }
}

/// What a failure before the first byte of an answer means.
fn before_the_answer(error: ureq::Error) -> Fault {
    let cause = match &error {
        ureq::Error::Timeout(Timeout::PerRead | Timeout::PerWrite) => Cause::Stall,
        ureq::Error::Timeout(Timeout::Global) => Cause::Time,
        ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => Cause::Stream,
        ureq::Error::Http(_) | ureq::Error::BadUri(_) => Cause::Request,
        _ => Cause::Server,
    };
    Fault::new(cause, error.to_string())
}

/// What a failure inside an answer means.
fn in_the_answer(error: io::Error) -> Fault {
    let error = ureq::Error::from(error);
    let cause = match &error {
        ureq::Error::Timeout(Timeout::Global) => Cause::Time,
        ureq::Error::Timeout(_) => Cause::Stall,
        _ => Cause::Stream,
    };
    Fault::new(cause, format!("the answer was cut: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_what_the_server_asks_for_is_kept() {
        let second = Duration::from_secs;
        let retry = Retry { tries: 9, first: second(2), longest: second(10) };
        let waits: Vec<u64> = (1..=5).map(|tries| retry.wait(tries, None).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 10, 10]);
        assert_eq!(retry.wait(1, Some(second(1))), second(2), "never sooner than by itself");
        assert_eq!(retry.wait(1, Some(second(45))), second(45));
        assert_eq!(retry.wait(1, Some(second(86_400))), LONGEST_ASKED);
        assert_eq!(retry.wait(u32::MAX, None), second(10));
    }

    #[test]
    fn a_server_on_this_machine_is_known_by_its_address() {
        let is_here = |url: &str| ModelOptions::new("m", url).is_here();
        let here = ["http://localhost/v1", "http://127.0.0.1:8000/v1", "http://[::1]:80", "http://[::1]/v1"];
        assert!(here.into_iter().all(is_here));
        let there = ["https://example.com/v1", "http://localhost.example.com", "http://[fe80::1]:80/v1"];
        assert!(!there.into_iter().any(is_here));
    }

    #[test]
    fn costs_are_rounded_up_and_do_not_overflow() {
        let prices = Prices { input: 3_000_000, output: 15_000_000 };
        assert_eq!(prices.cost(1_000, 100), 4_500);
        assert_eq!(Prices { input: 1, output: 0 }.cost(1, 0), 1);
        assert_eq!(prices.cost(0, 0), 0);
        assert_eq!(prices.cost(u64::MAX, u64::MAX), u64::MAX);
    }
}
