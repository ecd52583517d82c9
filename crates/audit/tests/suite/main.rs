//! Trials and rewards on real tasks, on tasks that are wrong on purpose, and against what an agent could try.

mod broken;
mod closed_book;
mod own_patterns;
mod partial;
mod planning;
mod request;
mod rewards;
mod sides;
mod support;
mod tasks;
mod threats;
mod truth;
mod twins;
