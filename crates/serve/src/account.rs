//! What the episodes of a program hold, estimated: rows of about a kibibyte and the text of calls. An episode tells the sum of all only
//! when it has grown by some, so that a call mostly costs no more than a comparison.
//!
//! A copy shares its origin's rows. What was held when it was made belongs to both, and is given back when the last of them is gone.

use benchwright_world::Size;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// What a row is taken to hold, in bytes.
const ROW: u64 = 1 << 10;
/// What an episode grows by until the sum hears of it.
const STEP: u64 = 64 << 10;

/// What all episodes hold, in bytes.
pub(crate) type Total = Arc<AtomicU64>;

/// What one episode holds beside what it shares with others. It is given back when this is dropped.
pub(crate) struct Account {
    total: Total,
    /// The bytes that the sum has heard of.
    told: u64,
    /// What the episode held when it began, or when it was last copied: others may share that.
    from: u64,
    shared: Option<Arc<Account>>,
}

/// The bytes that an episode holds, whether it shares them or not.
pub(crate) fn held(size: Size, text: usize) -> u64 {
    size.grown().saturating_mul(ROW).saturating_add(text as u64)
}

impl Account {
    /// Of an episode that begins.
    pub(crate) fn new(total: &Total) -> Account {
        Account { total: Arc::clone(total), told: 0, from: 0, shared: None }
    }

    /// The episode holds so many bytes now.
    pub(crate) fn tell(&mut self, held: u64) {
        let own = held.saturating_sub(self.from);
        if own.abs_diff(self.told) < STEP {
            return;
        }
        if own > self.told {
            self.total.fetch_add(own - self.told, Ordering::Relaxed);
        } else {
            self.total.fetch_sub(self.told - own, Ordering::Relaxed);
        }
        self.told = own;
    }

    /// Of a copy. What was held until now is shared from here on.
    pub(crate) fn fork(&mut self, held: u64) -> Account {
        // Without growth that was told there is nothing new to share, and the way to the first of all stays short.
        if self.told > 0 {
            let next = Account { total: Arc::clone(&self.total), told: 0, from: held, shared: None };
            let before = std::mem::replace(self, next);
            self.shared = Some(Arc::new(before));
        }
        Account { total: Arc::clone(&self.total), told: 0, from: self.from, shared: self.shared.clone() }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.total.fetch_sub(self.told, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_copies_share_is_counted_once_and_given_back_by_the_last() {
        let total = Total::default();
        let now = || total.load(Ordering::Relaxed);
        let mut first = Account::new(&total);
        first.tell(STEP - 1);
        assert_eq!(now(), 0, "too little to tell");
        first.tell(10 * STEP);
        assert_eq!(now(), 10 * STEP);
        let copies: Vec<Account> = (0..1_000).map(|_| first.fork(10 * STEP)).collect();
        assert_eq!(now(), 10 * STEP, "a copy holds nothing of its own");
        let mut second = first.fork(10 * STEP);
        second.tell(13 * STEP);
        first.tell(10 * STEP + 5);
        assert_eq!(now(), 13 * STEP);
        drop((first, copies));
        assert_eq!(now(), 13 * STEP, "the copy still has the rows");
        drop(second);
        assert_eq!(now(), 0);
    }

    #[test]
    fn what_shrinks_is_given_back() {
        let total = Total::default();
        let mut one = Account::new(&total);
        one.tell(100 * STEP);
        one.tell(STEP);
        assert_eq!(total.load(Ordering::Relaxed), STEP);
        assert_eq!(held(Size { rows: 7, first: 5 }, 3), 2 * ROW + 3);
    }
}
