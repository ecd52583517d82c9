//! Expressions with a name: `$spend` in a rule stands for what `[lets]` says. Each stretch of what is spelled out knows the key and
//! the byte that it was written at, so that a fault inside a let is told at the let.

use crate::KeyFault;
use std::collections::BTreeMap;

/// What is spelled out is not longer than this: lets that use each other twice could double with every step.
const LONGEST: usize = 1 << 16;

/// A text that was put together from several keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Spelled {
    pub(super) text: String,
    /// Where a stretch begins, the key it comes from, and the byte there.
    stretches: Vec<(usize, Vec<String>, usize)>,
}

impl Spelled {
    /// Adds a stretch.
    pub(super) fn push(&mut self, text: &str, path: &[String], from: usize) {
        self.stretches.push((self.text.len(), path.to_vec(), from));
        self.text.push_str(text);
    }

    /// A fault of the expression language, at the key where it was written.
    pub(super) fn fault(&self, fault: benchwright_expr::Fault) -> KeyFault {
        let at = self.stretches.partition_point(|(start, ..)| *start <= fault.offset);
        let (path, byte) = match at.checked_sub(1).and_then(|at| self.stretches.get(at)) {
            Some((start, path, from)) => (path.clone(), from + fault.offset - start),
            None => (Vec::new(), 0),
        };
        KeyFault { path, spot: crate::Spot::Value(byte), message: fault.message, help: fault.help }
    }
}

/// A piece of an expression.
enum Piece<'t> {
    /// As it stands.
    Plain(&'t str),
    /// `$name`, with the name.
    Let(&'t str),
}

/// The pieces of an expression, each with its byte. A `$` inside quotes is a sign like any other.
fn pieces(text: &str) -> Vec<(usize, Piece<'_>)> {
    let mut pieces = Vec::new();
    let (mut from, mut quoted, mut at) = (0, false, 0);
    while let Some(sign) = text[at..].chars().next() {
        quoted ^= sign == '\'';
        if sign != '$' || quoted {
            at += sign.len_utf8();
            continue;
        }
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        pieces.push((from, Piece::Plain(&text[from..at])));
        pieces.push((at, Piece::Let(&rest[..end])));
        at += 1 + end;
        from = at;
    }
    pieces.push((from, Piece::Plain(&text[from..])));
    pieces
}

/// Spells out the lets of an expression at the end of `onto`. What cannot be is a fault; `within` are the lets that are being spelled out.
pub(super) fn spell_out<'l>(
    lets: &'l BTreeMap<String, String>,
    text: &str,
    path: &[String],
    within: &mut Vec<&'l str>,
    onto: &mut Spelled,
) -> Result<(), KeyFault> {
    let fault = |at: usize, message: String| KeyFault::new(path.iter().map(|key| &**key), message).at_byte(at);
    for (at, piece) in pieces(text) {
        let name = match piece {
            Piece::Plain(plain) => {
                onto.push(plain, path, at);
                continue;
            }
            Piece::Let(name) => name,
        };
        let Some((name, meant)) = lets.get_key_value(name) else {
            let message = format!("there is no let `${name}`");
            return Err(fault(at, message).instead_of(name, lets.keys().map(|name| &**name)));
        };
        if let Some(first) = within.iter().position(|known| known == name) {
            return Err(round(&within[first..]));
        }
        if onto.text.len() + meant.len() > LONGEST {
            return Err(fault(at, format!("with its lets spelled out this is longer than {LONGEST} bytes")));
        }
        within.push(name);
        onto.push("(", path, at);
        spell_out(lets, meant, &["lets".to_owned(), name.clone()], within, onto)?;
        onto.push(")", path, at);
        within.pop();
    }
    Ok(())
}

/// Lets that use each other in a circle, told once: at the first of them by name, wherever the circle was entered.
fn round(circle: &[&str]) -> KeyFault {
    let first = (0..circle.len()).min_by_key(|at| circle[*at]).unwrap_or_default();
    let names = (0..=circle.len()).map(|at| format!("`${}`", circle[(first + at) % circle.len()]));
    let names = names.collect::<Vec<_>>().join(" uses ");
    KeyFault::new(["lets", circle[first]], format!("a let that stands for itself: {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(lets: &[(&str, &str)], text: &str) -> Result<String, String> {
        let lets = lets.iter().map(|(name, meant)| ((*name).to_owned(), (*meant).to_owned())).collect();
        let mut onto = Spelled::default();
        let done = spell_out(&lets, text, &["ties".to_owned()], &mut Vec::new(), &mut onto);
        done.map(|()| onto.text).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_name_is_taken_whole() {
        let lets = [("ab", "1"), ("abc", "2 + $ab")];
        assert_eq!(
            spelled(&lets, "$ab + $abc < $ab_x('$ab')").unwrap_err(),
            "ties: there is no let `$ab_x`\n  help: did you mean `ab`?"
        );
        assert_eq!(spelled(&lets, "$ab + $abc <= f('$ab')").unwrap(), "(1) + (2 + (1)) <= f('$ab')");
        assert_eq!(spelled(&lets, "é$ab").unwrap(), "é(1)");
    }

    #[test]
    fn a_let_that_stands_for_itself_is_a_fault_that_names_the_way_round() {
        let lets = [("a", "1 + $b"), ("b", "2 * $c"), ("c", "$b")];
        assert_eq!(spelled(&lets, "$a").unwrap_err(), "lets.b: a let that stands for itself: `$b` uses `$c` uses `$b`");
        let deep: Vec<(String, String)> = (0..20).map(|n| (format!("l{n}"), format!("$l{}", n + 1))).collect();
        let mut deep: Vec<(&str, &str)> = deep.iter().map(|(name, meant)| (&**name, &**meant)).collect();
        deep.push(("l20", "7"));
        assert!(spelled(&deep, "$l0").unwrap().contains('7'), "a long chain is no circle");
    }

    #[test]
    fn lets_that_double_are_stopped() {
        let twice: Vec<(String, String)> =
            (0..40).map(|n| (format!("l{n}"), format!("$l{0} + $l{0}", n + 1))).collect();
        let mut twice: Vec<(&str, &str)> = twice.iter().map(|(name, meant)| (&**name, &**meant)).collect();
        twice.push(("l40", "1"));
        assert!(spelled(&twice, "$l0").unwrap_err().contains("longer than"));
    }
}
