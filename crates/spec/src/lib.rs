//! A planning problem and its solution as plain data: which rows a plan may consist of ([`Candidates`]), which it does
//! consist of ([`Rows`]), and how good that was proved to be ([`Solved`]). The rules themselves are `schema::plan`.
//!
//! No solver stands here. [`Planner`] is the trait of whoever finds a plan, so that drawing a task can ask for the best
//! plan without depending on an engine.
//!
//! ```
//! use benchwright_schema::{Folder, load, plan::{Bindings, Bound, Plan, PlanText}};
//! use benchwright_spec::{Candidate, Cell, NamedRows, Rows};
//!
//! # let files = [
//! #     ("domain.toml", "name = 'shop'\ntitle = 'Shop'\nrole = 'clerk'\nabout = 'Purchases.'"),
//! #     ("tables.toml", "[vendor]\nname = 'text unique'\n[purchase]\nvendor = '-> vendor'\nunits = 'int'"),
//! #     ("tools.toml", ""),
//! #     ("policy.toml", "[access]\nclerk = ['any on *']"),
//! # ];
//! # let folder = Folder::new("shop", files.map(|(path, text)| (path.to_owned(), text.to_owned())));
//! # let domain = load(&folder).expect("the folder has no fault");
//! let rules = "
//!     sorts = { vendor = 'vendor' }
//!     [views.buy]
//!     from = 'purchase'
//!     fields = { vendor = 'vendor: vendor', units = 'int: units' }
//! ";
//! let text = PlanText::from_toml("plan.toml", rules).expect("it can be read");
//! let plan = Plan::compile(&text, &domain).expect("its names are there");
//! let mut task = Bindings { anchor: "2026-03-02".to_owned(), ..Bindings::default() };
//! task.members.insert("vendor".to_owned(), vec!["V-1".to_owned(), "V-2".to_owned()]);
//! let bound = Bound::new(&plan, &task).expect("the task fits the rules");
//!
//! // One may buy 5 to 40 units of the second vendor, or nothing.
//! let candidates = vec![vec![Candidate::single(false, vec![Cell::Free(5, 40), Cell::Fixed(2)])]];
//! // A plan that buys 12, in numbers and in names.
//! let chosen = Rows(vec![vec![vec![12, 2]]]);
//! assert_eq!(candidates[0].len(), chosen.0[0].len());
//! let named = NamedRows::of(&chosen, &plan, &bound);
//! assert_eq!(serde_json::to_string(&named).unwrap(), r#"{"buy":[{"units":12,"vendor":"V-2"}]}"#);
//! assert_eq!(named.rows(&plan, &bound), Some(chosen));
//! ```

mod candidates;
mod problem;
pub mod scenario;
mod solved;

pub use candidates::{Candidate, Candidates, Cell, NamedRows, Rows, value};
pub use problem::{FieldText, NoProblem, Problem, ProblemText, RowText};
pub use solved::{
    BoundProof, ExactBound, NoPlanner, Outcome, PhaseResult, Planner, PlannerError, ProverResult, Solved,
};
