//! What a task can lay on an episode beyond the domain: how many calls there are, in all or of one tool, and faults that a
//! tool answers with at a given rate, as a service that fails now and then.

use benchwright_base::Stream;
use benchwright_pack::{OpenTask, Refusal, RefusalCode, TaskFaults};

/// The conditions of an episode.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conditions {
    /// The seed that faults are drawn from.
    pub seed: u64,
    /// The calls that may be made in all.
    pub calls: Option<u32>,
    /// The calls that may be made of single tools.
    pub calls_of: Vec<(String, u32)>,
    /// The rates of faults; the first that names the tool, or `*`, holds.
    pub faults: Vec<FaultRate>,
}

/// How often a tool fails without having done anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultRate {
    /// The tool, or `*` for every one.
    pub tool: String,
    /// Faults in a million calls.
    pub per_million: u32,
    /// What they look like; one is drawn for each fault.
    pub kinds: Vec<Fault>,
}

/// What an injected fault looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The service failed and nothing was done; the same call may go through next time.
    Error,
    /// The service did not answer in time.
    Timeout,
    /// The service wants fewer calls.
    RateLimit,
}

impl Fault {
    fn sentence(self) -> &'static str {
        match self {
            Fault::Error => "error: the service failed; nothing was done",
            Fault::Timeout => "timeout: the service did not answer in time; nothing was done",
            Fault::RateLimit => "rate limit: too many calls; nothing was done",
        }
    }
}

impl Conditions {
    /// What a task lays on the episode of its agent: its budget of calls, and its faults.
    pub fn of(task: &OpenTask) -> Conditions {
        let kinds = vec![Fault::Error, Fault::Timeout, Fault::RateLimit];
        let rate = |faults: TaskFaults| FaultRate { tool: "*".to_owned(), per_million: faults.per_million, kinds };
        Conditions {
            seed: task.faults.map_or(0, |faults| faults.drawn_from),
            calls: Some(task.calls),
            calls_of: Vec::new(),
            faults: task.faults.map(rate).into_iter().collect(),
        }
    }

    /// Whether calls must be counted by tool.
    pub(crate) fn counts_by_tool(&self) -> bool {
        !self.calls_of.is_empty() || !self.faults.is_empty()
    }

    /// Refuses a call that is over budget: the `nth` of its tool, the `total`th of all, both counted from 0.
    pub(crate) fn check_budget(&self, tool: &str, nth: u32, total: u32) -> Result<(), Refusal> {
        let spent = |limit: u32, what: String| {
            Err(Refusal::new(RefusalCode::BudgetExhausted, format!("all {limit} calls {what} are used up")))
        };
        match self.calls {
            Some(limit) if total >= limit => return spent(limit, "of this episode".to_owned()),
            _ => {}
        }
        match self.calls_of.iter().find(|(name, _)| name == tool) {
            Some((_, limit)) if nth >= *limit => spent(*limit, format!("of {tool}")),
            _ => Ok(()),
        }
    }

    /// The fault that the `nth` call of a tool meets, if it meets one. It depends on nothing else, so every agent meets
    /// the same faults.
    pub(crate) fn check_fault(&self, tool: &str, nth: u32) -> Result<(), Refusal> {
        let Some(rate) = self.faults.iter().find(|rate| rate.tool == tool || rate.tool == "*") else { return Ok(()) };
        let mut stream = Stream::new(self.seed, &["fault", tool, &nth.to_string()]);
        if !stream.chance(u64::from(rate.per_million), 1_000_000) {
            return Ok(());
        }
        let kind = stream.pick(&rate.kinds).copied().unwrap_or(Fault::Error);
        Err(Refusal::new(RefusalCode::InjectedFault, kind.sentence()))
    }
}
