//! The sender's part of a policy, run in a switch: entropy values by flow.
//!
//! Source: for flowlets, Vanini et al., "Let It Flow" (NSDI 2017), section 2.2: a table of 65,536
//! entries indexed by the flow's hash; flows with the same index share an entry.

use std::collections::HashMap;

use evenkeel_engine::balance::sender::{
    NetworkParameters, PathSpace, QpContext, Sender, SenderConfig, SenderPolicy,
};
use evenkeel_engine::balance::switch::SwitchContext;
use evenkeel_engine::ids::HostId;
use evenkeel_engine::packet::Packet;
use evenkeel_engine::units::{Span, Time};

/// Per-flow state of a switch. An entry is created when a flow first needs it.
#[derive(Debug)]
pub(super) struct Flows {
    config: SenderConfig,
    switch: SwitchContext,
    base_rtt: Span,
    /// By index in a table of 65,536; looked up, never iterated.
    entries: HashMap<u16, Sender>,
}

impl Flows {
    /// Creates the table of a sender policy. Returns `None` if the policy gives each flow a single
    /// entropy value, because the packet's own value already is one.
    pub(super) fn new(
        config: &SenderConfig,
        switch: &SwitchContext,
        base_rtt: Span,
    ) -> Option<Self> {
        let keeps_one = matches!(config, SenderConfig::Ecmp(_));
        (!keeps_one).then(|| Self {
            config: config.clone(),
            switch: *switch,
            base_rtt,
            entries: HashMap::new(),
        })
    }

    /// Sets the entropy value of a packet to the policy's choice. The packet's own value becomes
    /// part of the label, so that flows stay distinct.
    pub(super) fn stamp(&mut self, now: Time, packet: &mut Packet) {
        packet.label ^= u32::from(packet.entropy).wrapping_mul(0x9e37_79b1);
        // Mix the label: callers compute it, and a poor hash would leave parts of the table unused.
        let index = mixed(packet.label);
        let Self { config, switch, base_rtt, entries } = self;
        let entry = entries
            .entry(index)
            .or_insert_with(|| config.build(&queue_pair(switch, *base_rtt, index)));
        packet.entropy = entry.entropy(now);
    }

    /// Returns the size of all entries, in bits.
    pub(super) fn state_bits(&self) -> u64 {
        // All entries have the same policy and configuration, and therefore the same size.
        let one = self.config.build(&queue_pair(&self.switch, self.base_rtt, 0));
        self.entries.len() as u64 * one.state_bits()
    }
}

/// Mixes a hash to 16 bits. Each output bit depends on every input bit (the finaliser of
/// MurmurHash3; Appleby, 2011).
const fn mixed(label: u32) -> u16 {
    let label = (label ^ label >> 16).wrapping_mul(0x85eb_ca6b);
    let label = (label ^ label >> 13).wrapping_mul(0xc2b2_ae35);
    (label >> 16) as u16
}

/// Returns the context of an entry as if it were a queue pair; each entry has its own random draws.
fn queue_pair(switch: &SwitchContext, base_rtt: Span, index: u16) -> QpContext {
    QpContext {
        seed: switch.seed,
        src: HostId(switch.id.0),
        dst: HostId(u32::from(index)),
        stream: 0,
        qp_index: 0,
        paths: PathSpace::SINGLE,
        path: 0,
        network: NetworkParameters { base_rtt, ..NetworkParameters::default() },
    }
}
