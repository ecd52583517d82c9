//! One typed expression tree over records: parser, type check, evaluator, English. The grammar is in `GRAMMAR.md`.
//!
//! The tree is read by **one walk generic over an algebra** ([`walk`]). The evaluator ([`eval`]) is one algebra; a solver's
//! lowering is another. Only the walk, the checker and the gloss match on [`Expr`].

mod check;
mod english;
pub mod eval;
mod fault;
mod lex;
mod lowerable;
mod names;
mod parse;
mod settle;
mod shift;
mod tree;
pub mod walk;

pub use check::{Scope, check_rule, check_source, check_truth, check_value};
pub use english::english;
pub use fault::Fault;
pub use lowerable::lowerable;
pub use names::{FactSignature, FieldInfo, Names};
pub use settle::{FieldTest, settled, tests_of};
pub use shift::Shift;
pub use tree::{Binder, Compare, Expr, Fold, FoldKind, Function, Path, Slot, Source, TestOp, TextOp, Type, Unit};
