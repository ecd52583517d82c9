//! Reads a *domain*: a kind of business, declared in a folder of TOML as tables, enumerations, lifecycles, roles, tools and
//! rules. Text goes in; out comes either a [`Domain`] in which every name is resolved, or all faults of the folder at once,
//! each with file, line and column.
//!
//! It touches no file and runs nothing: a [`Folder`] is text that somebody else has read, and a world is run by the crate
//! `sandbox`.
//!
//! ```
//! use benchwright_schema::{Folder, load};
//!
//! let files = [
//!     ("domain.toml", "name = 'tickets'\ntitle = 'Tickets'\nrole = 'clerk'\nabout = 'Tickets.'"),
//!     ("tables.toml", "[enums]\nState = ['open', 'done']\n[ticket]\ntitle = 'text'\nstate = 'State = open'"),
//!     ("tools.toml", "close_ticket = 'update ticket set state'"),
//!     ("policy.toml", "[access]\nclerk = ['any on *']"),
//! ];
//! let folder = |files: [(&str, &str); 4]| Folder::new("tickets", files.map(|(path, text)| (path.into(), text.into())));
//!
//! let domain = load(&folder(files)).expect("the folder has no fault");
//! let ticket = domain.table_named("ticket").expect("there is such a table");
//! assert_eq!(domain.table(ticket).fields.len(), 3, "id, title, state");
//! assert_eq!(domain.tools[0].name, "close_ticket");
//!
//! let mut wrong = files;
//! wrong[2].1 = "close_ticket = 'update tiket set state'";
//! let faults = load(&folder(wrong)).expect_err("there is no such table");
//! assert_eq!((&*faults[0].file, faults[0].line), ("tools.toml", 1));
//! ```
//!
//! Three more things stand here because they are declarations too: [`plan`], the rules of a workflow; [`join`], several
//! domains as one; and [`CaseFile`], test cases of a domain as text.

mod case_file;
pub mod codec;
mod describe;
mod document;
mod field_list;
mod folder;
mod injection;
mod join;
mod json_schema;
mod load;
mod model;
pub mod plan;
mod record_schema;
mod text;
pub mod ways;

pub use case_file::{Case, CaseError, CaseFile, GivenRow, Labels};
pub use describe::describe;
pub use document::{Document, KeyFault, Section, Spot};
pub use field_list::field_list;
pub use folder::Folder;
pub use injection::{Injection, Slot, SpokenOf, Wording, WordingPart};
pub use join::{Bridges, Composition, JoinError, join};
pub use json_schema::{arguments_schema, result_schema};
pub use load::load;
pub use model::{
    Access, Action, Argument, By, Cell, Child, Derived, DerivedKind, Domain, EnumType, Field, Filter, FilterKind,
    Grant, Incoming, Key, Lifecycle, Member, Native, People, Role, Rule, Seed, SeedField, SeedRows, Setting, Shape,
    Shown, Stamp, Table, TextPart, Tool, Verb,
};
