use super::*;
use crate::nic::NicConfig;
use crate::nic::congestion::{dcqcn, dcqcn_mlx};
use crate::split::ethereal;
use crate::units::Span;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Returns the name, the owner, the default in the configurations, and the source.
fn row(timer: Timer) -> [String; 4] {
    let nic = NicConfig::default();
    let (dcqcn, mlx) = (dcqcn::Config::default(), dcqcn_mlx::Config::default());
    let both = |one: Span, other: Span| format!("{one}, mlx {other}");
    let (owner, default, source) = match timer {
        Timer::Retransmission => {
            ("requester", nic.retransmit_timeout.to_string(), "InfiniBand 9.7.6.1.3, IRN 3.1")
        }
        Timer::Alpha => (
            "congestion control",
            both(dcqcn.alpha_timer, mlx.alpha_timer),
            "DCQCN 5, HPCC rdma-hw.cc",
        ),
        Timer::RateIncrease => (
            "congestion control",
            both(dcqcn.rate_timer, mlx.increase_timer),
            "DCQCN 5, HPCC rdma-hw.cc",
        ),
        Timer::RateDecrease => {
            ("congestion control", format!("mlx {}", mlx.decrease_timer), "HPCC rdma-hw.cc")
        }
        Timer::Cnp => ("responder", nic.cnp_interval.to_string(), "DCQCN 3.1"),
        Timer::AckCoalescing => {
            assert_eq!(nic.ack.within, Span::MAX);
            ("responder", "off".to_owned(), "Ultra Ethernet 1.0, REPS")
        }
        Timer::NackInterval => ("responder", nic.nack_interval.to_string(), "HPCC simulator"),
        Timer::PathMemory => (
            "splitter, per path",
            ethereal::Config::default().path_memory.to_string(),
            "Ethereal's simulator",
        ),
    };
    [timer.to_string(), owner.to_owned(), default, source.to_owned()]
}

#[test]
fn nic_timers() {
    let line = |[name, owner, default, source]: [String; 4]| {
        format!("{name:<15}  {owner:<20}  {default:<14}  {source}\n")
    };
    let head = ["timer", "owner", "default", "source"].map(str::to_owned);
    let rows = Timer::ALL.map(row);
    let table: String = std::iter::once(head).chain(rows).map(line).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("nic-timers", table));
}

#[test]
fn every_timer_is_listed_once() {
    for (place, timer) in Timer::ALL.into_iter().enumerate() {
        assert_eq!(timer as usize, place, "{timer}");
    }
}

#[test]
fn timers_expire_in_order_of_time_and_stop() {
    let mut timers = RateTimers::<3>::default();
    let order = [Timer::Alpha, Timer::RateIncrease, Timer::RateDecrease];
    assert_eq!(timers.next(Time::from_ps(u64::MAX - 1), order), None, "none runs");
    timers.set(Timer::Alpha, at(30));
    timers.set(Timer::RateIncrease, at(10));
    timers.set(Timer::RateDecrease, at(20));
    assert_eq!(timers.next(at(9), order), None, "early: nothing happens");
    assert_eq!(timers.next(at(25), order), Some((Timer::RateIncrease, at(10))));
    assert_eq!(timers.next(at(25), order), Some((Timer::RateDecrease, at(20))));
    assert_eq!(timers.next(at(25), order), None);
    timers.stop(Timer::Alpha);
    assert_eq!(timers.next(at(1_000), order), None);
}

#[test]
fn timers_at_equal_times_expire_in_the_given_order() {
    use Timer::{Alpha, RateDecrease, RateIncrease};
    for order in [
        [Alpha, RateIncrease, RateDecrease],
        [RateDecrease, RateIncrease, Alpha],
        [RateIncrease, Alpha, RateDecrease],
    ] {
        let mut timers = RateTimers::<3>::default();
        order.iter().rev().for_each(|&timer| timers.set(timer, at(5)));
        let ran = [0; 3].map(|_| timers.next(at(5), order).expect("due").0);
        assert_eq!(ran, order);
    }
}

#[test]
fn a_limiting_timer_counts_as_expired_until_it_is_set() {
    let mut timers = ReceiverTimers::default();
    timers.expire(Timer::Cnp);
    assert!(timers.is_due(Timer::Cnp, Time::ZERO) && !timers.is_due(Timer::AckCoalescing, at(9)));
    timers.set(Timer::Cnp, at(50));
    assert!(!timers.is_due(Timer::Cnp, at(49)) && timers.is_due(Timer::Cnp, at(50)));
    assert_eq!(timers.deadline(Timer::Cnp), at(50));
}
