//! What a domain tells the part: its words, its attributes with their ranges, and its kinds of requirements.

use serde::Deserialize;

/// `grid.toml`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// What the grid is called.
    pub(crate) plan: String,
    /// One thing that is placed.
    pub(crate) item: String,
    /// Several of them.
    pub(crate) items: String,
    /// What a row stands for.
    pub(crate) row: String,
    /// What a column stands for.
    pub(crate) column: String,
    /// The beginnings of names.
    pub(crate) names: Vec<String>,
    /// Attributes that are whole numbers.
    pub(crate) number: Vec<NumberField>,
    /// Attributes that are words.
    pub(crate) label: Vec<LabelField>,
    /// Kinds of requirements.
    pub(crate) rule: Vec<RuleWords>,
}

/// An attribute that is a whole number.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NumberField {
    /// Its name in the world.
    pub(crate) field: String,
    /// The smallest value.
    pub(crate) low: i64,
    /// The largest value.
    pub(crate) high: i64,
}

/// An attribute that is a word.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabelField {
    /// Its name in the world.
    pub(crate) field: String,
    /// Its words.
    pub(crate) words: Vec<String>,
}

/// How a requirement measures the grid. The order is that of the world's enumeration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// The total of a number is bounded from above.
    TotalAtMost,
    /// The total of a number is bounded from below.
    TotalAtLeast,
    /// The total of a number in each row is bounded from above.
    RowAtMost,
    /// How often each word may occur.
    WordAtMost,
    /// How many items may have a number from some value on.
    ManyAtMost,
}

/// A kind of requirement.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleWords {
    /// How it measures.
    pub(crate) measure: Measure,
    /// The attribute.
    pub(crate) of: String,
    /// From which value `many_at_most` counts.
    #[serde(default)]
    pub(crate) least: Option<i64>,
    /// Its sentence, in several phrasings: `{bound}`, `{least}`, `{list}`.
    pub(crate) says: Vec<String>,
}

impl Words {
    /// Reads and checks what a domain tells.
    pub(crate) fn read(text: &str) -> Result<Words, String> {
        let words: Words = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut faults = Vec::new();
        if words.names.is_empty() || words.number.is_empty() || words.label.is_empty() {
            faults.push("names, numbers and labels are needed".to_owned());
        }
        for number in words.number.iter().filter(|number| number.low < 0 || number.low >= number.high) {
            faults.push(format!("{}: the range {} to {} is none", number.field, number.low, number.high));
        }
        for label in &words.label {
            let mut sorted = label.words.clone();
            sorted.sort();
            sorted.dedup();
            if label.words.len() < 3 || label.words.len() > 60 || sorted.len() != label.words.len() {
                faults.push(format!("{}: 3 to 60 words are needed, no two alike", label.field));
            }
            let plain =
                |word: &String| !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || " -&".contains(c));
            if let Some(word) = label.words.iter().find(|word| !plain(word)) {
                faults.push(format!("{}: `{word}` is not plain letters", label.field));
            }
        }
        let mut kinds = Vec::new();
        for rule in &words.rule {
            let is_number = words.number.iter().any(|number| number.field == rule.of);
            let is_label = words.label.iter().any(|label| label.field == rule.of);
            if (rule.measure == Measure::WordAtMost && !is_label) || (rule.measure != Measure::WordAtMost && !is_number)
            {
                faults.push(format!("{:?} of {}: there is no such attribute", rule.measure, rule.of));
            }
            if (rule.measure == Measure::ManyAtMost) != rule.least.is_some() {
                faults.push(format!("{:?} of {}: `least` belongs to many_at_most", rule.measure, rule.of));
            }
            let hole = if rule.is_list() { "{list}" } else { "{bound}" };
            if rule.says.is_empty() || rule.says.iter().any(|says| says.matches(hole).count() != 1) {
                faults.push(format!("{:?} of {}: every sentence has one {hole}", rule.measure, rule.of));
            }
            // The generator moves an attribute one way only, so that no decoy makes room for another.
            let falls = rule.measure == Measure::TotalAtLeast;
            if kinds.iter().any(|(of, other)| *of == rule.of && *other != falls) {
                faults.push(format!("{} is bounded from both sides", rule.of));
            }
            if words.rule.iter().filter(|other| (other.measure, &other.of) == (rule.measure, &rule.of)).count() > 1 {
                faults.push(format!("{:?} of {} is here twice", rule.measure, rule.of));
            }
            kinds.push((rule.of.clone(), falls));
        }
        if words.free().is_none() {
            faults.push("one number must be free of requirements".to_owned());
        }
        if faults.is_empty() { Ok(words) } else { Err(faults.join("; ")) }
    }

    /// The names of all attributes: numbers, then labels.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.number.iter().map(|number| &*number.field).chain(self.label.iter().map(|label| &*label.field))
    }

    /// The place of an attribute.
    pub(crate) fn place(&self, field: &str) -> Option<usize> {
        self.fields().position(|known| known == field)
    }

    /// How many attributes there are.
    pub(crate) fn width(&self) -> usize {
        self.number.len() + self.label.len()
    }

    /// The smallest and the largest value of an attribute; the places of its words for a label.
    pub(crate) fn range(&self, place: usize) -> (i64, i64) {
        match self.number.get(place) {
            Some(number) => (number.low, number.high),
            None => (0, self.label[place - self.number.len()].words.len() as i64 - 1),
        }
    }

    /// The label behind a place.
    pub(crate) fn label_at(&self, place: usize) -> Option<&LabelField> {
        place.checked_sub(self.number.len()).and_then(|at| self.label.get(at))
    }

    /// The number that no requirement is about and that has the fewest values: twins move a bound on it.
    pub(crate) fn free(&self) -> Option<usize> {
        let free = |number: &&NumberField| !self.rule.iter().any(|rule| rule.of == number.field);
        let found = self.number.iter().filter(free).min_by_key(|number| number.high - number.low)?;
        self.place(&found.field)
    }
}

impl RuleWords {
    /// Whether its sentence holds a list of bounds.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.measure, Measure::RowAtMost | Measure::WordAtMost)
    }

    /// Its id, as rules are called in a plan.
    pub(crate) fn id(&self) -> String {
        let kind = match self.measure {
            Measure::TotalAtMost => "total-at-most",
            Measure::TotalAtLeast => "total-at-least",
            Measure::RowAtMost => "row-at-most",
            Measure::WordAtMost => "word-at-most",
            Measure::ManyAtMost => "many-at-most",
        };
        format!("grid/{}-{kind}", self.of.replace('_', "-"))
    }
}
