//! `UPLINK_MON_FILE`: the bytes that top-of-rack switches send upwards.
//!
//! Source: `periodic_monitoring` of ConWeave's `network-load-balance.cc`. Samples are taken at each
//! `SW_MONITORING_INTERVAL` from `FLOWGEN_START_TIME` to 50 ms after `FLOWGEN_STOP_TIME`. A sample
//! has a line `ns,switch,interface,bytes` for each interface that connects a switch with hosts to
//! another switch. It counts the bytes of all packets whose transmission has started there. The
//! family checks every 100 us whether every flow has completed, and samples until that check
//! succeeds. This monitor does so too, although the run has ended by then.

use std::io::{self, Write};

use super::interface::Interface;
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::Time;

/// The monitor and its interfaces.
#[derive(Debug)]
pub(super) struct UplinkMonitor {
    uplinks: Vec<Interface>,
}

impl UplinkMonitor {
    pub(super) fn new(interfaces: &[Interface]) -> Self {
        let has_host = |switch| {
            let is_below = |it: &Interface| it.owner == switch && matches!(it.peer, Node::Host(_));
            interfaces.iter().any(is_below)
        };
        let leads_up = |it: &&Interface| {
            it.owner.switch().is_some() && it.peer.switch().is_some() && has_host(it.owner)
        };
        let mut uplinks: Vec<Interface> = interfaces.iter().filter(leads_up).copied().collect();
        uplinks.sort_by_key(|it| (it.node, it.number));
        Self { uplinks }
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = PortId> + '_ {
        self.uplinks.iter().map(|it| it.port)
    }

    /// Writes a sample; `carried` returns the number of bytes that a port has transmitted.
    pub(super) fn sample(
        &self,
        now: Time,
        carried: &dyn Fn(PortId) -> u64,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let ns = now.as_ps() / 1_000;
        let line = |it: &Interface, to: &mut dyn Write| {
            writeln!(to, "{ns},{},{},{}", it.node, it.number, carried(it.port))
        };
        self.uplinks.iter().try_for_each(|it| line(it, to))
    }
}
