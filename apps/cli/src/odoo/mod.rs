//! What holds the embedded ERP to a real Odoo.

pub(crate) mod check;
mod moves;
mod pair;
pub(crate) mod replay;

use crate::failure::Failure;
use benchwright_odoo::Site;

/// The installation, or what to do about it.
pub(crate) fn site() -> anyhow::Result<Site> {
    Site::find().map_err(|error| Failure::missing(error, "scripts/odoo up"))
}

/// Fields that are not compared between the two, each for a reason that stands in domains/erp/FIDELITY.md.
pub(crate) fn not_compared(_table: &str, _field: &str) -> bool {
    false
}
