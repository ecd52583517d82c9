//! What the catalogue finds: the ERP domain, parts that domains include, and the plans of families.

mod erp;
mod parts;
mod plans;
