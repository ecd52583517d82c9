//! Carries out a script in an episode: fills the keys of rows and the results of earlier steps into the arguments, makes
//! the calls in order, and stops at the first that is refused. So oracles are played.

use crate::Episode;
use benchwright_pack::{BoundKeys, Refusal, Script, ScriptError};
use std::collections::BTreeMap;

/// Why a script did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A call was refused.
    #[error("call {at} ({tool}) was refused: {refusal}")]
    Refused {
        /// Which call, from 0.
        at: usize,
        /// The name of the tool that was called.
        tool: String,
        /// What the world said.
        refusal: Refusal,
    },
    /// The script does not fit the world.
    #[error("call {at}: {why}")]
    Script {
        /// Which call, from 0.
        at: usize,
        /// Why the step could not be made into a call, such as a key that nothing is bound to.
        why: ScriptError,
    },
    /// An answer is not JSON.
    #[error("call {at}: the answer is not JSON: {why}")]
    Answer {
        /// Which call, from 0.
        at: usize,
        /// Why the answer could not be read.
        why: String,
    },
}

/// What the keys of the first state's rows (by table and row) are bound to in an episode.
pub fn bound_keys(keys: &BTreeMap<String, BTreeMap<u32, String>>, episode: &dyn Episode) -> BoundKeys {
    let rows = keys.iter().flat_map(|(table, rows)| rows.iter().map(move |(row, key)| (table, row, key)));
    BoundKeys::new(rows.map(|(table, row, key)| (key.clone(), episode.id_of(table, *row))))
}

/// Makes every call in order, binding what answers hold. Stops at the first that is refused.
pub fn replay(script: &Script, bound: &mut BoundKeys, episode: &mut dyn Episode) -> Result<(), ReplayError> {
    if script.reads {
        return crate::seen::play(script, episode).map(drop);
    }
    for (at, step) in script.steps.iter().enumerate() {
        let arguments = bound.fill(&step.args).map_err(|why| ReplayError::Script { at, why })?;
        let tool = step.tool();
        let answer = episode.call(&tool, &arguments.to_string()).map_err(|refusal| ReplayError::Refused {
            at,
            tool,
            refusal,
        })?;
        if step.bind.is_some() {
            let answer =
                serde_json::from_str(&answer).map_err(|error| ReplayError::Answer { at, why: error.to_string() })?;
            bound.note(step, &answer).map_err(|why| ReplayError::Script { at, why })?;
        }
    }
    Ok(())
}
