//! Faults that the laws' own tests switch on to see that the laws bite. Without the feature `sabotage` every switch is
//! off for good and costs nothing.

/// The ways in which the sandbox can be broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sabotage {
    /// A refused call leaves what it had written.
    KeepRefusedWrites,
    /// A read stamps the clock forward.
    ReadMovesClock,
    /// Uniqueness is not checked.
    SkipUnique,
    /// A write may refer to a row that is not there.
    SkipReferences,
    /// A row is deleted although others refer to it.
    DeleteReferenced,
    /// Bounds are not checked.
    SkipBounds,
    /// Rules held by tools are not checked.
    SkipRules,
    /// A rule is judged only on the rows that were written, whatever it reads elsewhere.
    OneSided,
    /// Lifecycles are not checked.
    SkipLifecycle,
    /// Secret fields are shown to everybody.
    ShowSecrets,
    /// Row conditions of access are ignored.
    SkipRowConditions,
    /// A diff leaves out removed rows.
    DiffForgetsRemoved,
    /// A reset keeps what was written.
    ResetKeepsWrites,
    /// The hash is not updated when a row is removed.
    StaleHash,
    /// A trace forgets refused calls.
    TraceForgetsRefusals,
    /// Creates answer with what was asked for, not with what was written.
    AnswerBeforeStamps,
    /// An index loses rows whose value changed.
    StaleIndex,
    /// A second true of a sole field is let through.
    SkipSole,
}

#[cfg(feature = "sabotage")]
mod switch {
    use super::Sabotage;
    use std::cell::Cell;

    thread_local! {
        static ON: Cell<Option<Sabotage>> = const { Cell::new(None) };
    }

    /// Breaks the sandbox in one way on this thread while `run` runs.
    pub fn sabotaged<T>(how: Sabotage, run: impl FnOnce() -> T) -> T {
        ON.set(Some(how));
        let result = run();
        ON.set(None);
        result
    }

    pub(crate) fn on(how: Sabotage) -> bool {
        ON.get() == Some(how)
    }
}

#[cfg(feature = "sabotage")]
pub(crate) use switch::on;
#[cfg(feature = "sabotage")]
pub use switch::sabotaged;

/// Whether a switch is on: never, in an ordinary build.
#[cfg(not(feature = "sabotage"))]
#[inline(always)]
pub(crate) fn on(_: Sabotage) -> bool {
    false
}
