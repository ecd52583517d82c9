//! Reads a pattern's folder: `pattern.toml`, `text.toml` and, where it changes rules, `rules.toml`. All faults of all files are told
//! at once, with line, column and the nearest name.
//!
//! A folder is read in two steps, because what may stand in it depends on its family: [`PatternFolder::read`] looks at what every
//! pattern has, and [`PatternFolder::check`] at what the family asks (objectives, phrases, placeholders, the words of the recipe) and
//! at the rules, which are compiled together with those of the family.

use crate::{Authoring, Family, Pattern, PatternHead, PatternText, Placeholder};
use benchwright_base::Diagnostic;
use benchwright_schema::{
    Document, Domain, KeyFault,
    plan::{PlanText, RuleText},
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a pattern; the last is optional.
const FILES: [&str; 3] = ["pattern.toml", "text.toml", "rules.toml"];

/// A pattern's folder with the faults found so far.
pub struct PatternFolder<'a> {
    files: [Option<Document<'a>>; 3],
    head: Option<PatternHead>,
    words: Option<PatternText>,
    rules: Option<RulesText>,
    /// Faults of the folder itself.
    faults: Vec<Diagnostic>,
}

/// `rules.toml` as it is written: what a pattern changes in the plan of its family, or adds to it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesText {
    #[serde(default)]
    facts: BTreeMap<String, String>,
    #[serde(default)]
    lets: BTreeMap<String, String>,
    #[serde(default)]
    rules: BTreeMap<String, RuleText>,
}

impl<'a> PatternFolder<'a> {
    /// Reads the texts of a folder's files by name.
    pub fn read(files: &'a BTreeMap<String, String>) -> PatternFolder<'a> {
        let mut faults = Vec::new();
        for file in &FILES[..2] {
            if !files.contains_key(*file) {
                faults.push(Diagnostic::at(file, "", 0, "this file is missing", None));
            }
        }
        for file in files.keys().filter(|file| file.ends_with(".toml") && !FILES.contains(&&***file)) {
            let help = benchwright_base::nearest(file, FILES).map(|near| format!("did you mean `{near}`?"));
            faults.push(Diagnostic::at(file, "", 0, "a pattern's folder has no such file", help));
        }
        let files = FILES.map(|file| files.get_key_value(file).map(|(file, text)| Document::new(file, text)));
        let [head, words, rules] = &files;
        let head: Option<PatternHead> = head.as_ref().and_then(Document::read);
        let words = words.as_ref().and_then(Document::read);
        let rules = rules.as_ref().and_then(Document::read);
        let mut folder = PatternFolder { files, head, words, rules, faults };
        // Axes with faults make no cells, whose faults would only follow from theirs.
        if folder.check_axes() {
            folder.head = folder.head.map(PatternHead::spread);
        }
        folder.check_head();
        folder.check_words();
        folder
    }

    /// What its `pattern.toml` says, as far as it can be read.
    pub fn head(&self) -> Option<&PatternHead> {
        self.head.as_ref()
    }

    /// Whether it changes rules, so that they must be compiled on the domain.
    pub fn has_rules(&self) -> bool {
        self.files[2].is_some()
    }

    /// The family and the domain that it says, or that it has under a name such as `grid/travel`; nothing if it says none.
    pub fn family(&self, name: &str) -> Option<(String, String)> {
        let head = self.head.as_ref()?;
        match (&head.part, &head.domain, head.family.is_empty()) {
            (Some(part), None, true) => {
                Some((part.clone(), name.split('/').next_back().unwrap_or_default().to_owned()))
            }
            (None, domain, false) => Some((head.family.clone(), domain.as_ref().unwrap_or(&head.family).clone())),
            _ => None,
        }
    }

    /// Tells that its family is not there, with the nearest one.
    pub fn no_family(&self, why: &str) {
        let key = if self.head.as_ref().is_some_and(|head| head.part.is_some()) { "part" } else { "family" };
        let (message, help) = why.split_once("; ").map_or((why, None), |(message, help)| (message, Some(help)));
        self.fault(KeyFault { help: help.map(str::to_owned), ..KeyFault::new([key], message) });
    }

    fn fault(&self, fault: KeyFault) {
        self.tell(0, [fault]);
    }

    fn tell(&self, file: usize, faults: impl IntoIterator<Item = KeyFault>) {
        if let Some(document) = &self.files[file] {
            document.add(faults);
        }
    }

    /// Axes by themselves: told apart by letter, with objectives for the cells that they make, which are not told twice.
    /// Whether nothing is wrong with them.
    fn check_axes(&self) -> bool {
        let Some(head) = &self.head else { return false };
        let mut faults = Vec::new();
        for (at, axis) in head.axes.iter().enumerate() {
            let place = at.to_string();
            if axis.letter.is_empty() || !axis.letter.chars().all(|c| c.is_ascii_lowercase()) {
                let fault = KeyFault::new(["axes", &place, "letter"], "an axis has a small letter, or several");
                faults.push(fault.with_help("a tier is written with it, such as `h05`"));
            } else if head.axes[..at].iter().any(|known| known.letter == axis.letter) {
                faults.push(KeyFault::new(["axes", &place, "letter"], format!("`{}` is here twice", axis.letter)));
            }
        }
        let makes_cells = head.axes.iter().any(|axis| !axis.values.is_empty());
        match (makes_cells, head.cells.is_empty(), head.objectives.is_empty()) {
            (true, false, _) => faults.push(KeyFault::new(["cells"], "`axes` with values make the cells").at_key()),
            (true, true, true) => {
                let fault = KeyFault::new(["axes"], "the cells that axes make have no objective").at_key();
                faults.push(fault.with_help("write `objectives` for all of them"));
            }
            (false, _, false) => {
                let fault = KeyFault::new(["objectives"], "only cells that `axes` make have common objectives");
                faults.push(fault.at_key());
            }
            _ => {}
        }
        let is_sound = faults.is_empty();
        self.tell(0, faults);
        is_sound
    }

    /// Where the objective of a cell is written.
    fn place_of_objective(head: &PatternHead, cell: usize, nth: usize) -> Vec<String> {
        match head.axes.iter().any(|axis| !axis.values.is_empty()) {
            true => vec!["objectives".to_owned(), nth.to_string()],
            false => vec!["cells".to_owned(), cell.to_string(), "objectives".to_owned(), nth.to_string()],
        }
    }

    /// A `pattern.toml` by itself: one family or part, and cells with objectives.
    fn check_head(&self) {
        let Some(head) = &self.head else { return };
        match (&head.part, head.family.is_empty()) {
            (Some(_), false) => {
                let fault = KeyFault::new(["part"], "a pattern has a `family` or a `part`, not both").at_key();
                self.fault(fault);
            }
            (Some(_), true) if head.domain.is_some() => {
                let fault = KeyFault::new(["domain"], "a pattern with a `part` is there for each of its domains");
                self.fault(fault.at_key());
            }
            (None, true) => self.fault(KeyFault::new([], "a pattern has a `family` or a `part`")),
            _ => {}
        }
        // What axes make, or fail to make, has been looked at.
        let makes_cells = head.axes.iter().any(|axis| !axis.values.is_empty());
        if head.cells.is_empty() && !makes_cells {
            let fault = KeyFault::new(["cells"], "at least one cell is needed");
            self.fault(fault.with_help("write `[[cells]]` with a `tier` and `objectives`"));
        }
        for (at, cell) in head.cells.iter().enumerate().filter(|_| !makes_cells) {
            let place = at.to_string();
            if cell.objectives.is_empty() {
                self.fault(KeyFault::new(["cells", &place, "objectives"], "a cell has at least one objective"));
            }
            if head.cells[..at].iter().any(|known| known.tier == cell.tier) {
                self.fault(KeyFault::new(["cells", &place, "tier"], format!("the tier `{}` is here twice", cell.tier)));
            }
            for (nth, objective) in cell.objectives.iter().enumerate() {
                if cell.objectives[..nth].contains(objective) {
                    let path = ["cells", &place, "objectives", &nth.to_string()];
                    self.fault(KeyFault::new(path, format!("`{objective}` is here twice")));
                }
            }
        }
    }

    /// A `text.toml` by itself: nothing is empty, no figure is written out, and there are words for every goal.
    fn check_words(&self) {
        let Some(words) = &self.words else { return };
        if words.title.trim().is_empty() {
            self.tell(1, [KeyFault::new(["title"], "the title is empty")]);
        }
        for (path, phrasings) in words.lists() {
            if phrasings.is_empty() {
                let name = path.last().copied().unwrap_or_default();
                self.tell(1, [KeyFault::new(path.iter().copied(), format!("`{name}` needs at least one phrasing"))]);
            }
        }
        for (path, text) in words.texts() {
            if let Some(at) = text.find(|sign: char| sign.is_ascii_digit()) {
                let fault = KeyFault::new(path.iter().map(|key| &**key), "no figure is written out").at_byte(at);
                self.tell(1, [fault.with_help("figures come from the case; say it without a number")]);
            }
        }
        let Some(head) = self.head.as_ref().filter(|_| self.files[0].as_ref().is_some_and(Document::is_toml)) else {
            return;
        };
        let asked: BTreeSet<&str> = head.cells.iter().flat_map(|cell| &cell.objectives).map(|name| &**name).collect();
        for objective in asked.iter().filter(|objective| !words.goal.contains_key(**objective)) {
            let fault = KeyFault::new(["goal"], format!("there are no words for the goal `{objective}`")).at_key();
            self.tell(1, [fault]);
        }
        let unasked = words.goal.keys().filter(|objective| !asked.contains(&***objective));
        for objective in unasked.filter(|_| !head.cells.is_empty()) {
            let fault = KeyFault::new(["goal", objective], format!("no cell has the objective `{objective}`")).at_key();
            self.tell(1, [fault.instead_of(objective, asked.iter().copied())]);
        }
    }

    /// Looks at everything that the family asks. The domain is needed where there are rules.
    pub fn check(&self, family: &dyn Family, domain: Option<&Domain>) {
        let (plan, asks) = (family.plan(), family.authoring());
        if let Some(head) = &self.head {
            let mut told = BTreeSet::new();
            for (at, cell) in head.cells.iter().enumerate() {
                for (nth, objective) in cell.objectives.iter().enumerate() {
                    let path = Self::place_of_objective(head, at, nth);
                    if !plan.objectives.contains_key(objective) && told.insert(path.clone()) {
                        let path = path.iter().map(|key| &**key);
                        let fault = KeyFault::new(path, format!("the family has no objective `{objective}`"));
                        self.fault(fault.instead_of(objective, plan.objectives.keys().map(|name| &**name)));
                    }
                }
            }
            if let (Some(asks), Some(document)) = (asks, &self.files[0]) {
                asks.check_head(head, &document.root());
            }
        }
        let placeholders = asks.map(Authoring::placeholders);
        if let Some(words) = &self.words {
            self.tell(1, phrases(words, plan));
            if let Some(placeholders) = &placeholders {
                self.tell(1, holes(words, placeholders));
            }
        }
        if let (Some(rules), Some(domain)) = (&self.rules, domain) {
            let natives: Vec<&str> = family.natives().iter().map(|(name, _)| *name).collect();
            self.tell(2, rules.check(plan, domain, &natives, placeholders.as_deref()));
        }
    }

    /// The pattern under a name such as `production/two-line-plan`, or all faults.
    pub fn finish(self, name: &str) -> Result<Pattern, Vec<Diagnostic>> {
        let named = self.family(name);
        let PatternFolder { files, head, words, rules, mut faults } = self;
        faults.extend(files.into_iter().flatten().flat_map(Document::into_faults));
        let (Some(head), Some(text), Some((family, domain)), true) = (head, words, named, faults.is_empty()) else {
            faults.sort();
            return Err(faults);
        };
        let RulesText { facts, lets, rules } = rules.unwrap_or_default();
        let rules = PlanText { facts, lets, rules, ..PlanText::default() };
        Ok(Pattern { name: name.to_owned(), family, domain, head, text, rules })
    }
}

/// Every way to put a goal has the phrases by which its objective is known, and nothing has those of another objective or of a rule.
fn phrases(words: &PatternText, plan: &PlanText) -> Vec<KeyFault> {
    let mut faults = Vec::new();
    for (goal, phrasings) in &words.goal {
        let keeps = plan.objectives.get(goal).map_or(&[][..], |objective| &objective.keeps);
        for (at, text) in phrasings.iter().enumerate() {
            let path = ["goal", goal, &*at.to_string()];
            faults.extend(keeps.iter().filter(|phrase| !text.contains(&***phrase)).map(|phrase| {
                let fault = KeyFault::new(path, format!("`{phrase}` is missing, by which this goal is known"));
                fault.with_help("the plan of the family says which phrases a reader looks for")
            }));
        }
    }
    for (path, text) in words.texts() {
        let own = path.get(1).filter(|_| path[0] == "goal");
        for (objective, declared) in plan.objectives.iter().filter(|(objective, _)| Some(*objective) != own) {
            for (phrase, at) in declared.keeps.iter().filter_map(|phrase| Some((phrase, text.find(&**phrase)?))) {
                let message = format!("`{phrase}` is how the goal `{objective}` is known");
                faults.push(KeyFault::new(path.iter().map(|key| &**key), message).at_byte(at));
            }
        }
        for (id, rule) in &plan.rules {
            let places: Option<Vec<usize>> = rule.known_by().into_iter().map(|phrase| text.find(phrase)).collect();
            if let Some(at) = places.and_then(|places| places.into_iter().min()) {
                let message = format!("`{}` is how the rule `{id}` is known", rule.known_by().join("` with `"));
                faults.push(KeyFault::new(path.iter().map(|key| &**key), message).at_byte(at));
            }
        }
    }
    faults
}

/// What stands in braces is known, and openings have what they must.
fn holes(words: &PatternText, placeholders: &[Placeholder]) -> Vec<KeyFault> {
    let mut faults = Vec::new();
    for (path, text) in words.texts() {
        let path = || path.iter().map(|key| &**key);
        faults.extend(wrong_holes(text, placeholders).into_iter().map(|hole| hole.at(path())));
        if path().next() != Some("opening") {
            continue;
        }
        for needed in placeholders.iter().filter(|placeholder| placeholder.opens) {
            let hole = format!("{{{}}}", needed.name);
            if text.matches(&hole).count() != 1 {
                faults.push(KeyFault::new(path(), format!("an opening has `{hole}` once")));
            }
        }
    }
    faults
}

/// A brace that is not closed, or a name that stands for nothing.
struct WrongHole {
    at: usize,
    message: String,
    help: Option<String>,
}

impl WrongHole {
    fn at<'k>(self, path: impl IntoIterator<Item = &'k str>) -> KeyFault {
        KeyFault { help: self.help, ..KeyFault::new(path, self.message).at_byte(self.at) }
    }
}

fn wrong_holes(text: &str, placeholders: &[Placeholder]) -> Vec<WrongHole> {
    let mut wrong = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        let Some(end) = text[at..].find('}').map(|end| at + end) else {
            wrong.push(WrongHole { at, message: "this brace is never closed".to_owned(), help: None });
            break;
        };
        let name = &text[at + 1..end];
        if placeholders.iter().all(|known| known.name != name) {
            let names = placeholders.iter().map(|known| known.name);
            let KeyFault { message, help, .. } =
                KeyFault::new([], format!("`{{{name}}}` stands for nothing")).instead_of(name, names);
            wrong.push(WrongHole { at, message, help });
        }
        from = end + 1;
    }
    wrong
}

impl RulesText {
    /// All that is wrong with the rules of a pattern on the plan of its family.
    fn check(
        &self,
        plan: &PlanText,
        domain: &Domain,
        natives: &[&str],
        placeholders: Option<&[Placeholder]>,
    ) -> Vec<KeyFault> {
        let mut faults = Vec::new();
        for (name, signature) in &self.facts {
            if plan.facts.contains_key(name) {
                let fault = KeyFault::new(["facts", name], format!("the family has a fact `{name}`")).at_key();
                faults.push(fault.with_help("call it otherwise; what the family's mean, a pattern does not change"));
            } else if !signature.split_whitespace().any(|word| word == "else") {
                let fault = KeyFault::new(["facts", name], "no case states this fact, so its value is its `else`");
                faults.push(fault.with_help("write it like \"(): int else 40\""));
            }
        }
        let switches: BTreeSet<&str> =
            plan.rules.values().flat_map(|rule| &rule.needs).map(|need| need.trim_start_matches('!')).collect();
        let families: BTreeSet<&str> = plan.rules.values().map(|rule| &*rule.family).collect();
        for (id, rule) in &self.rules {
            let own = plan.rules.get(id);
            if !families.contains(&*rule.family) {
                let fault = KeyFault::new(["rules", id, "family"], format!("no rule is of the kind `{}`", rule.family));
                faults.push(fault.instead_of(&rule.family, families.iter().copied()));
            }
            for (at, need) in rule.needs.iter().enumerate() {
                let switch = need.trim_start_matches('!');
                if !switches.contains(switch) {
                    let path = ["rules", id, "needs", &*at.to_string()];
                    let fault = KeyFault::new(path, format!("no case has the switch `{switch}`"));
                    faults.push(fault.instead_of(switch, switches.iter().copied()));
                }
            }
            let is_told = |rule: &RuleText| !rule.says.is_empty() || rule.told_with.is_some() || rule.told_by.is_some();
            if !is_told(rule) && own.is_none_or(is_told) {
                let fault = KeyFault::new(["rules", id], "nothing tells this rule").at_key();
                faults.push(fault.with_help("give it a sentence with `says`, or `told_with` another rule"));
            }
            let keeps = own.map_or(&[][..], |own| &own.keeps);
            for (at, says) in rule.says.iter().enumerate() {
                let path = ["rules", id, "says", &*at.to_string()];
                faults.extend(placeholders.into_iter().flat_map(|known| wrong_holes(says, known)).map(|h| h.at(path)));
                for phrase in keeps.iter().filter(|phrase| !says.contains(&***phrase)) {
                    let fault = KeyFault::new(path, format!("`{phrase}` is missing, by which this rule is known"));
                    faults.push(fault.with_help("the plan of the family says which phrases a reader looks for"));
                }
            }
        }
        let mut whole = plan.clone();
        whole.facts.extend(self.facts.clone());
        whole.lets.extend(self.lets.clone());
        whole.rules.extend(self.rules.clone());
        faults.extend(whole.check(domain, natives).into_iter().map(|fault| self.placed(fault)));
        faults
    }

    /// A fault of the whole plan, at what this file changed: what is the family's own is wrong only because of it.
    fn placed(&self, fault: KeyFault) -> KeyFault {
        let is_own = match fault.path.first().map(|key| &**key).zip(fault.path.get(1)) {
            Some(("facts", name)) => self.facts.contains_key(name),
            Some(("lets", name)) => self.lets.contains_key(name),
            Some(("rules", name)) => self.rules.contains_key(name),
            _ => false,
        };
        if is_own {
            return fault;
        }
        let message =
            format!("with this file the family's plan has a fault at {}: {}", fault.path.join("."), fault.message);
        KeyFault { path: Vec::new(), message, ..fault }
    }
}

impl PatternText {
    /// The lists of phrasings, each with its path.
    fn lists(&self) -> Vec<(Vec<&str>, &[String])> {
        let goals = self.goal.iter().map(|(goal, list)| (vec!["goal", &**goal], &list[..]));
        [(vec!["opening"], &self.opening[..]), (vec!["closing"], &self.closing[..])].into_iter().chain(goals).collect()
    }

    /// All texts, each with its path.
    fn texts(&self) -> Vec<(Vec<String>, &str)> {
        let title = (vec!["title".to_owned()], &*self.title);
        let lists = self.lists().into_iter().flat_map(|(path, list)| {
            list.iter().enumerate().map(move |(at, text)| {
                let path = path.iter().map(|key| (*key).to_owned()).chain([at.to_string()]).collect();
                (path, &**text)
            })
        });
        std::iter::once(title).chain(lists).collect()
    }
}
