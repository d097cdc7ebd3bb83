//! What a switch is beside its ports: its policy, its memory, and what it knows of its links.

use super::pool::Pool;
use super::port::Port;
use crate::balance::switch::{Chooser, Passage, SwitchConfig, SwitchContext, SwitchState, View};
use crate::ids::{PortId, SwitchId};
use crate::packet::Packet;
use crate::units::Time;

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
    /// Changes with `dead`, with routing and with weights.
    pub epoch: u32,
    /// Room for the candidates that are not dead.
    alive: Vec<PortId>,
}

/// A choice that a switch has to make.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'a> {
    pub packet: &'a Packet,
    pub pool: &'a Pool,
    /// The candidates, as routing has them.
    pub among: &'a [PortId],
    /// The edge switch of its destination, and that one's pod.
    pub edge: SwitchId,
    pub pod: u32,
}

/// What the policy sees: queues as they stand.
struct Seen<'a> {
    now: Time,
    pool: &'a Pool,
    ports: &'a [Port],
    among: &'a [PortId],
    edge: SwitchId,
    pod: u32,
    epoch: u32,
}

impl View for Seen<'_> {
    #[inline]
    fn candidates(&self) -> u32 {
        self.among.len() as u32
    }

    #[inline]
    fn port(&self, candidate: u32) -> u32 {
        u32::from(self.ports[self.among[candidate as usize].index()].number)
    }

    #[inline]
    fn bytes(&mut self, candidate: u32) -> u64 {
        u64::from(self.ports[self.among[candidate as usize].index()].load(self.now, self.pool))
    }

    #[inline]
    fn edge(&self) -> SwitchId {
        self.edge
    }

    #[inline]
    fn pod(&self) -> u32 {
        self.pod
    }

    #[inline]
    fn epoch(&self) -> u32 {
        self.epoch
    }
}

impl Switch {
    pub fn new(config: &SwitchConfig, context: &SwitchContext, ports: &[PortId]) -> Self {
        Self {
            chooser: config.build(context),
            ports: ports.to_vec(),
            buffered: 0,
            dead: Vec::new(),
            epoch: 0,
            alive: Vec::new(),
        }
    }

    /// The policy's choice among at least two candidates.
    #[inline]
    pub fn ask(&mut self, now: Time, choice: &Choice<'_>, ports: &[Port]) -> PortId {
        let &Choice { packet, pool, among, edge, pod } = choice;
        let mut seen = Seen { now, pool, ports, among, edge, pod, epoch: self.epoch };
        among[self.chooser.choose(now, packet, &mut seen) as usize]
    }

    /// The policy's choice among the candidates that are not known to be dead; among all of them
    /// if none is alive: the packet goes where routing says, and is lost.
    pub fn ask_alive(&mut self, now: Time, choice: &Choice<'_>, ports: &[Port]) -> PortId {
        let mut alive = std::mem::take(&mut self.alive);
        alive.clear();
        alive.extend(choice.among.iter().filter(|port| !self.dead.contains(port)));
        let chosen = match alive[..] {
            [] => self.ask(now, choice, ports),
            [only] => only,
            _ => self.ask(now, &Choice { among: &alive, ..*choice }, ports),
        };
        self.alive = alive;
        chosen
    }

    /// Shows its policy a packet that leaves.
    #[inline]
    pub fn pass(&mut self, now: Time, packet: &mut Packet, passage: &Passage) {
        self.chooser.handle_passage(now, packet, passage);
    }

    /// What its policy keeps.
    pub fn state(&self) -> SwitchState {
        self.chooser.state()
    }
}
