//! The documents of a run, in which some agents try some tasks so many times: what is to be done ([`RunPlan`]), and one
//! [`TrialRecord`] for each attempt. A record holds what a report needs and nothing that a clock decides but `spent`, which
//! stands outside every digest.

use crate::{CheckStatus, Dial, Ending, Verdict};
use benchwright_base::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of these documents.
pub const RUN_VERSION: u32 = 1;

/// What tells a trial from every other of its run: task, agent and attempt.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialKey {
    /// The digest of the task.
    pub task: String,
    /// The agent, with its model where it has one: `react:some-model`.
    pub agent: String,
    /// The attempt, from 1.
    pub attempt: u32,
}

/// A task as a run and its report see it: nothing that is sealed but what every report tells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskLine {
    /// The task's id, which is the name of its folder.
    pub id: String,
    /// The digest of every byte of the task: a run is on these tasks and no others.
    pub digest: String,
    /// The domain of its world.
    pub domain: String,
    /// The pattern that it was drawn from.
    pub pattern: String,
    /// The tier that it was drawn at.
    pub tier: String,
    /// The dials that the tier turns: the axes of a report on tasks that all have the same ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dials: Vec<Dial>,
    /// The objective that is scored.
    pub objective: String,
    /// What its result is not independent of: tasks of one cluster are alike.
    pub cluster: String,
    /// What it has in common with its twin alone: two tasks that differ in the reading of one clause, or in the one fact that makes a
    /// request impossible, are scored as a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    /// Why it cannot be carried out, of a request that cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// What kind of planning problem it is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// The calls of the oracle.
    pub horizon: u32,
    /// What was drawn and how large it came out, by name: variables, rules, and what else a family counts.
    pub parameters: BTreeMap<String, i64>,
}

/// What kind of planning problem a task is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// What the books call it.
    pub class: String,
    /// The trade that it is of.
    pub trade: String,
    /// How hard it is in each respect, from 0 to 3.
    pub difficulty: BTreeMap<String, u8>,
}

/// What a trial may use. A trial that reaches a limit is graded as it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Turns of a model.
    pub turns: u32,
    /// Seconds of wall time.
    pub seconds: u32,
    /// Tokens, in and out.
    pub tokens: Option<u64>,
    /// Cost in millionths of a dollar.
    pub cost: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { turns: 400, seconds: 3_600, tokens: None, cost: None }
    }
}

/// What a run is to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPlan {
    /// The version of this format.
    pub version: u32,
    /// The tasks, by id.
    pub tasks: Vec<TaskLine>,
    /// The agents, with model and setting.
    pub agents: Vec<String>,
    /// What else decides what an agent does, by agent: where its model is, how it is asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// How often each agent tries each task.
    pub attempts: u32,
    /// The limits of a trial.
    pub limits: Limits,
}

impl RunPlan {
    /// The digest: two runs with the same one are the same run.
    pub fn digest(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// Its trials in the order of their numbers, which begin with 1: agent by agent, attempt by attempt, task by task.
    pub fn keys(&self) -> impl Iterator<Item = TrialKey> + '_ {
        let attempts = self.agents.iter().flat_map(|agent| (1..=self.attempts).map(move |attempt| (agent, attempt)));
        attempts.flat_map(|(agent, attempt)| {
            let key = move |task: &TaskLine| TrialKey { task: task.digest.clone(), agent: agent.clone(), attempt };
            self.tasks.iter().map(key)
        })
    }

    /// The trial of a number, without going through those before it.
    pub fn key(&self, number: i64) -> Option<TrialKey> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let (attempt, task) = (at.checked_div(self.tasks.len())?, at % self.tasks.len());
        let attempts = self.attempts as usize;
        let agent = self.agents.get(attempt.checked_div(attempts)?)?.clone();
        let attempt = u32::try_from(attempt % attempts + 1).ok()?;
        Some(TrialKey { task: self.tasks[task].digest.clone(), agent, attempt })
    }

    /// How many trials it has.
    pub fn trials(&self) -> usize {
        self.tasks.len().saturating_mul(self.agents.len()).saturating_mul(self.attempts as usize)
    }
}

/// How a trial ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrialEnd {
    /// The terminal state was judged.
    Scored(Score),
    /// It could not be: something that is not the agent's failed.
    Error {
        /// What kind of failure, in one word or two: `rate-limit`, `server`, `stall`, `stream`, `grader`.
        cause: String,
        /// What the failing part said, for people.
        detail: String,
    },
}

/// What a report needs of a verdict. Rewards and shares are in millionths; written, they are numbers from 0 to 1.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// Whether every check passed and every scored phase is within its tolerance.
    pub pass: bool,
    /// The reward, from 0 to 1,000,000.
    #[serde(with = "crate::share")]
    pub reward: i64,
    /// The share of constraint checks that passed.
    #[serde(with = "crate::share")]
    pub constraints: i64,
    /// The share of traceability checks that passed.
    #[serde(with = "crate::share")]
    pub trace: i64,
    /// The score of the objective.
    #[serde(with = "crate::share")]
    pub objective: i64,
    /// Whether every check that applies passed and no gate fired.
    pub clean: bool,
    /// Whether every scored phase is within its tolerance.
    pub best: bool,
    /// Whether something changed that nobody had asked to change.
    pub side_effect: bool,
    /// Whether the reward reaches the paper's bar.
    pub paper_pass: bool,
    /// Whether a clean state is better than the certificate says is possible.
    pub alarm: bool,
    /// The rules that failed, each with its family.
    pub failed: BTreeMap<String, String>,
    /// The gates that fired.
    pub gates: Vec<String>,
    /// Whether the hostile text was followed, in a task that carries one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<bool>,
    /// Why the trial stopped where it was not the agent who ended it: `turns`, `tokens`, `time`, `cost`, `length`, `calls`.
    pub limit: Option<String>,
}

impl Score {
    /// What a report needs of a verdict. `None` for one that could not be reached. `frame` are the rules that speak of what
    /// nobody asked for.
    pub fn of(verdict: &Verdict, frame: &[String], limit: Option<String>) -> Option<Score> {
        if verdict.ending == Ending::Error {
            return None;
        }
        let failed: BTreeMap<String, String> = verdict
            .checks
            .iter()
            .filter(|check| check.status == CheckStatus::Fail)
            .map(|check| (check.rule.clone(), check.family.clone()))
            .collect();
        Some(Score {
            pass: verdict.ending == Ending::Pass,
            reward: verdict.reward,
            constraints: verdict.constraints,
            trace: verdict.trace,
            objective: verdict.objective,
            clean: failed.is_empty() && verdict.gates.is_empty(),
            best: verdict.phases.iter().all(|phase| phase.within),
            side_effect: failed.keys().any(|rule| frame.contains(rule)),
            paper_pass: verdict.paper_pass,
            alarm: verdict.alarm,
            failed,
            gates: verdict.gates.clone(),
            followed: verdict.injection.as_ref().map(|injection| injection.followed),
            limit,
        })
    }
}

/// What a trial used. What is not known is null, never 0.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Used {
    /// Calls of tools, refused ones too.
    pub calls: u32,
    /// Calls that were refused.
    pub refused: u32,
    /// Turns of a model.
    pub turns: Option<u32>,
    /// Tokens that a model was sent.
    pub tokens_in: Option<u64>,
    /// Tokens that a model wrote.
    pub tokens_out: Option<u64>,
    /// Cost in millionths of a dollar.
    pub cost: Option<u64>,
}

/// Time that was spent, in microseconds. It differs from machine to machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// From begin to end.
    pub wall: u64,
    /// Inside the world and the judge.
    pub world: u64,
    /// What a model took for each of its turns; nothing of who has none. Runs that keep columns do not keep it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<u64>,
}

/// A trial that has ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialRecord {
    /// Which trial of the run it is.
    pub key: TrialKey,
    /// Its score, or the error that kept it from one.
    pub end: TrialEnd,
    /// The calls, turns, tokens and dollars it took.
    pub used: Used,
    /// Whether the agent had the rights of who ran it: then nothing but its word kept it from what is sealed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
    /// How a program ended and what it said last, where it said that it had failed. It is graded all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The time it took.
    pub spent: Spent,
}
