//! Holds what a plan declares as slack to the tables of a domain.

use super::PlanText;
use crate::{Domain, KeyFault};
use benchwright_expr::Names as _;

/// Tables and fields that are declared to have slack and are not there, and declarations that say nothing.
pub(super) fn check(text: &PlanText, domain: &Domain) -> Vec<KeyFault> {
    let mut faults = Vec::new();
    for (name, fields) in &text.slack {
        let Some(table) = domain.table_named(name) else {
            let fault = KeyFault::new(["slack", &**name], format!("there is no table `{name}`")).at_key();
            faults.push(fault.instead_of(name, domain.relation_names()));
            continue;
        };
        for (field, slack) in fields {
            let path = ["slack", &**name, &**field];
            if domain.table(table).field_named(field).is_none() {
                let fault = KeyFault::new(path, format!("`{name}` has no field `{field}`")).at_key();
                faults.push(fault.instead_of(field, domain.field_names(table)));
            } else if slack.below.is_none() && slack.above.is_none() && slack.other.is_none() {
                let fault = KeyFault::new(path, format!("nothing says on which side `{name}.{field}` has slack"));
                faults.push(fault.with_help("add `below`, `above` or `other` with the rule that leaves it"));
            }
        }
    }
    faults
}
