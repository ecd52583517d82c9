//! The judge of a task, whichever of the two it has.

use crate::{EffectsError, EffectsGrader, GradeError, Grader};
use benchwright_pack::{NativeCheck, SealedTask, Snapshot, Verdict};
use benchwright_sandbox::{Episode, Sandbox};
use benchwright_schema::Domain;
use benchwright_world::Seat;
use std::sync::Arc;

/// Why nothing could be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// By the rules of a plan.
    #[error(transparent)]
    Plan(#[from] GradeError),
    /// By the effects of a request.
    #[error(transparent)]
    Effects(#[from] EffectsError),
}

/// A judge made ready for a task.
pub enum Judge<'a> {
    /// By the rules of a plan.
    Plan(Box<Grader<'a>>),
    /// By the effects of a request.
    Effects(Box<EffectsGrader>),
}

impl<'a> Judge<'a> {
    /// The judge of a task. `first` is the first state of its world, `natives` are the rules of its family that are functions.
    pub fn of(
        sealed: &'a SealedTask,
        domain: &'a Domain,
        first: &'a Snapshot,
        natives: &'a [(&'static str, NativeCheck)],
        sandbox: &Arc<Sandbox>,
        seat: &Seat,
    ) -> Result<Judge<'a>, JudgeError> {
        Ok(match &sealed.effects {
            Some(effects) => Judge::Effects(Box::new(EffectsGrader::new(Arc::clone(sandbox), effects, seat)?)),
            None => Judge::Plan(Box::new(Grader::new(domain, &sealed.verifier, first, natives)?)),
        })
    }

    /// Judges an episode as it stands.
    pub fn grade_live(&self, episode: &Episode) -> Result<Verdict, JudgeError> {
        Ok(match self {
            Judge::Plan(grader) => grader.grade_live(&episode.live())?,
            Judge::Effects(grader) => grader.grade_live(episode)?,
        })
    }

    /// Judges a terminal state.
    pub fn grade(&self, last: &Snapshot) -> Result<Verdict, JudgeError> {
        Ok(match self {
            Judge::Plan(grader) => grader.grade(last)?,
            Judge::Effects(grader) => grader.grade(last)?,
        })
    }
}
