//! Hands in what was read from a folder, by the tools that an agent would call. Each is a call like any other: it stands in the trace, it
//! counts, and what was refused changes nothing.

use super::Submission;
use benchwright_pack::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// The tool by which a form is handed in.
pub const SUBMIT: &str = "form_submit";
/// The tool by which the work goes on to its next stage.
const NEXT: &str = "stage_next";
/// The most characters of an answer that a note has.
const TOLD: usize = 2_000;

/// What came of a file that was left to be handed in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Its name; `.` is the whole folder.
    pub file: String,
    /// Why it was not handed in; nothing where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Note {
    pub(crate) fn refused(file: &str, why: &str) -> Note {
        Note { file: file.to_owned(), refused: Some(why.chars().take(TOLD).collect()) }
    }
}

/// Whoever calls a tool of the episode.
pub type Call<'c> = &'c mut dyn FnMut(&str, &str) -> Result<String, Refusal>;

/// Hands in what a folder holds, in order of names, and tells what came of each file.
pub fn hand_in(submission: &Submission, call: Call<'_>) -> Vec<Note> {
    let mut notes = submission.refused.clone();
    for sheet in &submission.sheets {
        let arguments = match sheet.is_json {
            // As it stands: how a number is written is for the form to see.
            true => format!("{{\"form\":\"{}\",\"rows\":{}}}", sheet.form, sheet.text),
            false => json!({ "form": sheet.form, "csv": sheet.text }).to_string(),
        };
        notes.push(match call(SUBMIT, &arguments) {
            Ok(answer) if declines(&answer) => Note::refused(&sheet.file, &answer),
            Ok(_) => Note { file: sheet.file.clone(), refused: None },
            Err(refusal) => Note::refused(&sheet.file, &refusal.to_string()),
        });
    }
    notes.sort_by(|one, other| one.file.cmp(&other.file));
    notes
}

/// The same for folders of stages, from the first: the work goes on to the next stage between them. Where it cannot go on, nothing more is
/// handed in.
pub fn hand_in_stages(stages: &[Submission], call: Call<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    for (at, stage) in stages.iter().enumerate() {
        if at > 0
            && let Err(refusal) = call(NEXT, "{}")
        {
            notes.push(Note::refused(&format!("stage-{}", at + 1), &refusal.to_string()));
            break;
        }
        notes.extend(hand_in(stage, call));
    }
    notes
}

/// Whether an answer says that the form was not accepted.
fn declines(answer: &str) -> bool {
    serde_json::from_str::<Json>(answer).is_ok_and(|answer| answer["accepted"] == json!(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Sheet;
    use benchwright_pack::RefusalCode;

    fn sheet(file: &str, text: &str) -> Sheet {
        let (form, end) = file.rsplit_once('.').unwrap();
        Sheet { file: file.to_owned(), form: form.to_owned(), text: text.to_owned(), is_json: end == "json" }
    }

    fn of(sheets: &[Sheet]) -> Submission {
        Submission { sheets: sheets.to_vec(), refused: vec![Note::refused("link.csv", "it is a link")] }
    }

    #[test]
    fn files_are_handed_in_as_they_stand_and_what_is_refused_is_told() {
        let mut made = Vec::new();
        let sheets = [
            sheet("a.csv", "item,batches\n\"red\",2\n"),
            sheet("b.json", r#"[{"n":1e3,"m":12.0}]"#),
            sheet("c.csv", "x"),
            sheet("d.csv", ""),
        ];
        let notes = hand_in(&of(&sheets), &mut |tool, arguments| {
            made.push(format!("{tool} {arguments}"));
            match made.len() {
                3 => Err(Refusal::new(RefusalCode::InvalidArgument, "row 1 `x` is no column")),
                4 => Ok(r#"{"accepted":false,"why":"no rows"}"#.to_owned()),
                _ => Ok(r#"{"accepted":true}"#.to_owned()),
            }
        });
        assert_eq!(
            made[..2],
            [
                r#"form_submit {"form":"a","csv":"item,batches\n\"red\",2\n"}"#,
                r#"form_submit {"form":"b","rows":[{"n":1e3,"m":12.0}]}"#,
            ]
        );
        let told: Vec<(&str, bool)> = notes.iter().map(|note| (&*note.file, note.refused.is_none())).collect();
        assert_eq!(told, [("a.csv", true), ("b.json", true), ("c.csv", false), ("d.csv", false), ("link.csv", false)]);
        assert!(notes[2].refused.as_ref().unwrap().contains("row 1 `x` is no column"), "{notes:?}");
        assert!(notes[3].refused.as_ref().unwrap().contains("no rows"), "{notes:?}");
    }

    #[test]
    fn stages_follow_each_other_until_one_cannot_be_reached() {
        let stages = [of(&[sheet("a.csv", "1")]), Submission::default(), of(&[sheet("a.csv", "3")])];
        let mut made = Vec::new();
        let notes = hand_in_stages(&stages, &mut |tool, _| {
            made.push(tool.to_owned());
            match made.len() {
                3 => Err(Refusal::new(RefusalCode::RuleViolated, "nothing was handed in at stage 2")),
                _ => Ok("{}".to_owned()),
            }
        });
        assert_eq!(made, ["form_submit", "stage_next", "stage_next"]);
        let last = notes.last().unwrap();
        assert_eq!(last.file, "stage-3");
        assert!(last.refused.as_ref().unwrap().contains("nothing was handed in at stage 2"));
    }
}
