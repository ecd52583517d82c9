//! A session at the prompt: an episode, the forks kept before each call, and what each line does.

pub mod help;
mod line;
mod show;

use crate::host::ForPerson;
use benchwright_base::{RowId, TableId, Value, nearest};
use benchwright_export::notation;
use benchwright_expr::Type;
use benchwright_pack::{Outcome, Snapshot};
use benchwright_report::layout::{clean, columns, counted, cut, paragraph};
use benchwright_sandbox::{Episode, Sandbox};
use benchwright_schema::{By, Domain, Tool, Verb, arguments_schema, codec};
use benchwright_world::Seat;
use std::{
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

const NO_TASK: &str = "there is no task here; `benchwright play DIR/open/ID` has one\n";

/// A session.
pub struct Session {
    episode: Episode,
    /// The episode before each step, with what the step was; the last is the newest.
    kept: Vec<(Episode, String)>,
    seat: Seat,
    from: String,
    /// How wide an answer may be.
    pub width: usize,
    /// Whether changes are shown dimmed.
    pub is_dimmed: bool,
    /// The task, where there is one to work on.
    pub task: Option<ForPerson>,
}

/// What a line led to.
pub struct Turn {
    /// What is said to it.
    pub text: String,
    /// Whether the session is over.
    pub is_last: bool,
}

impl Session {
    /// A session at the start of an episode.
    pub fn new(episode: Episode, seat: Seat, from: String, width: usize) -> Session {
        Session { episode, kept: Vec::new(), seat, from, width, is_dimmed: false, task: None }
    }

    /// The episode as it stands.
    pub fn episode(&self) -> &Episode {
        &self.episode
    }

    fn checks(&self) -> String {
        match self.task.as_ref().map(|task| task.finished(&self.episode)) {
            Some(Ok(left)) => show::checks(&left.verdict, self.width),
            Some(Err(error)) => format!("it cannot be judged: {error}\n"),
            None => NO_TASK.to_owned(),
        }
    }

    /// The world that it is in.
    pub fn sandbox(&self) -> &Arc<Sandbox> {
        self.episode.sandbox()
    }

    /// The first lines: where and who you are, and what to try.
    pub fn greeting(&self) -> String {
        let domain = self.episode.domain();
        let mut out = format!(
            "{} ({}, {}): {} in {}, {}\n",
            domain.title,
            domain.name,
            self.from,
            counted(self.episode.row_count(), "row"),
            counted(domain.tables.len(), "table"),
            counted(domain.tools.len(), "tool"),
        );
        let _ = writeln!(out, "You are {}, in the role {}.", self.person(), self.seat.role);
        let _ = writeln!(out, "The clock stands at {}.\n\nThings to try:", self.episode.now());
        let reads = |tool: &&Tool| {
            let schema = arguments_schema(domain, tool);
            let lists = matches!(tool.verb, Verb::List | Verb::Find | Verb::Native) && tool.reads_only();
            lists
                && schema["properties"]["limit"].is_object()
                && schema["required"].as_array().is_none_or(Vec::is_empty)
        };
        let writes = |verb: Verb| domain.tools.iter().find(|tool| tool.verb == verb);
        let read = domain.tools.iter().find(reads);
        let native = || domain.tools.iter().find(|tool| !tool.reads_only());
        let write = [Verb::Create, Verb::Update, Verb::Send].into_iter().find_map(writes).or_else(native);
        let mut tries = vec![vec!["tools".to_owned(), "what can be called; `tools WORD` for less".to_owned()]];
        if let Some(read) = read {
            tries.push(vec![format!("{} limit=5", read.name), "a call; Tab completes names and arguments".to_owned()]);
        }
        if let Some(write) = write {
            tries.push(vec![format!("help {}", write.name), "what a tool takes, with an example".to_owned()]);
        }
        out.push_str(&columns(&tries, &[], 2));
        out.push_str("`help` has the rest; `quit` leaves.\n\n");
        out
    }

    /// What a line does.
    pub fn turn(&mut self, line: &str) -> Turn {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let text = match word {
            "" => String::new(),
            _ if word.starts_with('#') => String::new(),
            "quit" | "exit" => return Turn { text: String::new(), is_last: true },
            "help" => self.help(rest),
            "tools" => help::tools(self.episode.domain(), rest, &self.sandbox().tools_without_code(), self.width),
            "whoami" => self.whoami(),
            "diff" => self.diff(rest),
            "rules" => self.rules(),
            "checks" => self.checks(),
            "task" => self.task.as_ref().map_or(NO_TASK.to_owned(), |task| task.instruction().to_owned()),
            "undo" => self.undo(),
            "reset" => self.reset(),
            "trace" => self.trace(),
            "save" => self.save(rest),
            "now" => format!("{}\n", self.episode.now()),
            "call" => {
                let (tool, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                self.call(tool, arguments)
            }
            _ => self.call(word, rest),
        };
        Turn { text, is_last: false }
    }

    fn call(&mut self, name: &str, arguments: &str) -> String {
        let domain = Arc::clone(self.sandbox().domain());
        let Some(at) = domain.tool_named(name) else { return unknown(&domain, name) };
        let tool = &domain.tools[at];
        let arguments = match line::arguments(arguments, &arguments_schema(&domain, tool)) {
            Ok(arguments) => arguments,
            Err(error) => return format!("{error}; for example: {}\n", help::example(&domain, tool)),
        };
        let before = self.episode.fork();
        let answer = self.episode.call(name, &arguments);
        let mut out = match &answer {
            Ok(answer) => show::answer(&domain, tool, answer, self.width),
            Err(refusal) => show::refusal(refusal),
        };
        let changes = self.episode.diff_from(&before);
        for change in changes.to_text(&domain).lines() {
            let change = clean(change);
            out.push_str(&if self.is_dimmed { format!("\x1b[2m{change}\x1b[0m\n") } else { format!("{change}\n") });
        }
        self.kept.push((before, name.to_owned()));
        out
    }

    fn help(&self, name: &str) -> String {
        let domain = self.episode.domain();
        if name.is_empty() {
            return help::general(self.width);
        }
        if let Some(at) = domain.tool_named(name) {
            return help::tool(domain, &domain.tools[at], self.width);
        }
        match help::COMMANDS.iter().find(|(word, ..)| *word == name) {
            Some((word, follows, does)) => format!("{}: {does}\n", format!("{word} {follows}").trim()),
            None => unknown(domain, name),
        }
    }

    fn whoami(&self) -> String {
        let domain = self.episode.domain();
        let mut out = format!("{}, in the role {}\n", self.person(), self.seat.role);
        for line in domain.role_named(&self.seat.role).map(|role| notation::access(domain, role)).unwrap_or_default() {
            out.push_str(&paragraph("  ", &line, self.width));
        }
        out
    }

    /// The person with their name, as far as the domain has people and names.
    fn person(&self) -> String {
        let domain = self.episode.domain();
        let (Some(table), Some(id)) = (domain.actor, self.seat.actor) else { return "nobody in particular".to_owned() };
        let declared = domain.table(table);
        let place = format!("{} {id}", declared.name);
        let snapshot = self.episode.snapshot();
        let name = declared.field_named("name").or_else(|| declared.field_named("email"));
        let name = name.zip(row_of(&snapshot, table, id)).and_then(|(field, cells)| cells.get(field.index()));
        match name.and_then(Value::as_text) {
            Some(name) => format!("{} ({place})", clean(name)),
            None => place,
        }
    }

    fn diff(&self, which: &str) -> String {
        let diff = match (which, self.kept.last()) {
            ("", _) => self.episode.diff(),
            ("last", Some((before, _))) => self.episode.diff_from(before),
            ("last", None) => return "there was no call yet\n".to_owned(),
            _ => return format!("`diff` or `diff last`, not `diff {which}`\n"),
        };
        if diff.is_empty() {
            return "nothing changed\n".to_owned();
        }
        diff.to_text(self.episode.domain()).lines().map(|line| format!("{}\n", clean(line))).collect()
    }

    fn rules(&self) -> String {
        let domain = self.episode.domain();
        let broken = self.episode.judge();
        // A task's own rules are its checks, which are another list than the world's.
        let failing = self.task.as_ref().map_or("", |_| "what the task asks for is another matter: `checks` tells\n");
        if domain.rules.is_empty() {
            return format!("this world has no rules beyond what its tools refuse\n{failing}");
        }
        if broken.is_empty() {
            return format!("none of the world's {} is broken\n{failing}", counted(domain.rules.len(), "rule"));
        }
        let snapshot = self.episode.snapshot();
        let mut out = String::new();
        let mut last = None;
        for broken in broken {
            let rule = &domain.rules[broken.rule];
            if last != Some(broken.rule) {
                let by = if rule.by == By::Tool { "tools" } else { "verifier" };
                out.push_str(&paragraph("", &format!("{} (held by the {by}): {}", rule.id, rule.says), self.width));
                last = Some(broken.rule);
            }
            let line = brief(domain, &snapshot, broken.table, broken.row);
            let _ = writeln!(out, "  {}", cut(&line, self.width.saturating_sub(2)));
        }
        out + failing
    }

    fn undo(&mut self) -> String {
        match self.kept.pop() {
            Some((before, what)) => {
                self.episode = before;
                format!("took `{what}` back\n")
            }
            None => "there is nothing to take back\n".to_owned(),
        }
    }

    fn reset(&mut self) -> String {
        self.kept.push((self.episode.fork(), "reset".to_owned()));
        self.episode.reset();
        "back at the start; `undo` takes that back\n".to_owned()
    }

    fn trace(&self) -> String {
        let calls = self.episode.trace().calls;
        if calls.is_empty() {
            return "no calls yet\n".to_owned();
        }
        let mut out = String::new();
        let digits = calls.len().to_string().len();
        for (at, call) in calls.iter().enumerate() {
            let ended = match &call.outcome {
                Outcome::Answered(_) => "answered".to_owned(),
                Outcome::Refused(code) => format!("refused {code}"),
            };
            let _ = writeln!(out, "{:digits$}  {} {} => {ended}", at + 1, call.tool, clean(&call.arguments));
        }
        out
    }

    fn save(&self, file: &str) -> String {
        if file.is_empty() {
            return "save to which file? For example: save mine.json\n".to_owned();
        }
        let made = fs::File::create_new(Path::new(file));
        match made.and_then(|mut made| made.write_all(&self.episode.snapshot_bytes())) {
            Ok(()) => format!("saved; `benchwright play {file}` opens it again\n"),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                format!("not saved: {file} is there already\n")
            }
            Err(error) => format!("not saved: {file}: {error}\n"),
        }
    }
}

fn unknown(domain: &Domain, name: &str) -> String {
    let commands = help::COMMANDS.iter().map(|(word, ..)| *word);
    let near = nearest(name, commands.chain(domain.tools.iter().map(|tool| &*tool.name)));
    let near =
        near.map_or("; `tools` and `help` list what there is".to_owned(), |near| format!("; did you mean `{near}`?"));
    format!("there is no tool or command `{}`{near}\n", cut(name, 60))
}

fn row_of(snapshot: &Snapshot, table: TableId, row: RowId) -> Option<&Vec<Value>> {
    let rows = &snapshot.tables.get(table.index())?.rows;
    rows.iter().find(|cells| cells.first().and_then(Value::as_ref_id) == Some(row))
}

/// A row on one line.
fn brief(domain: &Domain, snapshot: &Snapshot, table: TableId, row: RowId) -> String {
    let declared = domain.table(table);
    let mut out = format!("{} {row}", declared.name);
    let Some(cells) = row_of(snapshot, table, row) else { return out + ", which is gone" };
    for (field, value) in declared.fields.iter().zip(cells).skip(1).filter(|(_, value)| !value.is_null()) {
        let shown = codec::show_value(domain, field.ty, value);
        let shown = if field.ty == Type::Text { format!("{shown:?}") } else { shown };
        let _ = write!(out, " {}={shown}", field.name);
    }
    out
}
