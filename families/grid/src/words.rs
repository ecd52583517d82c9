//! What a domain tells the part: its words, its attributes with their ranges, and its kinds of requirements.

use benchwright_base::Diagnostic;
use benchwright_expr::{Names as _, Type};
use benchwright_schema::{Document, Domain, KeyFault};
use serde::Deserialize;

/// What the part's file is called in the folder of a domain.
pub(crate) const FILE: &str = "grid.toml";
/// The table that the part lets a domain declare: the things that are placed, with their attributes.
const ITEM: &str = "item";
/// The table of the words that attributes may be.
const LABEL: &str = "label";

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
    /// Reads and checks what a domain tells; attributes are looked up in its tables where they are known.
    pub(crate) fn read(text: &str, domain: Option<&Domain>) -> Result<Words, Vec<Diagnostic>> {
        let document = Document::new(FILE, text);
        let words: Option<Words> = document.read();
        if let Some(words) = words {
            if document.is_toml() {
                document.add(words.lists().into_iter().chain(words.requirements(&document)));
                document.add(domain.into_iter().flat_map(|domain| words.unknown_fields(domain)));
            }
            if document.is_sound() {
                return Ok(words);
            }
        }
        Err(document.into_faults())
    }

    /// What is wrong with names, numbers and labels.
    fn lists(&self) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        let lists = [("names", self.names.len()), ("number", self.number.len()), ("label", self.label.len())];
        for (key, _) in lists.into_iter().filter(|(_, count)| *count == 0) {
            faults.push(KeyFault::new([key], format!("at least one `{key}` is needed")));
        }
        for (at, number) in self.number.iter().enumerate().filter(|(_, n)| n.low < 0 || n.low >= n.high) {
            let message = format!("no range goes from {} to {}", number.low, number.high);
            faults.push(KeyFault::new(["number", &*at.to_string(), "high"], message));
        }
        for (at, label) in self.label.iter().enumerate() {
            let at = at.to_string();
            if label.words.len() < 3 || label.words.len() > 60 {
                faults.push(KeyFault::new(["label", &*at, "words"], "3 to 60 words are needed"));
            }
            for (nth, word) in label.words.iter().enumerate() {
                let path = ["label", &*at, "words", &*nth.to_string()];
                if word.is_empty() || !word.chars().all(|c| c.is_alphabetic() || " -&".contains(c)) {
                    faults.push(KeyFault::new(path, format!("`{word}` is not plain letters")));
                }
                if label.words[..nth].contains(word) {
                    faults.push(KeyFault::new(path, format!("`{word}` is here twice")));
                }
            }
        }
        let fields: Vec<(&str, usize, &str)> = (self.number.iter().enumerate())
            .map(|(at, number)| ("number", at, &*number.field))
            .chain(self.label.iter().enumerate().map(|(at, label)| ("label", at, &*label.field)))
            .collect();
        for (nth, (key, at, field)) in fields.iter().enumerate() {
            if fields[..nth].iter().any(|(_, _, known)| known == field) {
                faults.push(KeyFault::new([*key, &*at.to_string(), "field"], format!("`{field}` is here twice")));
            }
        }
        faults
    }

    /// What is wrong with the kinds of requirements.
    fn requirements(&self, document: &Document<'_>) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        for (at, rule) in self.rule.iter().enumerate() {
            let place = at.to_string();
            let path = |key| ["rule", &*place, key];
            if document.was_told(&path("measure")) {
                continue;
            }
            let wanted: Vec<&str> = match rule.measure {
                Measure::WordAtMost => self.label.iter().map(|label| &*label.field).collect(),
                _ => self.number.iter().map(|number| &*number.field).collect(),
            };
            if !wanted.contains(&&*rule.of) {
                let kind = if rule.measure == Measure::WordAtMost { "label" } else { "number" };
                let fault = KeyFault::new(path("of"), format!("there is no {kind} `{}`", rule.of));
                faults.push(fault.instead_of(&rule.of, wanted));
            }
            match (rule.measure == Measure::ManyAtMost, rule.least) {
                (true, None) => {
                    let fault = KeyFault::new(path("measure"), "`many_at_most` counts from some value on");
                    faults.push(fault.with_help("add `least = …`"));
                }
                (false, Some(_)) => {
                    faults.push(KeyFault::new(path("least"), "only `many_at_most` has a `least`").at_key());
                }
                _ => {}
            }
            let hole = if rule.is_list() { "{list}" } else { "{bound}" };
            if rule.says.is_empty() {
                faults.push(KeyFault::new(path("says"), "at least one sentence is needed"));
            }
            for (nth, _) in rule.says.iter().enumerate().filter(|(_, says)| says.matches(hole).count() != 1) {
                let path = ["rule", &*place, "says", &*nth.to_string()];
                faults.push(KeyFault::new(path, format!("this sentence needs one `{hole}`")));
            }
            let before = &self.rule[..at];
            // The generator moves an attribute one way only, so that no decoy makes room for another.
            let falls = |rule: &RuleWords| rule.measure == Measure::TotalAtLeast;
            if before.iter().any(|other| other.of == rule.of && falls(other) != falls(rule)) {
                faults.push(KeyFault::new(path("of"), format!("`{}` is bounded from both sides", rule.of)));
            }
            if before.iter().any(|other| (other.measure, &other.of) == (rule.measure, &rule.of)) {
                faults.push(KeyFault::new(path("measure"), format!("this bound on `{}` is here twice", rule.of)));
            }
        }
        if self.free().is_none() && !self.number.is_empty() {
            let fault = KeyFault::new(["number"], "every number has a requirement");
            faults.push(fault.with_help("leave one free, so that a twin can move a bound on it"));
        }
        faults
    }

    /// Attributes that the domain's items do not have, or that are of another type there.
    fn unknown_fields(&self, domain: &Domain) -> Vec<KeyFault> {
        let Some(item) = domain.table_named(ITEM) else { return Vec::new() };
        let table = domain.table(item);
        let label = domain.table_named(LABEL);
        let fields = (self.number.iter().enumerate().map(|(at, number)| ("number", at, &number.field)))
            .chain(self.label.iter().enumerate().map(|(at, label)| ("label", at, &label.field)));
        let told = fields.filter_map(|(key, at, field)| {
            let path = [key, &*at.to_string(), "field"];
            let Some(found) = table.field_named(field) else {
                let fault = KeyFault::new(path, format!("`{ITEM}` has no field `{field}`"));
                return Some(fault.instead_of(field, domain.field_names(item)));
            };
            let fits = match (key, table.field(found).ty) {
                ("number", ty) => ty == Type::Int,
                (_, Type::Ref(to)) => label == Some(to),
                _ => false,
            };
            let wanted = if key == "number" { "a whole number" } else { "a reference to a label" };
            (!fits).then(|| KeyFault::new(path, format!("`{ITEM}.{field}` is not {wanted}")))
        });
        told.collect()
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
