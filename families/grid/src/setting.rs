//! The dials of a task, read from its tier and the pattern's recipe.

use benchwright_base::Stream;
use benchwright_project::Draw;

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
        let recipe = |name: &str, usual: usize| {
            draw.pattern.head.recipe.get(name).and_then(serde_json::Value::as_u64).map_or(usual, |n| n as usize)
        };
        let mut setting = Setting {
            open: 0,
            decoys: 0,
            rows: recipe("rows", 5),
            cols: recipe("columns", 7),
            candidates: recipe("candidates", 25),
            unseen: None,
            faults: 0,
            twin: false,
            key: String::new(),
        };
        let (mut slots, mut unseen) = (None, None);
        let mut key = Vec::new();
        for part in draw.tier.split('-') {
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
