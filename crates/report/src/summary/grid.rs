//! The share of trials passed over two axes, such as tier by horizon, or open slots by decoys where the tasks of a suite
//! vary in dials.

use super::{Tried, horizon_bin, passes};
use crate::stats::rounded;
use benchwright_pack::{run::TaskLine, tier_place};
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
type Place = (i64, String);

/// What tasks are laid out by.
#[derive(Clone, Copy)]
enum Axis<'t> {
    Tier,
    Horizon,
    Domain,
    /// A dial of the tasks, by its place among theirs and its name.
    Dial(usize, &'t str),
}

impl<'t> Axis<'t> {
    fn name(self) -> &'t str {
        match self {
            Axis::Tier => "tier",
            Axis::Horizon => "horizon",
            Axis::Domain => "domain",
            Axis::Dial(_, name) => name,
        }
    }

    /// The group of a task.
    fn of(self, task: &TaskLine) -> Place {
        match self {
            Axis::Tier => (i64::from(tier_place(&task.tier)), task.tier.clone()),
            Axis::Horizon => {
                let (place, name) = horizon_bin(task.horizon);
                (i64::from(place), name)
            }
            Axis::Domain => (0, task.domain.clone()),
            Axis::Dial(at, _) => {
                let value = task.dials.get(at).map_or(0, |dial| dial.value);
                (value, value.to_string())
            }
        }
    }
}

/// The dials that all tasks have, in their order; none if some have others.
fn dials<'t>(tried: &[Tried<'t>]) -> Vec<Axis<'t>> {
    let names = |task: &'t TaskLine| -> Vec<&'t str> { task.dials.iter().map(|dial| &*dial.name).collect() };
    let Some(first) = tried.first().map(|tried| names(tried.task)) else { return Vec::new() };
    let all_alike = tried.iter().all(|tried| names(tried.task) == first);
    let axes = first.iter().enumerate().map(|(at, name)| Axis::Dial(at, name));
    if all_alike { axes.collect() } else { Vec::new() }
}

/// The grids of an agent. Where all tasks have the same dials, these are the axes.
pub(super) fn grids(tried: &[Tried]) -> Vec<Grid> {
    let several = |axis: Axis| tried.iter().map(|tried| axis.of(tried.task)).collect::<BTreeSet<Place>>().len() > 1;
    let wanted = match &dials(tried)[..] {
        [rows, columns, further @ ..] => {
            let further = further.iter().map(|axis| (*axis, *rows, several(*axis)));
            let by_domain = (Axis::Domain, *columns, several(Axis::Domain));
            std::iter::once((*rows, *columns, true)).chain(further).chain([by_domain]).collect()
        }
        [only] => vec![(Axis::Domain, *only, true)],
        [] => vec![
            (Axis::Tier, Axis::Horizon, several(Axis::Tier) || several(Axis::Horizon)),
            (Axis::Domain, Axis::Tier, several(Axis::Domain)),
        ],
    };
    wanted.into_iter().filter(|of| of.2).map(|(rows, columns, _)| grid(tried, rows, columns)).collect()
}

fn grid(tried: &[Tried], rows: Axis, columns: Axis) -> Grid {
    let mut cells: BTreeMap<(Place, Place), (usize, Vec<f64>)> = BTreeMap::new();
    for tried in tried {
        let cell = cells.entry((rows.of(tried.task), columns.of(tried.task))).or_default();
        cell.0 += 1;
        cell.1.extend(tried.unit(passes).map(|unit| unit.mean));
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
        row_axis: rows.name().to_owned(),
        column_axis: columns.name().to_owned(),
        rows: down.iter().map(|place| place.1.clone()).collect(),
        columns: across.iter().map(|place| place.1.clone()).collect(),
        cells: down.iter().map(|row| across.iter().map(|column| cell(row, column)).collect()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tally::Trials;
    use benchwright_pack::Dial;

    fn line(domain: &str, dials: &[(&str, i64)]) -> TaskLine {
        TaskLine {
            id: String::new(),
            digest: String::new(),
            domain: domain.to_owned(),
            pattern: String::new(),
            tier: "easy".to_owned(),
            dials: dials.iter().map(|(name, value)| Dial { name: (*name).to_owned(), value: *value }).collect(),
            objective: String::new(),
            cluster: String::new(),
            pair: None,
            obstacle: None,
            problem: None,
            horizon: 3,
            parameters: BTreeMap::new(),
        }
    }

    fn axes(lines: &[TaskLine]) -> Vec<(String, String, usize)> {
        let none = Trials::default();
        let tried: Vec<Tried> = lines.iter().map(|task| Tried { task, trials: &none }).collect();
        let axes = |grid: Grid| (grid.row_axis, grid.column_axis, grid.rows.len() * grid.columns.len());
        grids(&tried).into_iter().map(axes).collect()
    }

    #[test]
    fn what_all_tasks_vary_in_is_laid_out() {
        let named = |list: &[(&str, &str, usize)]| -> Vec<(String, String, usize)> {
            list.iter().map(|(rows, columns, cells)| ((*rows).to_owned(), (*columns).to_owned(), *cells)).collect()
        };
        let turned = |size, noise, lost| [("size", size), ("noise", noise), ("lost", lost)];
        let mut lines = vec![line("a", &turned(1, 2, 0)), line("a", &turned(10, 9, 0)), line("a", &turned(2, 9, 0))];
        assert_eq!(axes(&lines), named(&[("size", "noise", 6)]));
        // A further dial and the domain are axes where they vary.
        lines.push(line("b", &turned(1, 2, 5)));
        assert_eq!(axes(&lines), named(&[("size", "noise", 6), ("lost", "size", 6), ("domain", "noise", 4)]));
        // Tasks with other dials are laid out by what all have.
        lines.push(line("b", &[]));
        assert_eq!(axes(&lines), named(&[("domain", "tier", 2)]));
    }
}
