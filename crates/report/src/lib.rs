//! A run becomes numbers, and numbers become tables and pages. Pure: it reads documents it is handed and returns values and
//! text.

pub mod stats;
