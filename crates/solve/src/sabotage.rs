//! Ways to read a rule wrongly on purpose, so that a test can show that the law notices. Only with the feature `sabotage`.

/// A fault put into the lowering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sabotage {
    /// Bounds are read as if every candidate were used.
    EveryRowUsed,
    /// A constant is added for rows that are not used.
    UngatedConstants,
    /// A literal implies its formula, but not the other way.
    OneWayLiterals,
    /// A free field of an unused row may have any value.
    UnusedFieldsStay,
    /// `<` is read as `<=`.
    LessIsLessOrEqual,
    /// A fact loses its sign.
    StepsWithoutSign,
    /// `or` is read as its first part.
    OrIsItsFirst,
    /// A gated value may be anything where its guard does not hold.
    GatesStayOpen,
    /// What is taken for granted inside a row's fold is taken for granted after it.
    AssumptionsStay,
    /// A filter forgets that the row must be used.
    FiltersForgetUse,
    /// A filter by `not in` lets everything pass.
    NotInPassesAll,
    /// `count distinct` counts every element.
    DistinctCountsAll,
    /// `else` of `min` and `max` is forgotten.
    ElseIsForgotten,
    /// `max` of rows is never below 0.
    MaxBeginsAtZero,
    /// Intervals that touch overlap.
    IntervalsAreClosed,
    /// The negation of `<=` is `>=`.
    NegationKeepsEquality,
    /// A product takes a bound of its factors from one end only.
    ProductOfLowEnds,
    /// Maxima that have the same first part share a variable.
    MaximaByTheirFirst,
    /// A sum that goes on from another is that other.
    ChainsForgetTheLast,
    /// A rule of intervals is required wherever it is read, also where it is negated or below an `or`.
    NativeWhereverItStands,
    /// Intervals of native constraints are always there.
    NativeForgetsUse,
    /// Intervals of native constraints overlap where they touch.
    NativeIsClosed,
    /// A row whose field is free is not found by that field.
    IndexForgetsTheFree,
    /// Rows of a bundle are used one by one.
    BundlesComeApart,
}

impl Sabotage {
    /// Every way, for a test that tries each.
    pub const ALL: [Sabotage; 24] = [
        Sabotage::EveryRowUsed,
        Sabotage::UngatedConstants,
        Sabotage::OneWayLiterals,
        Sabotage::UnusedFieldsStay,
        Sabotage::LessIsLessOrEqual,
        Sabotage::StepsWithoutSign,
        Sabotage::OrIsItsFirst,
        Sabotage::GatesStayOpen,
        Sabotage::AssumptionsStay,
        Sabotage::FiltersForgetUse,
        Sabotage::NotInPassesAll,
        Sabotage::DistinctCountsAll,
        Sabotage::ElseIsForgotten,
        Sabotage::MaxBeginsAtZero,
        Sabotage::IntervalsAreClosed,
        Sabotage::NegationKeepsEquality,
        Sabotage::ProductOfLowEnds,
        Sabotage::MaximaByTheirFirst,
        Sabotage::ChainsForgetTheLast,
        Sabotage::NativeWhereverItStands,
        Sabotage::NativeForgetsUse,
        Sabotage::NativeIsClosed,
        Sabotage::IndexForgetsTheFree,
        Sabotage::BundlesComeApart,
    ];
}

#[cfg(feature = "sabotage")]
thread_local! {
    static ACTIVE: std::cell::Cell<Option<Sabotage>> = const { std::cell::Cell::new(None) };
}

/// Runs something with a fault in place on this thread.
#[cfg(feature = "sabotage")]
pub fn with<T>(sabotage: Sabotage, run: impl FnOnce() -> T) -> T {
    ACTIVE.set(Some(sabotage));
    let result = run();
    ACTIVE.set(None);
    result
}

#[cfg(feature = "sabotage")]
pub(crate) fn broken(sabotage: Sabotage) -> bool {
    ACTIVE.get() == Some(sabotage)
}

#[cfg(not(feature = "sabotage"))]
pub(crate) const fn broken(_: Sabotage) -> bool {
    false
}
