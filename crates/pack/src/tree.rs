//! A tree of hashes over a list, so that one digest stands for all of it and a short path shows that an item is in it at its place. The
//! shape is that of RFC 6962: the left side of `n` items is the largest power of two below `n`, so that no item is ever doubled to fill
//! the tree. Items and nodes are hashed under prefixes of their own, and the number of items is part of the root (`commitment.rs`): a
//! node cannot be passed off as an item, nor a part of a list as the whole.

use benchwright_base::Digest;

/// What an item's bytes are hashed after.
const ITEM: u8 = 0;
/// What the two sides of a node are hashed after.
const NODE: u8 = 1;

/// The hash of an item.
pub(crate) fn item(bytes: &[u8]) -> Digest {
    Digest::of(&[&[ITEM], bytes].concat())
}

/// The hash of a node.
fn node(left: Digest, right: Digest) -> Digest {
    Digest::of(&[&[NODE], &left.0[..], &right.0].concat())
}

/// How many items stand on the left side of so many, which are at least two.
fn left_of(items: u64) -> u64 {
    1 << (items - 1).ilog2()
}

/// The hash at the top of a tree over hashes of items; nothing has none.
pub(crate) fn top(items: &[Digest]) -> Option<Digest> {
    match items {
        [] => None,
        [only] => Some(*only),
        _ => {
            let (left, right) = items.split_at(left_of(items.len() as u64) as usize);
            Some(node(top(left)?, top(right)?))
        }
    }
}

/// The hashes beside the way from an item up to the top; `None` for a place that is not there.
pub(crate) fn path(items: &[Digest], place: usize) -> Option<Vec<Digest>> {
    match items {
        [] => None,
        [_] => (place == 0).then(Vec::new),
        _ => {
            let (left, right) = items.split_at(left_of(items.len() as u64) as usize);
            let (mut below, beside) = match place.checked_sub(left.len()) {
                None => (path(left, place)?, top(right)?),
                Some(place) => (path(right, place)?, top(left)?),
            };
            below.push(beside);
            Some(below)
        }
    }
}

/// The top that a path leads to from an item at a place among so many; `None` if it is too long or too short for that place.
pub(crate) fn climb(item: Digest, place: u64, items: u64, path: &[Digest]) -> Option<Digest> {
    if place >= items {
        return None;
    }
    if items == 1 {
        return path.is_empty().then_some(item);
    }
    let (beside, below) = path.split_last()?;
    let left = left_of(items);
    match place.checked_sub(left) {
        None => Some(node(climb(item, place, left, below)?, *beside)),
        Some(place) => Some(node(*beside, climb(item, place, items - left, below)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(count: u8) -> Vec<Digest> {
        (0..count).map(|at| item(&[at])).collect()
    }

    #[test]
    fn the_tops_are_those_of_the_standard() {
        // The lists of bytes that Certificate Transparency's own tests have, with the tops that RFC 6962 gives them.
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len() / 2).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap()).collect()
        };
        let lists =
            ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
        let items: Vec<Digest> = lists.iter().map(|text| item(&hex(text))).collect();
        for (count, expected) in [
            (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
            (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
            (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
            (5, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"),
            (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
        ] {
            assert_eq!(top(&items[..count]).unwrap().to_string(), expected, "{count} items");
        }
        assert_eq!(top(&[]), None);
    }

    #[test]
    fn a_path_leads_from_its_item_at_its_place_to_the_top_and_from_nothing_else() {
        for count in 1..=17 {
            let items = items(count);
            let whole = top(&items).unwrap();
            for place in 0..items.len() {
                let path = path(&items, place).unwrap();
                let (at, of) = (place as u64, items.len() as u64);
                assert_eq!(climb(items[place], at, of, &path), Some(whole));
                for other in (0..of).filter(|other| *other != at) {
                    assert_ne!(climb(items[place], other, of, &path), Some(whole), "{place} at {other} of {count}");
                }
                assert_ne!(climb(item(b"other"), at, of, &path), Some(whole));
                let longer: Vec<Digest> = path.iter().copied().chain([whole]).collect();
                assert_eq!(climb(items[place], at, of, &longer), None, "one too long");
                assert!(path.is_empty() || climb(items[place], at, of, &path[1..]).is_none(), "one too short");
            }
            assert_eq!(path(&items, items.len()), None);
            assert_eq!(climb(items[0], u64::from(count), u64::from(count), &[]), None);
        }
    }

    #[test]
    fn a_node_is_no_item_and_a_doubled_end_is_another_tree() {
        let items = items(4);
        // The bytes of a node, given as an item, have another hash: the tree of the two halves is not the tree of two items.
        let halves: Vec<Digest> =
            [0, 2].map(|at| item(&[&items[at].0[..], &items[at + 1].0].concat())).into_iter().collect();
        assert_ne!(top(&halves), top(&items));
        let doubled = [&items[..3], &items[2..3]].concat();
        assert_ne!(top(&doubled), top(&items[..3]));
    }
}
