//! What decides the result of a run and is easily overlooked: timers and convergence times that
//! are out of proportion to the run.

use crate::endpoint::base_rtt;
use crate::fabric::{Failure, FailureKind, Outcome, Setup};
use crate::topology::Routes;
use crate::units::Span;

/// Remarks on a run whose workload has the lower bound `bound`: warnings of its summary.
pub(super) fn remarks(setup: &Setup, outcome: &Outcome, bound: Span) -> Vec<String> {
    [
        spurious_timer(setup, outcome),
        long_timer(setup, outcome, bound),
        failure(setup, outcome, bound),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A timer that expires before an acknowledgement can be back.
fn spurious_timer(setup: &Setup, outcome: &Outcome) -> Option<String> {
    if outcome.counters.retransmitted == 0 {
        return None;
    }
    let routes = Routes::new(&setup.topology, &|_| true);
    let round_trip = base_rtt(&setup.topology, &routes, &setup.nic, setup.fabric.forwarding_delay);
    let timer = setup.nic.retransmit_timeout;
    (timer < round_trip).then(|| {
        format!(
            "the retransmission timer of {timer} is shorter than a round trip on the longest \
             idle path, {round_trip}: packets are sent again that are not lost"
        )
    })
}

/// A timer that is longer than the rest of the run.
fn long_timer(setup: &Setup, outcome: &Outcome, bound: Span) -> Option<String> {
    let timer = setup.nic.retransmit_timeout;
    let lost = outcome.counters.dropped + outcome.counters.control_dropped;
    let decides = lost > 0 && timer > bound && outcome.cct.is_none_or(|cct| cct > timer);
    decides.then(|| {
        format!(
            "the retransmission timer of {timer} is {} times the bound: a loss that only the timer \
             notices decides the completion time",
            times(timer, bound)
        )
    })
}

/// A failure that nobody avoids for longer than the run should take.
fn failure(setup: &Setup, outcome: &Outcome, bound: Span) -> Option<String> {
    let known_after = |failure: &&Failure| failure.detection.min(failure.convergence);
    let down = setup.fabric.failures.iter().filter(|it| it.kind == FailureKind::Down);
    let late = down.filter(|it| it.at < outcome.ended && known_after(it) > bound);
    let latest = late.max_by_key(known_after).filter(|_| outcome.counters.dropped > 0)?;
    let after = |span: Span| match span {
        Span::MAX => "never".to_owned(),
        span => format!("after {span}"),
    };
    Some(format!(
        "the failure of {} is detected {}, and routing converges {}; the bound is {bound}: until \
         then packets are lost there",
        setup.topology.link_name(latest.link),
        after(latest.detection),
        after(latest.convergence),
    ))
}

/// `a` over `b`, for people.
fn times(a: Span, b: Span) -> String {
    let ratio = a.as_ps() as f64 / b.as_ps().max(1) as f64;
    if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}
