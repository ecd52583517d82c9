//! The commands, one file each.

pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod contest;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod domains;
pub(crate) mod export;
pub(crate) mod grade;
pub(crate) mod new;
pub(crate) mod odoo;
pub(crate) mod patterns;
pub(crate) mod play;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod tasks;
pub(crate) mod view;
pub(crate) mod work;
pub(crate) mod worker;
