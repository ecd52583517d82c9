//! What every part of the family knows of a case: the rules it may have, and how it becomes a document and comes back.

use super::shop::Shop;
use benchwright_project::Case;
use benchwright_schema::plan::PlanText;
use std::sync::LazyLock;

/// What `plan.toml` declares. A test reads it, so that a fault in it cannot be shipped.
pub(crate) static PLAN: LazyLock<PlanText> =
    LazyLock::new(|| PlanText::from_toml("plan.toml", include_str!("../plan.toml")).unwrap_or_default());

/// The case behind a document.
pub(crate) fn shop(case: &Case) -> Result<Shop, String> {
    serde_json::from_value(case.data.clone()).map_err(|error| format!("this is no case of the ERP family: {error}"))
}

/// The document of a case.
pub(crate) fn case_of(shop: &Shop) -> Case {
    let data = serde_json::to_value(shop).unwrap_or_default();
    Case { objective: shop.objective.clone(), switches: shop.switches(), data }
}
