//! Rules that are functions: a few rules cannot be said as an expression. Whoever runs a judge hands it these functions, in
//! a table by name.

use benchwright_base::Value;
use benchwright_schema::plan::{Bound, Plan, ViewRows};

/// Judges one instance of a native rule over the rows of all views. The values are what `per` is bound to.
pub type NativeCheck = fn(&Plan, &Bound, &ViewRows, &[Value]) -> bool;
