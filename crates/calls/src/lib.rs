//! Random calls, for whoever attacks, plays or compares worlds. The same seed makes the same calls.
//!
//! What a caller can draw depends on what it knows, so there is a module for each kind of knowledge:
//!
//! - [`declared`]: the declaration of every tool and all rows. Half legal, half spoiled, for tests of an engine's laws.
//! - [`offered`]: what an agent is shown, a JSON schema for each tool and the rows it has seen. For agents that act at random, and
//!   for audits that hold a task to giving them nothing.
//! - [`documents`]: business documents by their keys and what may be done with each. For two engines that are compared, where ids
//!   differ and only keys are common.
//!
//! It knows no engine: the rows come through [`declared::Rows`] and [`offered::Ground`].
//!
//! ```
//! use benchwright_base::{Date, RowId};
//! use benchwright_calls::offered::{Ground, Maker};
//!
//! struct Ten;
//! impl Ground for Ten {
//!     fn count(&self, _: &str) -> usize { 10 }
//!     fn row(&self, _: &str, nth: usize) -> Option<RowId> { Some(nth as RowId + 1) }
//!     fn today(&self) -> Date { Date(0) }
//! }
//!
//! let schema = serde_json::json!({
//!     "required": ["id"],
//!     "properties": { "id": { "type": "integer", "description": "id of case" } },
//! });
//! let draw = || Maker::new(&["example"]).arguments(&schema, &Ten);
//! assert_eq!(draw(), draw(), "the same key, the same call");
//! assert!((1..=10).contains(&draw()["id"].as_i64().unwrap()));
//! ```

pub mod declared;
pub mod documents;
pub mod offered;

/// A text of at least and at most so many characters: what is too short goes on, what is too long is cut.
fn fitted(mut text: String, least: usize, most: usize) -> String {
    while text.chars().count() < least {
        text.push_str(" and more");
    }
    text.chars().take(most).collect()
}
