//! The expression language in which rules, access conditions, computed fields and tool filters are written: parser, type
//! checker, evaluator, and a rendering in English. The grammar is in `GRAMMAR.md`.
//!
//! A text becomes a typed tree ([`Expr`]) in which every name is resolved; after that nothing looks at text again. The tree is
//! read by **one interpreter that is generic over what a value is** ([`walk`], a "tagless final" design): with plain values
//! it is the evaluator ([`eval`]), with linear terms and literals it is the translation into a solver's model. So a rule that
//! generates a task and the same rule that judges the outcome cannot drift apart. Only the walk, the checker, the English and
//! a few rewrites match on [`Expr`].
//!
//! The crate knows neither tables nor files: names come in through [`Names`], rows through [`eval::Records`]. A domain of the
//! schema crate implements the first, a running world the second. Here both are written by hand for one table:
//!
//! ```
//! use benchwright_base::{DateTime, EnumId, FieldId, RelationId, RowId, Value};
//! use benchwright_expr::eval::{Judge, Records, passes};
//! use benchwright_expr::{FieldInfo, Names, Scope, Type, check_truth, english, walk::Test};
//! use std::ops::ControlFlow;
//!
//! /// One table, `order`, with a state and a total.
//! struct Shop;
//! const ORDER: RelationId = RelationId(0);
//! const FIELDS: [(&str, Type); 3] =
//!     [("id", Type::Ref(ORDER)), ("state", Type::Enum(EnumId(0))), ("total", Type::Money)];
//!
//! impl Names for Shop {
//!     fn relation(&self, name: &str) -> Option<RelationId> {
//!         (name == "order").then_some(ORDER)
//!     }
//!     fn field(&self, _: RelationId, name: &str) -> Option<FieldInfo> {
//!         let at = FIELDS.iter().position(|(known, _)| *known == name)?;
//!         Some(FieldInfo { id: FieldId(at as u16), ty: FIELDS[at].1, nullable: false })
//!     }
//!     fn enum_words(&self, _: EnumId) -> Vec<&str> {
//!         vec!["draft", "sent"]
//!     }
//!     // Names for messages, and the person who acts: none here.
//! #   fn relation_name(&self, _: RelationId) -> &str { "order" }
//! #   fn relation_names(&self) -> Vec<&str> { vec!["order"] }
//! #   fn field_name(&self, _: RelationId, field: FieldId) -> &str { FIELDS[field.index()].0 }
//! #   fn field_names(&self, _: RelationId) -> Vec<&str> { FIELDS.map(|(name, _)| name).to_vec() }
//! #   fn enum_name(&self, _: EnumId) -> &str { "State" }
//! #   fn actor(&self) -> Option<RelationId> { None }
//! }
//!
//! /// Rows of three values each, the row's own id first. A row is its place in the list.
//! struct Orders(Vec<[Value; 3]>);
//!
//! impl Records for Orders {
//!     type Row = usize;
//!     fn row(&self, _: RelationId, id: RowId) -> Option<usize> {
//!         (0..self.0.len()).find(|at| self.0[*at][0] == Value::Ref(id))
//!     }
//!     fn field(&self, row: &usize, field: FieldId) -> Value {
//!         self.0[*row][field.index()].clone()
//!     }
//!     fn select(
//!         &self,
//!         _: RelationId,
//!         tests: &[Test<'_, Value>],
//!         each: &mut dyn FnMut(usize) -> ControlFlow<()>,
//!     ) {
//!         let _ = (0..self.0.len()).filter(|row| tests.iter().all(|test| passes(self, row, test))).try_for_each(each);
//!     }
//! }
//!
//! let orders = Orders(vec![
//!     [Value::Ref(1), Value::Enum(1), Value::Money(40_00)],
//!     [Value::Ref(2), Value::Enum(0), Value::Money(75_00)],
//! ]);
//! let judge = Judge::new(&orders, DateTime(0));
//!
//! let rule = check_truth("sum order(state = sent) of total <= 50.00", &Shop, Scope::default()).unwrap();
//! assert!(judge.holds(&rule), "order 2 is a draft and does not count");
//! assert_eq!(
//!     english(&rule, &Shop),
//!     "the sum of its total over every order whose state is sent is at most 50.00"
//! );
//!
//! // Every fault has a place in the text, and often a remedy.
//! let faults = check_truth("sum order(state = sent) of totl <= 50.00", &Shop, Scope::default()).unwrap_err();
//! assert_eq!(faults[0].message, "order has no field `totl`");
//! assert_eq!(faults[0].help.as_deref(), Some("did you mean `total`?"));
//! ```

mod blame;
mod bounded;
mod check;
mod english;
pub mod eval;
mod fault;
mod lex;
mod lowerable;
mod names;
mod notation;
mod parse;
mod partial;
mod reads;
mod shift;
mod tree;
pub mod walk;

pub use blame::{Blame, Wrong, blame};
pub use bounded::{Bounded, bounded};
pub use check::{Given, GivenType, Scope, check_rule, check_source, check_truth, check_value};
pub use english::english;
pub use fault::Fault;
pub use lowerable::{Obstacle, lowerable};
pub use names::{FactSignature, FieldInfo, Names};
pub use notation::{Telling, dotted, notation, notation_by, source_notation, test_notation};
pub use partial::{FieldTest, specialise, tests_of};
pub use reads::{Back, Read, reads, untouched};
pub use shift::Shift;
pub use tree::{Binder, Compare, Expr, Fold, FoldKind, Function, Path, Slot, Source, TestOp, TextOp, Type, Unit};
