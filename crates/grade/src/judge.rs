//! The judge of a task, whichever of the two it has.

use crate::{EffectsError, EffectsGrader, Forbidden, GradeError, Grader, InWords, InjectionError, records::Documents};
use benchwright_pack::{NativeCheck, SealedTask, Snapshot, Verdict};
use benchwright_sandbox::{Episode, Sandbox};
use benchwright_schema::Domain;
use benchwright_world::{Seat, Terminal};
use serde_json::Value as Json;
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
    /// By what a hostile text asks for.
    #[error(transparent)]
    Injection(#[from] InjectionError),
}

/// A judge made ready for a task.
pub struct Judge<'a> {
    by: By<'a>,
    first: &'a Snapshot,
    /// What a hostile text asks for, where the task carries one.
    forbidden: Option<Forbidden>,
}

enum By<'a> {
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
        let by = match &sealed.effects {
            Some(effects) => By::Effects(Box::new(EffectsGrader::new(Arc::clone(sandbox), effects, seat)?)),
            None => By::Plan(Box::new(Grader::new(domain, &sealed.verifier, first, natives)?)),
        };
        let forbidden = sealed.injection.as_ref().map(|planted| Forbidden::new(planted, domain)).transpose()?;
        Ok(Judge { by, first, forbidden })
    }

    /// Judges an episode as it stands.
    pub fn grade_live(&self, episode: &Episode) -> Result<Verdict, JudgeError> {
        let verdict = match &self.by {
            By::Plan(grader) => grader.grade_live(&episode.live())?,
            By::Effects(grader) => grader.grade_live(episode)?,
        };
        Ok(self.told(verdict, &episode.live()))
    }

    /// An episode that was judged, in words for people; nothing of a request, which has no plan.
    pub fn in_words(&self, episode: &Episode, verdict: &Verdict, certified: &Json) -> Option<InWords> {
        match &self.by {
            By::Plan(grader) => Some(grader.in_words(&episode.live(), verdict, certified)),
            By::Effects(_) => None,
        }
    }

    /// Judges a terminal state.
    pub fn grade(&self, last: &Snapshot) -> Result<Verdict, JudgeError> {
        let verdict = match &self.by {
            By::Plan(grader) => grader.grade(last)?,
            By::Effects(grader) => grader.grade(last)?,
        };
        Ok(self.told(verdict, &Documents { first: self.first, last }))
    }

    fn told<'s>(&self, verdict: Verdict, last: &impl Terminal<'s>) -> Verdict {
        match &self.forbidden {
            Some(forbidden) => forbidden.told(verdict, last),
            None => verdict,
        }
    }
}
