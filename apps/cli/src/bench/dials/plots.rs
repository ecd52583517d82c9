//! The plots of the dials: plain SVG, a line for each agent, named where it ends.

use super::{AGENTS, DECOYS, FAILING, Figures, OPEN};
use std::fmt::Write as _;

/// Colours that are told apart without their hue too.
const COLOURS: [&str; 4] = ["#1b3a5c", "#2a7f9e", "#d0802b", "#8c2d4e"];
const DASHES: [&str; 4] = ["", "7 3", "2 3", "10 3 2 3"];
/// The size of a panel.
const SIZE: (f64, f64) = (250.0, 190.0);

/// A line: its name, and points with the ends of their intervals.
type Line = (String, Vec<(f64, f64, f64, f64)>);

struct Panel {
    title: String,
    lines: Vec<Line>,
    most: (f64, f64),
    axes: (&'static str, &'static str),
    percent: bool,
}

/// All plots, by file name.
pub(super) fn all(figures: &Figures) -> Vec<(&'static str, String)> {
    let steps = Panel {
        title: "Steps without decoys".to_owned(),
        lines: AGENTS
            .iter()
            .map(|agent| {
                let point = |open: &usize| {
                    let steps = figures.of(agent, *open, 0).mean_steps();
                    (*open as f64, steps, steps, steps)
                };
                ((*agent).to_owned(), OPEN.iter().map(point).collect())
            })
            .collect(),
        most: (20.0, 0.0),
        axes: ("open slots", "calls"),
        percent: false,
    };
    let success = |open: usize| Panel {
        title: format!("{open} open {}", if open == 1 { "slot" } else { "slots" }),
        lines: AGENTS
            .iter()
            .map(|agent| {
                let point = |decoys: &usize| {
                    let fared = figures.of(agent, open, *decoys);
                    (*decoys as f64, fared.rate(), fared.interval().0, fared.interval().1)
                };
                ((*agent).to_owned(), DECOYS.iter().map(point).collect())
            })
            .collect(),
        most: (20.0, 1.0),
        axes: ("decoys", "success"),
        percent: true,
    };
    let failing = Panel {
        title: "Failing calls, 5 open slots".to_owned(),
        lines: ["hasty", "filter"]
            .iter()
            .map(|agent| {
                let point = |percent: &usize| {
                    let fared = figures.failing.get(&(*agent, *percent, 0)).copied().unwrap_or_default();
                    (*percent as f64, fared.rate(), fared.interval().0, fared.interval().1)
                };
                ((*agent).to_owned(), FAILING.iter().map(point).collect())
            })
            .collect(),
        most: (20.0, 1.0),
        axes: ("failing calls in percent", "success"),
        percent: true,
    };
    vec![
        ("grid-steps.svg", drawn(&[steps])),
        ("grid-success.svg", drawn(&[1, 3, 5, 9, 15, 20].map(success))),
        ("grid-failing.svg", drawn(&[failing])),
    ]
}

fn drawn(panels: &[Panel]) -> String {
    let across = panels.len().min(3);
    let (wide, high) = (SIZE.0 + 150.0, SIZE.1 + 80.0);
    let size = (wide * across as f64 + 10.0, high * panels.len().div_ceil(across) as f64 + 10.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        size.0, size.1
    );
    for (at, panel) in panels.iter().enumerate() {
        let origin = (50.0 + (at % across) as f64 * wide, 30.0 + (at / across) as f64 * high);
        draw_panel(&mut out, panel, origin);
    }
    out.push_str("</svg>\n");
    out
}

/// The next number of one digit and noughts.
fn round(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1.0).log10().floor());
    (value / power).ceil() * power
}

fn draw_panel(out: &mut String, panel: &Panel, (left, top): (f64, f64)) {
    let highest = panel.lines.iter().flat_map(|line| &line.1).map(|point| point.1).fold(panel.most.1, f64::max);
    let highest = if panel.percent { highest } else { 4.0 * round(highest / 4.0) };
    let x = |value: f64| left + value / panel.most.0 * SIZE.0;
    let y = |value: f64| top + SIZE.1 - value / highest.max(1e-9) * SIZE.1;
    let title = format!("{}: {}", panel.title, panel.axes.1);
    let _ = writeln!(out, "<text x=\"{left:.1}\" y=\"{:.1}\" font-weight=\"bold\">{title}</text>", top - 12.0);
    for part in 0..=4 {
        let value = highest * f64::from(part) / 4.0;
        let name = if panel.percent { format!("{:.0} %", value * 100.0) } else { format!("{value:.0}") };
        let _ = writeln!(
            out,
            "<line x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            left + SIZE.0,
            left - 6.0,
            y(value) + 4.0,
            y = y(value),
        );
        let value = panel.most.0 * f64::from(part) / 4.0;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value:.0}</text>",
            x(value),
            top + SIZE.1 + 16.0
        );
    }
    let (middle, below) = (left + SIZE.0 / 2.0, top + SIZE.1 + 32.0);
    let _ = writeln!(out, "<text x=\"{middle:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{}</text>", panel.axes.0);
    let mut ends: Vec<(f64, usize)> = Vec::new();
    for (at, (_, points)) in panel.lines.iter().enumerate() {
        let (colour, dash) = (COLOURS[at % 4], DASHES[at % 4]);
        let path: Vec<String> = points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"/>",
            path.join(" ")
        );
        for point in points {
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/><circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"2.4\" fill=\"{colour}\"/>",
                y(point.2),
                y(point.3),
                y(point.1),
                x = x(point.0),
            );
        }
        ends.extend(points.last().map(|point| (y(point.1), at)));
    }
    // Names stand at the ends of their lines, and not on one another.
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut last = f64::MIN;
    for (end, at) in ends {
        let place = end.max(last + 13.0);
        last = place;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{}\">{}</text>",
            left + SIZE.0 + 8.0,
            place + 4.0,
            COLOURS[at % 4],
            panel.lines[at].0
        );
    }
}
