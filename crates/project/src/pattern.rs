//! A pattern: one workflow of a family, declared in a folder. `pattern.toml` says which tiers and objectives it has and
//! what is drawn for each, `text.toml` in which words it is told.

use crate::PatternFolder;
use benchwright_base::Diagnostic;
use benchwright_schema::plan::PlanText;
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A workflow of a family, as its folder declares it.
#[derive(Clone, PartialEq, Debug)]
pub struct Pattern {
    /// Its name, `group/slug`, which is its folder's path.
    pub name: String,
    /// The family that samples it.
    pub family: String,
    /// The domain of its worlds, such as `erp`, or `csm+itsm` for a joined one.
    pub domain: String,
    /// What is declared in `pattern.toml`.
    pub head: PatternHead,
    /// The words in which it is told (`text.toml`).
    pub text: PatternText,
    /// Rules of its own, and those of the family that it changes.
    pub rules: PlanText,
}

/// What `pattern.toml` says: the family, the tiers and objectives, and what is drawn for each.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternHead {
    /// The name of the family that draws and tells it.
    #[serde(default)]
    pub family: String,
    /// The domain of its worlds, where that is not named as the family is.
    #[serde(default)]
    pub domain: Option<String>,
    /// Instead of a family and a domain: the part whose family and whose every domain have this workflow.
    #[serde(default)]
    pub part: Option<String>,
    /// What a tier may say beyond its cell, such as `p10` or `twin`: letters that a number follows, or words.
    #[serde(default)]
    pub dials: Vec<String>,
    /// The cells it can be sampled in: the objectives of each tier. The first tier and its first objective are its own.
    pub cells: Vec<PatternCell>,
    /// What the family's sampler is told, in its own words.
    pub recipe: Json,
}

/// A tier and the objectives it admits.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternCell {
    /// `easy`, `medium` or `hard`, or what the family calls its settings.
    pub tier: String,
    /// The objectives, the usual one first.
    pub objectives: Vec<String>,
}

/// `text.toml`: phrasings, one of which is chosen by seed.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternText {
    /// What the business calls this work.
    pub title: String,
    /// How the brief begins.
    pub opening: Vec<String>,
    /// How the goal is put, by objective.
    pub goal: BTreeMap<String, Vec<String>>,
    /// How the brief ends.
    pub closing: Vec<String>,
}

impl Pattern {
    /// Reads a pattern from the texts of its files by name, without asking its family; all faults are told.
    pub fn read(name: &str, files: &BTreeMap<String, String>) -> Result<Pattern, Vec<Diagnostic>> {
        PatternFolder::read(files).finish(name)
    }

    /// The cell of a tier, which may turn dials beyond it.
    pub fn cell(&self, tier: &str) -> Option<&PatternCell> {
        let is_dial = |part: &str| {
            let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
            self.head.dials.iter().any(|dial| dial == letters)
        };
        self.head.cells.iter().find(|cell| {
            let rest = tier.strip_prefix(&*cell.tier);
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.strip_prefix('-').is_some_and(|r| r.split('-').all(is_dial))
            })
        })
    }

    /// The first part of its name: the group of workflows it stands in.
    pub fn group(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// Whether a tier admits an objective.
    pub fn admits(&self, tier: &str, objective: &str) -> bool {
        self.cell(tier).is_some_and(|cell| cell.objectives.iter().any(|known| known == objective))
    }
}
