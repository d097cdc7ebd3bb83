//! ECMP with the hash of the HPCC family of simulators: MurmurHash3 of addresses and ports, seeded
//! with the switch's node number, modulo the number of next hops.
//!
//! Source: `SwitchNode::GetOutDev` and `SwitchNode::EcmpHash` of HPCC's simulator (Li et al.,
//! "HPCC: High Precision Congestion Control", SIGCOMM 2019, its published code), the same in
//! ConWeave's `DoLbFlowECMP`. Hash: the 32-bit MurmurHash3 for x86 (Appleby, 2011, public domain)
//! of three words: source address, destination address, and source port with the destination port
//! in the upper half. Node n has the address 11.(n / 256).(n mod 256).1.
//!
//! Flows are placed as in those simulators, up to the order of next hops. In the source it is the
//! order of a breadth-first search from the destination. Neighbours are sorted by the address of
//! their objects, which in ConWeave's fresh process is the order of nodes. Here it is the order of
//! links. Both agree in the fabrics that come with the simulators. In irregular fabrics and with
//! parallel links (the family keeps only the last), flows may take other next hops. Nothing is
//! random, so the placement does not depend on the run's seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{SwitchConfig, SwitchContext, SwitchPolicy, SwitchView};
use crate::balance::sender::{SenderConfig, source_port};
use crate::balance::{Preset, Scheme, parse_config};
use crate::ids::HostId;
use crate::packet::Packet;
use crate::units::Time;

/// Destination port of a flow for which no file gives one: the family's first port.
pub const FIRST_DESTINATION_PORT: u16 = 100;

/// The policy has no parameters in a scenario; the readers of the family's files fill them in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Numbers of nodes and ports.
    #[serde(skip)]
    pub numbering: Arc<Numbering>,
}

/// Numbers that the family's files give to hosts, switches and flows. A host or switch without a
/// number uses its id instead.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbering {
    /// Node number of each host, by id.
    pub hosts: Vec<u32>,
    /// Node number of each switch, by id.
    pub switches: Vec<u32>,
    /// Destination ports other than [`FIRST_DESTINATION_PORT`].
    pub destination_ports: BTreeMap<FlowPort, u16>,
}

/// Key of a flow: its hosts and its source port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowPort {
    /// Id of the sending host.
    pub src: HostId,
    /// Id of the receiving host.
    pub dst: HostId,
    /// Source port of the flow's data packets, which is their entropy value.
    pub source_port: u16,
}

/// Hash of a switch.
#[derive(Debug, Clone)]
pub struct Murmur {
    seed: u32,
    numbering: Arc<Numbering>,
}

/// The preset `ecmp-murmur`: source ports that count up, and go-back-N.
pub const PRESETS: &[Preset] = &[Preset {
    name: "ecmp-murmur",
    summary: "ecmp with the hash of HPCC's simulator: the same placement for every seed",
    source: "HPCC (SIGCOMM 2019), its simulator: SwitchNode::EcmpHash",
    build: |parameters| {
        let config = parse_config("ecmp-murmur", parameters)?;
        Ok(scheme(config, source_port::Config::default()))
    },
}];

/// Creates the scheme with this numbering and these source ports.
pub fn scheme(switch: Config, sender: source_port::Config) -> Scheme {
    let scheme = Scheme::new("ecmp-murmur", SenderConfig::SourcePort(sender));
    Scheme { switch: SwitchConfig::Murmur(switch), ..scheme }
}

impl Murmur {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        let numbering = Arc::clone(&config.numbering);
        let seed = numbering.switches.get(switch.id.index()).copied().unwrap_or(switch.id.0);
        Self { seed, numbering }
    }

    /// Returns the hash of a packet's addresses and ports.
    fn hash(&self, packet: &Packet) -> u32 {
        let [from, to] = [packet.src, packet.dst]
            .map(|host| address(self.numbering.hosts.get(host.index()).copied().unwrap_or(host.0)));
        // Acknowledgements go from the flow's receiver to its sender, with its ports swapped.
        let source_port = packet.entropy;
        let ports = if packet.is_control() {
            let flow = FlowPort { src: packet.dst, dst: packet.src, source_port };
            u32::from(self.destination_port(&flow)) | u32::from(source_port) << 16
        } else {
            let flow = FlowPort { src: packet.src, dst: packet.dst, source_port };
            u32::from(source_port) | u32::from(self.destination_port(&flow)) << 16
        };
        murmur3([from, to, ports], self.seed)
    }

    fn destination_port(&self, flow: &FlowPort) -> u16 {
        let ports = &self.numbering.destination_ports;
        ports.get(flow).copied().unwrap_or(FIRST_DESTINATION_PORT)
    }
}

impl SwitchPolicy for Murmur {
    const PINS_PATH: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, packet: &Packet, view: &mut V) -> u32 {
        // A remainder, despite its bias: the placement has to equal that of the simulators.
        self.hash(packet) % view.candidates()
    }
}

/// Returns the address of a node: 11.x.y.1 for node 256x + y (`node_id_to_ip`).
pub const fn address(node: u32) -> u32 {
    0x0b00_0001u32.wrapping_add(node.wrapping_shl(8))
}

/// Returns the 32-bit MurmurHash3 of whole words in the byte order of x86.
fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    let mixed = words.into_iter().fold(seed, |hash, word| {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    // The length of the key in bytes: three words.
    let mut hash = mixed ^ 12;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::super::CandidateCount;
    use super::*;
    use crate::packet::PacketKind;

    /// Expected values from another implementation of MurmurHash3 over the same twelve bytes.
    #[test]
    fn known_values_of_murmur_hash_3_are_reproduced() {
        let words = |bytes: &[u8; 12]| {
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            [word(0), word(4), word(8)]
        };
        for (bytes, seed, hash) in VECTORS {
            assert_eq!(murmur3(words(bytes), seed), hash, "seed {seed}");
        }
    }

    const VECTORS: [(&[u8; 12], u32, u32); 3] = [
        (b"Hello, world", 0, 0x6a72_8c54),
        (b"Hello, world", 128, 0xaa0f_863b),
        (b"\x01\x00\x00\x0b\x01\x11\x00\x0b\x10\x27\x64\x00", 135, 0x7aac_95b3),
    ];

    /// Hashes that ConWeave's simulator computed for the files of its 8-to-1 incast, at the leaves
    /// of three senders and, for an acknowledgement, of the receiver.
    #[test]
    fn hashes_are_those_of_the_simulator() {
        let ports = [(0, 100), (16, 101), (32, 102)];
        let flow = |(src, port)| {
            let flow = FlowPort { src: HostId(src), dst: HostId(127), source_port: 10_000 };
            (flow, port)
        };
        let numbering = Numbering {
            hosts: (0..128).collect(),
            switches: (128..144).collect(),
            destination_ports: ports.into_iter().map(flow).collect(),
        };
        let data = |src| {
            let (src, dst) = (HostId(src), HostId(127));
            Packet { src, dst, entropy: 10_000, ..Packet::default() }
        };
        let hash = |switch, packet: Packet| of_switch(switch, numbering.clone()).hash(&packet);
        assert_eq!(hash(0, data(0)), 1_034_407_821);
        assert_eq!(hash(1, data(16)), 403_142_498);
        assert_eq!(hash(2, data(32)), 675_048_792);
        let Packet { src, dst, .. } = data(0);
        let ack = Packet { kind: PacketKind::Ack, src: dst, dst: src, ..data(0) };
        assert_eq!(hash(7, ack), 1_005_255_141);
    }

    fn of_switch(id: u32, numbering: Numbering) -> Murmur {
        let id = crate::ids::SwitchId(id);
        let context = SwitchContext { id, ..SwitchContext::for_test() };
        Murmur::new(&Config { numbering: Arc::new(numbering) }, &context)
    }

    #[test]
    fn a_packet_is_hashed_by_the_numbers_of_its_hosts_and_its_ports() {
        let flow = FlowPort { src: HostId(0), dst: HostId(1), source_port: 10_000 };
        let numbering = Numbering {
            hosts: vec![7, 300],
            switches: vec![0, 9],
            destination_ports: [(flow, 104)].into(),
        };
        let data = Packet { dst: HostId(1), entropy: 10_000, ..Packet::default() };
        let words = [0x0b00_0701, 0x0b01_2c01, 10_000 | 104 << 16];
        let switch = of_switch(1, numbering);
        assert_eq!(switch.hash(&data), murmur3(words, 9));
        // Its acknowledgements have addresses and ports swapped.
        let ack = Packet { kind: PacketKind::Ack, src: data.dst, dst: data.src, ..data };
        let words = [0x0b01_2c01, 0x0b00_0701, 104 | 10_000 << 16];
        assert_eq!(switch.hash(&ack), murmur3(words, 9));
    }

    #[test]
    fn a_host_without_a_number_is_hashed_by_its_id() {
        let data = Packet { src: HostId(3), dst: HostId(1), entropy: 10_002, ..Packet::default() };
        let words = [0x0b00_0301, 0x0b00_0101, 10_002 | 100 << 16];
        assert_eq!(of_switch(4, Numbering::default()).hash(&data), murmur3(words, 4));
    }

    #[test]
    fn flows_keep_their_port_and_spread_over_all_ports() {
        let mut switch = of_switch(4, Numbering::default());
        let mut counts = [0u32; 8];
        for entropy in 10_000..18_000 {
            let packet = Packet { dst: HostId(1), entropy, ..Packet::default() };
            let [a, b] = [0, 1].map(|_| switch.choose(Time::ZERO, &packet, &mut CandidateCount(8)));
            assert_eq!(a, b);
            counts[a as usize] += 1;
        }
        assert!(counts.iter().all(|&n| (850..1_150).contains(&n)), "{counts:?}");
    }
}
