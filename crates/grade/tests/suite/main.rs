//! What the judge gives to states of small shops, and the frame around them.

mod frame;
mod judge;
