//! Tasks as Harbor reads them (task schema 1.4): a folder each, with the open part where the agent's machine is made from, and the
//! sealed part where only the verifier's is. All tasks have one image, named by its digest; the verifier is a machine of its own.

use crate::ExportError;
use benchwright_base::Digest;
use benchwright_pack::{Task, Trace};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The version of Harbor's task schema.
const SCHEMA: &str = "1.4";
/// The folder of the agent in its machine, and that of the world in it.
const WORK: &str = "/task";
const WORLD: &str = "/task/world";
/// Where what the episode left is collected, and where the verifier finds it: a place that only root can enter.
const COLLECTED: &str = "/var/lib/benchwright/collected";
/// Where the verifier finds the tests.
const TESTS: &str = "/tests";
/// Where Harbor reads rewards.
const REWARDS: &str = "/logs/verifier";
/// The address of the agent in its machine.
const AGENT: &str = "http://127.0.0.1:8765";
/// How long an agent and a verifier may take, in seconds.
const AGENT_SECONDS: u32 = 3_600;
const VERIFIER_SECONDS: u32 = 300;

/// What the reward of a trial is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HarborReward {
    /// 1 for a pass, 0 for all else.
    #[default]
    Pass,
    /// The graded reward, from 0 to 1.
    Graded,
}

/// What all tasks of an export have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HarborOptions {
    /// The image, named by its digest: `NAME@sha256:…`.
    pub image: String,
    /// Who the tasks are published by: the first part of their names.
    pub organisation: String,
    /// The name of the dataset.
    pub dataset: String,
    /// What the reward is.
    pub reward: HarborReward,
}

/// A folder of Harbor tasks that is being written.
pub struct HarborFolder {
    root: PathBuf,
    options: HarborOptions,
    /// The digest of each task as Harbor takes it.
    written: Vec<(String, Digest)>,
}

/// The files of a task by their paths, in the order in which Harbor digests them. A script can be run.
type Files = BTreeMap<String, Vec<u8>>;

impl HarborOptions {
    /// Whether the image is named by its digest. Any other name means another image tomorrow.
    pub fn is_pinned(&self) -> bool {
        let digest = self.image.split_once("@sha256:");
        digest.is_some_and(|(name, hex)| {
            !name.is_empty() && hex.len() == 64 && hex.bytes().all(|digit| digit.is_ascii_hexdigit())
        })
    }
}

impl HarborFolder {
    /// A folder that holds no tasks yet.
    pub fn new(root: &Path, options: HarborOptions) -> HarborFolder {
        HarborFolder { root: root.to_owned(), options, written: Vec::new() }
    }

    /// Writes a task, with the calls of its certified plan as the solution.
    pub fn write(&mut self, task: &Task, plan: &Trace) -> Result<(), ExportError> {
        let id = &task.open.id;
        let files = self.files(task, plan);
        for (path, bytes) in &files {
            let path = self.root.join(id).join(path);
            write(&path, bytes)?;
        }
        self.written.push((id.clone(), content(&files)));
        Ok(())
    }

    /// Writes what tells of all tasks, `dataset.toml` and `registry.json`, and says how many there are.
    pub fn finish(self) -> Result<usize, ExportError> {
        let HarborOptions { organisation, dataset, .. } = &self.options;
        let mut manifest = format!(
            "schema_version = \"1.0\"\n\n[dataset]\nname = {}\nversion = \"1\"\ndescription = {}\n",
            quoted(&format!("{organisation}/{dataset}")),
            quoted(ABOUT_DATASET)
        );
        let mut tasks = Vec::new();
        for (id, digest) in &self.written {
            let name = quoted(&format!("{organisation}/{id}"));
            manifest.push_str(&format!("\n[[tasks]]\nname = {name}\ndigest = \"sha256:{digest}\"\n"));
            tasks.push(json!({ "name": id, "path": id }));
        }
        write(&self.root.join("dataset.toml"), manifest.as_bytes())?;
        let registry = json!([{ "name": dataset, "version": "1", "description": ABOUT_DATASET, "tasks": tasks }]);
        write(&self.root.join("registry.json"), &pretty(&registry))?;
        Ok(self.written.len())
    }

    fn files(&self, task: &Task, plan: &Trace) -> Files {
        let (id, canary) = (&task.open.id, &task.open.canary);
        let mut files = Files::new();
        files.insert("task.toml".into(), self.config(task).into_bytes());
        // Harbor takes such a line away before an agent sees the text.
        let instruction = format!("<!-- {canary} -->\n\n{}{HOW}", ended(&task.instruction));
        files.insert("instruction.md".into(), instruction.into_bytes());
        for root in ["environment/world", "tests/task"] {
            files.insert(format!("{root}/open/{id}/task.json"), task.open_bytes());
            files.insert(format!("{root}/open/{id}/instruction.md"), task.instruction.clone().into_bytes());
            files.insert(format!("{root}/open/{id}/world.json"), task.world.clone());
        }
        files.insert(format!("tests/task/sealed/{id}/sealed.json"), task.sealed_bytes());
        let graded = match self.options.reward {
            HarborReward::Pass => "",
            HarborReward::Graded => " --graded",
        };
        let test = format!(
            "#!/bin/sh\n# {canary}\n# Judges what was collected. Where nothing can be judged no reward is written, which is an error and no 0.\n\
             exec benchwright grade {TESTS}/task/open/{id} {COLLECTED} --digest {} --rewards {REWARDS}{graded}\n",
            task.digest()
        );
        files.insert("tests/test.sh".into(), test.into_bytes());
        let calls: String = plan.calls.iter().map(|call| format!("{}\t{}\n", call.tool, call.arguments)).collect();
        files.insert("solution/calls.tsv".into(), calls.into_bytes());
        files.insert("solution/solve.sh".into(), solve(canary).into_bytes());
        files
    }

    fn config(&self, task: &Task) -> String {
        let (sealed, HarborOptions { image, organisation, .. }) = (&task.sealed, &self.options);
        let id = &task.open.id;
        let texts = [
            ("canary", &*task.open.canary),
            ("digest", &task.digest().to_string()),
            ("domain", &task.open.domain),
            ("family", &sealed.family),
            ("pattern", &sealed.pattern),
            ("tier", &sealed.tier),
            ("objective", &sealed.objective),
            ("calls", &task.open.calls.to_string()),
        ]
        .map(|(key, text)| format!("{key} = {}\n", quoted(text)))
        .concat();
        let (name, image) = (quoted(&format!("{organisation}/{id}")), quoted(image));
        format!(
            r#"schema_version = "{SCHEMA}"
artifacts = ["{COLLECTED}"]

[task]
name = {name}
version = "1"
description = "Work in a company's systems, judged by the state that is left"
keywords = ["enterprise", "tool-use"]

[metadata]
{texts}
[agent]
timeout_sec = {AGENT_SECONDS}
user = "agent"

[verifier]
timeout_sec = {VERIFIER_SECONDS}
environment_mode = "separate"

[[verifier.collect]]
command = "benchwright collect {COLLECTED}"
timeout_sec = 120

[environment]
docker_image = {image}
workdir = "{WORK}"
cpus = 1
memory_mb = 1024
storage_mb = 2048
network_mode = "no-network"

[environment.healthcheck]
command = "benchwright serve --one {WORLD} --ready --as bench"
interval_sec = 2
timeout_sec = 90
start_period_sec = 90
start_interval_sec = 1
retries = 3

[[environment.mcp_servers]]
name = "benchwright"
transport = "streamable-http"
url = "{AGENT}/mcp"
"#
        )
    }
}

const ABOUT_DATASET: &str = "Enterprise work compiled into worlds: instruction, environment, solution and verifier of each task from one specification";

/// What is told besides the instruction: where the tools are, for agents that have a shell and no MCP.
const HOW: &str = "
---

The systems are reached by the tools of the MCP server `benchwright`. Who has no MCP calls the same tools over HTTP: `GET
http://127.0.0.1:8765/openapi.json` lists them, and `POST http://127.0.0.1:8765/tools/NAME` with a JSON object of arguments calls one.
";

/// The certified plan through the agent's own address.
fn solve(canary: &str) -> String {
    format!(
        r#"#!/bin/bash
# {canary}
# Makes the calls of the certified plan, as an agent would: a line each, the tool and its arguments.
set -euo pipefail
while IFS=$'\t' read -r tool arguments; do
    curl --silent --show-error --fail-with-body --max-time 60 --header 'Content-Type: application/json' \
        --data-binary "$arguments" "{AGENT}/tools/$tool"
    echo
done <"$(dirname "$0")/calls.tsv"
"#
    )
}

fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// A text in TOML. What JSON escapes, TOML reads.
fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn pretty(json: &Json) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(json).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// The digest of a task's files as Harbor takes it: of their paths and digests, in the order of the paths.
fn content(files: &Files) -> Digest {
    let lines: String = files.iter().map(|(path, bytes)| format!("{path}\0{}\n", Digest::of(bytes))).collect();
    Digest::of(lines.as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    let io = |why| ExportError::Io { path: path.to_owned(), why };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io)?;
    }
    fs::write(path, bytes).map_err(io)?;
    let is_script = path.extension().is_some_and(|end| end == "sh");
    if is_script { fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(io) } else { Ok(()) }
}
