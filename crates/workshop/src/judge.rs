//! A judge that owns what it reads, made ready once for any number of states of its task.

use benchwright_grade::{JudgeError, TaskJudge};
use benchwright_pack::{NativeCheck, OpenTask, SealedTask, Snapshot};
use benchwright_sandbox::Sandbox;
use benchwright_schema::Domain;
use std::sync::Arc;

/// All that a judge reads, which it borrows.
struct Matter {
    sealed: SealedTask,
    domain: Arc<Domain>,
    first: Snapshot,
    natives: &'static [(&'static str, NativeCheck)],
}

self_cell::self_cell!(
    struct Owned {
        owner: Matter,
        #[covariant]
        dependent: TaskJudge,
    }
);

/// A judge with what it reads.
pub(crate) struct Judge(Owned);

impl Judge {
    /// A judge of the terminal states of a task, made ready once.
    pub(crate) fn ready(
        sandbox: &Arc<Sandbox>,
        open: &OpenTask,
        sealed: SealedTask,
        natives: &'static [(&'static str, NativeCheck)],
    ) -> Result<Judge, JudgeError> {
        let (domain, first) = (Arc::clone(sandbox.domain()), sandbox.first_snapshot());
        let seat = sandbox.seat_of(open);
        let owned = Owned::try_new(Matter { sealed, domain, first, natives }, |matter| {
            TaskJudge::of(&matter.sealed, &matter.domain, &matter.first, matter.natives, sandbox, &seat)
        });
        Ok(Judge(owned?))
    }

    /// Asks it.
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&TaskJudge<'_>) -> T) -> T {
        ask(self.0.borrow_dependent())
    }
}
