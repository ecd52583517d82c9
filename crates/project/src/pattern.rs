//! A pattern: one workflow of a family, declared in a folder. `pattern.toml` says which tiers and objectives it has and
//! what is drawn for each, `text.toml` in which words it is told.

use crate::PatternFolder;
use benchwright_base::Diagnostic;
use benchwright_pack::Dial;
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
    #[serde(default)]
    pub cells: Vec<PatternCell>,
    /// Instead of cells: dials with their values, whose every combination is a cell such as `h05-b09`.
    #[serde(default)]
    pub axes: Vec<PatternAxis>,
    /// The objectives of every cell that axes make.
    #[serde(default)]
    pub objectives: Vec<String>,
    /// What the family's sampler is told, in its own words.
    pub recipe: Json,
}

/// A dial that tiers turn, written as its letter with a number after it, and told in reports by its name.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternAxis {
    /// The letter, such as `h`.
    pub letter: String,
    /// What it sets, such as `open slots`.
    pub name: String,
    /// Its values in cells. One without values is turned beyond them, and is 0 elsewhere.
    #[serde(default)]
    pub values: Vec<u32>,
}

impl PatternHead {
    /// The same with the cells that its axes make.
    #[must_use]
    pub(crate) fn spread(mut self) -> PatternHead {
        if self.axes.iter().any(|axis| !axis.values.is_empty()) {
            let mut tiers = vec![String::new()];
            for axis in self.axes.iter().filter(|axis| !axis.values.is_empty()) {
                let turned = |tier: &String| -> Vec<String> {
                    let dash = if tier.is_empty() { "" } else { "-" };
                    axis.values.iter().map(|value| format!("{tier}{dash}{}{value:02}", axis.letter)).collect()
                };
                tiers = tiers.iter().flat_map(turned).collect();
            }
            let objectives = &self.objectives;
            self.cells.extend(tiers.into_iter().map(|tier| PatternCell { tier, objectives: objectives.clone() }));
        }
        self
    }
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

    /// What a tier sets the pattern's axes to, in their order; 0 where it does not turn one.
    pub fn dials(&self, tier: &str) -> Vec<Dial> {
        let dial = |axis: &PatternAxis| {
            let value = tier.split('-').find_map(|part| part.strip_prefix(&*axis.letter)?.parse().ok());
            Dial { name: axis.name.clone(), value: value.unwrap_or(0) }
        };
        self.head.axes.iter().map(dial).collect()
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
