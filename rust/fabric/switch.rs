//! What a switch is beside its ports: its policy, its memory, and what it knows of its links.

use super::port::Port;
use crate::balance::switch::{Chooser, Queues, SwitchConfig};
use crate::ids::{PortId, SwitchId};
use crate::packet::Packet;

/// A switch.
#[derive(Debug)]
pub(super) struct Switch {
    chooser: Chooser,
    /// Its output ports.
    pub ports: Vec<PortId>,
    /// Bytes in its memory; packets that have started since somebody last looked count still.
    pub buffered: u64,
    /// Output ports that it knows to lead nowhere.
    pub dead: Vec<PortId>,
    /// Room for the candidates that are not dead.
    alive: Vec<PortId>,
}

/// The queues behind the candidates, as they stand.
struct Waiting<'a> {
    ports: &'a [Port],
    among: &'a [PortId],
}

impl Queues for Waiting<'_> {
    fn bytes(&mut self, port: u32) -> u64 {
        u64::from(self.ports[self.among[port as usize].index()].all_waiting())
    }
}

impl Switch {
    pub fn new(config: &SwitchConfig, seed: u64, id: SwitchId, ports: &[PortId]) -> Self {
        Self {
            chooser: config.build(seed, id.0),
            ports: ports.to_vec(),
            buffered: 0,
            dead: Vec::new(),
            alive: Vec::new(),
        }
    }

    /// Whether its policy asks for queue lengths.
    #[inline]
    pub fn looks_at_queues(&self) -> bool {
        self.chooser.looks_at_queues()
    }

    /// The policy's choice among at least two candidates.
    #[inline]
    pub fn ask(&mut self, packet: &Packet, among: &[PortId], ports: &[Port]) -> PortId {
        let count = u32::try_from(among.len()).expect("ids are 32 bits");
        let choice = self.chooser.choose(packet, count, &mut Waiting { ports, among });
        among[choice as usize]
    }

    /// The policy's choice among the candidates that are not known to be dead; among all of them
    /// if none is alive: the packet goes where routing says, and is lost.
    pub fn ask_alive(&mut self, packet: &Packet, candidates: &[PortId], ports: &[Port]) -> PortId {
        let mut alive = std::mem::take(&mut self.alive);
        alive.clear();
        alive.extend(candidates.iter().filter(|port| !self.dead.contains(port)));
        let chosen = match alive[..] {
            [] => self.ask(packet, candidates, ports),
            [only] => only,
            _ => self.ask(packet, &alive, ports),
        };
        self.alive = alive;
        chosen
    }
}
