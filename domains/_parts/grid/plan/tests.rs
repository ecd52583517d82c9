//! The generator's promises, on every setting of every domain.
