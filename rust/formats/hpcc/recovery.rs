//! The loss recovery of an experiment: that of the family's NICs, or that of a policy of this
//! project.

use super::config::{Family, HpccConfig};
use super::{round_trips, wire};
use crate::balance::Scheme;
use crate::nic::recovery::sack;
use crate::nic::{NackSignal, Recovery};
use crate::topology::Topology;
use crate::units::{Bytes, Span};

/// The origin of an experiment's policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PolicyOrigin {
    /// The simulator's own: `LB_MODE`, or no policy is named.
    Simulator,
    /// Named by `--lb` or `LB_POLICY`.
    Named,
}

/// The recovery of senders and receivers, with its timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DialectRecovery {
    pub(super) recovery: Recovery,
    pub(super) timeout: Span,
}

/// Returns the recovery of an experiment. A policy of the simulator keeps the simulator's recovery:
/// go-back-N, or IRN with `ENABLE_IRN`. So does a named policy that is designed for go-back-N; any
/// other has its own recovery.
pub(super) fn of(
    config: &HpccConfig,
    scheme: &Scheme,
    origin: PolicyOrigin,
    topology: &Topology,
) -> DialectRecovery {
    let is_own = origin == PolicyOrigin::Named && scheme.recovery != Recovery::GO_BACK_N;
    if is_own {
        return DialectRecovery { recovery: scheme.recovery, timeout: wire::RETRANSMIT_TIMEOUT };
    }
    if config.irn {
        return irn(config, topology);
    }
    DialectRecovery { recovery: Recovery::GO_BACK_N, timeout: wire::RETRANSMIT_TIMEOUT }
}

/// Returns IRN as ConWeave's script sets it. At most the largest bandwidth-delay product of
/// payloads is in flight; the timers are those of `network-load-balance.cc`.
fn irn(config: &HpccConfig, topology: &Topology) -> DialectRecovery {
    let product = round_trips::largest(topology, config.payload).product;
    let packets = product.get().div_ceil(config.payload.get().max(1)).max(1);
    let on_wire = Bytes::new(packets * (config.payload + wire::HEADER).get());
    let recovery = sack::Config {
        flow_control: sack::Window::Bytes(on_wire),
        rto_low: wire::IRN_RTO_LOW,
        resends: sack::Retransmit::Unreported,
        ..sack::Config::default()
    };
    DialectRecovery { recovery: recovery.into(), timeout: wire::IRN_RTO_HIGH }
}

/// Returns the congestion signal of NACKs. HPCC's receivers copy the mark of the packet into every
/// acknowledgement; ConWeave's flag each NACK for a packet out of order.
pub(super) const fn nacks(family: Family) -> NackSignal {
    match family {
        Family::Hpcc => NackSignal::Mark,
        Family::ConWeave => NackSignal::Congestion,
    }
}

/// Returns a warning if a named policy has another recovery than the simulator's NICs.
pub(super) fn warning(config: &HpccConfig, scheme: &Scheme, used: Recovery) -> Option<String> {
    let own = if config.irn { "IRN" } else { "go-back-N" };
    let is_other = scheme.recovery != Recovery::GO_BACK_N && used == scheme.recovery;
    is_other.then(|| {
        format!(
            "policy '{}' uses its own loss recovery '{}' instead of the simulator's {own}",
            scheme.name,
            used.name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::{self, Parameters};
    use crate::hpcc::config;
    use crate::hpcc::topology;

    const TIERS: &str = "7 3 6\n0 1 2\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0\n\
                         0 3 100Gbps 0.001ms 0\n0 4 100Gbps 0.001ms 0\n1 5 100Gbps 0.001ms 0\n\
                         1 6 100Gbps 0.001ms 0\n";

    fn of_keys(keys: &str, policy: &str, origin: PolicyOrigin) -> (DialectRecovery, bool) {
        let config = config::read(keys, "c").unwrap();
        let read = topology::read(TIERS, "t").unwrap();
        let scheme = balance::build_scheme(policy, &Parameters::new()).unwrap();
        let used = of(&config, &scheme, origin, &read.topology);
        (used, warning(&config, &scheme, used.recovery).is_some())
    }

    #[test]
    fn simulator_policies_keep_their_recovery_and_others_give_a_warning() {
        use PolicyOrigin::{Named, Simulator};
        for (keys, policy, origin, name, warns) in [
            ("", "ecmp-murmur", Simulator, "go-back-n", false),
            ("LB_MODE 2", "drill-by-destination", Simulator, "go-back-n", false),
            ("LB_MODE 2\nENABLE_IRN 1", "drill-by-destination", Simulator, "sack", false),
            ("", "drill", Named, "per-packet", true),
            ("", "letflow", Named, "go-back-n", false),
            ("ENABLE_IRN 1", "letflow", Named, "sack", false),
        ] {
            let (used, is_told) = of_keys(keys, policy, origin);
            assert_eq!((used.recovery.name(), is_told), (name, warns), "{keys}: {policy}");
        }
    }

    /// `run.py` has a product of 104,000 bytes for two tiers of 100 Gbps and 1 us.
    #[test]
    fn irn_uses_the_window_and_the_timers_of_the_script() {
        let (used, _) = of_keys("ENABLE_IRN 1", "ecmp-murmur", PolicyOrigin::Simulator);
        let Recovery::Sack(config) = used.recovery else { panic!("{used:?}") };
        assert_eq!(config.flow_control, sack::Window::Bytes(Bytes::new(104 * 1_048)));
        assert_eq!((config.rto_low, used.timeout), (Span::from_us(100), Span::from_us(320)));
    }
}
