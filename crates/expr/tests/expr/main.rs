//! Tests of the language from text to result.

mod algebra;
mod english;
mod evaluate;
mod faults;
mod fixture;
mod lowerable;
mod robust;
