//! The random number generator behind everything that is drawn. A stream is named by a seed and a key; two keys give
//! independent streams, and the same key gives the same numbers on every machine and in every release.
//!
//! It is written here rather than taken from a crate because seeds are public: a task is known by its seed, and a release of
//! somebody else's generator must not turn it into another task. A test pins the first numbers.

use sha2::{Digest as _, Sha256};

/// A stream of random numbers: the generator xoshiro256++, its 256 bits of state filled with the SHA-256 of seed and key.
///
/// ```
/// use benchwright_base::Stream;
///
/// // One stream per parameter: drawing more vendors later does not change the prices.
/// let mut vendors = Stream::new(42, &["procurement", "vendors"]);
/// let mut prices = Stream::new(42, &["procurement", "prices"]);
/// let first: Vec<i64> = (0..3).map(|_| prices.between(100, 999)).collect();
/// vendors.draw();
/// let mut prices = Stream::new(42, &["procurement", "prices"]);
/// assert_eq!(first, (0..3).map(|_| prices.between(100, 999)).collect::<Vec<_>>());
///
/// let mut order = [1, 2, 3, 4];
/// vendors.shuffle(&mut order);
/// order.sort();
/// assert_eq!(order, [1, 2, 3, 4]);
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream of a key, such as `["csm", "seed", "customer_case", "priority"]` under a seed.
    pub fn new(seed: u64, key: &[&str]) -> Stream {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        for part in key {
            // The length goes in too, or ["csm", "seed"] and ["csms", "eed"] would be one stream.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let bytes = hash.finalize();
        let mut state = [0; 4];
        for (word, chunk) in state.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = chunk.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
        }
        Stream { state }
    }

    /// The next 64 random bits. The other methods are made from this one.
    pub fn draw(&mut self) -> u64 {
        // One step of xoshiro256++ as its authors publish it, with the assignments to the state written as one.
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number from 0 up to but not including `bound`, each equally likely; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Lemire's method: the high word of a 128-bit product is the number. Of 2^64 draws the first 2^64 mod `bound`, told
        // by the low word, would favour some numbers, so they are drawn again. No division in the usual loop.
        let limit = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.draw()) * u128::from(bound);
            if wide as u64 >= limit {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number from `low` to `high`, both included and each equally likely. `low` must not be above `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.abs_diff(low);
        // The whole range of i64 has 2^64 numbers, which `below` cannot be asked for.
        if width == u64::MAX { self.draw() as i64 } else { low.wrapping_add(self.below(width + 1) as i64) }
    }

    /// True in `part` of `whole` draws on average: `chance(1, 4)` in every fourth.
    pub fn chance(&mut self, part: u64, whole: u64) -> bool {
        self.below(whole) < part
    }

    /// One of the items, each equally likely; `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    /// An index drawn by weight, so that `[1, 3]` gives 1 three times as often as 0; `None` if the weights sum to 0.
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
        if total == 0 {
            return None;
        }
        let mut at = self.below(total);
        weights.iter().position(|w| {
            let hit = at < u64::from(*w);
            at = at.saturating_sub(u64::from(*w));
            hit
        })
    }

    /// Puts the items into a random order, each order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_key_gives_the_same_numbers_for_ever() {
        let mut stream = Stream::new(7, &["csm", "seed"]);
        let drawn: Vec<u64> = (0..3).map(|_| stream.draw()).collect();
        assert_eq!(drawn, GOLDEN);
        assert_ne!(Stream::new(7, &["csms", "eed"]).draw(), GOLDEN[0]);
        assert_ne!(Stream::new(8, &["csm", "seed"]).draw(), GOLDEN[0]);
    }

    const GOLDEN: [u64; 3] = [14934706011310631286, 5258943939686794671, 11423568681661996997];

    #[test]
    fn draws_stay_in_bounds_and_reach_them() {
        let mut stream = Stream::new(1, &[]);
        let mut seen = [0; 6];
        for _ in 0..6000 {
            seen[(stream.between(-2, 3) + 2) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert_eq!(stream.below(0), 0);
        assert_eq!(stream.between(5, 5), 5);
        assert_eq!(stream.weighted(&[0, 0]), None);
        assert!((0..100).all(|_| stream.weighted(&[0, 3, 0]) == Some(1)));
        let empty: [u8; 0] = [];
        assert_eq!(stream.pick(&empty), None);
    }
}
