//! What was said and done on a task, as plain data: what the agent was told and offered, every call with its answer, its last words, and
//! what the judge said. Rows for training and logs for other programs are written from it, and from nothing else.

use benchwright_base::DateTime;
use serde_json::{Value as Json, json};

/// What a task is, as far as rows and logs tell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TaskFacts {
    /// Its id.
    pub id: String,
    /// The digest of every byte of it.
    pub digest: String,
    /// The line by which leaked text is found.
    pub canary: String,
    /// The domain of its world.
    pub domain: String,
    /// The pattern that it was drawn from.
    pub pattern: String,
    /// The tier that it was drawn at.
    pub tier: String,
    /// The objective that is scored.
    pub objective: String,
    /// What it was made for: `test` or `train`.
    pub split: String,
}

/// A tool that the agent was offered.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolFacts {
    /// The name by which it is called.
    pub name: String,
    /// What it does, as agents are told.
    pub description: String,
    /// The schema of its arguments.
    pub parameters: Json,
}

impl ToolFacts {
    /// The same in the form of OpenAI's functions.
    pub fn to_function(&self) -> Json {
        let Self { name, description, parameters } = self;
        json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
    }
}

/// A call with its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallFacts {
    /// What ties the answer to the call; no two calls of a dialogue have the same.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments, as the agent wrote them.
    pub arguments: String,
    /// What the agent was answered, a refusal too.
    pub answer: String,
    /// The kind of refusal, where it was refused.
    pub refused: Option<String>,
}

impl CallFacts {
    /// The arguments as an object, for formats that have no other place for them.
    pub(crate) fn object(&self) -> Json {
        match serde_json::from_str(&self.arguments) {
            Ok(object @ Json::Object(_)) => object,
            _ if self.arguments.trim().is_empty() => json!({}),
            _ => json!({ "as_written": self.arguments }),
        }
    }
}

/// A message of the agent, with the answers to its calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Turn {
    /// What it wrote.
    pub text: String,
    /// The calls that it made, in order; none in its last words.
    pub calls: Vec<CallFacts>,
}

/// What the judge said. Rewards are in millionths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Judged {
    /// The reward, from 0 to 1,000,000.
    pub reward: i64,
    /// Whether every check passed and every scored phase is within its tolerance.
    pub pass: bool,
    /// The checks that failed, each once.
    pub failed: Vec<String>,
    /// The gates that fired.
    pub gates: Vec<String>,
}

impl Judged {
    /// The reward from 0 to 1.
    pub fn share(&self) -> f64 {
        self.reward as f64 / 1e6
    }
}

/// What was said and done on a task.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Dialogue {
    /// The task.
    pub task: TaskFacts,
    /// Who worked on it: `oracle`, `alternate`, `near-miss`, or the agent of a run.
    pub agent: String,
    /// The tools that were offered, in order.
    pub tools: Vec<ToolFacts>,
    /// What the agent was told of itself, if anything.
    pub system: Option<String>,
    /// What was asked of it.
    pub user: String,
    /// What it did, message by message.
    pub turns: Vec<Turn>,
    /// What the judge said of the state that was left.
    pub judged: Judged,
    /// Why it stopped where it was not the agent who ended it: `turns`, `tokens`, `time`, `cost`, `length`, `calls`.
    pub limit: Option<String>,
    /// The digest of the calls that reached the world, with how each ended.
    pub trace: String,
}

impl Dialogue {
    /// Why it ended, in a word.
    pub fn stop(&self) -> &str {
        self.limit.as_deref().unwrap_or("done")
    }

    /// The same, offered the tools of another on the same task too, in the order of the world that both are in.
    #[must_use]
    pub fn with_tools_of(&self, other: &Dialogue) -> Dialogue {
        let (more, less) = if other.tools.len() > self.tools.len() { (other, self) } else { (self, other) };
        let mut tools = more.tools.clone();
        tools.extend(less.tools.iter().filter(|tool| !more.tools.contains(tool)).cloned());
        Dialogue { tools, ..self.clone() }
    }

    /// Every call, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallFacts> {
        self.turns.iter().flat_map(|turn| &turn.calls)
    }
}

/// A trial of a run, with what its ledger holds of it.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialFacts {
    /// Its number in the run.
    pub number: i64,
    /// Which attempt of the agent at the task, from 1.
    pub attempt: u32,
    /// What came of it, or the error that kept it from a verdict: its cause, and what the failing part said.
    pub end: Result<Dialogue, (String, String)>,
    /// The task, which an error has too.
    pub task: TaskFacts,
    /// What was asked of the agent.
    pub asked: String,
    /// Tokens that a model was sent, where somebody counted.
    pub tokens_in: Option<u64>,
    /// Tokens that a model wrote.
    pub tokens_out: Option<u64>,
    /// Cost in millionths of a dollar.
    pub cost: Option<u64>,
    /// Microseconds from begin to end.
    pub wall: u64,
}

/// A run of one agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFacts {
    /// Its name.
    pub name: String,
    /// The digest of its plan.
    pub digest: String,
    /// The agent, with its model where it has one.
    pub agent: String,
    /// How often each task is tried.
    pub attempts: u32,
    /// Whether every trial of the plan is recorded.
    pub is_whole: bool,
    /// When it was begun, as its name says.
    pub begun: DateTime,
    /// The version of the program.
    pub version: String,
}

/// When a run was begun, by its name; 1970 where the name does not say. The ledger holds no other time of day.
pub fn begun_of(name: &str) -> DateTime {
    let parsed = || {
        let (date, rest) = name.split_once('T')?;
        let time = rest.get(..6).filter(|time| time.bytes().all(|byte| byte.is_ascii_digit()))?;
        DateTime::parse(&format!("{date}T{}:{}:{}", &time[..2], &time[2..4], &time[4..]))
    };
    parsed().unwrap_or(DateTime(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_run_says_when_it_was_begun() {
        assert_eq!(begun_of("2026-11-15T090401-out").to_string(), "2026-11-15T09:04:01Z");
        assert_eq!([begun_of("mine"), begun_of("2026-11-15T09é-out")], [DateTime(0); 2]);
    }

    #[test]
    fn arguments_that_are_no_object_are_kept_as_they_were_written() {
        let call = |arguments: &str| CallFacts {
            id: String::new(),
            tool: String::new(),
            arguments: arguments.to_owned(),
            answer: String::new(),
            refused: None,
        };
        assert_eq!(call("{\"a\":1}").object(), json!({ "a": 1 }));
        assert_eq!(call(" ").object(), json!({}));
        assert_eq!(call("[1]").object(), json!({ "as_written": "[1]" }));
    }
}
