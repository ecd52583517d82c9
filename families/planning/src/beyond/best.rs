//! The best plan of records, as it is asked for while a case is looked for.

use crate::{records::Records, workflow::Planning};
use benchwright_project::{Discard, Draw, Ready};
use benchwright_schema::Domain;
use benchwright_spec::{Outcome, Planner, PlannerError, Solved};

/// A case that was put together, and its best plan as far as it is soon found.
pub(crate) type Best = (Ready, Solved);

/// The best plan of records, if it is soon proved, or as near as is admitted.
pub(crate) fn best(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Option<Best>, Discard> {
    match outcome(family, draw, domain, planner, records)? {
        (ready, Outcome::Solved(solved)) => Ok(Some((ready, *solved))),
        _ => Ok(None),
    }
}

/// What comes of asking for the best plan of records.
pub(crate) fn outcome(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<(Ready, Outcome), Discard> {
    let ready = benchwright_project::ready(family, draw.pattern, domain, family.case(draw, records))?;
    let candidates = family.candidates_of(&ready)?;
    match planner.best(&ready.plan, &ready.bound, &candidates, draw.objective) {
        Ok(outcome) => Ok((ready, outcome)),
        Err(PlannerError::Unreadable(why)) => Err(Discard::Fault(why)),
        Err(error) => Err(error.into()),
    }
}
