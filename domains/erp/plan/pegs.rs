//! Which document serves which: the canonical pegs of a plan, and the judge of the origins that were written.

use benchwright_pack::NativeCheck;

pub(crate) const NATIVES: &[(&str, NativeCheck)] = &[];
