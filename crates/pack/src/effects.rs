//! How the outcome of a request is judged: which cells must differ from the first state and how, that nothing else does, and what must
//! have been said. It is made from what the derived calls leave, so nobody writes it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What judges a request's outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effects {
    /// Tells it from a verifier with a plan.
    pub kind: EffectsKind,
    /// The version of this document.
    pub version: u32,
    /// The digest of the first state. A state that began elsewhere is not judged.
    pub world: String,
    /// Rows that whoever works on the request may choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// What must be so, row by row, in the order of the clauses. Nothing, where the request cannot be carried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<ExpectedRow>,
    /// Conditions on the final state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ensure: Vec<Ensured>,
    /// What must be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ExpectedAnswer>,
    /// Why the request cannot be carried out, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<ExpectedRefusal>,
    /// The rules of the domain that the work touches: each is a check, whether it is kept or broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Facts of the request as they are written, which are foreign to no text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
}

impl Effects {
    /// The version that is written and judged by.
    pub const VERSION: u32 = 1;
}

/// The word by which a judgement of effects is told from others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectsKind {
    /// The only one.
    #[default]
    Effects,
}

/// A row that whoever works on the request may choose.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The name that cells speak of it by.
    pub name: String,
    /// Its table.
    pub table: String,
    /// The rows that will do, by id.
    pub rows: Vec<u32>,
}

/// Whether a check is about what was asked for or about what the policy wants on the way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// What was asked for.
    Completion,
    /// What the policy wants.
    Compliance,
    /// What nobody asked for.
    Integrity,
}

impl CheckKind {
    /// Its word in verdicts and reports.
    pub fn word(self) -> &'static str {
        match self {
            CheckKind::Completion => "completion",
            CheckKind::Compliance => "compliance",
            CheckKind::Integrity => "integrity",
        }
    }
}

/// A row as it must be in the end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRow {
    /// The clause that asks for it, or the rule whose way does.
    pub of: String,
    /// Which of the two.
    pub kind: CheckKind,
    /// The record in words, for verdicts.
    pub at: String,
    /// Its table.
    pub table: String,
    /// Which row of it.
    pub row: Target,
    /// The name that cells of other rows speak of it by, if it is a new one that they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What its cells must be, by field. Of a row that is there, what is not named stays as it was; of a new one every cell that is
    /// compared stands here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cells: BTreeMap<String, ExpectedCell>,
}

/// Which row is meant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// One that is there, by its id.
    Id(u32),
    /// One that is to be chosen, by the name of the choice.
    Choice(String),
    /// A new one, known by its cells.
    New,
    /// One that must be gone, by its id.
    Gone(u32),
}

/// What a cell must be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedCell {
    /// This value, as it is written in snapshots.
    Is(Json),
    /// One of these.
    OneOf(Vec<Json>),
    /// A reference to a new row, by its name.
    Made(String),
    /// A field of a new row: its name, the field.
    MadeField(String, String),
    /// A reference to the row that is chosen, by the name of the choice.
    Chosen(String),
    /// A field of the row that is chosen: the name of the choice, the field.
    ChosenField(String, String),
    /// A text in somebody's own words.
    Prose(Prose),
    /// Anything.
    Any,
}

/// What a text in somebody's own words must say.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prose {
    /// The facts that it mentions.
    pub slots: Vec<ProseSlot>,
    /// Texts that must not stand in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub never: Vec<String>,
}

/// A fact that a text mentions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProseSlot {
    /// What it is called in the scenario, such as `case.number`.
    pub name: String,
    /// What it is.
    pub is: SlotFact,
    /// Whether it may be left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// A fact with its type, which decides in what forms it may be written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotFact {
    /// A key, a name or another text.
    Text(String),
    /// A word of an enumeration.
    Word(String),
    /// A day, as `2026-03-24`.
    Date(String),
    /// An instant, as `2026-03-24T20:00:00Z`: its day must be mentioned, and its time where one is.
    Instant(String),
    /// A time of day, as `20:00:00`.
    Time(String),
    /// Money in minor units.
    Money(i64),
    /// A whole number.
    Number(i64),
    /// A field of a new row: its name, the field.
    MadeField(String, String),
    /// A field of the row that is chosen: the name of the choice, the field.
    ChosenField(String, String),
}

/// A condition on the final state, over the cast.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensured {
    /// Its name in checks.
    pub id: String,
    /// The condition, as written.
    pub holds: String,
    /// What its names stand for.
    pub cast: Vec<CastName>,
}

/// What a name in a condition stands for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CastName {
    /// The name.
    pub name: String,
    /// The row, rows or value.
    pub is: CastValue,
}

/// A row, rows or a value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CastValue {
    /// A row: table and id.
    Row(String, u32),
    /// Rows: table and ids.
    Rows(String, Vec<u32>),
    /// A new row, by its name: table and name.
    Made(String, String),
    /// The row that is chosen: table and the name of the choice.
    Chosen(String, String),
    /// An instant.
    Instant(String),
    /// A day.
    Date(String),
    /// A whole number.
    Number(i64),
    /// Money in minor units.
    Money(i64),
    /// A text.
    Text(String),
}

/// What must be answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedAnswer {
    /// The clause that asks for it, which is the name of the value too.
    pub of: String,
    /// How a value is compared.
    pub ty: AnswerType,
    /// Whether several are wanted, in any order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub list: bool,
    /// What is wanted: one for each value, each in the forms that are accepted.
    pub is: Vec<AnswerValue>,
}

/// How a value of an answer is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerType {
    /// As text, whatever its case and blanks.
    Text,
    /// As a whole number.
    Number,
    /// As an amount.
    Money,
    /// As a day.
    Date,
    /// As the name of a record.
    Name,
}

/// A value that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerValue {
    /// One of these texts, in canonical form.
    Known(Vec<String>),
    /// A field of a new row: its name, the field.
    MadeField(String, String),
}

/// Why a request cannot be carried out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRefusal {
    /// The obstacle, as `decline_request` takes it.
    pub obstacle: String,
    /// The rules that may be given as the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The records that may be given as the reason, each by all that it is shown by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
}
