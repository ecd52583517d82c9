//! The instruction: what open slots ask, what the whole grid must keep, and the budgets. Sentences that tell rules are
//! clauses; the task's seed chooses among phrasings.

use super::{
    board::{Board, Condition, Op},
    rules::{FILLED, HANDED_IN, UNCHANGED, condition_rule},
    setting::Setting,
    words::{Measure, RuleWords, Words},
};
use benchwright_pack::Clause;
use benchwright_project::{Brief, Draw, Placeholder};

/// How a comparison is said.
fn said(op: Op) -> &'static str {
    match op {
        Op::AtMost => "at most",
        Op::AtLeast => "at least",
        Op::Exactly => "exactly",
        Op::Is => "is",
        Op::IsNot => "is not",
    }
}

/// An attribute as it is called in a text.
fn called(field: &str) -> String {
    field.replace('_', " ")
}

/// The brief of a case.
pub(crate) fn write(
    draw: &Draw<'_>,
    words: &Words,
    board: &Board,
    placeholders: &[Placeholder],
) -> Result<Brief, String> {
    let setting = Setting::read(draw)?;
    let mut stream = setting.stream(draw, "brief");
    let mut phrase = |phrasings: &[String]| -> String {
        let text = stream.pick(phrasings).cloned().unwrap_or_default();
        Placeholder::fill(placeholders, &text)
    };
    let text = &draw.pattern.text;
    let goals = text.goal.get(draw.objective).ok_or("the pattern has no words for this goal")?;
    let mut clauses = Vec::new();
    let mut blocks = vec![format!("# {}", phrase(std::slice::from_ref(&text.title))), phrase(&text.opening)];

    blocks.push("## The open slots".to_owned());
    let lines: Vec<String> = (0..board.open.len()).map(|slot| line(words, board, slot)).collect();
    let lines = lines.join("\n");
    let fields: Vec<&str> = words.fields().collect();
    let mut tells: Vec<String> =
        board.conditions.iter().map(|condition| condition_rule(fields[condition.field], condition.op)).collect();
    tells.sort();
    tells.dedup();
    clauses.push(Clause { tells, text: lines.clone() });
    blocks.push(lines);

    blocks.push(format!("## The whole {}", words.plan));
    let mut list = Vec::new();
    for (place, rule) in words.rule.iter().enumerate() {
        let says = phrase(&rule.says);
        let sentence = sentence(words, board, place, rule, &says);
        list.push(format!("- {sentence}"));
        clauses.push(Clause { tells: vec![rule.id()], text: sentence });
    }
    blocks.push(list.join("\n"));

    let whole = format!(
        "Every open slot gets one of its own candidates, what stands in the other slots stays as it is, and the {} is handed in at the end.",
        words.plan
    );
    let tells = [FILLED, HANDED_IN, UNCHANGED].map(str::to_owned).to_vec();
    clauses.push(Clause { tells, text: whole.clone() });
    blocks.push("## The work".to_owned());
    blocks.push(format!("{} {}", phrase(goals), whole));
    blocks.push(format!(
        "About the candidates of an open slot {} queries may be made, and the whole {} may be checked {} times.",
        board.queries, words.plan, board.checks
    ));
    blocks.push(phrase(&text.closing));
    let mut out = blocks.join("\n\n");
    out.push('\n');
    Ok(Brief { text: out, clauses })
}

/// `- Row 2, column 5: credits at most 3; subject is arts.`
fn line(words: &Words, board: &Board, slot: usize) -> String {
    let (row, col) = board.place(board.open[slot]);
    let fields: Vec<&str> = words.fields().collect();
    let told = |condition: &Condition| {
        let field = called(fields[condition.field]);
        let value = match words.label_at(condition.field).and_then(|label| label.words.get(condition.value as usize)) {
            Some(word) => word.clone(),
            None => condition.value.to_string(),
        };
        format!("{field} {} {value}", said(condition.op))
    };
    let asked: Vec<String> = board.conditions.iter().filter(|c| c.slot == slot).map(told).collect();
    format!("- Row {row}, column {col}: {}.", asked.join("; "))
}

fn sentence(words: &Words, board: &Board, place: usize, rule: &RuleWords, says: &str) -> String {
    let limits = || board.limits.iter().filter(|limit| limit.rule == place);
    let bound = limits().next().map_or(0, |limit| limit.bound);
    let says = says.replace("{bound}", &bound.to_string());
    let says = says.replace("{least}", &rule.least.unwrap_or_default().to_string());
    let label = words.label.iter().find(|label| label.field == rule.of);
    let parts: Vec<String> = limits()
        .map(|limit| match (rule.measure, label.and_then(|label| label.words.get(limit.at))) {
            (Measure::WordAtMost, Some(word)) => format!("{word} {}", limit.bound),
            _ => format!("row {} {}", limit.at + 1, limit.bound),
        })
        .collect();
    says.replace("{list}", &parts.join(", "))
}
