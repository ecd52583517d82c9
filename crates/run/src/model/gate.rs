//! Lets only so many requests through at a time, over all workers that share a model.

use std::sync::{Condvar, Mutex, PoisonError};

/// A gate that holds back who comes when as many are inside as may be.
#[derive(Debug)]
pub struct Gate {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A place inside; leaving gives it to the next.
#[derive(Debug)]
pub struct Permit<'g> {
    gate: &'g Gate,
}

impl Gate {
    /// A gate with so many places, at least one.
    pub fn new(places: usize) -> Gate {
        Gate { free: Mutex::new(places.max(1)), freed: Condvar::new() }
    }

    /// Waits for a place.
    pub fn enter(&self) -> Permit<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit { gate: self }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.gate.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.gate.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
        time::Duration,
    };

    #[test]
    fn no_more_are_inside_than_there_are_places() {
        let (gate, inside, most) = (Gate::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let _place = gate.enter();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(5));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)));
        assert_eq!(*gate.free.lock().unwrap(), 3, "all have left");
    }
}
