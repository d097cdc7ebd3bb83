//! Servers whose accelerators are connected by internal switches, as in SimAI's files.
//!
//! The first line gives the accelerators per server and the number of switches inside servers
//! (NVSwitches), which have the lowest ids of all switches. These switches and their links become
//! the scale-up network of a server. The rate of an accelerator's port is the sum of its links; the
//! latency is that of two links. Link rates are on the wire, whereas those of a scale-up network
//! are of payload: headers within a server are free.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, FileLink};
use crate::topology::{CrossRail, ScaleUp};
use crate::units::{BitRate, Span};

/// The servers that the first line announces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Servers {
    /// Accelerators per server.
    pub(super) gpus: u32,
    /// Number of switches inside all servers together; more than 0.
    pub(super) switches: u64,
}

/// Removes the switches inside servers from `switches`, and their links from `links`. Returns the
/// network of a server and the ids of the removed switches.
pub(super) fn extract(
    servers: Servers,
    switches: &mut BTreeSet<u32>,
    links: &mut Vec<FileLink>,
) -> Result<(ScaleUp, BTreeSet<u32>), Fault> {
    let Servers { gpus, switches: count } = servers;
    let fault = |switch: u32, what: &'static str| Fault::Server { count, gpus, switch, what };
    let inside: BTreeSet<u32> = (0..count).zip(&*switches).map(|(_, id)| *id).collect();
    let (within, between): (Vec<FileLink>, Vec<FileLink>) =
        links.drain(..).partition(|link| link.ends.iter().any(|end| inside.contains(end)));
    *links = between;
    // Per switch, the server of its hosts; per host, the rate of its port.
    let mut server_of: BTreeMap<u32, u32> = BTreeMap::new();
    let mut rates: BTreeMap<u32, u64> = BTreeMap::new();
    let mut delay = Span::ZERO;
    for link in &within {
        let [a, b] = link.ends;
        let (switch, host) = if inside.contains(&a) { (a, b) } else { (b, a) };
        if switches.contains(&host) {
            return Err(fault(switch, "is linked to another switch"));
        }
        let index = host - switches.range(..host).count() as u32;
        let server = index / gpus.max(1);
        if *server_of.entry(switch).or_insert(server) != server {
            return Err(fault(switch, "is linked to two servers of consecutive hosts"));
        }
        *rates.entry(host).or_default() += link.rate.as_bps();
        delay = delay.max(link.delay);
    }
    let rate = rates.values().next().copied().unwrap_or(0);
    if let Some(link) = within.iter().find(|link| {
        let [a, b] = link.ends.map(|end| rates.get(&end).copied());
        a.or(b) != Some(rate)
    }) {
        let switch = link.ends.into_iter().find(|end| inside.contains(end)).unwrap_or_default();
        return Err(fault(switch, "has links of different rates"));
    }
    if let Some(&switch) = inside.iter().find(|switch| !server_of.contains_key(switch)) {
        return Err(fault(switch, "has no link"));
    }
    switches.retain(|id| !inside.contains(id));
    let rate = BitRate::from_bps(rate);
    let cross_rail = CrossRail::Fabric;
    Ok((ScaleUp { gpus, rate, latency: delay + delay, cross_rail }, inside))
}
