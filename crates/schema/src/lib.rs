//! A domain as plain data: tables, enumerations, lifecycles, access, tools and rules, read from a folder of TOML and
//! checked whole. A folder with faults gives all of them at once; one without gives a [`Domain`] in which every name is
//! resolved.

mod case_file;
pub mod codec;
mod describe;
mod document;
mod field_list;
mod folder;
mod join;
mod json_schema;
mod load;
mod model;
pub mod plan;
mod record_schema;
mod text;

pub use case_file::{Case, CaseFile, GivenRow, Labels};
pub use describe::describe;
pub use document::{Document, KeyFault, Section, Spot};
pub use field_list::field_list;
pub use folder::Folder;
pub use join::{Bridges, Composition, JoinError, join};
pub use json_schema::{arguments_schema, result_schema};
pub use load::load;
pub use model::{
    Access, Action, Argument, By, Cell, Child, Derived, DerivedKind, Domain, EnumType, Field, Filter, FilterKind,
    Grant, Incoming, Key, Lifecycle, Member, Native, People, Role, Rule, Seed, SeedField, SeedRows, Setting, Shape,
    Shown, Stamp, Table, TextPart, Tool, Verb,
};
