//! The calendar: each event taken adds another, which keeps the number of pending events constant.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use evenkeel::fabric::Calendar;
use evenkeel::ids::PortId;
use evenkeel::units::{Span, Time};

/// Minimum number of events taken per iteration; all pending ones if there are more.
const TAKEN: u32 = 10_000;
/// Largest delay of an event: a 1 us wire plus a 4 KiB packet at 400 Gbps.
const AHEAD_PS: u64 = 1_083_560;

/// Returns an event's delay. A quarter of the arrivals are acknowledgements, whose transmission
/// takes a sixtieth of the time.
fn ahead(draw: u32) -> Span {
    Span::from_ps(if draw.is_multiple_of(4) { 1_001_680 } else { AHEAD_PS })
}

#[divan::bench(args = [100, 1_000, 10_000, 100_000])]
fn push_and_pop(bencher: Bencher<'_, '_>, pending: u32) {
    let taken = pending.max(TAKEN);
    let filled = || {
        let mut calendar = Calendar::new(pending as usize, AHEAD_PS);
        for port in 0..pending {
            let at = u64::from(port) * AHEAD_PS / u64::from(pending);
            calendar.push(Time::from_ps(at), PortId(port));
        }
        calendar
    };
    bencher.counter(ItemsCount::new(taken)).with_inputs(filled).bench_local_refs(|calendar| {
        for _ in 0..taken {
            let (now, port) = calendar.pop().expect("as many events as before");
            calendar.push(now + ahead(black_box(port).0), port);
        }
    });
}
