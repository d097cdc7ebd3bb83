//! The senders' part of a policy, done by a switch: entropy values by flow.
//!
//! Source: for flowlets, Vanini et al., "Let It Flow" (NSDI 2017), section 2.2: a table of 65,536
//! entries that flows find by their hash; flows of one entry share it.

use std::collections::HashMap;

use crate::balance::sender::{
    NetworkParameters, PathSpace, QpContext, Sender, SenderConfig, SenderPolicy,
};
use crate::balance::switch::SwitchContext;
use crate::ids::HostId;
use crate::packet::Packet;
use crate::units::{Span, Time};

/// What a switch keeps by flow. Entries are made when a flow first needs them.
#[derive(Debug)]
pub(super) struct Flows {
    config: SenderConfig,
    switch: SwitchContext,
    base_rtt: Span,
    /// By place in a table of 65,536; looked up, never iterated.
    entries: HashMap<u16, Sender>,
}

impl Flows {
    /// The table of a sender policy; none where the policy leaves a flow its one entropy value,
    /// for which the packet's own will do.
    pub fn new(config: &SenderConfig, switch: &SwitchContext, base_rtt: Span) -> Option<Self> {
        let keeps_one = matches!(config, SenderConfig::Ecmp(_));
        (!keeps_one).then(|| Self {
            config: config.clone(),
            switch: *switch,
            base_rtt,
            entries: HashMap::new(),
        })
    }

    /// Gives the packet the entropy value that the policy has for it; what told its flow apart
    /// until now becomes a part of the label.
    pub fn stamp(&mut self, now: Time, packet: &mut Packet) {
        packet.label ^= u32::from(packet.entropy).wrapping_mul(0x9e37_79b1);
        // Labels are hashes of the caller's, good or bad: each of their bits must tell.
        let place = mixed(packet.label);
        let Self { config, switch, base_rtt, entries } = self;
        let entry = entries
            .entry(place)
            .or_insert_with(|| config.build(&queue_pair(switch, *base_rtt, place)));
        packet.entropy = entry.entropy(now);
    }

    /// Entries that were made, in bits.
    pub fn state_bits(&self) -> u64 {
        // All are alike: of one policy and one configuration.
        let one = self.config.build(&queue_pair(&self.switch, self.base_rtt, 0));
        self.entries.len() as u64 * one.state_bits()
    }
}

/// 16 bits to which each bit of a hash adds (the finaliser of MurmurHash3; Appleby, 2011).
const fn mixed(label: u32) -> u16 {
    let label = (label ^ label >> 16).wrapping_mul(0x85eb_ca6b);
    let label = (label ^ label >> 13).wrapping_mul(0xc2b2_ae35);
    (label >> 16) as u16
}

/// What stands for a queue pair: each switch and entry has draws of its own.
fn queue_pair(switch: &SwitchContext, base_rtt: Span, place: u16) -> QpContext {
    QpContext {
        seed: switch.seed,
        src: HostId(switch.id.0),
        dst: HostId(u32::from(place)),
        stream: 0,
        qp_index: 0,
        paths: PathSpace::SINGLE,
        path: 0,
        network: NetworkParameters { base_rtt, ..NetworkParameters::default() },
    }
}
