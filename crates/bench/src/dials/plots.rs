//! The plots of the dials: a curve for each agent, named where it ends.

use super::{AGENTS, DECOYS, FAILING, Fared, Figures, OPEN};
use benchwright_draw::curves::{Chart, Curve, curves};
use benchwright_draw::{Mark, Scale, Words};

/// The largest value of every dial.
const MOST: f64 = 20.0;

/// All plots, by file name.
pub(crate) fn all(figures: &Figures) -> Vec<(&'static str, String)> {
    let steps = chart("Steps without decoys: calls", "open slots", &AGENTS, &OPEN, |agent, open| {
        Mark::of(Some(figures.of(agent, open, 0).mean_steps()))
    });
    let highest = steps.curves.iter().flat_map(|curve| &curve.points).filter_map(|(_, mark)| mark.value);
    let steps = Chart { scale: Scale::Amount(highest.fold(0.0, f64::max)), ..steps };
    let success = |open: usize| {
        let title = format!("{open} open {}: success", if open == 1 { "slot" } else { "slots" });
        chart(&title, "decoys", &AGENTS, &DECOYS, |agent, decoys| share(&figures.of(agent, open, decoys)))
    };
    let failing = "Failing calls, 5 open slots: success";
    let failing = chart(failing, "failing calls in percent", &["hasty", "filter"], &FAILING, |agent, percent| {
        share(&figures.failing.get(&(agent, percent, 0)).copied().unwrap_or_default())
    });
    let drawn = |title: &str, description: &str, charts: &[Chart]| curves(Words { title, description }, charts).file();
    vec![
        (
            "grid-steps.svg",
            drawn("Steps and open slots", "Mean calls over open slots, a curve for each agent", &[steps]),
        ),
        (
            "grid-success.svg",
            drawn(
                "Success and decoys",
                "Share of solved tasks over decoys with 95 % intervals, a panel for each number of open slots",
                &[1, 3, 5, 9, 15, 20].map(success),
            ),
        ),
        (
            "grid-failing.svg",
            drawn(
                "Success and failing calls",
                "Share of solved tasks over failing calls with 95 % intervals, an agent that checks and one that does not",
                &[failing],
            ),
        ),
    ]
}

/// A share with its interval.
fn share(fared: &Fared) -> Mark {
    let (low, high) = fared.interval();
    Mark { value: Some(fared.rate()), low: Some(low), high: Some(high) }
}

/// A curve for each agent over the settings of a dial.
fn chart(
    title: &str,
    dial: &str,
    agents: &[&'static str],
    settings: &[usize],
    mark: impl Fn(&'static str, usize) -> Mark,
) -> Chart {
    let curve = |agent: &&'static str| Curve {
        name: (*agent).to_owned(),
        points: settings.iter().map(|setting| (*setting as f64, mark(agent, *setting))).collect(),
    };
    Chart {
        title: title.to_owned(),
        across: (dial.to_owned(), MOST),
        scale: Scale::Percent,
        curves: agents.iter().map(curve).collect(),
    }
}
