//! Work on several threads whose results come back in the order of the work.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// `work(0)`, `work(1)`, ... `work(count - 1)` on at most that many threads, started in this
/// order; the results are in this order too, whoever finishes first.
///
/// Panics if one of them does.
pub(crate) fn in_order<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..threads.get().min(count) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(result) = results.get(index) else { break };
                    let value = work(index);
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
                }
            });
        }
    });
    results
        .into_iter()
        .map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .map(|result| result.expect("every piece of work was done"))
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
    fn results_keep_their_order_though_the_first_ends_last() {
        let (second_ended, hears_of_it) = mpsc::channel();
        let hears_of_it = Mutex::new(hears_of_it);
        let results = in_order(2, threads(2), |index| {
            if index == 0 {
                hears_of_it.lock().unwrap().recv().unwrap();
            } else {
                second_ended.send(()).unwrap();
            }
            index * 10
        });
        assert_eq!(results, [0, 10]);
    }

    #[test]
    fn any_number_of_threads_does_all_the_work_once() {
        for count in [0, 1, 2, 7, 100] {
            let expected: Vec<usize> = (0..count).collect();
            for number in [1, 2, 3, 200] {
                assert_eq!(in_order(count, threads(number), |index| index), expected);
            }
        }
    }
}
