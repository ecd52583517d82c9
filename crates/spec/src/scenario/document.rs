//! Reads the folder of a scenario, and holds every name in it to the domain.

use super::cast::{self, fault};
use super::plants::{self, PlantText};
use super::voices::{self, WordsText};
use super::{
    AnswerType, Asked, Blocked, BlockingRule, Clause, Ensure, Lost, Member, Obstacle, Passing, Plant, Scenario, Tier,
    Told,
};
use benchwright_base::{Diagnostic, FieldId, TableId, nearest};
use benchwright_expr::{Expr, Fault, Given, GivenType, Names as _, Scope, Type, check_truth, check_value};
use benchwright_schema::{
    Document, Domain, KeyFault, Shape, Spot,
    ways::{self, Wanted},
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use std::{collections::BTreeMap, fmt, marker::PhantomData};

/// The file that makes a folder a scenario.
pub const SCENARIO: &str = "scenario.toml";
/// The file with the voices.
pub const WORDS: &str = "words.toml";
/// The tiers, from the easiest on.
pub(super) const TIERS: [&str; 3] = ["easy", "medium", "hard"];

/// A table whose order counts.
#[derive(Clone, Debug)]
pub(super) struct Ordered<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Ordered<T> {
        Ordered(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioText {
    title: String,
    domain: String,
    seat: String,
    #[serde(default)]
    asks: Option<String>,
    cast: Ordered<String>,
    #[serde(default)]
    via: BTreeMap<String, String>,
    #[serde(default)]
    plant: Vec<Ordered<PlantValue>>,
    #[serde(default, rename = "do")]
    clauses: Vec<ClauseText>,
    #[serde(default)]
    ensure: Vec<String>,
    #[serde(default)]
    tiers: Ordered<TierText>,
    #[serde(default)]
    pub(super) blocked: Ordered<BlockedText>,
}

/// What stands at a key of a plant.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum PlantValue {
    Text(String),
    Number(i64),
    List(Vec<String>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClauseText {
    id: String,
    #[serde(default)]
    change: Option<String>,
    #[serde(default)]
    to: Ordered<String>,
    #[serde(default)]
    make: Option<String>,
    #[serde(default)]
    with: Ordered<String>,
    #[serde(default)]
    each: Option<String>,
    #[serde(default, rename = "as")]
    name: Option<String>,
    #[serde(default)]
    drop: Option<String>,
    #[serde(default)]
    call: Option<String>,
    #[serde(default)]
    args: Ordered<String>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    is: Option<String>,
    #[serde(default)]
    of: Option<String>,
    #[serde(default)]
    give: Option<String>,
    #[serde(default)]
    when: Option<String>,
    #[serde(default, rename = "tier")]
    tiers: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierText {
    #[serde(default)]
    sizes: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockedText {
    kind: String,
    #[serde(default)]
    rule: Option<String>,
    #[serde(default)]
    plant: Vec<Ordered<PlantValue>>,
    #[serde(default)]
    seat: Option<String>,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    lost: Option<String>,
    #[serde(default, rename = "do")]
    clauses: Vec<ClauseText>,
    #[serde(default)]
    ensure: Vec<String>,
    #[serde(default)]
    pub(super) adds: Option<String>,
}

/// The domain that the `scenario.toml` of a folder names.
pub fn domain_name(files: &BTreeMap<String, String>) -> Option<String> {
    let document = Document::new(SCENARIO, files.get(SCENARIO)?);
    document.root().get("domain")?.text().map(str::to_owned)
}

/// Reads the files of a scenario's folder against its domain.
pub fn read(files: &BTreeMap<String, String>, domain: &Domain) -> Result<Scenario, Vec<Diagnostic>> {
    let mut missing = Vec::new();
    for file in [SCENARIO, WORDS] {
        if !files.contains_key(file) {
            missing.push(Diagnostic::at(file, "", 0, "this file is missing", None));
        }
    }
    for file in files.keys().filter(|file| ![SCENARIO, WORDS].contains(&&***file)) {
        missing.push(Diagnostic::at(file, "", 0, "a scenario's folder has no such file", None));
    }
    let (Some(matter), Some(words)) = (files.get(SCENARIO), files.get(WORDS)) else { return Err(missing) };
    let (matter, words) = (Document::new(SCENARIO, matter), Document::new(WORDS, words));
    let text: Option<ScenarioText> = matter.read();
    let said: Option<WordsText> = words.read();
    let mut scenario = None;
    if let Some(text) = &text {
        let reader = Reader { domain, document: &matter, faulty: false };
        scenario = reader.scenario(text);
    }
    if let (Some(scenario), Some(said), Some(text)) = (&mut scenario, &said, &text) {
        voices::read(scenario, said, text, domain, &words, &matter);
    }
    missing.extend(matter.into_faults());
    missing.extend(words.into_faults());
    match scenario {
        Some(scenario) if missing.is_empty() => Ok(scenario),
        _ => Err(missing),
    }
}

/// Faults of a text at a key.
pub(super) fn tell(document: &Document<'_>, path: &[&str], faults: Vec<Fault>) {
    for Fault { offset, message, help } in faults {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        document.add([KeyFault { path, spot: Spot::Value(offset), message, help }]);
    }
}

/// A fault with the nearest of some names.
fn unknown<'n>(message: String, wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<Fault> {
    fault(message, nearest(wrong, names).map(|near| format!("did you mean `{near}`?")))
}

struct Reader<'a> {
    domain: &'a Domain,
    document: &'a Document<'a>,
    faulty: bool,
}

impl Reader<'_> {
    fn tell(&mut self, path: &[&str], faults: Vec<Fault>) {
        self.faulty |= !faults.is_empty();
        tell(self.document, path, faults);
    }

    /// What was read, or nothing with its faults told.
    fn or_tell<T>(&mut self, path: &[&str], read: Result<T, Vec<Fault>>) -> Option<T> {
        match read {
            Ok(found) => Some(found),
            Err(faults) => {
                self.tell(path, faults);
                None
            }
        }
    }

    fn scenario(mut self, text: &ScenarioText) -> Option<Scenario> {
        let domain = self.domain;
        let mut cast: Vec<Member> = Vec::new();
        for (name, form) in &text.cast.0 {
            let given: Vec<Given<'_>> = cast.iter().map(|m| Given { name: &m.name, is: m.is }).collect();
            let known = cast.iter().any(|member| member.name == *name);
            let member = match known {
                true => Err(fault(format!("`{name}` is here twice"), None)),
                false => cast::member(name, form, &given, domain, domain),
            };
            // One that could not be read would make a fault of everything that names it.
            cast.push(self.or_tell(&["cast", name], member)?);
        }
        let (seat, person) = self.seat(&text.seat, &cast);
        let mut scenario = Scenario {
            title: text.title.clone(),
            domain: text.domain.clone(),
            seat,
            person,
            asks: None,
            cast,
            plants: Vec::new(),
            clauses: Vec::new(),
            ensure: Vec::new(),
            tiers: Vec::new(),
            via: text.via.clone(),
            blocked: Vec::new(),
            voices: Vec::new(),
            idle: Vec::new(),
        };
        for (member, tool) in &text.via {
            if scenario.member(member).is_none() {
                let names = scenario.cast.iter().map(|member| &*member.name);
                let faults = unknown(format!("nobody in the cast is called `{member}`"), member, names);
                self.tell(&["via", member], faults);
            }
            if domain.tool_named(tool).is_none_or(|tool| !domain.tools[tool].reads_only()) {
                let names = domain.tools.iter().filter(|tool| tool.reads_only()).map(|tool| &*tool.name);
                let faults = unknown(format!("no reading tool is called `{tool}`"), tool, names);
                self.tell(&["via", member], faults);
            }
        }
        if let Some(asks) = &text.asks {
            let names = scenario.names();
            let read = check_value(asks, domain, Scope { given: &names, ..Scope::default() }, None);
            let asks = self.or_tell(&["asks"], read);
            if asks.as_ref().is_some_and(|(_, ty)| !matches!(ty, Type::Ref(_))) {
                self.tell(&["asks"], fault("expected a person of the cast", None));
            }
            scenario.asks = asks.map(|(expr, _)| expr);
        }
        for (at, plant) in text.plant.iter().enumerate() {
            let plant = self.plant(&["plant", &at.to_string()], plant, &scenario);
            scenario.plants.extend(plant);
        }
        for (at, clause) in text.clauses.iter().enumerate() {
            let clause = self.clause(&["do", &at.to_string()], clause, &scenario);
            scenario.clauses.extend(clause);
        }
        if text.clauses.is_empty() {
            self.document.add([KeyFault::new(["do"], "nothing is asked for").with_help("add a clause: `[[do]]`")]);
            self.faulty = true;
        }
        scenario.ensure = self.ensure(&["ensure"], &text.ensure, &scenario, 0);
        for (name, tier) in &text.tiers.0 {
            let tier = self.tier(name, tier, &scenario);
            scenario.tiers.push((name.clone(), tier));
        }
        if scenario.tiers.is_empty() {
            scenario.tiers = TIERS.map(|tier| (tier.to_owned(), Tier::default())).to_vec();
        }
        for (name, blocked) in &text.blocked.0 {
            let blocked = self.blocked(name, blocked, &scenario);
            scenario.blocked.extend(blocked);
        }
        (!self.faulty).then_some(scenario)
    }

    /// `agent`, or `agent as x`.
    fn seat(&mut self, text: &str, cast: &[Member]) -> (String, Option<usize>) {
        let (role, person) = text.split_once(" as ").map_or((text, None), |(role, person)| (role, Some(person)));
        self.role(&["seat"], role);
        let person = person.map(str::trim).and_then(|name| {
            let found = cast.iter().position(|member| member.name == name);
            if found.is_none() {
                let names = cast.iter().map(|member| &*member.name);
                let faults = unknown(format!("nobody in the cast is called `{name}`"), name, names);
                self.tell(&["seat"], faults);
            }
            found
        });
        (role.trim().to_owned(), person)
    }

    fn role(&mut self, path: &[&str], role: &str) {
        let domain = self.domain;
        let known = match domain.members.is_empty() {
            true => domain.role_named(role.trim()).is_some(),
            false => domain.joined_role(role.trim()).is_some(),
        };
        if !known {
            let names = domain.roles.iter().map(|role| &*role.name);
            self.tell(path, unknown(format!("{} has no role `{role}`", domain.name), role, names));
        }
    }

    fn plant(&mut self, path: &[&str], text: &Ordered<PlantValue>, scenario: &Scenario) -> Option<Plant> {
        let mut plant = PlantText {
            table: None,
            each: None,
            change: None,
            double: None,
            tiers: Vec::new(),
            count: None,
            cells: Vec::new(),
        };
        // Where a table is named, these words can only be fields of it.
        let makes = text.0.iter().find(|(key, _)| key == "table").and_then(|(_, value)| match value {
            PlantValue::Text(table) => self.domain.table_named(table),
            _ => None,
        });
        let domain = self.domain;
        let is_field = |key: &str| makes.is_some_and(|table| domain.table(table).field_named(key).is_some());
        for (key, value) in &text.0 {
            match (&**key, value) {
                ("table", PlantValue::Text(text)) => plant.table = Some(text),
                ("each", PlantValue::Text(text)) => plant.each = Some(text),
                ("change" | "double", PlantValue::Text(text)) if is_field(key) => plant.cells.push((key, text)),
                ("change", PlantValue::Text(text)) => plant.change = Some(text),
                ("double", PlantValue::Text(text)) => plant.double = Some(text),
                ("tier", PlantValue::List(list)) => plant.tiers.clone_from(list),
                ("count", PlantValue::Number(number)) => plant.count = u32::try_from(*number).ok().map(|n| (n, n)),
                ("count", PlantValue::Text(text)) => plant.count = cast::range(text),
                (_, PlantValue::Text(text)) => plant.cells.push((key, text)),
                _ => {
                    let path: Vec<&str> = path.iter().copied().chain([&**key]).collect();
                    self.tell(&path, fault("expected how the cell is made, in quotes", None));
                }
            }
        }
        let names = scenario.names();
        let cast = &names[..scenario.cast.len()];
        match plants::plant(&plant, cast, self.domain, self.domain) {
            Ok(plant) => Some(plant),
            Err(faults) => {
                for (key, faults) in faults {
                    let path: Vec<&str> = path.iter().copied().chain((!key.is_empty()).then_some(&*key)).collect();
                    self.tell(&path, faults);
                }
                None
            }
        }
    }

    fn clause(&mut self, path: &[&str], text: &ClauseText, scenario: &Scenario) -> Option<Clause> {
        let at = |key: &'static str| -> Vec<&str> { path.iter().copied().chain([key]).collect() };
        let is_id = |id: &str| {
            id.starts_with(|c: char| c.is_ascii_lowercase())
                && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
        };
        if !is_id(&text.id) {
            self.tell(&at("id"), fault("a clause's name is lower case", None));
        }
        if scenario.clauses.iter().any(|clause| clause.id == text.id) {
            self.tell(&at("id"), fault(format!("`{}` is here twice", text.id), None));
        }
        let names = scenario.names();
        let scope = Scope { given: &names, ..Scope::default() };
        let when = text.when.as_ref().and_then(|when| {
            let read = check_truth(when, self.domain, scope);
            self.or_tell(&at("when"), read)
        });
        let each = match &text.each {
            Some(each) => Some(self.or_tell(&at("each"), cast::meant(each, &names, self.domain))?),
            None => None,
        };
        let its = Scope { it: each.as_ref().map(|each| each.table), ..scope };
        let act = match (&text.change, &text.make, &text.drop, &text.call, &text.answer) {
            (Some(rows), None, None, None, None) => {
                let rows = self.or_tell(&at("change"), cast::meant(rows, &names, self.domain))?;
                let table = rows.table;
                let its = Scope { it: Some(table), ..scope };
                let to = self.cells(&at("to"), &text.to, table, its)?;
                Asked::Change { rows, table, to }
            }
            (None, Some(table), None, None, None) => {
                let Some(table) = self.domain.relation(table) else {
                    let faults = unknown(format!("unknown table `{table}`"), table, self.domain.relation_names());
                    self.tell(&at("make"), faults);
                    return None;
                };
                let with = self.cells(&at("with"), &text.with, table, its)?;
                if let Some(name) = text.name.as_ref().filter(|name| names.iter().any(|known| known.name == **name)) {
                    self.tell(&at("as"), fault(format!("`{name}` is taken"), None));
                }
                if text.name.is_some() && each.is_some() {
                    self.tell(&at("as"), fault("what is made for each of several has no name of its own", None));
                }
                Asked::Make { table, with, each, name: text.name.clone() }
            }
            (None, None, Some(rows), None, None) => {
                let rows = self.or_tell(&at("drop"), cast::meant(rows, &names, self.domain))?;
                Asked::Drop { table: rows.table, rows }
            }
            (None, None, None, Some(tool), None) => {
                let found = self.domain.tool_named(tool).filter(|tool| self.domain.tools[*tool].native.is_some());
                let Some(found) = found else {
                    let native = self.domain.tools.iter().filter(|tool| tool.native.is_some());
                    let faults =
                        unknown(format!("no native tool is called `{tool}`"), tool, native.map(|tool| &*tool.name));
                    self.tell(&at("call"), faults);
                    return None;
                };
                let with = self.arguments(&at("args"), &text.args, found, its, &names)?;
                Asked::Call { tool: found, with, each }
            }
            (None, None, None, None, Some(ty)) => {
                let mut others = scenario.clauses.iter().filter(|clause| matches!(clause.act, Asked::Answer { .. }));
                if others.any(|other| other.when.is_none() || text.when.is_none()) {
                    let help = Some("give both a `when`, so that one of them is in force".to_owned());
                    self.tell(&at("answer"), fault("another clause asks for an answer already", help));
                }
                self.answer(path, ty, text, scope, &names)?
            }
            _ => {
                let message = "a clause has one of `change`, `make`, `drop`, `call` and `answer`";
                self.tell(path, fault(message, None));
                return None;
            }
        };
        for tier in text.tiers.iter().filter(|tier| !TIERS.contains(&&***tier)) {
            self.tell(&at("tier"), unknown(format!("there is no tier `{tier}`"), tier, TIERS));
        }
        if !text.tiers.is_empty() && text.name.is_some() {
            self.tell(&at("as"), fault("what is asked for in some tiers only has no name", None));
        }
        Some(Clause { id: text.id.clone(), act, when, tiers: text.tiers.clone() })
    }

    fn cells(
        &mut self,
        path: &[&str],
        text: &Ordered<String>,
        table: TableId,
        scope: Scope<'_>,
    ) -> Option<Vec<(FieldId, Wanted)>> {
        let mut cells = Vec::new();
        let mut whole = true;
        if text.0.is_empty() {
            self.tell(path, fault("no cell is named", None));
        }
        for (name, value) in &text.0 {
            let path: Vec<&str> = path.iter().copied().chain([&**name]).collect();
            let field = self.domain.table(table).field_named(name).filter(|field| *field != FieldId::ID);
            let Some(field) = field else {
                let message = format!("`{}` has no field `{name}`", self.domain.table(table).name);
                let faults = unknown(message, name, self.domain.field_names(table));
                self.tell(&path, faults);
                whole = false;
                continue;
            };
            let ty = self.domain.table(table).field(field).ty;
            match ways::wanted(value, ty, self.domain, scope) {
                Ok(wanted) => cells.push((field, wanted)),
                Err(faults) => {
                    self.tell(&path, faults);
                    whole = false;
                }
            }
        }
        whole.then_some(cells)
    }

    fn arguments(
        &mut self,
        path: &[&str],
        text: &Ordered<String>,
        tool: usize,
        scope: Scope<'_>,
        names: &[Given<'_>],
    ) -> Option<Vec<(String, Passing)>> {
        let domain = self.domain;
        let mut found = Vec::new();
        let mut whole = true;
        for (name, value) in &text.0 {
            let path: Vec<&str> = path.iter().copied().chain([&**name]).collect();
            let takes = || domain.tools[tool].native.iter().flat_map(|native| &native.takes);
            let Some(argument) = takes().find(|argument| argument.cell.name == *name && argument.shape == Shape::Value)
            else {
                let known = takes().map(|argument| &*argument.cell.name);
                let faults = unknown(format!("`{}` takes no `{name}`", domain.tools[tool].name), name, known);
                self.tell(&path, faults);
                whole = false;
                continue;
            };
            let set = value.split('.').next().unwrap_or_default().trim();
            let is_set = names.iter().any(|given| given.name == set && matches!(given.is, GivenType::Rows(_)));
            let read = if argument.list && is_set {
                cast::each_of(value, names, domain).map(|(meant, path, _)| Passing::Each(meant, path))
            } else if argument.cell.ty == Type::Text && value.starts_with("text ") {
                ways::said(value.trim_start_matches("text ").trim(), domain, scope).map(Passing::Text)
            } else {
                check_value(value, domain, scope, Some(argument.cell.ty)).map(|(expr, _)| Passing::Is(expr))
            };
            match read {
                Ok(value) => found.push((name.clone(), value)),
                Err(faults) => {
                    self.tell(&path, faults);
                    whole = false;
                }
            }
        }
        whole.then_some(found)
    }

    fn answer(
        &mut self,
        path: &[&str],
        ty: &str,
        text: &ClauseText,
        scope: Scope<'_>,
        names: &[Given<'_>],
    ) -> Option<Asked> {
        const TYPES: [(&str, AnswerType); 5] = [
            ("text", AnswerType::Text),
            ("number", AnswerType::Number),
            ("money", AnswerType::Money),
            ("date", AnswerType::Date),
            ("name", AnswerType::Name),
        ];
        let at = |key: &'static str| -> Vec<&str> { path.iter().copied().chain([key]).collect() };
        let (word, list) = ty.strip_prefix("list of ").map_or((ty, false), |word| (word, true));
        let Some((_, ty)) = TYPES.iter().find(|(known, _)| *known == word) else {
            let faults = unknown(format!("an answer is no `{word}`"), word, TYPES.map(|(known, _)| known));
            self.tell(&at("answer"), faults);
            return None;
        };
        let is = match (&text.is, &text.of, list) {
            (Some(is), None, false) => {
                let read = check_value(is, self.domain, scope, None);
                let (expr, ty) = self.or_tell(&at("is"), read)?;
                Told::One(expr, ty)
            }
            (None, Some(of), true) => {
                let give = text.give.as_deref().map_or(String::new(), |give| format!(".{give}"));
                let read = cast::each_of(&format!("{of}{give}"), names, self.domain);
                let (meant, path, ty) = self.or_tell(&at("of"), read)?;
                Told::Each(meant, path, ty)
            }
            _ => {
                let help = "write `is` for one value, `of` and `give` for a list".to_owned();
                self.tell(&at("answer"), fault("it is not said what the answer is", Some(help)));
                return None;
            }
        };
        Some(Asked::Answer { ty: *ty, is })
    }

    fn ensure(&mut self, path: &[&str], list: &[String], scenario: &Scenario, before: usize) -> Vec<Ensure> {
        let names = scenario.names();
        let scope = Scope { given: &names, ..Scope::default() };
        let mut found = Vec::new();
        for (at, text) in list.iter().enumerate() {
            let place = at.to_string();
            let path: Vec<&str> = path.iter().copied().chain([&*place]).collect();
            if let Some(holds) = self.or_tell(&path, check_truth(text, self.domain, scope)) {
                found.push(Ensure { id: format!("ensure{}", before + at + 1), text: text.clone(), holds });
            }
        }
        found
    }

    fn tier(&mut self, name: &str, text: &TierText, scenario: &Scenario) -> Tier {
        if !TIERS.contains(&name) {
            let faults = unknown(format!("there is no tier `{name}`"), name, TIERS);
            self.tell(&["tiers", name], faults);
        }
        let mut sizes = Vec::new();
        for (member, size) in &text.sizes {
            let path = ["tiers", name, "sizes", member];
            let place = scenario.member(member);
            let is_set = |at: &usize| matches!(scenario.cast[*at].is, GivenType::Rows(_));
            match (place.filter(is_set), cast::range(size)) {
                (Some(place), Some(range)) => sizes.push((place, range)),
                (None, _) => {
                    let sets = scenario.cast.iter().filter(|member| matches!(member.is, GivenType::Rows(_)));
                    let faults = unknown(format!("`{member}` is no set of the cast"), member, sets.map(|m| &*m.name));
                    self.tell(&path, faults);
                }
                (_, None) => self.tell(&path, fault("expected how many, such as `3..4`", None)),
            }
        }
        Tier { sizes }
    }

    fn blocked(&mut self, name: &str, text: &BlockedText, scenario: &Scenario) -> Option<Blocked> {
        let at = |key: &'static str| ["blocked", name, key];
        let Some(obstacle) = Obstacle::ALL.into_iter().find(|known| known.word() == text.kind) else {
            let words = Obstacle::ALL.map(Obstacle::word);
            let faults = unknown(format!("`{}` is no obstacle", text.kind), &text.kind, words);
            self.tell(&at("kind"), faults);
            return None;
        };
        let rule = match (&text.rule, obstacle) {
            (Some(rule), Obstacle::Policy) => Some(self.blocking(&at("rule"), rule)?),
            (None, Obstacle::Policy) => {
                self.tell(&["blocked", name], fault("the rule that stands in the way is not named", None));
                return None;
            }
            (Some(_), _) => {
                self.tell(&at("rule"), fault("only a policy names the rule", None));
                return None;
            }
            (None, _) => None,
        };
        if let Some(seat) = &text.seat {
            self.role(&at("seat"), seat);
        }
        for tool in text.without.iter().filter(|tool| self.domain.tool_named(tool).is_none()).collect::<Vec<_>>() {
            let names = self.domain.tools.iter().map(|tool| &*tool.name);
            let faults = unknown(format!("no tool is called `{tool}`"), tool, names);
            self.tell(&at("without"), faults);
        }
        let mut plants = Vec::new();
        for (nth, plant) in text.plant.iter().enumerate() {
            plants.extend(self.plant(&["blocked", name, "plant", &nth.to_string()], plant, scenario));
        }
        let mut wider = scenario.clone();
        for (nth, clause) in text.clauses.iter().enumerate() {
            let clause = self.clause(&["blocked", name, "do", &nth.to_string()], clause, &wider);
            wider.clauses.extend(clause);
        }
        let ensure = self.ensure(&["blocked", name, "ensure"], &text.ensure, scenario, scenario.ensure.len());
        let lost = text.lost.as_ref().and_then(|lost| self.lost(&at("lost"), lost, scenario));
        let clauses = wider.clauses.split_off(scenario.clauses.len());
        let differs = [
            !plants.is_empty(),
            text.seat.is_some(),
            !text.without.is_empty(),
            lost.as_ref().is_some_and(|lost| lost.path.is_some()),
            !clauses.is_empty() || !ensure.is_empty(),
        ];
        if differs.iter().filter(|differs| **differs).count() != 1 && !self.faulty {
            let message = "it differs from what can be done in one fact: plants, a seat, tools left out, something lost, or a clause more";
            self.tell(&["blocked", name], fault(message, None));
        }
        if (clauses.is_empty() && ensure.is_empty()) != text.adds.is_none() {
            let message = "`adds` says in words what further clauses ask for";
            self.tell(&["blocked", name], fault(message, None));
        }
        Some(Blocked {
            name: name.to_owned(),
            obstacle,
            rule,
            plants,
            seat: text.seat.clone(),
            without: text.without.clone(),
            lost,
            clauses,
            ensure,
            adds: Vec::new(),
        })
    }

    fn blocking(&mut self, path: &[&str], text: &str) -> Option<BlockingRule> {
        let domain = self.domain;
        if let Some(rule) = domain.rules.iter().position(|rule| rule.id == text) {
            return Some(BlockingRule::Rule(rule));
        }
        let lifecycle = text.rsplit_once('.').and_then(|(table, field)| {
            let table = domain.table_named(table)?;
            let field = domain.table(table).field_named(field)?;
            domain.table(table).lifecycle(field).map(|_| BlockingRule::Lifecycle(table, field))
        });
        if lifecycle.is_none() {
            let names = domain.rules.iter().map(|rule| &*rule.id);
            self.tell(path, unknown(format!("`{text}` is neither a rule nor a lifecycle"), text, names));
        }
        lifecycle
    }

    /// `member` or `member.field`.
    fn lost(&mut self, path: &[&str], text: &str, scenario: &Scenario) -> Option<Lost> {
        let name = text.split('.').next().unwrap_or_default();
        let Some(member) = scenario.member(name) else {
            let names = scenario.cast.iter().map(|member| &*member.name);
            self.tell(path, unknown(format!("nobody in the cast is called `{name}`"), name, names));
            return None;
        };
        let field = match text.contains('.') {
            false => None,
            true => {
                let names = scenario.names();
                let scope = Scope { given: &names, ..Scope::default() };
                match self.or_tell(path, check_value(text, self.domain, scope, None))? {
                    (Expr::Field(_, path), _) => Some(path),
                    _ => None,
                }
            }
        };
        Some(Lost { member, path: field, text: text.to_owned() })
    }
}
