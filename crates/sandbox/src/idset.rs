//! A set of row ids as indexes keep them, copied for one reference count: a block number and 64 bits while all ids lie in
//! one block, which is so for most values of most fields; a trie of such words beyond that.

use crate::trie::{Iter, Trie};
use std::sync::Arc;

const WORD: u32 = 64;

/// The set; never empty inside an index.
#[derive(Clone, Debug)]
pub(crate) enum IdSet {
    /// Ids of one block of 64.
    Small { block: u32, bits: u64 },
    /// Blocks of 64 ids by the number of the block; none of them is empty.
    Large(Arc<Trie<u64>>),
}

impl IdSet {
    pub(crate) fn one(id: u32) -> IdSet {
        IdSet::Small { block: id / WORD, bits: 1 << (id % WORD) }
    }

    pub(crate) fn insert(&mut self, id: u32) {
        let (at, bit) = (id / WORD, 1 << (id % WORD));
        match self {
            IdSet::Small { block, bits } if *block == at || *bits == 0 => (*block, *bits) = (at, *bits | bit),
            IdSet::Small { block, bits } => {
                let mut blocks = Trie::default();
                blocks.insert(*block, *bits);
                blocks.insert(at, bit);
                *self = IdSet::Large(Arc::new(blocks));
            }
            IdSet::Large(blocks) => {
                Arc::make_mut(blocks).update(at, |bits| *bits = Some(bits.unwrap_or(0) | bit));
            }
        }
    }

    pub(crate) fn remove(&mut self, id: u32) {
        let (at, bit) = (id / WORD, 1_u64 << (id % WORD));
        match self {
            IdSet::Small { block, bits } if *block == at => *bits &= !bit,
            IdSet::Small { .. } => {}
            IdSet::Large(blocks) => {
                Arc::make_mut(blocks).update(at, |bits| *bits = bits.map(|bits| bits & !bit).filter(|bits| *bits != 0));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            IdSet::Small { bits, .. } => *bits == 0,
            IdSet::Large(blocks) => blocks.len() == 0,
        }
    }

    /// About how many there are, to choose the smaller of two sets.
    pub(crate) fn weight(&self) -> usize {
        match self {
            IdSet::Small { bits, .. } => bits.count_ones() as usize,
            // Counting would visit every block; eight ids a block is near enough to compare two sets.
            IdSet::Large(blocks) => blocks.len() * 8,
        }
    }

    /// The ids in order.
    #[inline]
    pub(crate) fn iter(&self) -> Ids<'_> {
        match self {
            IdSet::Small { block, bits } => Ids { word: Bits { base: block * WORD, bits: *bits }, more: None },
            IdSet::Large(blocks) => Ids { word: Bits::default(), more: Some(Box::new(blocks.iter())) },
        }
    }
}

/// The ids of a set in order.
#[derive(Default)]
pub(crate) struct Ids<'a> {
    word: Bits,
    /// The blocks of a large set; a small one, which most are, has no use for the room that they take.
    more: Option<Box<Iter<'a, u64>>>,
}

impl Iterator for Ids<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(id) = self.word.next() {
                return Some(id);
            }
            let (block, bits) = self.more.as_mut()?.next()?;
            self.word = Bits { base: block * WORD, bits: *bits };
        }
    }
}

/// The ids of one word.
#[derive(Default)]
struct Bits {
    base: u32,
    bits: u64,
}

impl Iterator for Bits {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.bits == 0 {
            return None;
        }
        let at = self.bits.trailing_zeros();
        // Clears the lowest bit that is set.
        self.bits &= self.bits - 1;
        Some(self.base + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_base::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn it_behaves_like_a_set() {
        let mut stream = Stream::new(3, &["idset"]);
        for limit in [40_u64, 300, 100_000] {
            let first = stream.below(limit) as u32;
            let (mut set, mut model) = (IdSet::one(first), BTreeSet::from([first]));
            for _ in 0..5000 {
                let id = stream.below(limit) as u32;
                if stream.chance(1, 2) {
                    set.insert(id);
                    model.insert(id);
                } else {
                    set.remove(id);
                    model.remove(&id);
                }
                assert_eq!(set.is_empty(), model.is_empty());
            }
            assert!(set.iter().eq(model.iter().copied()));
        }
    }
}
