//! RCCC: the receiver-credit congestion control of Ultra Ethernet. A sender starts immediately with
//! credit of its own (speculation). After the first response it sends only what the receiver has
//! granted. The receiver's side, `nic::credits`, paces grants over all senders.
//!
//! Source: Ultra Ethernet Specification 1.0, section 3.6.14 on RCCC, by public notes. If these
//! are silent, the UEC simulator (ultraethernet/uet-htsim, `uec.cpp`). From it are: the unit of 256
//! B, the initial credit, what a sender requests, and when speculation ends.
//!
//! Differences, all \[inferred\]: a credit request is not a packet of the sequence and is not
//! acknowledged, but answered with credit. A sender with nothing in flight and no credit requests
//! again after a retransmission timeout, so the loss of a grant cannot stall it. After a timeout
//! during speculation, it sends only what its credit permits.

use serde::{Deserialize, Serialize};

use super::credit::{CREDIT_UNIT as UNIT, CreditRules, FIRST_CREDIT as FIRST};
use super::nscc::{self, Nscc};
use super::{AckSample, CongestionController, ControlConfig, CreditController, Loss, PathFacts};
use crate::nic::parameters::{
    Configuration, InvalidValue, bytes, positive, positive_at_most_one, require,
};
use crate::packet::Psn;
use crate::units::{Bytes, Fraction, Span, Time};

/// Parameters of both sides; the defaults are those of the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Initial credit, and the most that a sender may have, in bandwidth-delay products: 3/2.
    pub max_window: Fraction,
    /// The size of one grant: 16 KiB, four packets. At least 256 B, the unit.
    pub grant: Bytes,
    /// The fraction of its ports' rate that a receiver grants: 99/100.
    pub pace: Fraction,
    /// Whether a receiver without requests grants to its senders round-robin: true.
    pub unasked: bool,
    /// Whether NSCC's window also limits a sender: false.
    pub nscc: bool,
    /// Oversubscription of the fabric: host bytes per fabric byte. Above 1, marks and trims lower
    /// the receivers' rate. With 1 they do not \[by the simulator: only where `nscc` is false\].
    /// The default of a scenario is that of its fabric.
    pub oversubscription: Fraction,
    /// The averaged fraction of marked packets above which that rate falls: 3/10.
    pub target_congestion: Fraction,
    /// Weight of a new fraction in the average: 1/2.
    pub gain: Fraction,
    /// The fraction of the excess above the target that the rate loses: 1/2.
    pub decrease: Fraction,
    /// The rate's gain in an interval without trims or excess: 1/100 of the ports' rate. It doubles
    /// with each such interval in a row without a mark.
    pub increase: Fraction,
}

impl Default for Config {
    fn default() -> Self {
        let fraction =
            |numerator, denominator| Fraction::new(numerator, denominator).expect("not zero");
        Self {
            max_window: fraction(3, 2),
            grant: Bytes::new(16_384),
            pace: fraction(99, 100),
            unasked: true,
            nscc: false,
            oversubscription: Fraction::ONE,
            target_congestion: fraction(3, 10),
            gain: fraction(1, 2),
            decrease: fraction(1, 2),
            increase: fraction(1, 100),
        }
    }
}

impl Config {
    /// The receiver's part of the configuration.
    fn rules(&self) -> CreditRules {
        let &Self { max_window, grant, pace, unasked, oversubscription, .. } = self;
        let &Self { target_congestion, gain, decrease, increase, .. } = self;
        CreditRules {
            max_window,
            grant,
            pace,
            unsolicited: unasked,
            oversubscription,
            target_congestion,
            gain,
            decrease,
            increase,
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "rccc";
    const SUMMARY: &'static str =
        "receiver credit of Ultra Ethernet: the receiver grants what its senders may send";
    const SOURCE: &'static str = "Ultra Ethernet Specification 1.0, RCCC (uet-htsim)";

    fn check(&self) -> Result<(), InvalidValue> {
        positive("max_window", self.max_window)?;
        bytes("grant", self.grant)?;
        let units = self.grant.get().is_multiple_of(UNIT) && self.grant.get() <= 1 << 30;
        require("grant", self.grant, units, "it must be a multiple of 256B, at most 1GiB")?;
        positive_at_most_one("pace", self.pace)?;
        let ratio = self.oversubscription;
        let holds = ratio.numerator() >= ratio.denominator();
        require("oversubscription", ratio, holds, "it must be at least 1/1")?;
        let adapts_with_nscc = self.nscc && ratio != Fraction::ONE;
        let expected =
            "with nscc = true it must be 1/1: receivers adapt their rate only without NSCC";
        require("oversubscription", ratio, !adapts_with_nscc, expected)?;
        positive_at_most_one("target_congestion", self.target_congestion)?;
        positive_at_most_one("gain", self.gain)?;
        positive_at_most_one("decrease", self.decrease)?;
        positive_at_most_one("increase", self.increase)
    }
}

impl ControlConfig for Config {
    const IS_ULTRA_ETHERNET: bool = true;

    fn credit(&self) -> Option<CreditRules> {
        Some(self.rules())
    }
}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct Rccc {
    /// In bytes on the wire. Negative if the last packet took more than there was.
    credit: i64,
    state: Box<State>,
}

/// State that sending a packet does not read. Boxed, so that a queue pair's hot part stays small.
#[derive(Debug, Clone)]
struct State {
    /// Maximum credit, and the initial credit.
    max_credit: i64,
    packet: i64,
    /// The highest credit number received.
    pull: u64,
    speculating: bool,
    nscc: Option<Nscc>,
    /// Time of the last packet or request that was sent or received.
    active: Time,
    /// When credit was last requested outside of data packets.
    last_request: Option<Time>,
    /// The highest credit number requested.
    requested: u64,
    base_rtt: Span,
}

impl Rccc {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let max_credit = i64::try_from(config.rules().max_credit(path)).unwrap_or(i64::MAX);
        let nscc = config.nscc.then(|| Nscc::new(&nscc::Config::default(), path));
        Self {
            credit: max_credit,
            state: Box::new(State {
                max_credit,
                packet: i64::try_from(path.packet.get()).unwrap_or(i64::MAX),
                pull: FIRST,
                speculating: true,
                nscc,
                active: Time::ZERO,
                last_request: None,
                requested: FIRST,
                base_rtt: path.base_rtt,
            }),
        }
    }

    /// Ends speculation on the first response: the rest of the initial credit is forfeited.
    fn stop_speculating(&mut self) {
        if std::mem::take(&mut self.state.speculating) {
            // A debt remains: those bytes were sent.
            self.credit = self.credit.min(0);
        }
    }

    /// The credit number to request with this backlog.
    fn target(&self, backlog: u64, sources: u64) -> u64 {
        let State { max_credit, packet, speculating, ref nscc, pull, .. } = *self.state;
        let backlog = i64::try_from(backlog).unwrap_or(i64::MAX);
        let window = nscc.as_ref().map_or(u64::MAX, Nscc::window);
        let window = i64::try_from(window).unwrap_or(i64::MAX).saturating_add(packet);
        let mut want = backlog.min(window).min(max_credit) - self.credit;
        // At least one packet while speculating: the request announces the sender to the receiver.
        if speculating && want < packet && backlog > 0 {
            want = packet;
        }
        let want = want / i64::try_from(sources.max(1)).unwrap_or(i64::MAX);
        // Rounded up, towards a whole unit: `div_euclid` floors, also for a negative want.
        let units = want.div_euclid(UNIT as i64) + i64::from(want.rem_euclid(UNIT as i64) > 0);
        pull.saturating_add_signed(units)
    }
}

impl CongestionController for Rccc {
    #[inline]
    fn window(&self) -> u64 {
        match (self.credit > 0, &self.state.nscc) {
            // Without credit nothing may be sent, not even one packet.
            (false, _) => 0,
            (true, None) => u64::MAX,
            (true, Some(nscc)) => nscc.window(),
        }
    }

    fn handle_ack(&mut self, now: Time, sample: AckSample) {
        self.state.active = now;
        self.stop_speculating();
        if let Some(nscc) = &mut self.state.nscc {
            nscc.handle_ack(now, sample);
        }
    }

    fn handle_sent(&mut self, now: Time, bytes: u32) {
        // May become negative: the last packet may be longer than the remaining credit.
        self.credit -= i64::from(bytes);
        self.state.active = now;
        if let Some(nscc) = &mut self.state.nscc {
            nscc.handle_sent(now, bytes);
        }
    }

    /// A trim at the last hop means that the receiver has many senders. Its pacer knows that, so
    /// NSCC's window stays as it is.
    fn handle_loss(&mut self, now: Time, loss: Loss) {
        if loss != Loss::Timeout {
            // A timeout is not a response: the receiver may not have heard of this sender.
            self.state.active = now;
            self.stop_speculating();
        }
        if let Some(nscc) = &mut self.state.nscc
            && loss != Loss::TrimmedAtLastHop
        {
            nscc.handle_loss(now, loss);
        }
    }

    fn handle_later_loss(&mut self, now: Time) {
        if let Some(nscc) = &mut self.state.nscc {
            nscc.handle_later_loss(now);
        }
    }

    fn credit(&mut self) -> Option<&mut dyn CreditController> {
        Some(self)
    }
}

impl CreditController for Rccc {
    fn handle_credit(&mut self, now: Time, number: Psn) {
        self.state.active = now;
        self.stop_speculating();
        let number = number.unwrap_near(self.state.pull);
        // A late or repeated number is below `pull` and grants nothing.
        if let Some(more) = number.checked_sub(self.state.pull) {
            let more = i64::try_from(more * UNIT).unwrap_or(i64::MAX);
            // Capped, whatever the receiver grants.
            self.credit = self.credit.saturating_add(more).min(self.state.max_credit);
            self.state.pull = number;
        }
    }

    fn credit_target(&mut self, backlog: u64, sources: u64) -> Psn {
        let target = self.target(backlog, sources);
        // The maximum: a smaller target does not revoke what was requested.
        self.state.requested = self.state.requested.max(target);
        Psn::on_wire(target)
    }

    fn next_request(&self, backlog: u64, timeout: Span) -> Option<Time> {
        let State { active, last_request, base_rtt, requested, .. } = *self.state;
        let is_new = self.target(backlog, 1) > requested;
        // New bytes are requested immediately; a repeated request waits until the first may be
        // lost.
        let at = if is_new { active } else { active.saturating_add(timeout) };
        // At most one request per round trip: the response to the last one may be under way.
        let earliest = last_request.map_or(Time::ZERO, |at| at.saturating_add(base_rtt));
        (self.credit <= 0).then(|| at.max(earliest))
    }

    fn try_request(&mut self, now: Time) -> bool {
        let next = self.state.last_request.map(|at| at.saturating_add(self.state.base_rtt));
        let may_request = self.credit <= 0 && next.is_none_or(|next| next <= now);
        if may_request {
            (self.state.last_request, self.state.active) = (Some(now), now);
        }
        may_request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: PathFacts = PathFacts::FOR_TEST;

    fn number(units: u64) -> Psn {
        Psn::on_wire(FIRST + units)
    }

    fn control() -> Rccc {
        Rccc::new(&Config::default(), &PATH)
    }

    #[test]
    fn speculation_sends_one_and_a_half_bdp_and_then_stops() {
        let mut control = control();
        let mut sent = 0;
        while control.window() > 0 {
            control.handle_sent(Time::ZERO, 1_000);
            sent += 1;
        }
        assert_eq!(sent, 150);
        // An acknowledgement opens nothing. Only credit does, up to the maximum.
        control.handle_ack(Time::ZERO, AckSample::for_test(1, 150, 0));
        assert_eq!(control.window(), 0);
        control.handle_credit(Time::ZERO, number(1));
        assert_eq!((control.credit, control.window()), (256, u64::MAX));
        control.handle_credit(Time::ZERO, number(100_000));
        assert_eq!(control.credit, 150_000);
    }

    #[test]
    fn the_first_response_forfeits_the_initial_credit_but_keeps_debt() {
        let responses: [fn(&mut Rccc); 3] = [
            |it| it.handle_ack(Time::ZERO, AckSample::for_test(1, 1, 0)),
            |it| it.handle_loss(Time::ZERO, Loss::Trimmed),
            |it| it.handle_credit(Time::ZERO, number(0)),
        ];
        for response in responses {
            let mut control = control();
            control.handle_sent(Time::ZERO, 1_000);
            response(&mut control);
            assert_eq!(control.credit, 0);
            control.handle_credit(Time::ZERO, number(4));
            response(&mut control);
            assert_eq!(control.credit, 1_024, "only the first one");
        }
        let mut control = control();
        control.handle_loss(Time::ZERO, Loss::Timeout);
        assert_eq!(control.credit, 150_000, "no response yet");
    }

    #[test]
    fn it_requests_its_backlog_minus_its_credit_divided_by_the_sources() {
        let mut control = control();
        // Its credit covers everything; while it speculates, it still requests a packet.
        assert_eq!(control.credit_target(10_000, 1), number(4));
        assert_eq!(control.credit_target(0, 1).unwrap_near(FIRST), FIRST - 585);
        control.handle_ack(Time::ZERO, AckSample::for_test(1, 1, 0));
        assert_eq!(control.credit_target(10_000, 1), number(40));
        assert_eq!(control.credit_target(10_000, 4), number(10));
        assert_eq!(control.credit_target(2_560, 1), number(10), "whole units");
        assert_eq!(control.credit_target(1_000_000, 1), number(586), "never more than the maximum");
        control.handle_credit(Time::ZERO, number(40));
        assert_eq!(control.credit_target(10_000, 1), number(40), "it has that");
        control.handle_sent(Time::ZERO, 10_300);
        assert_eq!(control.credit_target(10_000, 1), number(80), "and its debt");
    }

    #[test]
    fn late_and_repeated_credit_numbers_are_ignored() {
        let mut control = control();
        for units in [64, 128, 64, 128, 0] {
            control.handle_credit(Time::ZERO, number(units));
        }
        assert_eq!(control.credit, 128 * 256);
    }

    #[test]
    fn without_credit_it_requests_once_per_round_trip() {
        let mut control = control();
        let timeout = Span::from_us(100);
        let at = |us| Time::ZERO + Span::from_us(us);
        assert_eq!(control.next_request(5_000, timeout), None);
        assert!(!control.try_request(Time::ZERO));
        control.handle_sent(at(3), 150_000);
        // These were requested with its packets: after a timeout, the request seems lost.
        control.credit_target(5_000, 1);
        assert_eq!(control.next_request(5_000, timeout), Some(at(103)));
        // A new message is requested immediately.
        assert_eq!(control.next_request(9_000, timeout), Some(at(3)));
        assert!(control.try_request(at(50)) && !control.try_request(at(51)));
        assert_eq!(control.next_request(9_000, timeout), Some(at(58)), "once a round trip");
        control.credit_target(9_000, 1);
        assert_eq!(control.next_request(9_000, timeout), Some(at(150)));
        assert!(control.try_request(at(150)));
    }

    #[test]
    fn nscc_limits_the_window_and_ignores_trims_at_the_last_hop() {
        let mut control = Rccc::new(&Config { nscc: true, ..Config::default() }, &PATH);
        let before = control.window();
        assert!(before < u64::MAX);
        control.handle_loss(Time::ZERO, Loss::TrimmedAtLastHop);
        control.handle_credit(Time::ZERO, number(1_000));
        assert_eq!(control.window(), before);
        control.handle_loss(Time::ZERO, Loss::Trimmed);
        assert!(control.window() < before);
    }

    #[test]
    fn each_hole_shrinks_the_nscc_window() {
        let mut control = Rccc::new(&Config { nscc: true, ..Config::default() }, &PATH);
        let window = |control: &Rccc| control.state.nscc.as_ref().unwrap().window();
        let before = window(&control);
        control.handle_loss(Time::ZERO, Loss::Nack);
        assert_eq!(window(&control), before - 1_000);
        control.handle_later_loss(Time::ZERO);
        assert_eq!(window(&control), before - 2_000);
    }
}
