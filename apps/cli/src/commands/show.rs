//! `benchwright show`: a task as an agent gets it, and its sealed part only when asked.

use crate::{
    failure::Failure,
    layout::{columns, counted, paragraph},
    output, tasks,
};
use benchwright_catalog::Catalog;
use benchwright_pack::{CheckStatus, OPEN_TREE, OpenPart, Task};
use benchwright_schema::plan::Binding;
use benchwright_spec::{NamedRows, PhaseResult};
use benchwright_workshop::{audits, requests, tasks::Judged, workspaces};
use std::path::PathBuf;

/// Shows a task: the instruction, the tools, the limits
#[derive(clap::Args)]
#[command(after_long_help = "\
Only the open part is read. With --reveal the sealed part is shown too: what the task was made from, the
certified plan, the certificate, the checks, and what `audit --depth sample` proved of its cell.

With --files the workspace is written into a folder that is not there or empty: the files of the first stage, brief.md,
and an empty folder submission/ for what `benchwright grade TASK --submission DIR` hands in.

Examples:
  benchwright show out/open/ID
  benchwright show out/ID --reveal
  benchwright show out/ID --files work")]
pub(crate) struct Options {
    /// The folder of its open part, DIR/open/ID, or DIR/ID
    #[arg(value_name = "TASK")]
    task: PathBuf,
    /// Shows the sealed part too
    #[arg(long)]
    reveal: bool,
    /// Writes the files of its workspace into a folder
    #[arg(long, value_name = "DIR", conflicts_with = "reveal")]
    files: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    if options.task.join(OPEN_TREE).is_dir() {
        let folder = options.task.display();
        return Err(Failure::wrong_use(
            format!("{folder} is a folder of tasks"),
            format!("benchwright tasks {folder}"),
        ));
    }
    let (store, id) = tasks::locate(&options.task)?;
    if let Some(folder) = &options.files {
        let count = counted(workspaces::lay_out_task(catalog, &store, &id, folder)?, "file");
        eprintln!("wrote {}: {count}, and an empty submission/", folder.display());
        return Ok(());
    }
    if !options.reveal {
        let part = store.open_part(&id)?;
        return Ok(output::data(&open(catalog, &part)?)?);
    }
    let task = store.task(&id)?;
    let Task { open: head, instruction, world, .. } = task.clone();
    let part = OpenPart { open: head, instruction, world };
    let mut text = open(catalog, &part)? + &sealed(catalog, &task)?;
    if let Some(line) = audits::proved(&store, &task)? {
        text.push_str(&format!("\naudited: {line}\n"));
    }
    Ok(output::data(&text)?)
}

fn open(catalog: &Catalog, part: &OpenPart) -> anyhow::Result<String> {
    let name = &part.open.domain;
    let found = catalog.find(name).map_err(|error| Failure::of_catalog(error, name))?;
    let tools = match part.open.tools.len() {
        0 => found.domain.tools.len(),
        some => some,
    };
    let head = format!(
        "{}\n  world   {} ({name}), {} bytes\n  role    {}\n  tools   {tools}\n  limit   {}\n\n",
        part.open.id,
        found.domain.title,
        part.world.len(),
        part.open.role,
        counted(part.open.calls as usize, "call"),
    );
    Ok(format!("{head}{}\n", part.instruction.trim_end()))
}

fn sealed(catalog: &Catalog, task: &Task) -> anyhow::Result<String> {
    let sealed = &task.sealed;
    let certificate = &sealed.certificate;
    let mut out = format!(
        "\n--- sealed ---\n\nmade from {} {} {} seed {}, draw {}\ndigest {}\n",
        sealed.pattern,
        sealed.tier,
        sealed.objective,
        sealed.seed,
        sealed.attempt + 1,
        task.digest()
    );
    if let Some(effects) = &sealed.effects {
        let line = |(of, text): (String, String)| paragraph(&format!("{of:>12} "), &text, output::columns());
        out.extend(requests::sealed(sealed, effects).into_iter().map(line));
        out.push_str(&checks(catalog, task)?);
        return Ok(out);
    }
    out.push_str(&paragraph("switches  ", &sealed.switches.join(", "), output::columns()));

    out.push_str(&format!("\nThe certificate, by {} ({}):\n", certificate.solver, certificate.library));
    out.push_str(&format!("  {} variables, {} constraints\n", certificate.variables, certificate.constraints));
    let phases: Vec<PhaseResult> = serde_json::from_value(certificate.phases.clone())?;
    let mut rows = vec![["phase", "value", "bound", "proved", "work"].map(str::to_owned).to_vec()];
    for phase in &phases {
        let proved = if phase.proved { "yes" } else { "no" };
        let work = format!("{}.{:03}", phase.work / 1000, phase.work % 1000);
        rows.push(vec![phase.name.clone(), phase.value.to_string(), phase.bound.to_string(), proved.into(), work]);
    }
    out.push_str(&columns(&rows, &[1, 2, 4], 2));

    let plan: NamedRows = serde_json::from_value(certificate.plan.clone())?;
    out.push_str(&format!("\nThe plan, in {}:\n", counted(sealed.oracle.steps.len(), "call")));
    for (view, found) in &plan.0 {
        out.push_str(&format!("  {view}\n"));
        let Some(first) = found.first() else { continue };
        let mut rows = vec![first.keys().cloned().collect::<Vec<_>>()];
        rows.extend(found.iter().map(|row| row.values().map(word).collect()));
        out.push_str(&columns(&rows, &[], 4));
    }
    out.push_str(&checks(catalog, task)?);
    Ok(out)
}

/// Every check, as the state stands that the plan leaves.
fn checks(catalog: &Catalog, task: &Task) -> anyhow::Result<String> {
    let judged = Judged::open(catalog, task)?;
    let state = judged.play(&task.sealed.oracle)?;
    let verdict = judged.judge()?.grade(&state)?;
    let mut out = format!("\n{} apply to what it leaves:\n", counted(verdict.applicable(), "check"));
    let mut rows = Vec::new();
    for check in &verdict.checks {
        let status = match check.status {
            CheckStatus::Pass => "pass",
            CheckStatus::Fail => "fail",
            CheckStatus::Na => "na",
            CheckStatus::NoVerdict => "no verdict",
        };
        rows.push(vec![check.code.clone(), check.rule.clone(), check.at.join(", "), status.to_owned()]);
    }
    out.push_str(&columns(&rows, &[], 2));
    if !task.sealed.verifier.gates.is_empty() {
        out.push_str(&format!("gates: {}\n", task.sealed.verifier.gates.join(", ")));
    }
    Ok(out)
}

fn word(binding: &Binding) -> String {
    match binding {
        Binding::Key(key) => key.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
