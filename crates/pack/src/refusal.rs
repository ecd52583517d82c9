//! Refusals: why a call was not carried out, as a code that clients rely on and a sentence for the agent. A refused call
//! changes nothing in the world.

use benchwright_base::json;
use std::fmt;

/// The kinds of refusal. The set is closed; an agent and a report can rely on the words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RefusalCode {
    /// There is no such tool or row, or none that the role may see.
    NotFound,
    /// An argument is missing, unknown, or of the wrong type or size.
    InvalidArgument,
    /// The role may not do this.
    Forbidden,
    /// A rule of the domain would be broken.
    RuleViolated,
    /// The lifecycle does not lead from the present state to the wanted one.
    TransitionNotAllowed,
    /// What must be unique is there already.
    Duplicate,
    /// Other rows refer to the row.
    Referenced,
    /// The calls of this episode are used up.
    BudgetExhausted,
    /// A fault that the task asked for: the call did not happen.
    InjectedFault,
}

impl RefusalCode {
    /// All kinds, in the order of the reference.
    pub const ALL: [RefusalCode; 9] = [
        RefusalCode::NotFound,
        RefusalCode::InvalidArgument,
        RefusalCode::Forbidden,
        RefusalCode::RuleViolated,
        RefusalCode::TransitionNotAllowed,
        RefusalCode::Duplicate,
        RefusalCode::Referenced,
        RefusalCode::BudgetExhausted,
        RefusalCode::InjectedFault,
    ];

    /// The word by which agents and traces know it, such as `not_found`.
    pub fn word(self) -> &'static str {
        match self {
            RefusalCode::NotFound => "not_found",
            RefusalCode::InvalidArgument => "invalid_argument",
            RefusalCode::Forbidden => "forbidden",
            RefusalCode::RuleViolated => "rule_violated",
            RefusalCode::TransitionNotAllowed => "transition_not_allowed",
            RefusalCode::Duplicate => "duplicate",
            RefusalCode::Referenced => "referenced",
            RefusalCode::BudgetExhausted => "budget_exhausted",
            RefusalCode::InjectedFault => "injected_fault",
        }
    }

    /// The kind a word stands for.
    pub fn from_word(word: &str) -> Option<RefusalCode> {
        RefusalCode::ALL.into_iter().find(|code| code.word() == word)
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A refusal: its kind, the argument or rule it is about, and a sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// What kind of refusal it is; clients rely on this, and people read the message.
    pub code: RefusalCode,
    /// What was wrong and, where it helps, what would be right.
    pub message: String,
    /// The argument it is about.
    pub argument: Option<String>,
    /// The rule that would be broken.
    pub rule: Option<String>,
}

impl Refusal {
    /// A refusal of a kind with a sentence.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), argument: None, rule: None }
    }

    /// An argument that will not do.
    pub fn argument(name: &str, message: impl fmt::Display) -> Refusal {
        Refusal {
            code: RefusalCode::InvalidArgument,
            message: format!("`{name}` {message}"),
            argument: Some(name.to_owned()),
            rule: None,
        }
    }

    /// The same refusal, about an argument.
    #[must_use]
    pub fn about(mut self, argument: &str) -> Refusal {
        self.argument = Some(argument.to_owned());
        self
    }

    /// As the JSON an agent gets.
    pub fn to_json(&self) -> String {
        let mut out = b"{\"error\":{\"code\":".to_vec();
        json::write_text(&mut out, self.code.word());
        for (key, value) in [("argument", &self.argument), ("rule", &self.rule)] {
            if let Some(value) = value {
                out.push(b',');
                json::write_text(&mut out, key);
                out.push(b':');
                json::write_text(&mut out, value);
            }
        }
        out.extend_from_slice(b",\"message\":");
        json::write_text(&mut out, &self.message);
        out.extend_from_slice(b"}}");
        String::from_utf8_lossy(&out).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_kinds_match_one_to_one() {
        for code in RefusalCode::ALL {
            assert_eq!(RefusalCode::from_word(code.word()), Some(code));
        }
        assert_eq!(RefusalCode::from_word("sorry"), None);
    }

    #[test]
    fn a_refusal_is_json_that_names_its_rule() {
        let refusal = Refusal {
            code: RefusalCode::RuleViolated,
            message: "Only \"published\" articles.".into(),
            argument: None,
            rule: Some("published-only".into()),
        };
        let json = refusal.to_json();
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["error"]["rule"], "published-only");
        assert_eq!(read["error"]["message"], "Only \"published\" articles.");
    }
}
