//! The share of trials passed over two axes, such as tier by horizon, or open slots by decoys where the tasks of a suite
//! vary in dials.

use super::{Tried, horizon_bin, one, tier_place};
use crate::stats::rounded;
use benchwright_pack::run::TaskLine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// pass@1 over two axes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The name of the axis that goes downwards, such as `tier`.
    pub row_axis: String,
    /// The name of the axis that goes across, such as `horizon`.
    pub column_axis: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The cells, row by row.
    pub cells: Vec<Vec<GridCell>>,
}

/// A cell of a grid.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridCell {
    /// How many tasks lie here.
    pub tasks: usize,
    /// The mean of their pass rates; null without a scored trial.
    pub pass_at_1: Option<f64>,
}

/// A group of an axis: its place and its name.
type Place = (u32, String);
/// An axis: its name, and the group of a task.
type Axis = (&'static str, fn(&TaskLine) -> Place);

const TIER: Axis = ("tier", |task| (tier_place(&task.tier), task.tier.clone()));
const HORIZON: Axis = ("horizon", |task| horizon_bin(task.horizon));
const DOMAIN: Axis = ("domain", |task| (0, task.domain.clone()));

const OPEN: Axis = ("open slots", |task| dial(task, "h"));
const DECOYS: Axis = ("decoys", |task| dial(task, "b"));
const FAILING: Axis = ("failing calls in percent", |task| dial(task, "p"));

/// What a dial of a setting such as `h05-b09-p10` says; 0 where it is not turned.
fn dial(task: &TaskLine, letter: &str) -> Place {
    let said = task.tier.split('-').find_map(|part| part.strip_prefix(letter)?.parse().ok());
    let number: u32 = said.unwrap_or(0);
    (number, number.to_string())
}

/// Whether a tier is a setting of dials: open slots and decoys.
fn is_setting(tier: &str) -> bool {
    let mut parts = tier.split('-');
    let mut next =
        |letter: &str| parts.next().and_then(|part| part.strip_prefix(letter)?.parse::<u32>().ok()).is_some();
    next("h") && next("b")
}

/// The grids of an agent. Where every tier is a setting of dials, its axes are the dials.
pub(super) fn grids(tried: &[Tried]) -> Vec<Grid> {
    let several = |axis: Axis| tried.iter().map(|tried| axis.1(tried.task)).collect::<BTreeSet<Place>>().len() > 1;
    let wanted = if !tried.is_empty() && tried.iter().all(|tried| is_setting(&tried.task.tier)) {
        let by_domain = (DOMAIN, DECOYS, several(DOMAIN));
        vec![(OPEN, DECOYS, true), (FAILING, OPEN, several(FAILING)), by_domain]
    } else {
        vec![(TIER, HORIZON, several(TIER) || several(HORIZON)), (DOMAIN, TIER, several(DOMAIN))]
    };
    wanted.into_iter().filter(|of| of.2).map(|(rows, columns, _)| grid(tried, rows, columns)).collect()
}

fn grid(tried: &[Tried], rows: Axis, columns: Axis) -> Grid {
    let mut cells: BTreeMap<(Place, Place), (usize, Vec<f64>)> = BTreeMap::new();
    for tried in tried {
        let cell = cells.entry((rows.1(tried.task), columns.1(tried.task))).or_default();
        cell.0 += 1;
        cell.1.extend(tried.unit(|score| one(score.pass)).map(|unit| unit.mean));
    }
    let down: BTreeSet<&Place> = cells.keys().map(|key| &key.0).collect();
    let across: BTreeSet<&Place> = cells.keys().map(|key| &key.1).collect();
    let cell = |row: &Place, column: &Place| match cells.get(&(row.clone(), column.clone())) {
        Some((tasks, means)) => {
            let mean = (!means.is_empty()).then(|| rounded(means.iter().sum::<f64>() / means.len() as f64));
            GridCell { tasks: *tasks, pass_at_1: mean }
        }
        None => GridCell::default(),
    };
    Grid {
        row_axis: rows.0.to_owned(),
        column_axis: columns.0.to_owned(),
        rows: down.iter().map(|place| place.1.clone()).collect(),
        columns: across.iter().map(|place| place.1.clone()).collect(),
        cells: down.iter().map(|row| across.iter().map(|column| cell(row, column)).collect()).collect(),
    }
}
