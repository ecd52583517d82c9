//! Cases of tasks that ask for more than their tier: a dial is turned at the records that were drawn.

pub(crate) mod ask;
mod best;
pub(crate) mod front;
pub(crate) mod over;
pub(crate) mod twin;

pub(crate) use best::best;
