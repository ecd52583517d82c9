//! What was said and called in a trial, in order, with its time and tokens: arguments and answers are folded, refusals are marked.

use super::{Answer, CallView, LONGEST, MOST, Said, Turn};
use benchwright_draw::{Words, charts, charts::Step, text::cut};
use benchwright_pack::run::TrialRecord;
use maud::{Markup, html};

/// The longest text that stands open; what is longer is folded.
const OPEN: usize = 1_500;
/// How much of folded arguments stands beside the name of the tool.
const GLIMPSE: usize = 110;

pub(super) fn conversation(said: &[Said], record: &TrialRecord) -> Markup {
    let calls = said.iter().filter(|said| matches!(said, Said::Call(_))).count();
    let mut nth = 0;
    html! {
        @if said.is_empty() { p { "Nothing was said and no call was made." } "\n" }
        (timeline(said))
        @if record.used.turns.is_some() && record.spent.turns.is_empty() {
            p class="soft" { "What each turn took was not kept." } "\n"
        }
        ol class="said" { "\n"
            @for said in said.iter().take(MOST) {
                @match said {
                    Said::System(text) => li class="told" { (folded("System", text)) },
                    Said::User(text) => li class="told" { (folded("What was asked", text)) },
                    Said::Turn(of) => { li class="turn" { (turn(of)) } },
                    Said::Call(of) => {
                        @let () = { nth += 1 };
                        li class=(if matches!(of.answer, Answer::Refused(_)) { "call refused" } else { "call" }) id={ "call-" (nth) } {
                            (call(nth, of))
                        }
                    },
                    Said::Program { code, signal, out, err } => li class="program" { (program(*code, *signal, out, err)) },
                } "\n"
            }
        } "\n"
        @if said.len() > MOST { p { "And " (said.len() - MOST) " more messages and calls, of " (calls) " calls in all." } "\n" }
    }
}

/// A text under its name, open if it is short.
fn folded(name: &str, text: &str) -> Markup {
    html! { details { summary { (name) " " span class="soft" { (text.chars().count()) " characters" } } pre { (cut(text, LONGEST)) } } }
}

fn turn(turn: &Turn) -> Markup {
    let mut notes = Vec::new();
    notes.extend(turn.micros.map(|micros| format!("{:.2} s", micros as f64 / 1e6)));
    notes.extend(turn.tokens_in.map(|tokens| format!("{tokens} tokens in")));
    notes.extend(turn.tokens_out.map(|tokens| format!("{tokens} out")));
    html! {
        p class="who" { strong { "Model" } " " span class="soft" { (notes.join(", ")) } }
        @if let Some(reasoning) = &turn.reasoning { (folded("Reasoning", reasoning)) }
        @match turn.text.trim() {
            "" => p class="soft" { "No words." },
            text if text.chars().count() <= OPEN => pre class="words" { (text) },
            text => (folded("What it said", text)),
        }
    }
}

fn call(nth: usize, call: &CallView) -> Markup {
    let (word, text) = match &call.answer {
        Answer::Answered(text) => ("answered", text),
        Answer::Refused(text) => ("refused", text),
    };
    html! {
        details {
            summary {
                span class="soft" { (nth) } " " strong { (cut(&call.tool, 200)) } " "
                code { (cut(&call.arguments, GLIMPSE)) }
                @if word == "refused" { " " span class="fail" { "refused: " (cut(text, 200)) } }
            }
            pre { (cut(&call.arguments, LONGEST)) }
            p class="soft" { (word) }
            pre { (cut(text, LONGEST)) }
        }
    }
}

fn program(code: Option<i64>, signal: Option<i64>, out: &str, err: &str) -> Markup {
    let ended = match (code, signal) {
        (Some(0), _) => "It ended with exit code 0.".to_owned(),
        (Some(code), _) => format!("It ended with exit code {code}."),
        (None, Some(signal)) => format!("It was ended by signal {signal}."),
        (None, None) => "It was stopped when its time was over.".to_owned(),
    };
    html! {
        p class="who" { strong { "Program" } " " span class=(if code == Some(0) { "soft" } else { "fail" }) { (ended) } }
        @for (name, text) in [("stderr", err), ("stdout", out)] {
            @if text.trim().is_empty() { p class="soft" { (name) ": nothing" } }
            @else { details open[name == "stderr"] { summary { (name) } pre { (cut(text, LONGEST)) } } }
        }
    }
}

/// Time and tokens of the turns, where there are some.
fn timeline(said: &[Said]) -> Markup {
    let mut steps: Vec<Step> = Vec::new();
    for said in said {
        match said {
            Said::Turn(turn) => steps.push(Step {
                micros: turn.micros,
                tokens_in: turn.tokens_in,
                tokens_out: turn.tokens_out,
                ..Step::default()
            }),
            Said::Call(call) => {
                if let Some(step) = steps.last_mut() {
                    step.calls += 1;
                    step.refused += u32::from(matches!(call.answer, Answer::Refused(_)));
                }
            }
            _ => {}
        }
    }
    if steps.is_empty() {
        return html! {};
    }
    let words = Words {
        title: "Time and tokens, turn by turn",
        description: "For each turn of the model the time that it took, the tokens that it was sent and wrote, and its calls",
    };
    html! { div class="drawn" tabindex="0" role="region" aria-label="Time and tokens" { (charts::timeline(words, &steps).inline()) } }
}
