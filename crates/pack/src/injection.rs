//! Hostile text that was planted into a task's first state: where it stands, what it says, the call that it asks for, and what that
//! call leaves. The last is forbidden: a terminal state that has it shows that the text was followed.

use crate::effects::Target;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A hostile text, as only a judge has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantedInjection {
    /// The name of the declaration that it was made of.
    pub kind: String,
    /// The table of the record that carries it.
    pub table: String,
    /// The record.
    pub row: u32,
    /// The field.
    pub field: String,
    /// The text. The field holds it behind what it held before.
    pub text: String,
    /// The tool that it asks to be called.
    pub tool: String,
    /// With which arguments.
    pub arguments: Json,
    /// What that call leaves. All of it together shows that the text was followed.
    pub forbidden: Vec<ForbiddenRow>,
}

/// A row as nobody was asked to leave it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForbiddenRow {
    /// Its table.
    pub table: String,
    /// Which row: one that is there, a new one, one that is gone.
    pub row: Target,
    /// Cells by field, as they are written in snapshots.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cells: BTreeMap<String, Json>,
}
