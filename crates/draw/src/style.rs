//! The colours and the rules of all drawings, once for pages and once for files.

/// How many colours there are for things that are told apart by name: `series0` and so on. Their lightness differs too.
pub const SERIES: usize = 6;

/// Every colour with its name, in light and in dark.
const COLOURS: [(&str, &str, &str); 8 + SERIES] = [
    ("paper", "#fff", "#14171a"),
    ("ink", "#1c2126", "#e4e7ea"),
    ("soft", "#5b6570", "#9aa4ae"),
    ("rule", "#d9dee3", "#353c43"),
    ("faint", "#eef1f4", "#1f2429"),
    ("blue", "#1d5fa8", "#79b0ee"),
    ("red", "#b3461b", "#ee9a6c"),
    ("pass", "#2b7a45", "#74c58d"),
    ("series0", "#1b3a5c", "#9cc2ee"),
    ("series1", "#2a7f9e", "#5cc0dc"),
    ("series2", "#c26f1a", "#f0a555"),
    ("series3", "#8c2d4e", "#e88fae"),
    ("series4", "#3a7d44", "#82cc91"),
    ("series5", "#5c6770", "#b0bac4"),
];

/// What a class of a drawing looks like, but for the series. Colours stand by name.
const RULES: &str = include_str!("rules.css");

/// How the curve of each series is dashed.
const DASHES: [&str; SERIES] = ["none", "7 3", "2 3", "10 3 2 3", "4 2", "1 2"];

/// All rules. Text and shapes are filled with the colour of their series, lines are drawn in it.
fn rules() -> String {
    let series = |(at, dash): (usize, &&str)| {
        format!(
            "svg .series{at}{{fill:var(--series{at})}}\n\
             svg .curve.series{at},svg .spread.series{at},svg .bridge.series{at}{{fill:none;stroke:var(--series{at})}}\n\
             svg .curve.series{at}{{stroke-dasharray:{dash}}}\n"
        )
    };
    RULES.to_owned() + &DASHES.iter().enumerate().map(series).collect::<String>()
}

/// The rules for a page that drawings stand on, with every colour as a variable of its name, such as `var(--ink)`.
pub fn style() -> String {
    let all = |of: fn(&(&'static str, &'static str, &'static str)) -> &'static str| -> String {
        COLOURS.iter().map(|colour| format!("--{}:{};", colour.0, of(colour))).collect()
    };
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n{}",
        all(|colour| colour.1),
        all(|colour| colour.2),
        rules()
    )
}

/// The rules for a drawing in a file of its own. Not every viewer knows variables, so light colours stand in their places.
pub(crate) fn file_style() -> String {
    let put_in = |rules: String, (name, light, _): &(&str, &str, &str)| rules.replace(&format!("var(--{name})"), light);
    COLOURS.iter().fold(rules(), put_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_a_rule_is_known() {
        assert!(!file_style().contains("var("), "a rule names a colour that there is not");
        for (name, ..) in COLOURS {
            assert!(style().matches(&format!("--{name}:")).count() == 2, "{name} in light and in dark");
        }
    }
}
