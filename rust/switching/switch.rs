//! What a switch is beside its ports: its policy, its memory, and what it knows of its links.

use super::ways::Candidates;
use crate::balance::switch::{
    Departure, PortSelector, StateSize, SwitchConfig, SwitchContext, SwitchView,
};
use crate::ids::{PortId, SwitchId};
use crate::packet::Packet;
use crate::topology::Shares;
use crate::units::Time;

/// What a world tells of a switch's ports.
pub(crate) trait Queues {
    /// Which port of its switch it is, from 0.
    fn number(&self, port: PortId) -> u32;

    /// Bytes that wait there, and the packet that its wire is busy with.
    fn bytes(&self, now: Time, port: PortId) -> u64;
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch {
    chooser: PortSelector,
    /// Its output ports.
    pub ports: Vec<PortId>,
    /// Bytes in its memory; packets that have started since somebody last looked count still.
    pub buffered: u64,
    /// Output ports that it knows to lead nowhere.
    pub dead: Vec<PortId>,
    /// Changes with `dead`, with routing and with weights.
    pub epoch: u32,
    /// Room for the candidates that are not dead, and for what they are worth.
    alive: Alive,
}

/// What a switch knows of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PortState {
    /// Its link is up.
    Alive,
    /// Its link is down.
    Dead,
}

/// Candidates that are left.
#[derive(Debug, Default)]
struct Alive {
    ports: Vec<PortId>,
    weights: Vec<u32>,
    schedule: Vec<u16>,
    /// Of each candidate that there was, its number among those that are left.
    number: Vec<Option<u16>>,
}

/// A choice that a switch has to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'a> {
    pub packet: &'a Packet,
    /// The candidates, as routing has them.
    pub among: &'a [PortId],
    /// The edge switch of its destination, and that one's pod.
    pub edge: SwitchId,
    pub pod: u32,
    /// What they are worth, if they are not all alike.
    pub shares: Option<Shares<'a>>,
}

/// What the policy sees: queues as they stand.
struct Seen<'a, Q> {
    now: Time,
    queues: &'a Q,
    among: &'a [PortId],
    edge: SwitchId,
    pod: u32,
    epoch: u32,
    shares: Option<Shares<'a>>,
}

impl<Q: Queues> SwitchView for Seen<'_, Q> {
    #[inline]
    fn candidates(&self) -> u32 {
        self.among.len() as u32
    }

    #[inline]
    fn port(&self, candidate: u32) -> u32 {
        self.queues.number(self.among[candidate as usize])
    }

    #[inline]
    fn queue_bytes(&mut self, candidate: u32) -> u64 {
        self.queues.bytes(self.now, self.among[candidate as usize])
    }

    #[inline]
    fn destination_edge(&self) -> SwitchId {
        self.edge
    }

    #[inline]
    fn destination_pod(&self) -> u32 {
        self.pod
    }

    #[inline]
    fn epoch(&self) -> u32 {
        self.epoch
    }

    #[inline]
    fn weight(&self, candidate: u32) -> u32 {
        self.shares.map_or(1, |shares| shares.weights[candidate as usize])
    }

    #[inline]
    fn schedule_len(&self) -> Option<u32> {
        self.shares.map(|shares| shares.schedule.len() as u32)
    }

    #[inline]
    fn schedule_entry(&self, index: u32) -> u32 {
        self.shares.map_or(index, |shares| u32::from(shares.schedule[index as usize]))
    }
}

impl Alive {
    /// Leaves out of a choice the ports that are `dead`, and their turns.
    fn fill(&mut self, choice: &Choice<'_>, dead: &[PortId]) {
        self.ports.clear();
        self.number.clear();
        for port in choice.among {
            let lives = !dead.contains(port);
            self.number.push(lives.then_some(self.ports.len() as u16));
            self.ports.extend(lives.then_some(*port));
        }
        let Some(shares) = choice.shares else { return };
        let lives = |candidate: &usize| self.number[*candidate].is_some();
        self.weights.clear();
        let candidates = (0..choice.among.len()).filter(lives);
        self.weights.extend(candidates.map(|candidate| shares.weights[candidate]));
        self.schedule.clear();
        let turns = shares.schedule.iter().filter_map(|&entry| self.number[usize::from(entry)]);
        self.schedule.extend(turns);
    }

    /// What is left to choose from. If none of it was worth anything, all of it counts alike.
    fn choice<'a>(&'a self, of: &Choice<'a>) -> Choice<'a> {
        let shares = Shares { weights: &self.weights, schedule: &self.schedule };
        let shares = of.shares.map(|_| shares).filter(|shares| !shares.schedule.is_empty());
        Choice { among: &self.ports, shares, ..*of }
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
            alive: Alive::default(),
        }
    }

    /// The policy's choice among at least two candidates.
    #[inline]
    pub fn choose(
        &mut self,
        now: Time,
        which: Candidates,
        choice: &Choice<'_>,
        queues: &impl Queues,
    ) -> PortId {
        match which {
            Candidates::All => self.ask(now, choice, queues),
            Candidates::Alive => self.ask_alive(now, choice, queues),
        }
    }

    #[inline]
    fn ask(&mut self, now: Time, choice: &Choice<'_>, queues: &impl Queues) -> PortId {
        let &Choice { packet, among, edge, pod, shares } = choice;
        let mut seen = Seen { now, queues, among, edge, pod, epoch: self.epoch, shares };
        among[self.chooser.choose(now, packet, &mut seen) as usize]
    }

    /// The policy's choice among the candidates that are not known to be dead; among all of them
    /// if none is alive: the packet goes where routing says, and is lost.
    fn ask_alive(&mut self, now: Time, choice: &Choice<'_>, queues: &impl Queues) -> PortId {
        let mut alive = std::mem::take(&mut self.alive);
        alive.fill(choice, &self.dead);
        let chosen = match alive.ports[..] {
            [] => self.ask(now, choice, queues),
            [only] => only,
            _ => self.ask(now, &alive.choice(choice), queues),
        };
        self.alive = alive;
        chosen
    }

    /// It learns that its port leads nowhere, or that it leads somewhere again.
    pub fn hear(&mut self, port: PortId, state: PortState) {
        self.dead.retain(|&other| other != port);
        if state == PortState::Dead {
            self.dead.push(port);
        }
        self.epoch += 1;
    }

    /// Shows its policy a packet that leaves.
    #[inline]
    pub fn pass(&mut self, now: Time, packet: &mut Packet, passage: &Departure) {
        self.chooser.handle_departure(now, packet, passage);
    }

    /// What its policy keeps.
    pub fn state(&self) -> StateSize {
        self.chooser.state_size()
    }
}
