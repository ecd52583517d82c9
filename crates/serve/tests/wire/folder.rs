//! A test engine whose state is a folder of files on disk: it cannot fork, has no hash and no diff, and waits for the disk.
//! And a test face, by which episodes are called as `plain/TOOL`.

use benchwright_base::{DateTime, Digest};
use benchwright_pack::{Files, OpenPart, Outcome, Refusal, RefusalCode, Trace, TraceCall};
use benchwright_world::{
    About, Calls, Engine, Episode, Face, FaceAnswer, Filling, ToolLine, World, WorldError, WorldState,
};
use serde_json::{Value as Json, json};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The engine. Its episodes live in folders below one.
#[derive(Debug)]
pub(crate) struct FolderEngine {
    pub(crate) root: PathBuf,
}

impl Engine for FolderEngine {
    fn names(&self) -> &[&str] {
        &["folder"]
    }

    /// A task's first state is one file of the folder.
    fn open(&self, task: &OpenPart) -> Result<Arc<dyn World>, WorldError> {
        let mut first = Files::default();
        first.put("first.json", &*task.world).map_err(|error| WorldError::Refused(error.to_string()))?;
        Ok(Arc::new(FolderWorld { root: self.root.clone(), name: task.open.domain.clone(), first }))
    }

    fn fill(&self, filling: &Filling) -> Result<Arc<dyn World>, WorldError> {
        if filling.domain != "notes" {
            return Err(WorldError::NotThere(format!("there are no files of `{}`; there are: notes", filling.domain)));
        }
        let mut first = Files::default();
        let text = format!("seed {}\n", filling.seed);
        first.put("notes/begin.txt", text).map_err(|error| WorldError::Engine(error.to_string()))?;
        Ok(Arc::new(FolderWorld { root: self.root.clone(), name: filling.domain.clone(), first }))
    }
}

struct FolderWorld {
    root: PathBuf,
    name: String,
    first: Files,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl World for FolderWorld {
    fn about(&self) -> About<'_> {
        let digest = Digest::of(b"folder tools");
        About { name: &self.name, title: "A folder", about: "Files that are read and written.", digest }
    }

    fn tools(&self) -> Vec<ToolLine> {
        let text = json!({ "type": "string" });
        let tool = |name: &str, takes: Json, answer: Json, reads_only: bool| ToolLine {
            name: name.to_owned(),
            description: format!("{name} of the folder"),
            table: None,
            arguments: json!({ "type": "object", "properties": takes }),
            answer,
            reads_only,
            destroys: !reads_only,
        };
        vec![
            tool("list_files", json!({}), json!({ "type": "array", "items": text }), true),
            tool("read_file", json!({ "path": text }), json!({ "type": "object" }), true),
            tool("write_file", json!({ "path": text, "text": text }), json!({ "type": "object" }), false),
        ]
    }

    fn begin(&self, role: Option<&str>) -> Result<Box<dyn Episode>, WorldError> {
        if let Some(role) = role.filter(|role| *role != "writer") {
            return Err(WorldError::Asked(format!("there is no role `{role}`; there is: writer")));
        }
        let folder = self.root.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
        for (path, bytes) in self.first.iter() {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        let start = Digest::of(&self.first.to_bytes()).to_string();
        Ok(Box::new(FolderEpisode { folder, name: self.name.clone(), start, log: Vec::new() }))
    }

    fn waits(&self) -> bool {
        true
    }

    fn speaks(&self, face: &str) -> bool {
        face == "plain"
    }
}

struct FolderEpisode {
    folder: PathBuf,
    name: String,
    start: String,
    log: Vec<TraceCall>,
}

impl FolderEpisode {
    fn files(&self) -> Result<Files, WorldError> {
        let mut files = Files::default();
        collect(&self.folder, "", &mut files).map_err(|error| WorldError::Engine(error.to_string()))?;
        Ok(files)
    }

    fn answer(&self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let refused = |message: &str| Refusal::new(RefusalCode::InvalidArgument, message);
        let arguments: Json = serde_json::from_str(arguments).map_err(|_| refused("no JSON"))?;
        let files = self.files().map_err(|error| refused(&error.to_string()))?;
        let text = |name: &str| arguments[name].as_str().ok_or_else(|| refused(&format!("`{name}` is missing")));
        match tool {
            "list_files" => Ok(json!(files.iter().map(|(path, _)| path).collect::<Vec<_>>()).to_string()),
            "read_file" => {
                let path = text("path")?;
                let missing = || Refusal::new(RefusalCode::NotFound, format!("there is no file `{path}`"));
                let bytes = files.get(path).ok_or_else(missing)?;
                Ok(json!({ "text": String::from_utf8_lossy(bytes) }).to_string())
            }
            "write_file" => {
                let (path, text) = (text("path")?, text("text")?);
                // A path that leads out of the folder is caught by the document before it reaches the disk.
                Files::default().put(path, text).map_err(|error| refused(&error.to_string()))?;
                let file = self.folder.join(path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
                Ok(json!({ "written": path }).to_string())
            }
            _ => Err(Refusal::new(RefusalCode::NotFound, format!("there is no tool `{tool}`"))),
        }
    }
}

fn collect(folder: &Path, before: &str, files: &mut Files) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{before}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.put(&path, fs::read(entry.path())?).map_err(std::io::Error::other)?;
        }
    }
    Ok(())
}

impl Episode for FolderEpisode {
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let answer = self.answer(tool, arguments);
        let outcome = match &answer {
            Ok(answer) => Outcome::Answered(Digest::of(answer.as_bytes()).to_string()),
            Err(refusal) => Outcome::Refused(refusal.code.word().to_owned()),
        };
        self.log.push(TraceCall { tool: tool.to_owned(), arguments: arguments.to_owned(), outcome });
        answer
    }

    fn state(&self) -> Result<WorldState, WorldError> {
        Ok(WorldState::Files(self.files()?))
    }

    fn state_bytes(&self) -> Result<Vec<u8>, WorldError> {
        Ok(self.files()?.to_bytes())
    }

    fn trace(&self) -> Result<Trace, WorldError> {
        Ok(Trace {
            version: Trace::VERSION,
            domain: self.name.clone(),
            domain_digest: Digest::of(b"folder tools").to_string(),
            role: self.role().to_owned(),
            actor: None,
            start: self.start.clone(),
            calls: self.log.clone(),
            end: self.fingerprint()?,
        })
    }

    fn role(&self) -> &str {
        "writer"
    }

    fn now(&self) -> DateTime {
        DateTime(0)
    }

    fn speak(&mut self, words: &[&str], body: &str) -> Result<FaceAnswer, WorldError> {
        let body = format!("{{\"words\":{},\"bytes\":{}}}", json!(words), body.len());
        self.log.push(TraceCall {
            tool: words.join(" "),
            arguments: String::new(),
            outcome: Outcome::Answered(Digest::of(body.as_bytes()).to_string()),
        });
        Ok(FaceAnswer { status: 207, body })
    }

    fn close(self: Box<Self>) -> Result<(), WorldError> {
        let gone = fs::remove_dir_all(&self.folder);
        gone.map_err(|error| WorldError::Engine(format!("{}: {error}", self.folder.display())))
    }
}

/// Calls of tools by the last part of the path; an engine that speaks it itself is asked in its own words.
#[derive(Debug)]
pub(crate) struct Plain;

impl Face for Plain {
    fn name(&self) -> &str {
        "plain"
    }

    fn path(&self) -> &str {
        "plain"
    }

    fn fits(&self, world: &dyn World) -> bool {
        world.about().name != "itsm"
    }

    fn answer(&self, world: &dyn World, path: &str, body: &str, calls: &mut dyn Calls) -> Option<FaceAnswer> {
        if path == "nowhere" {
            return None;
        }
        let answer = if world.speaks(self.name()) {
            calls.speak(&["plain", path], body)
        } else {
            calls.call(path, body).map(|body| FaceAnswer { status: 200, body })
        };
        Some(answer.unwrap_or_else(|refusal| FaceAnswer { status: 418, body: refusal.to_json() }))
    }
}
