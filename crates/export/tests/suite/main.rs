//! What is exported is read back: Parquet, SQLite and pictures.

mod parquet;
mod picture;
#[cfg(test)]
mod sqlite;
