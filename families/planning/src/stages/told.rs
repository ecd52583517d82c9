//! What a workflow says of its stages: `stages.toml`. Its tables of records, its forms and files stand where all others do; here stands
//! which of them only tasks with stages have, which facts change from stage to stage and how, and what is added to rules and costs.

use crate::told::{CandidatesText, TIERS, difficulty_faults};
use benchwright_base::Diagnostic;
use benchwright_schema::{Document, KeyFault, plan::ViewText};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the file is called in the folder of a workflow.
pub(crate) const FILE: &str = "stages.toml";
/// The dial of a tier that has stages, and the switch of a case that does.
pub(crate) const STAGES: &str = "stages";

/// `stages.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StagesText {
    /// The tables of the records that only tasks with stages have, the last ones of `data.toml`. One is `stage`, with a column `number`.
    pub(crate) tables: Vec<String>,
    /// How hard it is, by tier, such as `medium-stages`.
    pub(crate) difficulty: BTreeMap<String, [u8; 6]>,
    pub(crate) brief: StagesBriefText,
    /// Facts that change from stage to stage, by name.
    pub(crate) changed: BTreeMap<String, ChangedText>,
    /// Expressions with a name that stand for something else here. Its own name inside of one is what it stands for otherwise.
    #[serde(default)]
    pub(crate) lets: BTreeMap<String, String>,
    /// Views of forms that only tasks with stages have.
    #[serde(default)]
    pub(crate) views: BTreeMap<String, ViewText>,
    /// The rows of these that a plan may have.
    #[serde(default)]
    pub(crate) candidates: BTreeMap<String, CandidatesText>,
    /// Rules between stages, and what is otherwise in rules that there are.
    #[serde(default)]
    pub(crate) rules: BTreeMap<String, StageRuleText>,
    /// What a plan costs beside what it would cost otherwise, of the last stage.
    #[serde(default)]
    pub(crate) adds: Option<String>,
    /// What going from one plan to the next costs, over all stages; never less than nothing.
    #[serde(default)]
    pub(crate) fees: Option<String>,
    /// The rules that are usually missed.
    #[serde(default)]
    pub(crate) headline: Vec<String>,
}

/// Words of a brief that only tasks with stages have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StagesBriefText {
    /// What the last plan and the way to it cost, in several phrasings.
    pub(crate) goal: Vec<String>,
    /// What each form holds that only such tasks have, by its name.
    #[serde(default)]
    pub(crate) forms: BTreeMap<String, String>,
    /// What each column of such a form means.
    #[serde(default)]
    pub(crate) columns: BTreeMap<String, BTreeMap<String, String>>,
}

/// How a fact is at a stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangedText {
    /// Its arguments: `i in items, t in periods`; none for a single number.
    #[serde(default)]
    pub(crate) per: Option<String>,
    /// Its value at stage `k`.
    pub(crate) is: String,
}

/// A rule as far as it is otherwise, or a new one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageRuleText {
    #[serde(default)]
    pub(crate) code: Option<String>,
    #[serde(default)]
    pub(crate) family: Option<String>,
    #[serde(default)]
    pub(crate) per: Option<String>,
    #[serde(default)]
    pub(crate) require: Option<String>,
    #[serde(default)]
    pub(crate) says: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) told_with: Option<String>,
    #[serde(default)]
    pub(crate) twins: Vec<String>,
    #[serde(default)]
    pub(crate) implied_by: Option<String>,
}

impl StagesText {
    /// Reads the file, or tells all its faults.
    pub(crate) fn read(text: &str) -> Result<StagesText, Vec<Diagnostic>> {
        let document = Document::new(FILE, text);
        let read: Option<StagesText> = document.read();
        if let Some(read) = read {
            document.add(read.faults());
            if document.is_sound() {
                return Ok(read);
            }
        }
        Err(document.into_faults())
    }

    fn faults(&self) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        if !self.tables.iter().any(|table| table == "stage") {
            faults.push(KeyFault::new(["tables"], "one of the tables is `stage`"));
        }
        let known = TIERS.map(|tier| format!("{tier}-{STAGES}"));
        difficulty_faults(&self.difficulty, &known.each_ref().map(|tier| &**tier), &mut faults);
        if self.changed.is_empty() {
            faults.push(KeyFault::new(["changed"], "nothing changes from stage to stage"));
        }
        if self.brief.goal.is_empty() {
            faults.push(KeyFault::new(["brief", "goal"], "at least one phrasing is needed"));
        }
        faults
    }
}

/// Whether a tier has stages.
pub(crate) fn has_stages(tier: &str) -> bool {
    tier.split('-').skip(1).any(|dial| dial == STAGES)
}
