//! The name of an agent on a command line and in records, such as `greedy`, `react:MODEL`, `plan:MODEL@oracle+5` or
//! `exec:COMMAND`, and what it says.

use crate::POLICIES;
use benchwright_base::nearest;
use std::fmt;

/// How a model is led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// It thinks and calls in turns.
    React,
    /// It writes a plan in words first, without tools, and acts on it then.
    Plan,
    /// It acts on the certified plan.
    Given,
}

impl Way {
    /// Every way, in the order of the manual.
    pub const ALL: [Way; 3] = [Way::React, Way::Plan, Way::Given];

    /// The word that stands before the colon in an agent's name.
    pub fn word(self) -> &'static str {
        match self {
            Way::React => "react",
            Way::Plan => "plan",
            Way::Given => "given",
        }
    }
}

/// Which tools a model is offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tools {
    /// All of the task.
    All,
    /// Those that the oracle uses, those that read what is to be known for it, all that read their tables, and so many others
    /// that look alike.
    Oracle {
        /// How many other tools, which lie near, stand among them.
        distractors: u32,
    },
}

/// An agent that is led by a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelSpec {
    /// How it is led.
    pub way: Way,
    /// The name of the model at its server.
    pub model: String,
    /// Which tools it is offered.
    pub tools: Tools,
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.way.word(), self.model)?;
        match self.tools {
            Tools::All => Ok(()),
            Tools::Oracle { distractors: 0 } => f.write_str("@oracle"),
            Tools::Oracle { distractors } => write!(f, "@oracle+{distractors}"),
        }
    }
}

/// What begins the name of a program outside.
const PROGRAM: &str = "exec";

/// An agent by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AgentSpec {
    /// A policy: one of [`POLICIES`], by its name.
    Policy(String),
    /// One that is led by a model.
    Model(ModelSpec),
    /// A program outside, by its command line.
    Program(String),
}

/// A name that is none of an agent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

impl AgentSpec {
    /// Reads a name. The model's own name may hold colons, slashes and `@`; only a last `@all`, `@oracle` or `@oracle+N` is a
    /// setting.
    pub fn parse(name: &str) -> Result<AgentSpec, SpecError> {
        let Some((way, rest)) = name.split_once(':') else { return policy(name) };
        if way == PROGRAM {
            let command = rest.trim();
            let none = || SpecError(format!("`{name}` names no command; write {PROGRAM}:COMMAND"));
            return if command.is_empty() { Err(none()) } else { Ok(AgentSpec::Program(command.to_owned())) };
        }
        let Some(way) = Way::ALL.into_iter().find(|known| known.word() == way) else {
            let near = nearest(way, Way::ALL.map(Way::word));
            let mend = near.map_or(String::new(), |near| format!("; did you mean `{near}:{rest}`?"));
            return Err(SpecError(format!("`{way}` is no way to lead a model: react, plan, given{mend}")));
        };
        let (model, tools) = match rest.rsplit_once('@') {
            Some((model, "all")) => (model, Tools::All),
            Some((model, "oracle")) => (model, Tools::Oracle { distractors: 0 }),
            Some((model, setting)) if setting.starts_with("oracle") => {
                let number = setting.strip_prefix("oracle+").and_then(|number| number.parse().ok());
                let number = number.filter(|number| (1..=999).contains(number));
                let wrong =
                    || SpecError(format!("`@{setting}` is no setting: @all, @oracle, @oracle+N, such as @oracle+5"));
                (model, Tools::Oracle { distractors: number.ok_or_else(wrong)? })
            }
            _ => (rest, Tools::All),
        };
        if model.is_empty() || model.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(SpecError(format!("`{name}` names no model; write {}:MODEL", way.word())));
        }
        Ok(AgentSpec::Model(ModelSpec { way, model: model.to_owned(), tools }))
    }

    /// Its name in records.
    pub fn name(&self) -> String {
        match self {
            AgentSpec::Policy(name) => name.clone(),
            AgentSpec::Model(spec) => spec.to_string(),
            AgentSpec::Program(command) => format!("{PROGRAM}:{command}"),
        }
    }
}

fn policy(name: &str) -> Result<AgentSpec, SpecError> {
    let policies = POLICIES.iter().map(|(known, _)| *known);
    if policies.clone().any(|known| known == name) {
        return Ok(AgentSpec::Policy(name.to_owned()));
    }
    if Way::ALL.iter().any(|way| way.word() == name) {
        return Err(SpecError(format!("`{name}` needs a model; write {name}:MODEL")));
    }
    let near = nearest(name, policies.clone().chain(Way::ALL.map(Way::word)));
    let mend = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let known: Vec<&str> = policies.collect();
    Err(SpecError(format!(
        "there is no agent `{name}`: {}, react:MODEL, plan:MODEL, given:MODEL{mend}",
        known.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(way: Way, model: &str, tools: Tools) -> AgentSpec {
        AgentSpec::Model(ModelSpec { way, model: model.to_owned(), tools })
    }

    #[test]
    fn names_are_read_and_written_back() {
        let five = Tools::Oracle { distractors: 5 };
        for (name, spec) in [
            ("greedy", AgentSpec::Policy("greedy".to_owned())),
            ("react:gpt-x", model(Way::React, "gpt-x", Tools::All)),
            ("react:gpt-x@oracle+5", model(Way::React, "gpt-x", five)),
            ("plan:org/small:8b", model(Way::Plan, "org/small:8b", Tools::All)),
            ("given:sonnet@20250101@oracle", model(Way::Given, "sonnet@20250101", Tools::Oracle { distractors: 0 })),
            ("react:sonnet@20250101", model(Way::React, "sonnet@20250101", Tools::All)),
        ] {
            assert_eq!(AgentSpec::parse(name).as_ref(), Ok(&spec));
            assert_eq!(spec.name(), name);
        }
        assert_eq!(AgentSpec::parse("react:m@all").unwrap().name(), "react:m");
    }

    #[test]
    fn what_is_no_name_says_how_to_write_one() {
        for (name, words) in [
            ("gredy", "did you mean `greedy`?"),
            ("react", "write react:MODEL"),
            ("reakt:m", "did you mean `react:m`?"),
            ("react:", "names no model"),
            ("react:a b", "names no model"),
            ("react:m@oracle+0", "@oracle+5"),
            ("react:m@oracle-5", "is no setting"),
            ("react:m@oracle+many", "is no setting"),
        ] {
            let error = AgentSpec::parse(name).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
    }
}
