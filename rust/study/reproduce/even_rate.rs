//! The maximum rate at which even splitting over the working links fits: rho_max under failures.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2), the ideal congestion
//! control. With failures each flow sends at rho_max = B / F of line rate. F is the number of flow
//! units on the most loaded link when every flow is divided evenly over its available shortest
//! paths. Random failures differ between seeds, and so does rho_max: a scenario cannot state it.

use std::sync::Arc;

use crate::fabric::Setup;
use crate::ids::PortId;
use crate::lower_bound;
use crate::nic::congestion::{CongestionControl, line_rate};
use crate::split::SplitConfig;
use crate::switching::FailureKind;
use crate::units::{Bytes, Fraction, Span};
use crate::workload::{Message, Workload};

/// Fractions of line rate are counted in millionths.
const PARTS: u32 = 1_000_000;

/// Limits every flow to rho_max of the links that never fail. Returns the least completion time at
/// that rate. The k queue pairs among which `subflow-k` divides a flow share its rate.
///
/// All messages start simultaneously, so the time is that of the longest one.
pub(super) fn apply(setup: &mut Setup) -> Span {
    let share = rho_max(setup);
    let pieces = match &setup.scheme.split {
        SplitConfig::KWay(config) => u32::from(config.k.get()),
        _ => 1,
    };
    let of_piece = Fraction::new(share, PARTS.saturating_mul(pieces)).unwrap_or(Fraction::ONE);
    setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share: of_piece });
    Fraction::new(share, PARTS).map_or(Span::ZERO, |share| least(setup, share))
}

/// Returns the greatest common rate if each message is divided evenly over its working paths, in
/// millionths of line rate, at least one.
fn rho_max(setup: &Setup) -> u32 {
    let routes = setup.topology.routes();
    let is_up = |port: &PortId| {
        let mut failures = setup.fabric.failures.iter();
        !failures.any(|it| it.link == port.link() && it.kind == FailureKind::Down)
    };
    let mut load = vec![0.0f64; 2 * setup.topology.links().len()];
    for &Message { src, dst, .. } in &setup.workload.messages {
        let paths = (0..routes.path_count(src, dst)).map(|path| routes.path_ports(src, dst, path));
        let up: Vec<Vec<PortId>> = paths.filter(|path| path.iter().all(is_up)).collect();
        for port in up.iter().flatten() {
            load[port.index()] += 1.0 / up.len() as f64;
        }
    }
    let most = load.into_iter().fold(1.0, f64::max);
    ((f64::from(PARTS) / most) as u32).max(1)
}

/// Returns the completion time of the longest message alone, sent at that fraction of line rate.
fn least(setup: &Setup, share: Fraction) -> Span {
    let routes = setup.topology.routes();
    let key = |message: &&Message| (message.bytes, routes.hops(message.src, message.dst));
    let Some(&longest) = setup.workload.messages.iter().max_by_key(key) else {
        return Span::ZERO;
    };
    let payload = setup.nic.payload;
    let packets = longest.bytes.get().div_ceil(payload.get()).max(1);
    // The bound covers the last packet; the packets before it are paced at the limited rate.
    let last = longest.bytes.get() - (packets - 1) * payload.get();
    let mut one = setup.clone();
    let message = Message { bytes: Bytes::new(last), ..longest };
    one.workload = Arc::new(Workload::independent(vec![message]));
    let rate = setup.topology.host_rate(longest.src).scaled(share);
    let packet = rate.time_for(payload + setup.nic.header);
    lower_bound(&one).time + packet * (packets - 1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Overrides, Scenario};

    fn setup(text: &str) -> Setup {
        let text = format!("[workload]\nkind = \"shift\"\nshift = 4\nbytes = \"8192B\"\n{text}");
        Scenario::parse(&text, "a", Path::new(""), &Overrides::default()).unwrap().setup()
    }

    const FABRIC: &str = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 4\n\
                          hosts_per_leaf = 4\nfabric_rate = \"400Gbps\"\n";

    #[test]
    fn rho_max_is_line_rate_without_failures() {
        let mut setup = setup(&format!("{FABRIC}[policy]\nname = \"spray\""));
        assert_eq!(rho_max(&setup), PARTS);
        let least = apply(&mut setup);
        assert!(least <= lower_bound(&setup).time);
    }

    /// The four hosts of a leaf send to the other leaf over three of four uplinks. `subflow-4`
    /// divides the rate of a flow by 4.
    #[test]
    fn one_link_down_leaves_three_quarters_of_line_rate_to_four_flows() {
        let failure = "[[failure]]\nlink = \"leaf0-spine0\"\n";
        let mut setup = setup(&format!("{FABRIC}{failure}[policy]\nname = \"subflow-4\""));
        assert_eq!(rho_max(&setup), 750_000);
        let least = apply(&mut setup);
        let share = Fraction::new(750_000, 4 * PARTS).unwrap();
        let control = CongestionControl::LineRate(line_rate::Config { share });
        assert_eq!(setup.nic.congestion, control);
        // One packet on an idle path, then another at three quarters of 400 Gbps.
        let one = Message { bytes: Bytes::new(4_096), ..setup.workload.messages[0] };
        setup.workload = Arc::new(Workload::independent(vec![one]));
        assert_eq!(least, lower_bound(&setup).time + Span::from_ps(110_880));
    }
}
