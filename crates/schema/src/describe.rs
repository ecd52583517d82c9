//! The line that tells an agent what a tool does, such as "Change name, email, role of a user named by id." It is derived
//! from the tool's declaration, so that it never says less than the tool does.

use crate::json_schema::value_json;
use crate::model::{By, Domain, FilterKind, Lifecycle, Setting, Stamp, Table, Tool, Verb};
use benchwright_base::TableId;
use benchwright_expr::Type;

/// Sentences that only spare a second look are left out beyond this many characters.
const ENOUGH: usize = 600;

/// What a tool does, in one line.
pub fn describe(domain: &Domain, tool: &Tool) -> String {
    if let Some(native) = &tool.native {
        return sentence(&native.clause);
    }
    let Some(id) = tool.table else { return String::new() };
    let table = domain.table(id);
    let mut line = sentence(&first(domain, tool, table));
    if !tool.with.is_empty() {
        let children: Vec<String> = tool.with.iter().map(|child| plural(&domain.table(child.table).name)).collect();
        let how = if tool.verb == Verb::Update { "Given lists replace the old" } else { "Takes lists of its" };
        add(&mut line, &format!("{how} {}.", children.join(", ")));
    }
    if tool.verb.reads_only() {
        return line;
    }
    let mut told: Vec<&str> = Vec::new();
    for rule in domain.rules.iter().filter(|rule| rule.by == By::Tool) {
        let about = |id: TableId| rule.on.iter().any(|(on, _)| *on == id);
        if about(id) || tool.with.iter().any(|child| about(child.table)) {
            told.push(&rule.says);
        }
    }
    if !told.is_empty() {
        add(&mut line, &format!("Refused unless: {}", told.join(" ")));
    }
    for setting in &tool.set {
        if let Some(lifecycle) = table.lifecycle(setting.field) {
            add(&mut line, &moves(domain, table, tool.verb, setting, lifecycle));
        }
    }
    if tool.verb != Verb::Update {
        let defaults: Vec<String> = tool.set.iter().filter_map(|setting| default(domain, table, setting)).collect();
        if !defaults.is_empty() {
            add_if_short(&mut line, &format!("Unless given, {}.", defaults.join(", ")));
        }
    }
    let stamped: Vec<&str> = table.fields[1..]
        .iter()
        .filter(|field| match &field.stamp {
            None | Some(Stamp::Keep) => false,
            Some(Stamp::Number { .. } | Stamp::OnCreate | Stamp::Actor) => tool.verb != Verb::Update,
            Some(Stamp::OnWrite | Stamp::When(_) | Stamp::Computed(_)) => true,
        })
        .map(|field| &*field.name)
        .collect();
    if !stamped.is_empty() && tool.verb != Verb::Delete {
        add_if_short(&mut line, &format!("Set by the system: {}.", stamped.join(", ")));
    }
    line
}

fn add(line: &mut String, sentence: &str) {
    line.push(' ');
    line.push_str(sentence);
}

fn add_if_short(line: &mut String, sentence: &str) {
    if line.chars().count() + sentence.chars().count() < ENOUGH {
        add(line, sentence);
    }
}

/// What the verb does.
fn first(domain: &Domain, tool: &Tool, table: &Table) -> String {
    let one = table.name.replace('_', " ");
    let many = plural(&table.name);
    let by = filters(tool, table);
    let per = tool.per.map_or(String::new(), |field| format!(", for each {}", table.field(field).name));
    let of = tool.of.map_or(String::new(), |field| table.field(field).name.clone());
    let key = if by.is_empty() { "id".to_owned() } else { by.clone() };
    let by = if by.is_empty() { String::new() } else { format!(" by {by}") };
    match tool.verb {
        Verb::Find => format!("find {many}{by}; results are paged"),
        Verb::List => format!("list all {many}; results are paged"),
        Verb::Get if tool.by.is_empty() || is_key(tool, table) => format!("get one {one} by {key}"),
        Verb::Get => format!("get one {one} by {key}; if several match, the first, with the number of others"),
        Verb::Create => format!("create {} {one}{}", article(&one), fixed(domain, table, &tool.set)),
        Verb::Send => format!("send {} {one}{}", article(&one), fixed(domain, table, &tool.set)),
        Verb::Link => {
            format!(
                "create {} {one}{}; a second identical one is refused",
                article(&one),
                fixed(domain, table, &tool.set)
            )
        }
        Verb::Update => {
            let set: Vec<&str> =
                tool.set.iter().filter(|s| s.fixed.is_none()).map(|s| &*table.field(s.field).name).collect();
            // The schema lists the arguments; a long list here would only hide the rest.
            let what = match set.len() {
                0 => String::new(),
                1..=6 => format!("{} of ", set.join(", ")),
                _ => "fields of ".to_owned(),
            };
            let what = format!("change {what}{} {one}", article(&one));
            format!("{what} named by {key}{}", fixed(domain, table, &tool.set))
        }
        Verb::Delete => {
            let owned: Vec<String> = table
                .incoming
                .iter()
                .filter(|incoming| incoming.owned)
                .map(|incoming| plural(&domain.table(incoming.table).name))
                .collect();
            let with = if owned.is_empty() { String::new() } else { format!(" with its {}", owned.join(", ")) };
            format!("delete {} {one} named by {key}{with}", article(&one))
        }
        Verb::Count => format!("count {many}{by}{per}"),
        Verb::Sum => format!("sum {of} of {many}{by}{per}"),
        Verb::Avg => format!("average {of} of {many}{by}{per}"),
        Verb::Native => String::new(),
    }
}

/// Whether the fields that name the row of a tool include a whole key.
fn is_key(tool: &Tool, table: &Table) -> bool {
    let given = |field| tool.by.iter().any(|filter| filter.field == field);
    given(benchwright_base::FieldId::ID) || table.keys.iter().any(|key| key.fields.iter().all(|field| given(*field)))
}

fn filters(tool: &Tool, table: &Table) -> String {
    let shown: Vec<String> = tool
        .by
        .iter()
        .map(|filter| {
            let name = &table.field(filter.field).name;
            match filter.kind {
                FilterKind::Is => name.clone(),
                FilterKind::Contains => format!("{name} (contains)"),
                FilterKind::Range => format!("{name} (range)"),
            }
        })
        .collect();
    shown.join(", ")
}

fn fixed(domain: &Domain, table: &Table, settings: &[Setting]) -> String {
    let shown: Vec<String> = settings
        .iter()
        .filter_map(|setting| {
            let field = table.field(setting.field);
            Some(format!("{} = {}", field.name, plain(domain, field.ty, setting.fixed.as_ref()?)))
        })
        .collect();
    if shown.is_empty() { String::new() } else { format!(", with {}", shown.join(", ")) }
}

fn default(domain: &Domain, table: &Table, setting: &Setting) -> Option<String> {
    let field = table.field(setting.field);
    let value = field.default.as_ref().filter(|_| setting.fixed.is_none() && !setting.required)?;
    Some(format!("{} is {}", field.name, plain(domain, field.ty, value)))
}

fn plain(domain: &Domain, ty: Type, value: &benchwright_base::Value) -> String {
    match value_json(domain, ty, value) {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}

fn moves(domain: &Domain, table: &Table, verb: Verb, setting: &Setting, lifecycle: &Lifecycle) -> String {
    let field = table.field(lifecycle.field);
    let Type::Enum(id) = field.ty else { return String::new() };
    let words = &domain.enums[id.index()].words;
    let named = |list: &[u16]| list.iter().map(|word| &*words[*word as usize]).collect::<Vec<_>>();
    if verb != Verb::Update {
        return format!("{} starts as {}.", field.name, named(&lifecycle.start).join(" or "));
    }
    if let Some(benchwright_base::Value::Enum(to)) = &setting.fixed {
        let from: Vec<u16> = (0..words.len() as u16).filter(|at| lifecycle.next[*at as usize].contains(to)).collect();
        return format!("Only from {} {}.", field.name, named(&from).join(" or "));
    }
    let lines: Vec<String> = lifecycle
        .next
        .iter()
        .enumerate()
        .filter(|(_, next)| !next.is_empty())
        .map(|(from, next)| format!("{} -> {}", words[from], named(next).join(" | ")))
        .collect();
    format!("{} moves {}.", field.name, lines.join("; "))
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut letters = clause.trim().chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if clause.trim_end().ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

fn article(noun: &str) -> &'static str {
    let sounds_like_you = ["user", "unit", "unique", "use"].iter().any(|start| noun.starts_with(start));
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !sounds_like_you { "an" } else { "a" }
}

/// A table's name in the plural, with blanks.
fn plural(name: &str) -> String {
    let name = name.replace('_', " ");
    let stem = name.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match stem {
        Some(stem) => format!("{stem}ies"),
        None if name.ends_with("settings") || name.ends_with("hours") || name.ends_with("info") => name,
        None if name.ends_with(['s', 'x']) || name.ends_with("ch") || name.ends_with("sh") => format!("{name}es"),
        None => format!("{name}s"),
    }
}
