//! The folder of a trial: what was called, what was left, what the judge said. It is written under a name that nobody reads
//! and gets its own when the trial is recorded, together with the digest of all that is in it but the times.

use crate::{Finished, Left};
use benchwright_base::Digest;
use benchwright_pack::{
    LARGEST_TRACE, LARGEST_UNPACKED, StoreError, Trace, TrialRecord, Verdict, packed, read_packed, run::Spent,
    store::read_file,
};
use serde_json::{Value as Json, json};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// What begins the name of a folder that is not recorded yet.
const UNDER_WAY: &str = ".under-way-";
/// The largest file of a folder that is read back.
const LARGEST: usize = 1 << 30;
/// The longest diff that is kept, in bytes of its JSON. Whoever makes the calls again has it whole.
const LARGEST_DIFF: usize = 4 << 20;

/// The file of the record.
pub const TRIAL_FILE: &str = "trial.json";
/// The times, which are of no digest.
pub const TIMING_FILE: &str = "timing.json";
/// The calls.
pub const TRACE_FILE: &str = "trace.json";
/// What the judge said.
pub const VERDICT_FILE: &str = "verdict.json";
/// What changed.
pub const DIFF_FILE: &str = "diff.json.gz";
/// The terminal state.
pub const SNAPSHOT_FILE: &str = "snapshot.json.gz";
/// What was said.
pub const TRANSCRIPT_FILE: &str = "transcript.jsonl";

/// The folders of a run's trials.
#[derive(Clone, Debug)]
pub struct TrialFolder {
    root: PathBuf,
}

/// What is kept of the way that a trial took.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept {
    /// The calls that were made, in order.
    pub trace: Trace,
    /// What the judge said of the terminal state, where that is kept.
    pub verdict: Option<Verdict>,
    /// What was said, message by message.
    pub transcript: Vec<Json>,
    /// The terminal state and what changed, where a segment keeps them.
    pub left: Option<Left>,
}

/// A folder that is written and has no name yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    pub(crate) path: PathBuf,
    pub(crate) digest: String,
}

/// The diff as a folder keeps it: whole, or a note of how long it is.
pub fn kept_diff(diff: &str) -> Cow<'_, str> {
    let bytes = diff.len();
    match bytes > LARGEST_DIFF {
        true => json!({ "left_out": { "bytes": bytes, "most": LARGEST_DIFF } }).to_string().into(),
        false => diff.into(),
    }
}

/// A record without its times, as `trial.json` has it, and the times.
pub fn told_apart(record: &TrialRecord) -> serde_json::Result<(Json, &Spent)> {
    let mut told = serde_json::to_value(record)?;
    if let Some(told) = told.as_object_mut() {
        told.remove("spent");
    }
    Ok((told, &record.spent))
}

/// The digest of a folder's files by name. Times are no part of it.
fn digest_of(files: &BTreeMap<String, Digest>) -> String {
    let counted = files.iter().filter(|(name, _)| *name != TIMING_FILE);
    Digest::of_parts(counted.map(|(name, digest)| (&**name, &digest.0[..]))).to_string()
}

impl TrialFolder {
    /// The folders of a run under its own.
    pub fn of(run: &Path) -> TrialFolder {
        TrialFolder { root: run.join("trials") }
    }

    /// Where a trial's folder is or will be.
    pub fn place(&self, number: i64) -> PathBuf {
        self.root.join(format!("{number:06}"))
    }

    /// Writes what a trial left, under a name that carries its fence.
    pub(crate) fn write(
        &self,
        (number, fence): (i64, i64),
        record: &TrialRecord,
        left: Option<(&Finished, &[Json])>,
    ) -> io::Result<Written> {
        let path = self.root.join(format!("{UNDER_WAY}{number:06}-{fence}"));
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        // Times stand apart, so that everything else can be compared byte for byte.
        let (told, spent) = told_apart(record)?;
        let mut files = vec![(TIMING_FILE, json_bytes(spent)?), (TRIAL_FILE, json_bytes(&told)?)];
        if let Some((left, transcript)) = left {
            files.push((TRACE_FILE, left.trace.to_bytes()));
            files.push((VERDICT_FILE, json_bytes(&left.verdict)?));
            let Left { snapshot, diff } =
                left.left.as_ref().ok_or_else(|| io::Error::other("the state was not kept"))?;
            files.push((DIFF_FILE, packed(kept_diff(diff).as_bytes())?));
            files.push((SNAPSHOT_FILE, packed(snapshot)?));
            if !transcript.is_empty() {
                let lines: Vec<String> = transcript.iter().map(Json::to_string).collect();
                files.push((TRANSCRIPT_FILE, (lines.join("\n") + "\n").into_bytes()));
            }
        }
        let mut digests = BTreeMap::new();
        for (name, bytes) in files {
            fs::write(path.join(name), &bytes)?;
            digests.insert(name.to_owned(), Digest::of(&bytes));
        }
        Ok(Written { path, digest: digest_of(&digests) })
    }

    /// Writes the folder of a trial and gives it its name.
    pub fn put(&self, number: i64, record: &TrialRecord, left: Option<(&Finished, &[Json])>) -> io::Result<()> {
        self.keep(&self.write((number, 0), record, left)?, number)
    }

    /// Gives a written folder its own name, by which it counts as kept.
    pub(crate) fn keep(&self, written: &Written, number: i64) -> io::Result<()> {
        let place = self.place(number);
        if place.exists() {
            // Asked again by a ledger whose answer was lost: it is in its place.
            if !written.path.exists() {
                return Ok(());
            }
            // Left by a process that died between this and its commit.
            fs::remove_dir_all(&place)?;
        }
        fs::rename(&written.path, place)
    }

    /// The names of all folders, those under way too.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.entries()?.into_iter().map(|(name, _)| name).collect())
    }

    /// Removes a folder that belongs to no recorded trial.
    pub(crate) fn sweep(&self, name: &str, is_recorded: &dyn Fn(i64) -> bool) -> io::Result<()> {
        match name.parse().is_ok_and(is_recorded) {
            true => Ok(()),
            false => fs::remove_dir_all(self.root.join(name)),
        }
    }

    /// What stands beside each other there, with its name. Nothing where no trial has ended yet.
    fn entries(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let named = |entry: fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), entry.path());
        entries.map(|entry| entry.map(named)).collect()
    }

    /// The numbers of the folders that have a trial's name, in order.
    pub fn numbers(&self) -> io::Result<Vec<i64>> {
        let mut numbers: Vec<i64> = self.entries()?.iter().filter_map(|(name, _)| name.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The first file that a trial's folder lacks; the folder itself, if it is not there.
    pub fn lacks(&self, number: i64, was_judged: bool) -> Option<PathBuf> {
        let folder = self.place(number);
        let judged: &[&str] = if was_judged { &[TRACE_FILE, VERDICT_FILE, DIFF_FILE, SNAPSHOT_FILE] } else { &[] };
        let names = [TRIAL_FILE, TIMING_FILE].into_iter().chain(judged.iter().copied());
        let mut files = std::iter::once(folder.clone()).chain(names.map(|name| folder.join(name)));
        files.find(|path| fs::symlink_metadata(path).is_err())
    }

    /// The digest of what is in a trial's folder, reached from its files.
    pub fn digest(&self, number: i64) -> Result<String, StoreError> {
        let folder = self.place(number);
        let io = |why: io::Error| StoreError::Io { path: folder.clone(), why };
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&folder).map_err(io)? {
            let name = entry.map_err(io)?.file_name().to_string_lossy().into_owned();
            let bytes = read_file(&folder.join(&name), LARGEST)?;
            files.insert(name, Digest::of(&bytes));
        }
        Ok(digest_of(&files))
    }

    /// A JSON document of a trial's folder.
    pub fn document<T: serde::de::DeserializeOwned>(&self, number: i64, name: &str) -> Result<T, StoreError> {
        let path = self.place(number).join(name);
        let bytes = read_file(&path, LARGEST)?;
        serde_json::from_slice(&bytes).map_err(|error| StoreError::Malformed { path, why: error.to_string() })
    }

    /// The calls of a trial.
    pub fn trace(&self, number: i64) -> Result<Trace, StoreError> {
        let path = self.place(number).join(TRACE_FILE);
        let trace = Trace::from_bytes(&read_file(&path, LARGEST_TRACE)?);
        trace.map_err(|error| StoreError::Malformed { path, why: error.to_string() })
    }

    /// What a packed file of a trial's folder holds, within the limit of what is unpacked.
    pub fn unpacked(&self, number: i64, name: &str) -> Result<Vec<u8>, StoreError> {
        read_packed(&self.place(number).join(name), LARGEST_UNPACKED)
    }

    /// Reads the folder of a trial that was judged: the calls, the verdict and what was said.
    pub fn read(&self, number: i64) -> Result<Kept, StoreError> {
        let (trace, verdict) = (self.trace(number)?, Some(self.document(number, VERDICT_FILE)?));
        let path = self.place(number).join(TRANSCRIPT_FILE);
        let bad = |why: String| StoreError::Malformed { path: path.clone(), why };
        let transcript = match fs::symlink_metadata(&path).is_ok() {
            true => {
                let text = String::from_utf8(read_file(&path, LARGEST)?).map_err(|error| bad(error.to_string()))?;
                let lines = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
                lines.map_err(|error| bad(error.to_string()))?
            }
            false => Vec::new(),
        };
        Ok(Kept { trace, verdict, transcript, left: None })
    }
}

fn json_bytes(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}
