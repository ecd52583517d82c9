//! What a workflow tells the part beside its records and rules: `planning.toml`.

use crate::dial::Dial;
use benchwright_base::Diagnostic;
use benchwright_schema::{Document, KeyFault};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the part's file is called in the folder of a workflow.
pub(crate) const FILE: &str = "planning.toml";

/// The tiers, from the easiest on.
pub(crate) const TIERS: [&str; 3] = ["easy", "medium", "hard"];

/// The respects in which a figure says how hard it is.
pub(crate) const RESPECTS: [&str; 6] =
    ["solving strategy", "formulation", "coupling", "dynamics", "scale of the data", "understanding"];

/// The trades that workflows are of.
const FAMILIES: [&str; 8] = [
    "manufacturing",
    "transportation",
    "healthcare",
    "energy and utilities",
    "retail and services",
    "software and telecom",
    "environment and agriculture",
    "public and resilience",
];

/// `planning.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    /// What the books call such a problem.
    pub(crate) class: String,
    /// The trade that it is of.
    pub(crate) family: String,
    /// How it is told.
    pub(crate) brief: BriefText,
    /// Sets whose name is not the table's with an `s`: by table.
    #[serde(default)]
    pub(crate) sets: BTreeMap<String, String>,
    /// Facts that follow from others, each from those before it.
    #[serde(default)]
    pub(crate) computed: Vec<ComputedText>,
    /// The rows that a plan may consist of, by view.
    pub(crate) candidates: BTreeMap<String, CandidatesText>,
    /// Rows that a plan has all of or none, by name. Where a view has both, its candidates are those of a plan without bundles.
    #[serde(default)]
    pub(crate) bundle: BTreeMap<String, BundleText>,
    /// Limits that are set around a plan which is known to be possible.
    #[serde(default)]
    pub(crate) knob: Vec<KnobText>,
    /// How somebody plans who looks no further than the next row.
    #[serde(default)]
    pub(crate) baseline: Vec<BaselineText>,
    /// Figures that may be otherwise, each `table.column`: a twin differs in one of them, and questions are about them.
    #[serde(default)]
    pub(crate) moves: Vec<String>,
    /// The second measure of plans, on which options have bounds.
    #[serde(default)]
    pub(crate) front: Option<FrontText>,
    /// How hard it is in each respect, by tier: six figures from 0 to 3. A tier that is not here is none that the workflow has.
    pub(crate) difficulty: BTreeMap<String, [u8; 6]>,
    /// The rule by which a plan names only what there is.
    #[serde(default)]
    pub(crate) known: Option<String>,
    /// The rules that are usually missed.
    #[serde(default)]
    pub(crate) headline: Vec<String>,
}

/// A second measure of plans.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FrontText {
    /// What it is of a plan, a whole number.
    pub(crate) of: String,
    /// What it counts, in the plural: `the hours of overtime`.
    pub(crate) says: String,
}

/// The words of a brief.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BriefText {
    /// How it begins, in several phrasings.
    pub(crate) opening: Vec<String>,
    /// How the goal is put.
    pub(crate) goal: Vec<String>,
    /// What each form holds, by its name.
    pub(crate) forms: BTreeMap<String, String>,
    /// What each column of a form means, by form and column.
    #[serde(default)]
    pub(crate) columns: BTreeMap<String, BTreeMap<String, String>>,
}

/// A fact that follows from others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComputedText {
    pub(crate) name: String,
    /// Its arguments: `i in items, t in periods`; none for a single number.
    #[serde(default)]
    pub(crate) per: Option<String>,
    /// Its value.
    pub(crate) is: String,
}

/// The rows of a view that a plan may have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CandidatesText {
    /// One for each of these: `i in items, t in periods`.
    #[serde(default)]
    pub(crate) per: Option<String>,
    /// The value of each field, or the two between which it is free: `1 .. most(i)`.
    pub(crate) fields: BTreeMap<String, String>,
    /// Whether every plan has all of them.
    #[serde(default)]
    pub(crate) must: bool,
}

/// Rows that are used together: members, one after the other, and the rows that each of them makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleText {
    /// For each of these: `k in kinds`.
    #[serde(default)]
    pub(crate) per: Option<String>,
    /// What a member is: `s in stops`. Of several variables, members are their combinations.
    pub(crate) over: String,
    /// Whether members have no order: each comes after those before it in its first variable.
    #[serde(default)]
    pub(crate) unordered: bool,
    /// The most members.
    pub(crate) most: String,
    /// The field by which a plan names them, in whatever row has it.
    #[serde(default)]
    pub(crate) label: Option<String>,
    /// What is reckoned along the way, each from those before it. `before_` is what stood at the member before.
    #[serde(default)]
    pub(crate) values: Vec<BundleValueText>,
    /// The rows of each member, by view.
    #[serde(default)]
    pub(crate) each: BTreeMap<String, BTreeMap<String, String>>,
    /// The rows of the whole, by view.
    #[serde(default)]
    pub(crate) once: BTreeMap<String, BTreeMap<String, String>>,
    /// Rules that no further member can mend.
    #[serde(default)]
    pub(crate) within: Vec<String>,
    /// Rules that hold once it is whole.
    #[serde(default)]
    pub(crate) whole: Vec<String>,
    /// Of those with the same members and the same last one, only those are kept that are not worse in all of these.
    #[serde(default)]
    pub(crate) best: Vec<String>,
    /// Of those with the same members, once they are whole, only the one with the least of this.
    #[serde(default)]
    pub(crate) only: Option<String>,
}

/// A value that is reckoned along a bundle.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleValueText {
    pub(crate) name: String,
    /// At the first member.
    pub(crate) first: String,
    /// At each further one.
    pub(crate) next: String,
}

/// A limit that is set around a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnobText {
    /// The column that holds it, as `table.column`.
    pub(crate) column: String,
    /// Which row of the table, for each: `t in periods`; none for a table of one row.
    #[serde(default)]
    pub(crate) per: Option<String>,
    /// What a plan uses of it.
    pub(crate) uses: String,
    /// How much of that it is, in percent, between two figures.
    pub(crate) slack: [i64; 2],
    /// A value at which it holds nothing back, for finding a first plan.
    pub(crate) loose: i64,
    /// A limit below which it makes no sense, however little the plan uses; above which, for a lower limit.
    #[serde(default)]
    pub(crate) floor: Option<i64>,
    /// Whether it is a lower limit: what the plan has less of.
    #[serde(default)]
    pub(crate) least: bool,
}

/// A step of the baseline: for each choice of values, while its goal does not hold, the row that makes it hold with the least.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaselineText {
    /// The view that gets rows.
    pub(crate) view: String,
    /// In which order: `t in periods, i in items`.
    pub(crate) per: String,
    /// What is to hold.
    pub(crate) goal: String,
    /// The row: its fields, of which one may be tried from a value up to another.
    pub(crate) fields: BTreeMap<String, String>,
}

/// What is wrong with what is said of tiers, of which these are known.
pub(crate) fn difficulty_faults(said: &BTreeMap<String, [u8; 6]>, known: &[&str], faults: &mut Vec<KeyFault>) {
    if said.is_empty() {
        faults.push(KeyFault::new(["difficulty"], "there is no tier"));
    }
    for (tier, figures) in said {
        if !known.contains(&&**tier) {
            let fault = KeyFault::new(["difficulty", tier], format!("there is no tier `{tier}`")).at_key();
            faults.push(fault.instead_of(tier, known.iter().copied()));
        }
        if figures.iter().any(|figure| *figure > 3) {
            faults.push(KeyFault::new(["difficulty", tier], "a figure is from 0 to 3"));
        }
    }
}

impl BundleText {
    /// The views that it makes rows of.
    pub(crate) fn views(&self) -> impl Iterator<Item = &String> {
        self.each.keys().chain(self.once.keys())
    }
}

impl Told {
    /// Reads the file, or tells all its faults.
    pub(crate) fn read(text: &str) -> Result<Told, Vec<Diagnostic>> {
        let document = Document::new(FILE, text);
        let told: Option<Told> = document.read();
        if let Some(told) = told {
            document.add(told.faults());
            if document.is_sound() {
                return Ok(told);
            }
        }
        Err(document.into_faults())
    }

    fn faults(&self) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        if !FAMILIES.contains(&&*self.family) {
            let fault = KeyFault::new(["family"], format!("there is no family `{}`", self.family));
            faults.push(fault.instead_of(&self.family, FAMILIES));
        }
        if self.class.is_empty() {
            faults.push(KeyFault::new(["class"], "what do the books call it?"));
        }
        let turned = TIERS.iter().flat_map(|tier| Dial::ALL.map(|dial| format!("{tier}-{}", dial.word())));
        let known: Vec<String> = TIERS.map(str::to_owned).into_iter().chain(turned).collect();
        difficulty_faults(&self.difficulty, &known.iter().map(|tier| &**tier).collect::<Vec<_>>(), &mut faults);
        for tier in self.difficulty.keys() {
            let Some((plain, dial)) = Dial::of(tier) else { continue };
            if !self.difficulty.contains_key(plain) {
                let why = format!("a dial is turned at a tier that there is; list `{plain}` too");
                faults.push(KeyFault::new(["difficulty", tier], why).at_key());
            }
            if self.moves.is_empty() && matches!(dial, Dial::Twin | Dial::Ask) {
                let why = "this dial moves figures; say in `moves` which may be otherwise, as `table.column`";
                faults.push(KeyFault::new(["difficulty", tier], why).at_key());
            }
        }
        for (at, knob) in self.knob.iter().enumerate() {
            let at = at.to_string();
            if !knob.column.contains('.') {
                faults.push(KeyFault::new(["knob", &*at, "column"], "this is not `table.column`"));
            }
            if knob.slack[0] > knob.slack[1] || knob.slack[0] < 1 {
                faults.push(KeyFault::new(["knob", &*at, "slack"], "this is not `[least, most]` in percent"));
            }
        }
        for (key, list) in [("opening", &self.brief.opening), ("goal", &self.brief.goal)] {
            if list.is_empty() {
                faults.push(KeyFault::new(["brief", key], "at least one phrasing is needed"));
            }
        }
        faults
    }
}
