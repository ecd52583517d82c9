//! What the judges give: to states of small shops with the frame around them, and to requests on a small desk by their effects.

mod desk;
mod effects;
mod frame;
mod injection;
mod judge;
