//! The words of comparison in a sentence, held against the comparison of its rule: a sentence that says "at least" tells no rule that
//! bounds from above.

use super::{Body, Plan};
use crate::KeyFault;
use benchwright_expr::{Bounded, bounded};

/// What is said of a limit from above.
const ABOVE: [&str; 4] = ["at most", "no more than", "not more than", "no longer than"];
/// What is said of one from below.
const BELOW: [&str; 4] = ["at least", "no less than", "no fewer than", "not less than"];

impl Plan {
    /// How a rule bounds what is decided, as far as that can be told.
    pub fn bounded(&self, rule: usize) -> Option<Bounded> {
        match &self.rules.get(rule)?.body {
            Body::Expr(body) => bounded(body),
            _ => None,
        }
    }

    /// The sentences that compare the other way round than their rules, without a reason why.
    pub fn contradictions(&self) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        for (at, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.text.words.is_none()) {
            let Some(bounded) = self.bounded(at) else { continue };
            for (place, says) in rule.text.says.iter().enumerate() {
                let Some(words) = contradiction(says, bounded) else { continue };
                let message = format!("this says `{words}`, and the rule bounds {}", side(bounded));
                let fault = KeyFault::new(["rules", &*rule.id, "says", &*place.to_string()], message);
                faults.push(fault.with_help("mend one of the two, or let `words` say why it is right"));
            }
        }
        faults
    }
}

/// From where it bounds, in words.
pub fn side(bounded: Bounded) -> &'static str {
    match bounded {
        Bounded::Above => "from above",
        Bounded::Below => "from below",
    }
}

/// The words of a sentence that say the other thing than its rule, where all such words in it do.
pub fn contradiction(says: &str, bounded: Bounded) -> Option<&'static str> {
    let says = says.to_lowercase();
    let said = |words: &[&'static str]| words.iter().copied().find(|words| is_said(&says, words));
    match (bounded, said(&ABOVE), said(&BELOW)) {
        (Bounded::Above, None, Some(words)) | (Bounded::Below, Some(words), None) => Some(words),
        _ => None,
    }
}

/// "at least one" only says that there is something.
fn is_said(says: &str, words: &str) -> bool {
    let is_some = |at: usize| words == "at least" && says[at + words.len()..].starts_with(" one");
    says.match_indices(words).any(|(at, _)| !is_some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_the_other_thing_are_named() {
        use Bounded::{Above, Below};
        for (says, bounded, found) in [
            ("A day has at most its hours.", Above, None),
            ("A day has at least its hours.", Above, Some("at least")),
            ("No more than that.", Below, Some("no more than")),
            ("Every day has its hours.", Above, None),
            // Both stand there, so one of them is about something else.
            ("A run of at least so many is at most so long.", Above, None),
            ("Hosts with at least one replica have their licence.", Above, None),
            ("A field has at most one turn in at least so many days.", Above, None),
        ] {
            assert_eq!(contradiction(says, bounded), found, "{says}");
        }
    }
}
