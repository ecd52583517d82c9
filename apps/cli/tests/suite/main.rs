//! The program as a person or a script runs it: what it prints, makes, runs and logs, and what is left when it is killed.

mod apart;
mod common;
#[cfg(test)]
mod contest;
#[cfg(test)]
mod depth;
#[cfg(test)]
mod harbor;
mod killed;
mod listed;
mod log;
#[cfg(test)]
mod old;
#[cfg(test)]
mod program;
mod programs;
mod records;
#[cfg(test)]
mod segments;
mod shared;
#[cfg(test)]
mod tasks;
mod view;
mod workspace;
