//! The folder of a trial: what was called, what was left, what the judge said. It is written under a name that nobody reads
//! and gets its own when the trial is recorded.

use crate::{Claim, Finished};
use benchwright_pack::{Trace, TrialRecord, Verdict};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde_json::Value as Json;
use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

/// What begins the name of a folder that is not recorded yet.
const UNDER_WAY: &str = ".under-way-";
/// The largest snapshot that is read back.
const LARGEST: u64 = 64 << 20;

/// The folders of a run's trials.
#[derive(Clone, Debug)]
pub struct TrialFolder {
    root: PathBuf,
}

/// What a folder holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept {
    /// The calls that were made, in order.
    pub trace: Trace,
    /// What the judge said of the terminal state.
    pub verdict: Verdict,
    /// The terminal state, as the bytes of a snapshot.
    pub snapshot: Vec<u8>,
    /// What changed, for a reader.
    pub diff: Json,
    /// What was said, message by message.
    pub transcript: Vec<Json>,
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
        claim: &Claim,
        record: &TrialRecord,
        left: Option<(&Finished, &[Json])>,
    ) -> io::Result<PathBuf> {
        let folder = self.root.join(format!("{UNDER_WAY}{:06}-{}", claim.number, claim.fence));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        // Times stand apart, so that everything else can be compared byte for byte.
        let mut told = serde_json::to_value(record)?;
        let spent = told.as_object_mut().and_then(|told| told.remove("spent")).unwrap_or_default();
        fs::write(folder.join("timing.json"), json_bytes(&spent)?)?;
        fs::write(folder.join("trial.json"), json_bytes(&told)?)?;
        if let Some((left, transcript)) = left {
            fs::write(folder.join("trace.json"), left.trace.to_bytes())?;
            fs::write(folder.join("verdict.json"), json_bytes(&left.verdict)?)?;
            fs::write(folder.join("diff.json"), &left.diff)?;
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&left.snapshot)?;
            fs::write(folder.join("snapshot.json.gz"), packed.finish()?)?;
            if !transcript.is_empty() {
                let lines: Vec<String> = transcript.iter().map(Json::to_string).collect();
                fs::write(folder.join("transcript.jsonl"), lines.join("\n") + "\n")?;
            }
        }
        Ok(folder)
    }

    /// Gives a written folder its own name, by which it counts as kept.
    pub(crate) fn keep(&self, written: &Path, number: i64) -> io::Result<()> {
        let place = self.place(number);
        if place.exists() {
            // Left by a process that died between this and its commit.
            fs::remove_dir_all(&place)?;
        }
        fs::rename(written, place)
    }

    /// Removes what belongs to no recorded trial, but nothing that somebody still writes: what `is_recorded` and `is_held`
    /// know by number stays. How many were removed.
    pub(crate) fn sweep(&self, is_recorded: &dyn Fn(i64) -> bool, is_held: &dyn Fn(i64) -> bool) -> io::Result<usize> {
        let mut removed = 0;
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let keep = match name.strip_prefix(UNDER_WAY) {
                Some(rest) => rest.split('-').next().and_then(|number| number.parse().ok()).is_some_and(is_held),
                None => name.parse().is_ok_and(|number| is_recorded(number) || is_held(number)),
            };
            if !keep {
                fs::remove_dir_all(entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Reads the folder of a trial that was graded.
    pub fn read(&self, number: i64) -> io::Result<Kept> {
        let folder = self.place(number);
        let bad = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        let bytes = |name: &str| fs::read(folder.join(name));
        let trace = Trace::from_bytes(&bytes("trace.json")?).map_err(|error| bad(error.to_string()))?;
        let verdict = serde_json::from_slice(&bytes("verdict.json")?)?;
        let diff = serde_json::from_slice(&bytes("diff.json")?)?;
        let packed = fs::File::open(folder.join("snapshot.json.gz"))?;
        let mut snapshot = Vec::new();
        GzDecoder::new(packed).take(LARGEST + 1).read_to_end(&mut snapshot)?;
        if snapshot.len() as u64 > LARGEST {
            return Err(bad("the snapshot is too large".to_owned()));
        }
        let transcript = match fs::read_to_string(folder.join("transcript.jsonl")) {
            Ok(text) => text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Kept { trace, verdict, snapshot, diff, transcript })
    }
}

fn json_bytes(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}
