//! A map from small whole numbers (ids of rows, keys of indexes) that can be copied for the price of one reference count: a
//! persistent radix trie with 16 children a node. A write copies the few nodes on its way to the key; a comparison of two
//! copies skips every node that they still share, so it visits only what differs.
//!
//! Ids are dense and begin at 1, so the trie has hardly an empty slot, and needs neither hashes nor comparisons of keys.
//! Its height grows when a key does not fit; the old root then becomes the first child of the new one.

use std::{array, sync::Arc};

const WIDTH: usize = 16;
const BITS: u32 = 4;
/// With eight levels every 32-bit key fits.
const TALLEST: u32 = 7;

#[derive(Clone, Debug)]
enum Node<T> {
    Branch([Option<Arc<Node<T>>>; WIDTH]),
    Leaf([Option<T>; WIDTH]),
}

/// The map.
#[derive(Clone, Debug)]
pub(crate) struct Trie<T> {
    root: Option<Arc<Node<T>>>,
    /// The level of the root; leaves are at level 0.
    height: u32,
    len: u32,
}

impl<T> Default for Trie<T> {
    fn default() -> Self {
        Trie { root: None, height: 0, len: 0 }
    }
}

/// One difference between two maps.
pub(crate) enum Difference<'a, T> {
    Added(&'a T),
    Removed(&'a T),
    Changed(&'a T, &'a T),
}

impl<T: Clone> Trie<T> {
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    fn fits(&self, key: u32) -> bool {
        u64::from(key) >> (BITS * (self.height + 1)) == 0
    }

    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        self.leaf(key)?[key as usize % WIDTH].as_ref()
    }

    /// The leaf that a key is in, if it is there.
    #[inline]
    fn leaf(&self, key: u32) -> Option<&[Option<T>; WIDTH]> {
        if !self.fits(key) {
            return None;
        }
        let mut node = self.root.as_ref()?;
        let mut level = self.height;
        loop {
            match &**node {
                Node::Leaf(slots) => return Some(slots),
                Node::Branch(slots) => {
                    node = slots[(key >> (BITS * level)) as usize % WIDTH].as_ref()?;
                    level -= 1;
                }
            }
        }
    }

    /// The values of some keys.
    pub(crate) fn get_all<K: Iterator<Item = u32>>(&self, keys: K) -> Found<'_, T, K> {
        Found { map: self, keys, known: None }
    }

    /// The slot of a key, with every node on the way owned by this map alone. What is there may be changed, not put or
    /// taken: `update` does that.
    pub(crate) fn slot(&mut self, key: u32) -> &mut Option<T> {
        while !self.fits(key) {
            if let Some(root) = self.root.take() {
                let mut slots: [Option<Arc<Node<T>>>; WIDTH] = Default::default();
                slots[0] = Some(root);
                self.root = Some(Arc::new(Node::Branch(slots)));
            }
            self.height += 1;
        }
        let mut level = self.height;
        let mut slot = &mut self.root;
        loop {
            let node = slot.get_or_insert_with(|| {
                Arc::new(if level == 0 {
                    Node::Leaf(array::from_fn(|_| None))
                } else {
                    Node::Branch(Default::default())
                })
            });
            match Arc::make_mut(node) {
                Node::Leaf(slots) => return &mut slots[key as usize % WIDTH],
                Node::Branch(slots) => {
                    slot = &mut slots[(key >> (BITS * level)) as usize % WIDTH];
                    level -= 1;
                }
            }
        }
    }

    pub(crate) fn insert(&mut self, key: u32, value: T) -> Option<T> {
        let old = self.slot(key).replace(value);
        self.len += u32::from(old.is_none());
        old
    }

    pub(crate) fn remove(&mut self, key: u32) -> Option<T> {
        self.get(key)?;
        self.len -= 1;
        self.slot(key).take()
    }

    /// Changes, puts or takes the value of a key in one go.
    pub(crate) fn update(&mut self, key: u32, change: impl FnOnce(&mut Option<T>)) {
        let slot = self.slot(key);
        // The caller may put or take in place, so that a write walks the tree once; the length follows from what it did.
        let before = slot.is_some();
        change(slot);
        let after = slot.is_some();
        self.len = self.len + u32::from(after) - u32::from(before);
    }

    /// Every value with its key, in order of key.
    pub(crate) fn iter(&self) -> Iter<'_, T> {
        self.iter_from(0)
    }

    /// Every value whose key is at least `from`, in order of key.
    pub(crate) fn iter_from(&self, from: u32) -> Iter<'_, T> {
        let mut iter = Iter { leaf: [].iter(), key: 0, stack: [None; TALLEST as usize], depth: 0 };
        if !self.fits(from) {
            return iter;
        }
        let (mut node, mut level) = (self.root.as_deref(), self.height);
        let mut prefix = 0;
        while let Some(at) = node {
            let slot = (from >> (BITS * level)) as usize % WIDTH;
            // A branch that is entered now is done with its first child, a leaf begins at its slot.
            match at {
                Node::Leaf(_) => {
                    iter.enter(at, slot, prefix);
                    break;
                }
                Node::Branch(slots) => {
                    iter.enter(at, slot + 1, prefix);
                    prefix = prefix << BITS | slot as u32;
                    node = slots[slot].as_deref();
                    level -= 1;
                }
            }
        }
        iter
    }

    /// Everything that differs between an older map and this one, in order of key.
    pub(crate) fn diff<'a>(
        &'a self,
        old: &'a Trie<T>,
        same: fn(&T, &T) -> bool,
        each: &mut dyn FnMut(u32, Difference<'a, T>),
    ) {
        // The taller map's extra levels hold only keys that the other cannot have, except under its first child.
        fn walk<'a, T>(
            old: Option<&'a Arc<Node<T>>>,
            new: Option<&'a Arc<Node<T>>>,
            heights: (u32, u32),
            prefix: u32,
            same: fn(&T, &T) -> bool,
            each: &mut dyn FnMut(u32, Difference<'a, T>),
        ) {
            match (old, new) {
                (None, None) => return,
                // Shared nodes are equal all the way down. This is what makes a diff cost what changed and not what there is.
                (Some(old), Some(new)) if Arc::ptr_eq(old, new) => return,
                _ => {}
            }
            let (old_height, new_height) = heights;
            // One map has grown since: go down in the taller one until both are at the same level.
            if old_height != new_height && old.is_some() && new.is_some() {
                let taller = if old_height > new_height { old } else { new };
                let Some(Node::Branch(slots)) = taller.map(|node| &**node) else { return };
                for (slot, child) in slots.iter().enumerate() {
                    let prefix = prefix << BITS | slot as u32;
                    let (a, b, h) = match (old_height > new_height, slot) {
                        (true, 0) => (child.as_ref(), new, (old_height - 1, new_height)),
                        (true, _) => (child.as_ref(), None, (old_height - 1, old_height - 1)),
                        (false, 0) => (old, child.as_ref(), (old_height, new_height - 1)),
                        (false, _) => (None, child.as_ref(), (new_height - 1, new_height - 1)),
                    };
                    walk(a, b, h, prefix, same, each);
                }
                return;
            }
            let heights = (old_height.saturating_sub(1), new_height.saturating_sub(1));
            match (old.map(|node| &**node), new.map(|node| &**node)) {
                (Some(Node::Leaf(old)), Some(Node::Leaf(new))) => {
                    for (slot, pair) in old.iter().zip(new).enumerate() {
                        let key = prefix << BITS | slot as u32;
                        match pair {
                            (None, None) => {}
                            (Some(a), Some(b)) if same(a, b) => {}
                            (Some(a), Some(b)) => each(key, Difference::Changed(a, b)),
                            (Some(a), None) => each(key, Difference::Removed(a)),
                            (None, Some(b)) => each(key, Difference::Added(b)),
                        }
                    }
                }
                (Some(Node::Branch(old)), Some(Node::Branch(new))) => {
                    for (slot, (a, b)) in old.iter().zip(new).enumerate() {
                        walk(a.as_ref(), b.as_ref(), heights, prefix << BITS | slot as u32, same, each);
                    }
                }
                // One side is missing: all of the other is added or removed.
                (Some(Node::Leaf(slots)), _) | (_, Some(Node::Leaf(slots))) => {
                    for (slot, value) in slots.iter().enumerate() {
                        let Some(value) = value else { continue };
                        let gone = old.is_some();
                        each(
                            prefix << BITS | slot as u32,
                            if gone { Difference::Removed(value) } else { Difference::Added(value) },
                        );
                    }
                }
                (Some(Node::Branch(slots)), None) => {
                    for (slot, child) in slots.iter().enumerate() {
                        walk(child.as_ref(), None, heights, prefix << BITS | slot as u32, same, each);
                    }
                }
                (None, Some(Node::Branch(slots))) => {
                    for (slot, child) in slots.iter().enumerate() {
                        walk(None, child.as_ref(), heights, prefix << BITS | slot as u32, same, each);
                    }
                }
                (None, None) => {}
            }
        }
        let heights = match (&old.root, &self.root) {
            (None, _) => (self.height, self.height),
            (_, None) => (old.height, old.height),
            _ => (old.height, self.height),
        };
        walk(old.root.as_ref(), self.root.as_ref(), heights, 0, same, each);
    }
}

/// Values in order of key.
pub(crate) struct Iter<'a, T> {
    /// What is left of the leaf that is read, and the key of its next slot.
    leaf: std::slice::Iter<'a, Option<T>>,
    key: u32,
    /// The branches above it: the slots of each, the next of them, and the key's digits above them.
    stack: [Option<(Branch<'a, T>, usize, u32)>; TALLEST as usize],
    depth: usize,
}

/// The slots of a branch.
type Branch<'a, T> = &'a [Option<Arc<Node<T>>>; WIDTH];

impl<'a, T> Iter<'a, T> {
    fn enter(&mut self, node: &'a Node<T>, slot: usize, prefix: u32) {
        match node {
            Node::Leaf(slots) => {
                self.leaf = slots[slot..].iter();
                self.key = prefix << BITS | slot as u32;
            }
            Node::Branch(slots) => {
                self.stack[self.depth] = Some((slots, slot, prefix));
                self.depth += 1;
            }
        }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = (u32, &'a T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            for slot in self.leaf.by_ref() {
                let key = self.key;
                self.key = key.wrapping_add(1);
                if let Some(value) = slot {
                    return Some((key, value));
                }
            }
            if self.depth == 0 {
                return None;
            }
            let (slots, slot, prefix) = self.stack[self.depth - 1].as_mut()?;
            let slots: Branch<'a, T> = slots;
            let (at, prefix) = (*slot, *prefix);
            if at == WIDTH {
                self.depth -= 1;
                continue;
            }
            *slot += 1;
            if let Some(child) = &slots[at] {
                self.enter(child, 0, prefix << BITS | at as u32);
            }
        }
    }
}

/// The values of some keys. Keys that lie close together are mostly in one leaf, which is then found once.
pub(crate) struct Found<'a, T, K> {
    map: &'a Trie<T>,
    keys: K,
    /// The last leaf, and where it is.
    known: Option<(u32, &'a [Option<T>; WIDTH])>,
}

impl<'a, T: Clone, K: Iterator<Item = u32>> Iterator for Found<'a, T, K> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        loop {
            let key = self.keys.next()?;
            let leaf = match self.known {
                Some((at, leaf)) if at == key >> BITS => leaf,
                _ => {
                    let Some(leaf) = self.map.leaf(key) else { continue };
                    self.known = Some((key >> BITS, leaf));
                    leaf
                }
            };
            if let Some(value) = &leaf[key as usize % WIDTH] {
                return Some(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_base::Stream;
    use std::collections::BTreeMap;

    #[test]
    fn it_behaves_like_an_ordered_map_and_copies_do_not_see_each_other() {
        let mut stream = Stream::new(1, &["trie"]);
        let mut copies: Vec<(Trie<u64>, BTreeMap<u32, u64>)> = vec![Default::default()];
        for step in 0..20_000_u64 {
            let at = stream.below(copies.len() as u64) as usize;
            if stream.chance(1, 500) {
                let copy = copies[at].clone();
                if copies.len() < 12 {
                    copies.push(copy);
                } else {
                    copies[stream.below(12) as usize] = copy;
                }
            }
            let limit = [20, 300, 70_000, u64::from(u32::MAX)][stream.below(4) as usize];
            let key = stream.below(limit) as u32;
            let (trie, map) = &mut copies[at];
            match stream.below(3) {
                0 => assert_eq!(trie.remove(key), map.remove(&key)),
                _ => assert_eq!(trie.insert(key, step), map.insert(key, step)),
            }
            assert_eq!(trie.get(key), map.get(&key));
            assert_eq!(trie.len(), map.len());
        }
        for (trie, map) in &copies {
            assert!(trie.iter().map(|(k, v)| (k, *v)).eq(map.iter().map(|(k, v)| (*k, *v))));
            for _ in 0..200 {
                let from = stream.below(80_000) as u32;
                let expected: Vec<u32> = map.range(from..).map(|(k, _)| *k).collect();
                assert_eq!(trie.iter_from(from).map(|(k, _)| k).collect::<Vec<_>>(), expected);
            }
        }
        for (old, old_map) in &copies {
            for (new, new_map) in &copies {
                let mut seen = Vec::new();
                new.diff(old, |a, b| a == b, &mut |key, difference| {
                    seen.push(match difference {
                        Difference::Added(b) => (key, None, Some(*b)),
                        Difference::Removed(a) => (key, Some(*a), None),
                        Difference::Changed(a, b) => (key, Some(*a), Some(*b)),
                    });
                });
                let keys: std::collections::BTreeSet<u32> = old_map.keys().chain(new_map.keys()).copied().collect();
                let expected: Vec<_> = keys
                    .into_iter()
                    .map(|k| (k, old_map.get(&k).copied(), new_map.get(&k).copied()))
                    .filter(|(_, a, b)| a != b)
                    .collect();
                assert_eq!(seen, expected);
            }
        }
    }
}
