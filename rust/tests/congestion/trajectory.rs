//! The rate or the window of each control in isolation, with identical feedback.
//!
//! The path has 100 Gbps, 10 us and packets of 1000 B, so the bandwidth-delay product is 125
//! packets. An acknowledgement arrives every microsecond, for as many packets as the window or the
//! rate permits. From 20 us to 120 us there is congestion: each acknowledgement is marked, and the
//! round trip is 30 us. A CNP arrives at 20 us and at 70 us. Before and after, there are no marks
//! and no queue.

use std::fmt::Write;

use evenkeel::nic::congestion::{
    AckSample, CongestionController, Controller, PathFacts, ReceiverRequest,
};
use evenkeel::units::{BitRate, Bytes, Span, Time};

use super::control;
use crate::support::snapshot;

const PATH: PathFacts = PathFacts {
    line_rate: BitRate::from_gbps(100),
    base_rtt: Span::from_us(10),
    has_equal_paths: true,
    packet: Bytes::new(1_000),
    payload: Bytes::new(1_000),
    pace_unit: Span::from_ps(1),
};

/// The times in the table, in us.
const ROWS: [u64; 17] =
    [0, 20, 25, 30, 50, 70, 75, 100, 120, 130, 150, 200, 300, 500, 1_000, 2_000, 5_000];

/// A control and its feedback so far.
struct Story {
    control: Controller,
    acked: u64,
    sent: u64,
}

impl Story {
    fn new(name: &str, preset: &str) -> Self {
        Self { control: control(name, preset).build(&PATH), acked: 0, sent: 0 }
    }

    /// Delivers the feedback of the microsecond that starts at `us`.
    fn step(&mut self, us: u64) {
        let now = Time::ZERO + Span::from_us(us);
        let congested = (20..120).contains(&us);
        if us == 20 || us == 70 {
            self.control.handle_cnp(now);
        }
        let rtt = Span::from_us(if congested { 30 } else { 10 });
        let rate = self.control.rate(now).min(PATH.line_rate);
        let by_rate = rate.bytes_in(Span::from_us(1)).get() / 1_000;
        let window = (self.control.window() / 1_000).min(1_000);
        let by_window = window * 1_000_000 / rtt.as_ps();
        let packets = by_rate.min(by_window).max(1);
        self.acked += packets;
        let out = (rate.bytes_in(rtt).get() / 1_000).min(window);
        self.sent = self.sent.max(self.acked + out);
        let packets = u32::try_from(packets).expect("a few");
        let sample = AckSample {
            ack: self.acked,
            next: self.sent,
            packets,
            marked: if congested { packets } else { 0 },
            rtt,
            in_flight: (self.sent - self.acked) * 1_000,
            receiver: ReceiverRequest::default(),
        };
        self.control.handle_ack(now, sample);
        self.control.handle_sent(now, packets * 1_000);
    }
}

/// Formats one line for each of `ROWS`, one column for each control.
fn table(columns: &[(&str, &str)], value: impl Fn(&mut Controller, Time) -> f64) -> String {
    let mut stories: Vec<Story> = columns.iter().map(|(name, set)| Story::new(name, set)).collect();
    let mut text = String::new();
    for heading in
        [columns.iter().map(|it| it.0).collect(), columns.iter().map(|it| it.1).collect()]
    {
        let heading: Vec<&str> = heading;
        let words = heading.iter().fold(String::new(), |line, word| format!("{line}{word:>13}"));
        writeln!(text, "{:>6}{words}", if text.is_empty() { "us" } else { "" }).expect("memory");
    }
    for us in 0..=*ROWS.last().expect("there are some") {
        let shown = ROWS.contains(&us);
        if shown {
            write!(text, "{us:>6}").expect("memory");
        }
        for story in &mut stories {
            story.step(us);
            if shown {
                let now = Time::ZERO + Span::from_us(us);
                write!(text, "{:>13.2}", value(&mut story.control, now)).expect("memory");
            }
        }
        if shown {
            text.push('\n');
        }
    }
    text
}

#[test]
fn rates_after_marks_in_gbps() {
    let text = table(
        &[
            ("dcqcn", "authors"),
            ("dcqcn", "paper"),
            ("dcqcn-mlx", "hpcc"),
            ("dcqcn-mlx", "hpcc-paper"),
            ("dcqcn-mlx", "conweave"),
            ("dcqcn-mlx", "connectx"),
            ("dctcp-rate", "ethereal"),
            ("dctcp-rate", "hpcc"),
        ],
        |control, now| control.rate(now).min(PATH.line_rate).as_bps() as f64 / 1e9,
    );
    snapshot("congestion-rates-gbps", &text);
}

#[test]
fn windows_after_marks_in_packets() {
    let text = table(
        &[
            ("dctcp-window", ""),
            ("nscc", "no-trimming"),
            ("nscc", "trimming"),
            ("swift", ""),
            ("mswift", ""),
        ],
        |control, _| control.window() as f64 / 1e3,
    );
    snapshot("congestion-windows-packets", &text);
}
