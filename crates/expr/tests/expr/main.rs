//! Tests of the language from text to result.

mod algebra;
mod bounded;
mod english;
mod evaluate;
mod faults;
#[cfg(test)]
mod fixture;
mod lowerable;
mod partial;
mod reads;
mod robust;
