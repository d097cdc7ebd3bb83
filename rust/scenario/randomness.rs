//! Whether the results of a scenario depend on its seed.

use super::resolved::Scenario;
use crate::balance::Scheme;
use crate::fabric::{Ecn, FailureKind, TieOrder, TrimVictim};
use crate::fluid::Fidelity;
use crate::ids::{HostId, PortId, SwitchId};
use crate::nic::congestion::CongestionControl;
use crate::split::SplitConfig;
use crate::topology::Topology;

impl Scenario {
    /// True if the results may depend on the seed.
    ///
    /// Messages, failures, marks, losses, the choices of a policy and the order of simultaneous
    /// arrivals can be random. With one path between any two hosts, a policy's random choices have
    /// no effect and do not count.
    pub fn is_random(&self) -> bool {
        let mut schemes =
            [&self.scheme].into_iter().chain(self.job_policies.iter().map(|it| &it.scheme));
        self.has_ties()
            || self.randomizes_workload()
            || self.randomizes_failures()
            || self.randomizes_ports()
            || schemes.any(randomizes_order)
            || has_choices(&self.topology)
    }

    /// True if packets of different messages may arrive at the same time.
    fn has_ties(&self) -> bool {
        self.fidelity == Fidelity::Packet
            && self.fabric.ties == TieOrder::Drawn
            && self.workload.task_count() != 1
    }

    fn randomizes_workload(&self) -> bool {
        self.file.workload.iter().chain(&self.file.job).any(|it| it.work.is_random())
    }

    fn randomizes_failures(&self) -> bool {
        let is_lossy = |kind| matches!(kind, FailureKind::Loss { .. });
        self.fabric.failures.iter().any(|it| is_lossy(it.kind))
            || self.file.failure.iter().any(|it| it.probability.is_some())
    }

    /// True if ECN ramps, the trimming victim or the rounding of telemetry are random.
    fn randomizes_ports(&self) -> bool {
        let ports = (0..2 * self.topology.links().len() as u32).map(PortId);
        let is_ramp = |port| matches!(self.fabric.ecn_of(&self.topology, port), Ecn::Ramp { .. });
        let has_random_victim =
            self.fabric.switch.trim.is_some_and(|it| it.victim == TrimVictim::ArrivingOrLast);
        let rounds = matches!(self.nic.congestion, CongestionControl::HpccPint(_));
        has_random_victim || rounds || ports.into_iter().any(is_ramp)
    }
}

/// True if the scheme randomizes the order in which a host's messages start, or takes detours.
fn randomizes_order(scheme: &Scheme) -> bool {
    matches!(scheme.split, SplitConfig::Ethereal(_) | SplitConfig::LineCut(_))
        || scheme.switch.uses_detours()
}

/// True if some pair of hosts has several shortest paths.
fn has_choices(topology: &Topology) -> bool {
    if topology.planes().count() > 1 {
        return true;
    }
    let routes = topology.routes();
    let switches = (0..topology.switches().len() as u32).map(SwitchId);
    let mut pairs = switches
        .flat_map(|switch| (0..topology.host_count()).map(move |host| (switch, HostId(host))));
    pairs.any(|(switch, host)| routes.next_hops(switch, host).len() > 1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Overrides;
    use crate::fabric;

    fn scenario(keys: &str) -> Scenario {
        Scenario::parse(keys, "a", Path::new(""), &Overrides::default()).unwrap()
    }

    /// A scenario with one path between any two hosts and no randomness.
    const FIXED: &str = "switch.ties = \"port\"\nswitch.ecn.step = \"800KB\"\n\
                         [topology]\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\n\
                         [policy]\nname = \"ecmp\"\n[transport]\n\
                         congestion_control = \"line-rate\"\n[workload]\nkind = \"incast\"\n\
                         fan_in = 7\nbytes = \"64KB\"\n";

    #[test]
    fn a_scenario_with_one_path_and_no_randomness_ignores_the_seed() {
        let fixed = scenario(FIXED);
        assert!(!fixed.is_random());
        let cct = |seed| fabric::run(&fixed.with_seed(seed).unwrap().setup(), &mut |_| {}).cct;
        assert!((2..6).all(|seed| cct(seed) == cct(1)), "{:?}", cct(1));
        assert!(!scenario(&FIXED.replace("ecmp", "spray")).is_random(), "it has nothing to choose");
    }

    #[test]
    fn every_source_of_randomness_is_detected() {
        let ramp = "switch.ecn = { kmin = \"10KB\", kmax = \"100KB\", pmax = \"1/2\" }\n";
        for (what, keys) in [
            ("packets at one time", FIXED.replace("\"port\"", "\"drawn\"")),
            ("two paths", FIXED.replace("spines = 1", "spines = 2")),
            ("a permutation", FIXED.replace("incast\"\nfan_in = 7", "permutation\"")),
            ("start jitter", format!("{FIXED}start_jitter = \"1us\"\n")),
            ("the order of messages", FIXED.replace("ecmp", "ethereal")),
            ("links that fail", format!("{FIXED}[[failure]]\nprobability = \"1/2\"\n")),
            (
                "losses",
                format!(
                    "{FIXED}[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"loss\"\nrate = \"1/2\"\n"
                ),
            ),
            ("marks", FIXED.replace("switch.ecn.step = \"800KB\"\n", ramp)),
            ("telemetry", FIXED.replace("line-rate", "hpcc-pint")),
        ] {
            assert!(scenario(&keys).is_random(), "{what}");
        }
    }
}
