//! `tools.toml`: one line per tool, `verb table` and its clauses.

use super::draft::Draft;
use super::native;
use crate::model::{Child, Filter, FilterKind, Setting, Shown, Tool, Verb};
use crate::text::{Cursor, Entry, Faults, File, Kind, Piece, is_snake, list, word};
use benchwright_base::{FieldId, TableId, Value};
use benchwright_expr::Type;
use std::collections::BTreeMap;

/// No domain has more tools than this.
const MOST: usize = 2000;
const CLAUSES: [&str; 6] = ["of", "by", "set", "with", "show", "per"];
/// The arguments with which an answer of many rows is paged.
const PAGE: [&str; 3] = ["sort", "limit", "cursor"];

/// Reads the tools of a file into the draft.
pub(super) fn read(file: &File<'_>, entries: &[Entry<'_>], draft: &mut Draft, faults: &Faults) {
    let mut tools: Vec<Tool> = Vec::new();
    let before = draft.domain.tools.len();
    for entry in entries {
        let name = entry.name(file);
        if draft.domain.tools.iter().any(|known| known.name == name.text) {
            faults.at(name, format!("a part that is included has a tool {} already", word(name.text)));
        }
        if before + tools.len() == MOST {
            faults.at(name, format!("a domain has at most {MOST} tools"));
            break;
        }
        if file.is_damaged(entry) {
            continue;
        }
        if !is_snake(name.text) || name.text.len() > 64 {
            let message = format!("{} is not a name for a tool", word(name.text));
            faults.with_help(
                name,
                message,
                "write lower case with underscores, at most 64 letters, as models' interfaces want it",
            );
        }
        let (line, says) = match &entry.value.kind {
            Kind::Text(_) => (entry.value.text(file), None),
            Kind::Table(parts) => long_form(file, name, parts, faults),
            _ => {
                faults.at(entry.value.piece(file), "expected a line in quotes, such as \"find user by name~\"");
                continue;
            }
        };
        let Some(line) = line else { continue };
        if let Some(mut tool) = read_tool(line, draft, faults) {
            name.text.clone_into(&mut tool.name);
            tool.description = says.unwrap_or_default();
            tools.push(tool);
        }
    }
    draft.domain.tools.extend(tools);
}

fn long_form<'s>(
    file: &'s File<'s>,
    name: Piece<'_>,
    parts: &'s [Entry<'_>],
    faults: &Faults,
) -> (Option<Piece<'s>>, Option<String>) {
    let (mut does, mut says) = (None, None);
    let mut whole = true;
    for part in parts {
        let key = part.name(file);
        let text = part.value.text(file).filter(|text| !text.text.trim().is_empty());
        match (key.text, text) {
            ("does", Some(text)) => does = Some(text),
            ("says", Some(text)) => says = Some(text.text.to_owned()),
            ("does" | "says", None) => {
                faults.at(part.value.piece(file), format!("expected text for {}", word(key.text)));
                whole = false;
            }
            _ => {
                whole = false;
                let message = format!("unknown key {} of a tool", word(key.text));
                if part.value.entries().is_some() {
                    faults.with_help(key, message, "the name of a tool has no dots");
                } else {
                    faults.unknown(key, message, ["does", "says"]);
                }
            }
        }
    }
    if does.is_none() && whole {
        let message = format!("{} does nothing", word(name.text));
        faults.with_help(name, message, "add `does = \"…\"` with its line");
    }
    (does, says)
}

/// A clause of a line.
#[derive(Clone, Copy)]
struct Clause<'s> {
    word: Piece<'s>,
    body: Piece<'s>,
}

fn read_tool(line: Piece<'_>, draft: &Draft, faults: &Faults) -> Option<Tool> {
    let mut cursor = Cursor::new(line);
    let here = cursor.here();
    let verb = cursor.word().and_then(|found| Verb::ALL.into_iter().find(|verb| verb.word() == found.text));
    let Some(verb) = verb else {
        let message = format!("expected a verb, found {}", word(here.text));
        faults.unknown(here, message, Verb::ALL.map(Verb::word));
        return None;
    };
    let mut tool = Tool {
        name: String::new(),
        verb,
        table: None,
        by: Vec::new(),
        set: Vec::new(),
        with: Vec::new(),
        show: Vec::new(),
        of: None,
        per: None,
        native: None,
        description: String::new(),
    };
    if verb == Verb::Native {
        tool.native = Some(native::read(cursor, draft, faults)?);
        return Some(tool);
    }
    let here = cursor.here();
    let Some(name) = cursor.word() else {
        faults.at(here, format!("expected a table after `{}`, found {}", verb.word(), word(here.text)));
        return None;
    };
    let clauses = read_clauses(cursor.rest(), verb, faults);
    let table = draft.table(name, faults)?;
    tool.table = Some(table);
    let clauses = clauses?;
    let reader = Reader { verb, table, clauses, draft, faults };
    reader.fill(&mut tool, name)
}

/// The clauses of a line by their words; `None` if it cannot be cut into clauses.
fn read_clauses<'s>(rest: Piece<'s>, verb: Verb, faults: &Faults) -> Option<BTreeMap<&'s str, Clause<'s>>> {
    let marks = rest.words_at(&CLAUSES);
    let before = rest.sub(0, marks.first().map_or(rest.text.len(), |mark| mark.0));
    if !before.text.is_empty() {
        let here = Cursor::new(before).here();
        let message = format!("expected {}, found {}", list(&CLAUSES).replace(" and ", " or "), word(here.text));
        faults.unknown(here, message, CLAUSES);
        return None;
    }
    let fits: &[&str] = match verb {
        Verb::Find | Verb::Get => &["by", "show"],
        Verb::List => &["show"],
        Verb::Create | Verb::Link | Verb::Send => &["set", "with", "show"],
        Verb::Update => &["by", "set", "with", "show"],
        Verb::Delete => &["by"],
        Verb::Count => &["by", "per"],
        Verb::Sum | Verb::Avg => &["of", "by", "per"],
        Verb::Native => &[],
    };
    let mut clauses = BTreeMap::new();
    let mut whole = true;
    for (nth, &(at, end)) in marks.iter().enumerate() {
        let next = marks.get(nth + 1).map_or(rest.text.len(), |mark| mark.0);
        let clause = Clause { word: rest.sub(at, end), body: rest.sub(end, next) };
        let text = clause.word.text;
        if !fits.contains(&text) {
            let mend = format!("it takes {}", if fits.is_empty() { "no clause".to_owned() } else { list(fits) });
            faults.with_help(clause.word, format!("`{}` takes no `{text}`", verb.word()), mend);
            whole = false;
        } else if clauses.insert(text, clause).is_some() {
            faults.at(clause.word, format!("`{text}` is here twice"));
            whole = false;
        } else if clause.body.text.is_empty() {
            faults.at(clause.word, format!("nothing follows `{text}`"));
            whole = false;
        }
    }
    whole.then_some(clauses)
}

/// The names of a tool's arguments with the place of each.
type Arguments<'s> = Vec<(String, Piece<'s>)>;

struct Reader<'d, 's> {
    verb: Verb,
    table: TableId,
    clauses: BTreeMap<&'s str, Clause<'s>>,
    draft: &'d Draft,
    faults: &'d Faults,
}

impl<'s> Reader<'_, 's> {
    fn items(&self, clause: &str) -> Vec<Piece<'s>> {
        self.clauses.get(clause).map(|clause| clause.body.items(self.faults)).unwrap_or_default()
    }

    fn fill(&self, tool: &mut Tool, name: Piece<'s>) -> Option<Tool> {
        let mut arguments: Arguments<'s> = Vec::new();
        let mut whole = true;
        for item in self.items("by") {
            match self.filter(item, &mut arguments) {
                Some(filter) => tool.by.push(filter),
                None => whole = false,
            }
        }
        match self.verb {
            Verb::Create | Verb::Link | Verb::Send => match self.new_row(name, &mut arguments) {
                Some(set) => tool.set = set,
                None => whole = false,
            },
            Verb::Update if !self.clauses.contains_key("set") => {
                self.faults.with_help(name, "this `update` sets nothing", "add `set` and the fields it may change");
                whole = false;
            }
            Verb::Update => match self.settings(&mut arguments) {
                Some(set) => tool.set = set,
                None => whole = false,
            },
            _ => {}
        }
        for item in self.items("with") {
            match self.child(item) {
                Some(child) => {
                    arguments.push((self.draft.domain.table(child.table).name.clone(), item));
                    tool.with.push(child);
                }
                None => whole = false,
            }
        }
        for item in self.items("show") {
            match self.shown(item) {
                Some(shown) if tool.show.iter().any(|other| other.name == shown.name) => {
                    self.faults.at(item, format!("{} is shown twice", word(item.text)));
                    whole = false;
                }
                Some(shown) => tool.show.push(shown),
                None => whole = false,
            }
        }
        if matches!(self.verb, Verb::Sum | Verb::Avg) {
            tool.of = self.summed(name);
            whole &= tool.of.is_some();
        }
        if let Some(clause) = self.clauses.get("per") {
            tool.per = self.draft.field(self.table, clause.body, self.faults);
            whole &= tool.per.is_some();
        }
        if self.verb == Verb::Link && !self.is_association() {
            let message = format!("{} cannot be linked: no key forbids a second identical pair", word(name.text));
            self.faults.with_help(name, message, "give it `unique = [\"a, b\"]`, or use `create`");
            whole = false;
        }
        whole &= self.no_collision(&arguments);
        whole.then(|| tool.clone())
    }

    /// Whether a key forbids a second identical pair: one of two or more fields, or any on a table of references.
    fn is_association(&self) -> bool {
        let table = self.draft.domain.table(self.table);
        let references = table.fields[1..].iter().filter(|field| matches!(field.ty, Type::Ref(_))).count();
        self.draft.broken_tables.contains(&self.table)
            || self.draft.broken_fields.iter().any(|(table, _)| *table == self.table)
            || table.keys.iter().any(|key| key.fields.len() > 1)
            || (references > 1 && !table.keys.is_empty())
    }

    fn no_collision(&self, arguments: &Arguments<'_>) -> bool {
        let mut whole = true;
        let is_paged = matches!(self.verb, Verb::Find | Verb::List);
        for (nth, (name, place)) in arguments.iter().enumerate() {
            let message = if arguments[..nth].iter().any(|(other, _)| other == name) {
                format!("two arguments would be called `{name}`")
            } else if is_paged && PAGE.contains(&&**name) {
                format!("the argument `{name}` would hide the one that pages the answer")
            } else {
                continue;
            };
            self.faults.at(*place, message);
            whole = false;
        }
        whole
    }

    fn filter(&self, item: Piece<'s>, arguments: &mut Arguments<'s>) -> Option<Filter> {
        let mut cursor = Cursor::new(item);
        let Some(name) = cursor.word() else {
            self.faults.at(item, format!("expected a field after `by`, found {}", word(item.text)));
            return None;
        };
        let (mut kind, mut required) = (FilterKind::Is, false);
        let mut sign = item;
        while !cursor.is_done() {
            let here = cursor.here();
            if cursor.eat("!") {
                required = true;
            } else if cursor.eat("~") {
                (kind, sign) = (FilterKind::Contains, here);
            } else if cursor.eat("..") {
                (kind, sign) = (FilterKind::Range, here);
            } else {
                let message = format!("expected a comma after {}, found {}", word(name.text), word(here.text));
                self.faults.with_help(here, message, "after a field stand `!`, `~` or `..`");
                return None;
            }
        }
        let id = self.draft.field(self.table, name, self.faults)?;
        let ty = self.draft.domain.table(self.table).field(id).ty;
        if matches!(self.verb, Verb::Get | Verb::Update | Verb::Delete) {
            if kind != FilterKind::Is {
                let message = format!("`{}` names one row: `~` and `..` do not", self.verb.word());
                self.faults.at(sign, message);
                return None;
            }
            if !required {
                let message = format!("{} names the row, so it is required", word(name.text));
                self.faults.with_help(name, message, format!("write `{}!`", name.text));
                return None;
            }
        }
        match kind {
            FilterKind::Contains if ty != Type::Text => {
                self.faults
                    .at(sign, format!("`~` needs text, and {} is {}", word(name.text), self.draft.type_name(ty)));
                return None;
            }
            FilterKind::Range if !is_ordered(ty) => {
                let message = format!("`..` needs an order, and {} is {}", word(name.text), self.draft.type_name(ty));
                self.faults.at(sign, message);
                return None;
            }
            FilterKind::Range => {
                arguments.push((format!("{}_from", name.text), name));
                arguments.push((format!("{}_to", name.text), name));
            }
            FilterKind::Is | FilterKind::Contains => arguments.push((name.text.to_owned(), name)),
        }
        Some(Filter { field: id, kind, required })
    }

    /// What stands after `set`; the fields that could not be read are left out and make it `None` at the end.
    fn settings(&self, arguments: &mut Arguments<'s>) -> Option<Vec<Setting>> {
        let mut settings: Vec<Setting> = Vec::new();
        let mut whole = true;
        for item in self.items("set") {
            match self.setting(item, arguments) {
                Some((setting, name)) if settings.iter().any(|other| other.field == setting.field) => {
                    // Two arguments of one name are told as such; this is for a fixed value among them.
                    if setting.fixed.is_some() || settings.iter().any(|o| o.field == setting.field && o.fixed.is_some())
                    {
                        self.faults.at(name, format!("{} is set twice", word(name.text)));
                    }
                    whole = false;
                }
                Some((setting, _)) => settings.push(setting),
                None => whole = false,
            }
        }
        whole.then_some(settings)
    }

    fn setting(&self, item: Piece<'s>, arguments: &mut Arguments<'s>) -> Option<(Setting, Piece<'s>)> {
        let mut cursor = Cursor::new(item);
        let Some(name) = cursor.word() else {
            self.faults.at(item, format!("expected a field after `set`, found {}", word(item.text)));
            return None;
        };
        let required = cursor.eat("!");
        let fixed = cursor.eat("=").then(|| cursor.rest());
        if let (Some(value), true) = (fixed, required) {
            self.faults.at(value, "a fixed value takes no argument, so `!` has no meaning");
            return None;
        }
        if fixed.is_none() && !cursor.is_done() {
            let here = cursor.here();
            let message = format!("expected a comma after {}, found {}", word(name.text), word(here.text));
            self.faults.with_help(here, message, "after a field stand `!` or `= value`");
            return None;
        }
        let id = self.draft.field(self.table, name, self.faults)?;
        if id == FieldId::ID {
            self.faults.at(name, "the world gives out ids; no tool sets one");
            return None;
        }
        let field = self.draft.domain.table(self.table).field(id);
        if field.stamp.is_some() && fixed.is_none() {
            let mend = "only a fixed value (`f = value`) can be set there";
            self.faults.with_help(name, format!("the world sets {}", word(name.text)), mend);
            return None;
        }
        let fixed: Option<Value> = match fixed {
            Some(text) if text.text.is_empty() => {
                self.faults.at(item, "expected a value after `=`");
                return None;
            }
            Some(text) => Some(self.draft.value_for(self.table, id, text, self.faults)?),
            None => {
                arguments.push((name.text.to_owned(), name));
                None
            }
        };
        Some((Setting { field: id, required, fixed }, name))
    }

    /// What a new row is made of.
    fn new_row(&self, name: Piece<'s>, arguments: &mut Arguments<'s>) -> Option<Vec<Setting>> {
        let table = self.draft.domain.table(self.table);
        let must = |field: &crate::Field| !field.nullable && field.default.is_none();
        if !self.clauses.contains_key("set") {
            let settings = every_field(self.draft, self.table, None);
            arguments.extend(settings.iter().map(|setting| (table.field(setting.field).name.clone(), name)));
            return Some(settings);
        }
        let mut settings = self.settings(arguments)?;
        for setting in settings.iter_mut().filter(|setting| setting.fixed.is_none()) {
            setting.required |= must(table.field(setting.field));
        }
        let mut whole = true;
        for (nth, field) in table.fields.iter().enumerate().skip(1) {
            let id = FieldId(nth as u16);
            let is_broken = self.draft.broken_fields.contains(&(self.table, id));
            let has_value = settings.iter().any(|setting| setting.field == id);
            if must(field) && field.stamp.is_none() && !has_value && !is_broken {
                let message = format!("cannot be created: `{}` has no value", field.name);
                let mend = format!("add `{}` to `set`, or give it a default", field.name);
                self.faults.with_help(self.clauses.get("set").map_or(name, |clause| clause.word), message, mend);
                whole = false;
            }
        }
        whole.then_some(settings)
    }

    fn child(&self, name: Piece<'s>) -> Option<Child> {
        let child = self.draft.table(name, self.faults)?;
        let parent = self.draft.domain.table(self.table);
        let from: Vec<_> = parent.incoming.iter().filter(|incoming| incoming.table == child).collect();
        let owned: Vec<_> = from.iter().filter(|incoming| incoming.owned).copied().collect();
        let field = match (&owned[..], &from[..]) {
            ([one], _) | ([], [one]) => one.field,
            _ => {
                let is_broken = self.draft.broken_tables.contains(&child)
                    || self.draft.broken_fields.iter().any(|(table, _)| *table == child);
                if !is_broken {
                    self.no_parent(name, child, &from);
                }
                return None;
            }
        };
        Some(Child { table: child, parent: field, set: every_field(self.draft, child, Some(field)) })
    }

    fn no_parent(&self, name: Piece<'s>, child: TableId, from: &[&crate::Incoming]) {
        let parent = &self.draft.domain.table(self.table).name;
        if from.is_empty() {
            return self.faults.at(name, format!("{} has no reference to `{parent}`", word(name.text)));
        }
        let fields: Vec<&str> =
            from.iter().map(|incoming| &*self.draft.domain.table(child).field(incoming.field).name).collect();
        let message = format!("{} refers to `{parent}` by {}: which is meant?", word(name.text), list(&fields));
        self.faults.with_help(name, message, "mark exactly one of them `owned`");
    }

    fn shown(&self, item: Piece<'s>) -> Option<Shown> {
        let mut cursor = Cursor::new(item);
        let mut shown =
            Shown { name: item.text.to_owned(), path: Vec::new(), ty: Type::Ref(self.table), nullable: false };
        loop {
            let here = cursor.here();
            let Some(name) = cursor.word() else {
                self.faults.at(here, format!("expected a field, found {}", word(here.text)));
                return None;
            };
            let Type::Ref(table) = shown.ty else {
                let message = format!("{} has no fields: it is {}", word(item.text), self.draft.type_name(shown.ty));
                self.faults.at(name, message);
                return None;
            };
            let id = self.draft.field(table, name, self.faults)?;
            let field = self.draft.domain.table(table).field(id);
            shown.path.push((table, id));
            shown.ty = field.ty;
            shown.nullable |= field.nullable;
            if cursor.is_done() {
                break;
            }
            if !cursor.eat(".") {
                let here = cursor.here();
                self.faults.at(here, format!("expected a comma, found {}", word(here.text)));
                return None;
            }
        }
        if shown.path.len() < 2 {
            let mend = "`show` is for fields of rows that it refers to, such as `user.name`";
            self.faults.with_help(item, format!("{} is in the answer anyway", word(item.text)), mend);
            return None;
        }
        Some(shown)
    }

    fn summed(&self, name: Piece<'s>) -> Option<FieldId> {
        let Some(clause) = self.clauses.get("of") else {
            let message = format!("`{}` needs a number", self.verb.word());
            self.faults.with_help(name, message, "add `of` and a field");
            return None;
        };
        let id = self.draft.field(self.table, clause.body, self.faults)?;
        let ty = self.draft.domain.table(self.table).field(id).ty;
        if !matches!(ty, Type::Int | Type::Money | Type::Quantity | Type::Duration) {
            let message = format!("{} is {}, not a number", word(clause.body.text), self.draft.type_name(ty));
            self.faults.at(clause.body, message);
            return None;
        }
        Some(id)
    }
}

/// Every field that an argument can give, but for the one by which a child refers to its parent.
fn every_field(draft: &Draft, table: TableId, parent: Option<FieldId>) -> Vec<Setting> {
    let fields = draft.domain.table(table).fields.iter().enumerate();
    fields
        .map(|(at, field)| (FieldId(at as u16), field))
        .filter(|(id, field)| field.stamp.is_none() && Some(*id) != parent)
        .map(|(id, field)| Setting { field: id, required: !field.nullable && field.default.is_none(), fixed: None })
        .collect()
}

/// Whether a type has an order that a range can use.
fn is_ordered(ty: Type) -> bool {
    matches!(ty, Type::Int | Type::Money | Type::Quantity | Type::Date | Type::DateTime | Type::Time | Type::Duration)
}
