//! Answers that are wrong: another value, one short, one too many, or none.

use super::{
    RequestSubject,
    done::Done,
    near_miss::Misses,
    state::{row, told},
};
use benchwright_base::FieldId;
use benchwright_pack::{
    Script,
    effects::{AnswerType, AnswerValue, ExpectedAnswer},
};
use benchwright_sandbox::Episode;
use serde_json::json;

/// The tool that answers.
pub(super) const SUBMIT: &str = "submit_answer";

/// The right values, in words.
pub(super) fn right(subject: &RequestSubject<'_>, done: &Done, answer: &ExpectedAnswer) -> Option<Vec<String>> {
    let one = |value: &AnswerValue| match value {
        AnswerValue::Known(forms) => forms.first().cloned(),
        AnswerValue::MadeField(name, field) => {
            let key = done.named(subject, name)?;
            let field = subject.domain.table(key.0).field_named(field).map(FieldId::index)?;
            Some(told(&subject.domain, key.0, field, row(&done.state, key)?.get(field)?))
        }
    };
    answer.is.iter().map(one).collect()
}

/// The work without its answer.
pub(super) fn unanswered(subject: &RequestSubject<'_>) -> Result<Episode, String> {
    let oracle = &subject.task.sealed.oracle;
    let steps = oracle.steps.iter().filter(|step| step.model != SUBMIT).cloned().collect();
    let (episode, ended) = subject.play(&Script { steps, ..oracle.clone() })?;
    ended.map_err(|error| error.to_string())?;
    Ok(episode)
}

/// Says something back. Whether the world took it.
pub(super) fn say(episode: &mut Episode, name: &str, values: &[String]) -> bool {
    let values: Vec<_> = values.iter().map(|value| json!({ "name": name, "value": value })).collect();
    episode.call(SUBMIT, &json!({ "reply_value": values }).to_string()).is_ok()
}

/// A value of the type that is another.
pub(super) fn another(ty: AnswerType, value: &str) -> String {
    let number: Option<i64> = value.replace(',', "").parse().ok();
    match ty {
        AnswerType::Number => number.map_or_else(|| "7331".to_owned(), |number| (number + 1).to_string()),
        AnswerType::Money => "73911.27".to_owned(),
        AnswerType::Date => "2031-05-17".to_owned(),
        AnswerType::Text | AnswerType::Name => match value.strip_suffix(|c: char| c.is_ascii_digit()) {
            Some(head) => format!("{head}{}", if value.ends_with('1') { '2' } else { '1' }),
            None => format!("{value} the other"),
        },
    }
}

/// Answers with one thing wrong.
pub(super) fn near_misses(misses: &mut Misses<'_, '_>, done: &Done) -> Result<(), String> {
    let subject = misses.subject;
    let Some(answer) = &subject.effects.answer else { return Ok(()) };
    let Some(right) = right(subject, done, answer) else { return Ok(()) };
    let before = unanswered(subject)?;
    let joined = |values: &[String]| vec![values.join(", ")];
    let first = right.first().cloned().unwrap_or_default();
    let wrong = another(answer.ty, &first);
    let mut with_wrong = right.clone();
    with_wrong[0] = wrong.clone();
    let mut more = right.clone();
    more.push(wrong);
    let mut said = vec![("another", joined(&with_wrong)), ("one too many", joined(&more)), ("none", Vec::new())];
    if right.len() > 1 {
        said.push(("one short", joined(&right[1..])));
    }
    for (what, values) in said {
        let mut episode = before.fork();
        let taken = say(&mut episode, &answer.of, &values);
        if taken || what == "none" {
            let verdict = subject.judged(&episode)?;
            misses.verdict("answer", what, &verdict, &[&answer.of]);
        }
    }
    Ok(())
}
