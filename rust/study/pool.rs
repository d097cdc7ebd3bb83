//! A thread pool that returns results in the order of their indices.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work(0)`, `work(1)`, ... `work(count - 1)` on at most `threads` threads. Calls start in
/// the order of their indices. Results are in that order too, regardless of the order in which
/// calls return.
///
/// # Panics
/// If a call panics, its panic is resumed once the other threads have ended.
pub fn map_in_order<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        let start = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(result) = results.get(index) else { break };
                let value = work(index);
                *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            }
        };
        let threads: Vec<_> = (0..threads.get().min(count)).map(|_| scope.spawn(start)).collect();
        // Joined by hand, because the scope would replace a panic with its own message.
        let ended: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        if let Some(panic) = ended.into_iter().find_map(Result::err) {
            std::panic::resume_unwind(panic);
        }
    });
    results
        .into_iter()
        .map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .map(|result| result.expect("every index has been processed"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    #[test]
    fn results_are_in_order_even_if_the_first_call_returns_last() {
        let (second_ended, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        let results = map_in_order(2, threads(2), |index| {
            if index == 0 {
                receiver.lock().unwrap().recv().unwrap();
            } else {
                second_ended.send(()).unwrap();
            }
            index * 10
        });
        assert_eq!(results, [0, 10]);
    }

    #[test]
    fn each_index_is_processed_once_with_any_number_of_threads() {
        for count in [0, 1, 2, 7, 100] {
            let expected: Vec<usize> = (0..count).collect();
            for number in [1, 2, 3, 200] {
                assert_eq!(map_in_order(count, threads(number), |index| index), expected);
            }
        }
    }
}
