//! The dials of a task, read from its tier and the pattern's recipe.

use benchwright_base::Stream;
use benchwright_project::{Draw, PatternHead};
use benchwright_schema::{KeyFault, Section};
use serde::Deserialize;

/// `[recipe]` of a pattern: what a tier does not say.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Recipe {
    /// Rows of the grid.
    rows: Option<usize>,
    /// Columns of the grid.
    columns: Option<usize>,
    /// Candidates of a slot.
    candidates: Option<usize>,
}

/// The names of the dials that a tier may turn.
const DIALS: [&str; 9] = ["h", "b", "r", "c", "n", "k", "s", "p", "twin"];

/// Tells what is wrong with the tiers, the dials and the recipe of a pattern.
pub(crate) fn check(head: &PatternHead, file: &Section<'_>) {
    for (at, dial) in head.dials.iter().enumerate().filter(|(_, dial)| !DIALS.contains(&&***dial)) {
        let fault = KeyFault::new(["dials", &*at.to_string()], format!("grids have no dial `{dial}`"));
        file.fault(fault.instead_of(dial, DIALS));
    }
    let Some(recipe) = file.get("recipe").and_then(|section| section.read::<Recipe>()) else { return };
    let foreign = |letter: &str| !DIALS.contains(&letter);
    for (at, axis) in head.axes.iter().enumerate().filter(|(_, axis)| foreign(&axis.letter)) {
        let fault =
            KeyFault::new(["axes", &*at.to_string(), "letter"], format!("grids have no dial `{}`", axis.letter));
        file.fault(fault.instead_of(&axis.letter, DIALS));
    }
    // The cells that an unknown dial makes would each be told again.
    if head.axes.iter().any(|axis| foreign(&axis.letter)) {
        return;
    }
    for (at, cell) in head.cells.iter().enumerate() {
        let Err(why) = Setting::of(&cell.tier, &recipe) else { continue };
        if head.axes.is_empty() {
            file.fault(KeyFault::new(["cells", &*at.to_string(), "tier"], why));
        } else {
            file.fault(KeyFault::new(["axes"], format!("`{}`: {why}", cell.tier)).at_key());
        }
    }
}

/// The dials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    /// Open slots.
    pub(crate) open: usize,
    /// Decoys in all.
    pub(crate) decoys: usize,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Candidates of a slot.
    pub(crate) candidates: usize,
    /// Exactly so many decoys are unseen when so many further slots are filled: (decoys, slots).
    pub(crate) unseen: Option<(usize, usize)>,
    /// Calls that fail, in millionths.
    pub(crate) faults: u32,
    /// Whether one bound is moved.
    pub(crate) twin: bool,
    /// What the grid is drawn from: the tier without what changes no grid.
    key: String,
}

impl Setting {
    /// Reads a tier such as `h05-b09-n12-twin`.
    pub(crate) fn read(draw: &Draw<'_>) -> Result<Setting, String> {
        let recipe = serde_json::from_value(draw.pattern.head.recipe.clone());
        Setting::of(draw.tier, &recipe.map_err(|error| format!("{}: [recipe]: {error}", draw.pattern.name))?)
    }

    fn of(tier: &str, recipe: &Recipe) -> Result<Setting, String> {
        let mut setting = Setting {
            open: 0,
            decoys: 0,
            rows: recipe.rows.unwrap_or(5),
            cols: recipe.columns.unwrap_or(7),
            candidates: recipe.candidates.unwrap_or(25),
            unseen: None,
            faults: 0,
            twin: false,
            key: String::new(),
        };
        let (mut slots, mut unseen) = (None, None);
        let mut key = Vec::new();
        for part in tier.split('-') {
            let at = part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len());
            let number = || part[at..].parse::<usize>().map_err(|_| format!("the tier has no number after `{part}`"));
            match &part[..at] {
                "h" => setting.open = number()?,
                "b" => setting.decoys = number()?,
                "r" => setting.rows = number()?,
                "c" => setting.cols = number()?,
                "n" => setting.candidates = number()?,
                "k" => slots = Some(number()?),
                "s" => unseen = Some(number()?),
                "p" => setting.faults = number()?.min(100) as u32 * 10_000,
                "twin" => setting.twin = true,
                other => return Err(format!("the tier has a dial `{other}` that grids do not have")),
            }
            if !matches!(&part[..at], "p" | "twin") {
                key.push(part);
            }
        }
        setting.key = key.join("-");
        setting.unseen = match (unseen, slots) {
            (None, None) => None,
            (Some(decoys), Some(slots)) => Some((decoys, slots)),
            _ => return Err("`k` and `s` go together: `s` decoys unseen after `k` further slots".to_owned()),
        };
        let Setting { open, decoys, rows, cols, candidates, .. } = setting;
        if open == 0 || rows == 0 || cols == 0 || rows > 40 || cols > 40 || open > rows * cols {
            return Err(format!("{open} open slots do not fit on {rows} by {cols}"));
        }
        // Truth, a neighbour for the twin, and a few that the conditions rule out.
        if !(6..=200).contains(&candidates) || decoys > open * (candidates - 5) {
            return Err(format!("{decoys} decoys do not fit into {open} slots of {candidates} candidates"));
        }
        Ok(setting)
    }

    /// The random stream of a parameter; twins and failure rates draw the same grid.
    pub(crate) fn stream(&self, draw: &Draw<'_>, parameter: &str) -> Stream {
        let attempt = draw.attempt.to_string();
        Stream::new(draw.seed, &[&draw.pattern.name, &self.key, draw.objective, &attempt, parameter])
    }
}
