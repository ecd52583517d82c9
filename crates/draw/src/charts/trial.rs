//! What one trial took, turn by turn, and what its plan is worth between the values by which quality is told.

use crate::{Area, Drawing, HALF, WIDTH, Words};

/// A turn of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// The microseconds that it took, where they are known.
    pub micros: Option<u64>,
    /// The tokens that the model was sent, where they are known.
    pub tokens_in: Option<u64>,
    /// The tokens that it wrote, where they are known.
    pub tokens_out: Option<u64>,
    /// The calls that followed.
    pub calls: u32,
    /// Those of them that were refused.
    pub refused: u32,
}

/// The left edge of what is drawn, beside the names of the lanes.
const LEFT: f64 = 92.0;
const LANE: f64 = 34.0;
const GAP: f64 = 14.0;
const TOP: f64 = 8.0;

/// Turns from left to right: as wide as they took time where that is known of all, else alike; above each the tokens and calls.
pub fn timeline(words: Words<'_>, steps: &[Step]) -> Drawing {
    let times: Option<Vec<u64>> = steps.iter().map(|step| step.micros).collect();
    let total: u64 = times.iter().flatten().sum();
    let width = WIDTH - LEFT;
    let wide = |at: usize| match &times {
        Some(times) if total > 0 => width * times[at] as f64 / total as f64,
        _ => width / steps.len().max(1) as f64,
    };
    let lanes: [(&str, Vec<Option<u64>>, &str); 3] = [
        ("tokens in", steps.iter().map(|step| step.tokens_in).collect(), "bar"),
        ("tokens out", steps.iter().map(|step| step.tokens_out).collect(), "bar"),
        ("calls", steps.iter().map(|step| Some(u64::from(step.calls))).collect(), "bar"),
    ];
    let height = TOP + 3.0 * (LANE + GAP) + 16.0;
    let mut drawing = Drawing::new(words, WIDTH, height);
    for (nth, (name, values, class)) in lanes.iter().enumerate() {
        let base = TOP + nth as f64 * (LANE + GAP) + LANE;
        let most = values.iter().flatten().copied().max().unwrap_or_default();
        drawing.text("", (0.0, base - LANE + 12.0), name);
        let told = match values.iter().all(Option::is_none) {
            true => "not known".to_owned(),
            false => format!("at most {most}"),
        };
        drawing.text("small", (0.0, base - 4.0), &told);
        drawing.line("grid", (LEFT, base), (WIDTH, base));
        let mut x = LEFT;
        for (at, value) in values.iter().enumerate() {
            let step = wide(at);
            if let Some(value) = value.filter(|value| *value > 0) {
                let tall = LANE * value as f64 / most.max(1) as f64;
                let area = Area { x, y: base - tall, width: (step - 1.0).max(0.5), height: tall };
                drawing.area(class, area, 0.0);
            }
            if nth == 2 && steps[at].refused > 0 {
                drawing.dot("hollow", (x + step / 2.0, base - LANE - 4.0), 3.0);
            }
            x += step;
        }
    }
    let below = height - 3.0;
    drawing.text("small", (LEFT, below), &format!("{} turns; a ring above a bar: refused", steps.len()));
    let took = match &times {
        Some(_) => format!("{:.1} s in all", total as f64 / 1e6),
        None => "the time of the turns is not known".to_owned(),
    };
    drawing.text("small end", (WIDTH, below), &took);
    drawing
}

/// Named values on a line, and where a value stands among them; what is beyond the last stands at its edge.
pub fn between(words: Words<'_>, marks: &[(i64, &str); 3], value: Option<i64>) -> Drawing {
    let mut drawing = Drawing::new(words, HALF, 76.0);
    let (first, last) = (marks[0].0 as f64, marks[2].0 as f64);
    let (left, right, line) = (20.0, HALF - 20.0, 34.0);
    let place = |value: i64| {
        let share = (value as f64 - first) / (last - first);
        left + (right - left) * share.clamp(-0.02, 1.02)
    };
    drawing.line("zero", (left, line), (right, line));
    for (at, (value, name)) in marks.iter().enumerate() {
        let x = place(*value);
        drawing.line("zero", (x, line - 6.0), (x, line + 6.0));
        // The middle one stands lower, because it may be near either of the others.
        let (class, below) = [("small", 20.0), ("small middle", 36.0), ("small end", 20.0)][at];
        drawing.text(class, (x, line + below), name);
    }
    if let Some(value) = value {
        let x = place(value);
        drawing.dot("point", (x, line), 5.0);
        let class = if x < 60.0 {
            ""
        } else if x > HALF - 60.0 {
            "end"
        } else {
            "middle"
        };
        drawing.text(class, (x, line - 14.0), "this plan");
    }
    drawing
}

#[cfg(test)]
mod tests {
    use super::{Step, between, timeline};
    use crate::Words;

    const WORDS: Words<'_> = Words { title: "t", description: "d" };

    #[test]
    fn what_is_not_known_is_told_and_not_drawn_as_nought() {
        let steps = [Step { tokens_out: Some(40), calls: 2, refused: 1, ..Step::default() }; 3];
        let page = timeline(WORDS, &steps).inline().into_string();
        assert!(page.contains("the time of the turns is not known") && page.contains("not known</text>"), "{page}");
        assert_eq!((page.matches("class=\"bar\"").count(), page.matches("<circle").count()), (6, 3));
    }

    #[test]
    fn a_value_beyond_all_marks_stays_on_the_sheet() {
        for value in [i64::MIN / 4, 0, 50, i64::MAX / 4] {
            let page = between(WORDS, &[(10, "a"), (20, "b"), (40, "c")], Some(value)).inline().into_string();
            let x = page.split_once("cx=\"").unwrap().1.split_once('"').unwrap().0.parse::<f64>().unwrap();
            assert!((0.0..=560.0).contains(&x), "{value} {x}");
        }
        assert!(!between(WORDS, &[(40, "a"), (20, "b"), (10, "c")], None).inline().into_string().contains("circle"));
    }
}
