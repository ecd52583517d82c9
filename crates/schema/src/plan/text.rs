//! The rules of a workflow as they are written: the same types are read from TOML (`plan.toml` of a family) and from JSON
//! (inside a sealed verifier). Nothing is resolved here; expressions are strings.

use super::lets::{Spelled, spell_out};
use crate::Document;
use benchwright_base::Diagnostic;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor},
    ser::SerializeMap as _,
};
use std::{collections::BTreeMap, fmt};

/// A plan in the words it was written in.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanText {
    /// Sorts of things, each with the table of its rows, or `text` where a text names them and no table has them.
    #[serde(default)]
    pub sorts: BTreeMap<String, String>,
    /// Finite sets, each with the sort of its members, or `int`.
    #[serde(default)]
    pub sets: BTreeMap<String, String>,
    /// Facts: `(order, product): money else 0 steps`.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// Expressions with a name, written `$name` in others.
    #[serde(default)]
    pub lets: BTreeMap<String, String>,
    /// Views: the records that rules speak of, by name.
    #[serde(default)]
    pub views: BTreeMap<String, ViewText>,
    /// Rules, by the id under which verdicts name them.
    #[serde(default)]
    pub rules: BTreeMap<String, RuleText>,
    /// Objectives, by the name under which a task asks for one.
    #[serde(default)]
    pub objectives: BTreeMap<String, ObjectiveText>,
    /// Unscored phases that choose one plan among equals.
    #[serde(default)]
    pub ties: Vec<String>,
    /// Fields that have one best value whatever else is decided, each given those before it: `view.field = value`, the
    /// value in terms of the row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<String>,
    /// The parts of the job, by name: what a state that breaks a rule has achieved all the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, PartText>,
    /// What may change in the world, and which rule answers for the rest.
    #[serde(default)]
    pub frame: FrameText,
    /// Cells of the certified plan that may lie otherwise on one side, by table and field, each with the rule whose sentence leaves
    /// that room. An audit holds all others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slack: BTreeMap<String, BTreeMap<String, SlackText>>,
    /// Conditions on fields of rows that the work makes or changes, by table and field. The frame judges them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held: BTreeMap<String, BTreeMap<String, String>>,
    /// Fields of such rows that may hold anything, by table and field, each with why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub free: BTreeMap<String, BTreeMap<String, FreeText>>,
    /// Fields that the system writes by itself and no tool takes, by table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stamped: BTreeMap<String, Vec<String>>,
    /// Tools whose calls do no harm once the work is done, each with why; `a, b` is a call of `b` on what `a` has made. They are for
    /// those who look for holes, so no verifier carries them.
    #[serde(default, skip_serializing)]
    pub harmless: BTreeMap<String, String>,
    /// Rows that promise nothing any more, by table: what their cells hold is nobody's business. No verifier carries them.
    #[serde(default, skip_serializing)]
    pub void: BTreeMap<String, VoidText>,
}

/// When a row promises nothing any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VoidText {
    /// The condition by which such a row is known, over the row.
    pub when: String,
    /// Why it promises nothing.
    pub why: String,
}

/// Why a field may hold anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FreeText {
    /// It is harmless, for this reason.
    Because(String),
    /// A rule's sentence leaves it free.
    Told(String),
}

impl fmt::Display for FreeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FreeText::Because(why) => f.write_str(why),
            FreeText::Told(rule) => write!(f, "told by {rule}"),
        }
    }
}

/// A reason is a text; a rule stands in `{ told = "…" }`.
impl Serialize for FreeText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FreeText::Because(why) => serializer.serialize_str(why),
            FreeText::Told(rule) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("told", rule)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for FreeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FreeText, D::Error> {
        struct WhyOrTold;
        impl<'de> Visitor<'de> for WhyOrTold {
            type Value = FreeText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a reason, or `{ told = \"rule\" }`")
            }
            fn visit_str<E: de::Error>(self, why: &str) -> Result<FreeText, E> {
                Ok(FreeText::Because(why.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FreeText, A::Error> {
                let mut told = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key != "told" {
                        return Err(de::Error::custom(format!("`{key}` says nothing of a freedom; write `told`")));
                    }
                    told = Some(map.next_value()?);
                }
                told.map(FreeText::Told).ok_or_else(|| de::Error::missing_field("told"))
            }
            // What was told to be wrong is read as an empty value.
            fn visit_unit<E: de::Error>(self) -> Result<FreeText, E> {
                Ok(FreeText::Because(String::new()))
            }
        }
        deserializer.deserialize_any(WhyOrTold)
    }
}

/// A part of the job, or one for each member of a sort: checks that count only together, or rows of the one plan that there is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartText {
    /// The sort for each of whose members there is such a part; without one there is a single part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// The rules whose checks it consists of, by family or by id. What is named by its id stands there and nowhere else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// Or the view whose rows are counted against the one plan, where the family proves that there is no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
    /// What all parts of this name weigh together, in percent.
    pub share: i64,
}

/// On which sides of the certified value a cell may lie: by the rule whose sentence leaves room there, or a reason why it is harmless.
/// Far beyond there is none, unless it is said to be endless.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlackText {
    /// Less, or earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// More, or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
    /// Another word, or another record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Such a plan is valid, but must be worth less wherever anything is scored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dear: bool,
    /// There is room however far beyond.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub endless: bool,
}

/// A view: one query that yields its rows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewText {
    /// The table of the domain that its rows are read from.
    pub from: String,
    /// Which of its rows.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Fields that must be members of their sort.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// Fields in which no two rows can be alike, because the system of record cannot hold two such rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<String>,
    /// Fields: `type: expression over the table`.
    pub fields: BTreeMap<String, String>,
}

/// A rule as it is written: when it counts, what must hold, and how it is told.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// The short code of the trade, such as `SUP.MOQ`.
    pub code: String,
    /// The family, which says what it is scored under.
    pub family: String,
    /// The switches of a case that bring it in; all must be on. A leading `!` asks that one be off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The variables that split it into scored instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// When an instance counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies: Option<String>,
    /// What must hold of each instance: an expression. A rule has this, or `native`, or `frame`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require: Option<String>,
    /// Or the function of the judge that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// Or the frame does.
    #[serde(default, skip_serializing_if = "is_false")]
    pub frame: bool,
    /// Whether it is about records that no decision concerns.
    #[serde(default, skip_serializing_if = "is_false")]
    pub state_only: bool,
    /// Its sentence, in several phrasings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub says: Vec<String>,
    /// The rule whose sentence tells this one too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_with: Option<String>,
    /// `world`: it can be read from the world and needs no sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_by: Option<String>,
    /// Rules that a breach of this one breaks too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<String>,
    /// Why no plan breaks it alone, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implied_by: Option<String>,
    /// Phrases that each of its sentences must have, because whoever has only the text knows the rule by them. They are for those who
    /// write sentences, so no verifier carries them.
    #[serde(default, skip_serializing)]
    pub keeps: Vec<String>,
    /// Why its sentences compare in other words than it does, where they do. For those who write sentences too.
    #[serde(default, skip_serializing)]
    pub words: Option<String>,
}

/// An objective: phases in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectiveText {
    /// What is to be made small; each counts only among the best of those before it.
    pub phases: Vec<PhaseText>,
    /// Phrases that every way to put this goal must have, and no other text of a brief, because whoever has only the text knows the
    /// objective by them. No verifier carries them.
    #[serde(default, skip_serializing)]
    pub keeps: Vec<String>,
}

/// Which way a quantity is to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sense {
    /// The smaller, the better.
    Min,
    /// The larger, the better.
    Max,
}

/// One thing to make small, or large where it says so, and how its score falls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseText {
    /// The name under which verdicts and certificates tell its value.
    pub name: String,
    /// The quantity that is to be small: an expression over views and facts.
    pub of: String,
    /// `max` where it is to be large instead; left out, it is to be small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sense: Option<Sense>,
    /// How far above the best still counts as best.
    #[serde(default)]
    pub tolerance: i64,
    /// How fast the score falls.
    #[serde(default)]
    pub decay: i64,
    /// The size of one unit in the score (100 for dollars).
    pub unit: i64,
    /// Its share of the score in percent; 0 is solved for but not scored.
    pub share: i64,
}

impl PhaseText {
    /// What the quantity is multiplied by so that smaller is better: -1 where it is to be large, else 1.
    pub fn sign(&self) -> i64 {
        if self.sense == Some(Sense::Max) { -1 } else { 1 }
    }
}

/// What may change in the world, and which rule answers for the rest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameText {
    /// Tables that may get new rows, each with the condition on such a row. It speaks of the row and of all tables, and may use the
    /// facts and sets of the plan.
    #[serde(default)]
    pub new: BTreeMap<String, String>,
    /// Tables in which the system makes rows by itself, each with the condition by which such a row is known. They are nobody's
    /// fault, and no work either.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub system: BTreeMap<String, String>,
    /// Fields of rows of the first state that may change.
    #[serde(default)]
    pub change: BTreeMap<String, Vec<String>>,
    /// Fields that are never compared, because no rule depends on them.
    #[serde(default)]
    pub ignore: BTreeMap<String, Vec<String>>,
    /// The beginning of the keys of rows that do not belong to the job.
    #[serde(default)]
    pub apart: Option<String>,
    /// The rule that answers for a change at such a row, or a new row that refers to one.
    #[serde(default)]
    pub apart_rule: Option<String>,
    /// The rules that answer for a change in a table.
    #[serde(default)]
    pub answers: BTreeMap<String, String>,
    /// The rule that answers for every other change.
    #[serde(default)]
    pub rule: String,
}

impl RuleText {
    /// The words by which whoever has only the text knows the rule: what it keeps, as far as that is the same in every case.
    pub fn known_by(&self) -> Vec<&str> {
        let plain = self.keeps.iter().map(|phrase| phrase.split('{').next().unwrap_or_default());
        plain.filter(|words| words.trim().len() > 1).collect()
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

impl PlanText {
    /// Reads a plan from TOML; names are resolved when it is compiled.
    pub fn from_toml(file: &str, text: &str) -> Result<PlanText, Vec<Diagnostic>> {
        let document = Document::new(file, text);
        match document.read() {
            Some(plan) if document.is_sound() => Ok(plan),
            _ => Err(document.into_faults()),
        }
    }

    /// An expression with every `$name` replaced by what it stands for. One that cannot be stays as it is written.
    pub fn spelled_out(&self, text: &str) -> String {
        let mut spelled = Spelled::default();
        match spell_out(&self.lets, text, &[], &mut Vec::new(), &mut spelled) {
            Ok(()) => spelled.text,
            Err(_) => text.to_owned(),
        }
    }

    /// The plan with only the rules that a case's switches bring in. Views, facts and sets stay.
    #[must_use]
    pub fn for_switches(&self, on: &[String]) -> PlanText {
        let is_on = |switch: &str| on.iter().any(|known| known == switch);
        let wanted = |rule: &RuleText| {
            rule.needs.iter().all(|need| match need.strip_prefix('!') {
                Some(off) => !is_on(off),
                None => is_on(need),
            })
        };
        let mut plan = self.clone();
        plan.rules.retain(|_, rule| wanted(rule));
        plan
    }
}
