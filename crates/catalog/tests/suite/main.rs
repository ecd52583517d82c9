//! What the catalogue finds: the ERP domain, groups of domains, parts that domains include, and the plans of families.

mod erp;
mod groups;
mod parts;
mod plans;
