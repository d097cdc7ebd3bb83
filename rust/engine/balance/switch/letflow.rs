//! `LetFlow`: a random port for each flowlet, by a flowlet table in every switch.
//!
//! Source: Vanini, Pan, Alizadeh, Taheri, Edsall, "Let It Flow: Resilient Asymmetric Load Balancing
//! with Flowlet Switching" (NSDI 2017), section 2. A packet that follows the previous one of its
//! flow by more than a timeout may take any path without overtaking it. A switch keeps the port and
//! the age of each flowlet, and draws a port for the next one. It reads no queue lengths: a flowlet
//! on a congested path ends earlier, because its sender waits.
//!
//! [`crate::balance::sender::flowlet`] is the same rule at the sender, which draws an entropy
//! value.
//!
//! \[inferred\]: gaps are measured exactly, not by an age bit. Acknowledgements and other control
//! packets are separate flows, as in hardware that does not distinguish packets. A flowlet whose
//! port is no longer a candidate draws another one immediately; one that keeps its port keeps it
//! when other ports fail.

use serde::{Deserialize, Serialize};

use super::flowlet_table::{self, FlowletTable};
use super::{StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, in_bursts};
use crate::balance::{Preset, SchemeError, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Span, Time};

/// The parameters of `letflow`: the end of a flowlet, and the size of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gap after which a new flowlet begins. Default 100 us, as for `LetFlow` in the public
    /// `ConWeave` simulator and as for [`super::conga`]. Another public ns-3 code has 50 us; the
    /// testbeds of LetFlow's and CONGA's papers had 500 us \[inferred\].
    pub gap: Span,
    /// Number of entries in a switch's flowlet table, which is indexed by a hash of the flow, 1 to
    /// 1,048,576. Default 65,536 (CONGA, section 3.4).
    pub flowlets: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { gap: Span::from_us(100), flowlets: 1 << 16 }
    }
}

/// The flowlets of one switch.
#[derive(Debug, Clone)]
pub struct LetFlow(Box<State>);

#[derive(Debug, Clone)]
struct State {
    flowlets: FlowletTable,
    random: Stream,
    ports: u64,
}

/// The preset `letflow`: one entropy value for each queue pair, and go-back-N, since flowlets keep
/// packets in order.
pub const PRESETS: &[Preset] = &[Preset {
    name: "letflow",
    summary: "a random port for each burst of packets (LetFlow, in switches)",
    source: "Vanini et al., Let It Flow (NSDI 2017), section 2",
    build: |parameters| {
        let config: Config = parse_config("letflow", parameters)?;
        if let Some(reason) = flowlet_table::config_error(config.flowlets) {
            return Err(SchemeError::Parameter { name: "letflow", reason: reason.into() });
        }
        Ok(in_bursts("letflow", SwitchConfig::LetFlow(config)))
    },
}];

impl LetFlow {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self(Box::new(State {
            flowlets: FlowletTable::new(config.flowlets, config.gap),
            random: switch.random(),
            ports: switch.ports.into(),
        }))
    }
}

impl SwitchPolicy for LetFlow {
    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
        let State { flowlets, random, .. } = &mut *self.0;
        let flowlet = flowlets.find(now, packet);
        // The port decides, not the index: a failure elsewhere renumbers the candidates.
        let before = if flowlet.continues { flowlet.find_candidate(view) } else { None };
        let chosen = before.unwrap_or_else(|| random.below(view.candidates()));
        flowlets.store(now, flowlet, view.port(chosen), chosen);
        chosen
    }

    /// The port, a valid bit and an age bit for each table entry.
    fn state_size(&self) -> StateSize {
        self.0.flowlets.size(self.0.ports)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_view::Ports;
    use super::*;

    fn letflow() -> LetFlow {
        LetFlow::new(&Config::default(), &SwitchContext::for_test())
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn packet(flow: u32) -> Packet {
        Packet { label: crate::rng::mix32(flow), ..Packet::default() }
    }

    #[test]
    fn only_a_gap_longer_than_the_timeout_draws_a_port() {
        let mut policy = letflow();
        let mut ports = Ports::empty(8);
        let first = policy.choose(us(10), &packet(7), &mut ports);
        // 100 us after the previous packet, however long after the first.
        for at in [110, 210, 310] {
            assert_eq!(policy.choose(us(at), &packet(7), &mut ports), first);
        }
        let mut seen = std::collections::BTreeSet::new();
        let mut now = us(310);
        for _ in 0..200 {
            now = now + Span::from_us(100) + Span::from_ps(1);
            seen.insert(policy.choose(now, &packet(7), &mut ports));
        }
        assert_eq!(seen.len(), 8, "each port is drawn now and then");
    }

    #[test]
    fn flows_have_their_own_flowlets_and_spread_evenly() {
        let mut policy = letflow();
        let mut counts = [0u32; 8];
        for flow in 0..1_600 {
            let first = policy.choose(us(1), &packet(flow), &mut Ports::empty(8));
            counts[first as usize] += 1;
        }
        assert!(counts.iter().all(|count| (150..250).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_flowlet_keeps_its_port_when_another_port_fails_and_moves_when_its_own_does() {
        let before = |policy: &mut LetFlow| {
            (0..100).map(|flow| policy.choose(us(1), &packet(flow), &mut Ports::empty(8))).collect()
        };
        let mut policy = letflow();
        let first: Vec<u32> = before(&mut policy);
        // Port 0 is gone: candidate 0 is now port 1.
        let mut rest = Ports { first_port: 1, ..Ports::empty(7) };
        for (flow, port) in (0..100).zip(first) {
            let now = policy.choose(us(2), &packet(flow), &mut rest) + 1;
            assert!(now == port || port == 0, "flow {flow}: {port}, then {now}");
        }
    }

    #[test]
    fn two_flows_in_one_entry_are_one_flow() {
        let config = Config { flowlets: 1, ..Config::default() };
        let mut policy = LetFlow::new(&config, &SwitchContext::for_test());
        let choose = |flow| policy.choose(us(1), &packet(flow), &mut Ports::empty(8));
        let chosen: std::collections::BTreeSet<u32> = (0..50).map(choose).collect();
        assert_eq!(chosen.len(), 1);
        assert_eq!(policy.state_size(), StateSize { entries: 1, bits: 5 });
    }

    #[test]
    fn a_table_without_entries_is_rejected() {
        for entries in ["0", "1048577"] {
            let parameters = format!("flowlets = {entries}").parse().unwrap();
            let error = crate::balance::build_scheme("letflow", &parameters).unwrap_err();
            assert!(error.to_string().contains("for example 65536"), "{error}");
        }
    }
}
