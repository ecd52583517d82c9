//! `benchwright play`: a person at the tools of a world.

mod complete;

use crate::{
    failure::Failure,
    output, tasks,
    worlds::{self, Filling, Opened},
};
use benchwright_base::RowId;
use benchwright_catalog::Catalog;
use benchwright_pack::{
    RunPlan,
    run::{Limits, RUN_VERSION},
};
use benchwright_run::{TrialFolder, record_played};
use benchwright_sandbox::Conditions;
use benchwright_workshop::{host::StoreHost, runs::Runs, session::Session, tasks::shown};
use benchwright_world::Seat;
use rustyline::{CompletionType, Config, Editor, error::ReadlineError, history::MemHistory};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, IsTerminal as _},
    path::{Path, PathBuf},
    time::Instant,
};

/// A prompt where you call the tools of a world yourself
#[derive(clap::Args)]
#[command(after_long_help = "\
A call is the tool's name and its arguments:
  search_cases state=pending priority=high
  add_case_note case=3 author=1 body=\"waits for the customer\"
  update_case {\"id\": 3, \"state\": \"pending\"}
Values without quotes are read as the tool wants them. Tab completes tools, arguments and the words an
argument takes. `help` lists the other commands: tools, whoami, diff, rules, undo, reset, trace, save,
now, quit. At a task there are also `task`, what it asks for, and `checks`, how its checks stand; what you
leave is recorded as a trial of the agent `human`.

Where stdin is no terminal, or with --script, lines are read without a prompt and echoed as `> line`;
empty lines and lines that begin with # do nothing.

Examples:
  benchwright play csm
  benchwright play csm --role agent --size medium --seed 7
  benchwright play csm+itsm --role csm.agent+itsm.manager
  benchwright play ./domains/csm --script session.txt
  benchwright play saved.json
  benchwright play out/open/ID")]
pub(crate) struct Options {
    /// A domain, by its name or the path to its folder, several joined, such as csm+itsm, a snapshot file, or a task,
    /// DIR/open/ID
    #[arg(value_name = "DOMAIN|SNAPSHOT|TASK")]
    what: String,
    /// The role you play [default: admin, or the domain's first]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// The person you are, by the id of the row [default: the first with that role]
    #[arg(long, value_name = "ID")]
    person: Option<RowId>,
    #[command(flatten)]
    filling: Filling,
    /// Where the trial of a task is recorded
    #[arg(long, value_name = "RUNS", default_value = "runs")]
    runs: PathBuf,
    /// Reads lines from FILE instead of the terminal
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let script =
        match &options.script {
            Some(path) => Some(fs::File::open(path).map_err(|error| {
                Failure::wrong_use(format!("{}: {error}", path.display()), "benchwright play --help")
            })?),
            None => None,
        };
    if Path::new(&options.what).join("task.json").is_file() {
        return at_a_task(catalog, options, script);
    }
    let opened = worlds::open(catalog, &options.what, &options.filling)?;
    let mut session = begin(&opened, options)?;
    output::data(&session.greeting())?;
    talk(&mut session, script)
}

fn talk(session: &mut Session, script: Option<fs::File>) -> anyhow::Result<()> {
    match script {
        Some(file) => read_lines(session, io::BufReader::new(file)),
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => converse(session),
        None => read_lines(session, io::stdin().lock()),
    }
}

/// A person at a task. What they leave is recorded as a trial of the agent `human`, if they made a call at all.
fn at_a_task(catalog: &Catalog, options: &Options, script: Option<fs::File>) -> anyhow::Result<()> {
    let (store, id) = tasks::locate(Path::new(&options.what))?;
    let folder = store.root().to_owned();
    let host = StoreHost::new(catalog, store);
    let next = "make it again: benchwright build SUITE.toml -o DIR";
    let task = host.for_person(&id).map_err(|error| Failure::falls_short(error, next))?;
    let line = host.line(&id).map_err(|error| Failure::falls_short(error, next))?;
    let episode = task.begin().map_err(|error| Failure::falls_short(error, next))?;
    let mut session = Session::new(episode, task.seat(), format!("task {id}"), output::columns());
    output::data(&format!("{}\n", task.instruction()))?;
    session.task = Some(task);
    output::data(&session.greeting())?;
    output::data("`task` shows the task again, `checks` how its checks stand; `quit` hands it in.\n\n")?;
    let begun = Instant::now();
    talk(&mut session, script)?;
    let Some(task) = &session.task else { return Ok(()) };
    let left = task.finished(session.episode()).map_err(|error| Failure::falls_short(error, next))?;
    if left.trace.calls.is_empty() {
        eprintln!("no call was made, so nothing is recorded");
        return Ok(());
    }
    let told = format!("reward {}", shown(left.verdict.reward));
    let agents = vec!["human".to_owned()];
    let (settings, limits) = (BTreeMap::new(), Limits::default());
    let plan = RunPlan { version: RUN_VERSION, tasks: vec![line], agents, settings, attempts: 1, limits };
    let runs = Runs::open(&options.runs)?;
    let (run, _) = runs.ledger.open(&runs.fresh_name("human"), &plan, true)?;
    let name = runs.ledger.name(run)?;
    runs.note_tasks(&name, &folder)?;
    let wall = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    record_played(&*runs.ledger, &TrialFolder::of(&runs.folder(&name)), run, left, wall)?;
    eprintln!("{told}; recorded as {name}");
    Ok(())
}

fn begin(opened: &Opened, options: &Options) -> anyhow::Result<Session> {
    let domain = opened.sandbox.domain();
    let usual = || domain.role_named("admin").or(domain.roles.first()).map(|role| role.name.clone());
    let role = options.role.clone().or_else(usual).unwrap_or_default();
    let actor = options.person.or_else(|| opened.sandbox.person_for(&role));
    let seat = Seat { role, actor };
    let episode = opened
        .sandbox
        .begin(&seat, Conditions::default())
        .map_err(|error| Failure::wrong_use(error, format!("benchwright domains {}", domain.name)))?;
    Ok(Session::new(episode, seat, opened.from.clone(), output::columns()))
}

/// Lines without a prompt, each echoed before its answer.
fn read_lines(session: &mut Session, lines: impl BufRead) -> anyhow::Result<()> {
    for line in lines.lines() {
        let line =
            line.map_err(|error| Failure::wrong_use(format!("the script cannot be read: {error}"), "plain text"))?;
        output::data(&format!("> {line}\n"))?;
        let turn = session.turn(&line);
        output::data(&turn.text)?;
        if turn.is_last {
            break;
        }
    }
    Ok(())
}

/// Lines at a prompt.
fn converse(session: &mut Session) -> anyhow::Result<()> {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history)?;
    editor.set_helper(Some(complete::Prompter::new(session)));
    session.is_dimmed = output::has_colour();
    loop {
        if let Some((columns, _)) = editor.dimensions() {
            session.width = usize::from(columns).max(20);
        }
        match editor.readline("> ") {
            Ok(line) => {
                let turn = session.turn(&line);
                output::data(&turn.text)?;
                if turn.is_last {
                    return Ok(());
                }
            }
            // The line is dropped, as in a shell.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}
