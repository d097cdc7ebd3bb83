//! A switch: its policy and the state of its own links.

use super::config::{Buffer, Ecn, FabricConfig};
use super::forwarding_table::{CandidateSet, Candidates};
use crate::balance::Scheme;
use crate::balance::switch::hash::Hash;
use crate::balance::switch::{
    Departure, DetourView, PortSelector, StateSize, SwitchContext, SwitchView,
};
use crate::ids::{PortId, SwitchId};
use crate::packet::Packet;
use crate::topology::{Shares, Topology};
use crate::units::{BitRate, Bytes, Time};

/// Load of the switch ports, provided by the driver.
pub trait PortLoads {
    /// Returns the bytes queued at a port now, including the packet on the wire. `index` is the
    /// port's index in its switch. Called only for policies that look at queues.
    fn bytes(&self, port: PortId, index: u32) -> u64;
}

/// Loads and indices of all ports, and the links behind them.
#[derive(Debug)]
pub(super) struct Ports<'a, L> {
    pub(super) loads: &'a L,
    pub(super) indices: &'a [u32],
    pub(super) topology: &'a Topology,
}

/// A switch as its policy sees it: state of its own links, none of remote ones.
#[derive(Debug)]
pub(super) struct Switch {
    selector: PortSelector,
    /// Output ports that the switch has detected as dead.
    dead: Vec<PortId>,
    /// Incremented when `dead`, routing or weights change.
    epoch: u32,
    /// Scratch memory for the live candidates, reused between choices.
    alive: AliveCandidates,
}

/// The state of a port as seen by its switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PortState {
    /// Its link is up.
    Alive,
    /// Its link is down.
    Dead,
}

/// The candidates that are not dead.
#[derive(Debug, Default)]
struct AliveCandidates {
    ports: Vec<PortId>,
    weights: Vec<u32>,
    schedule: Vec<u16>,
    /// By candidate: its index among the live ones.
    index: Vec<Option<u16>>,
}

/// The policy's view of a choice.
struct PolicyView<'a, L> {
    ports: &'a Ports<'a, L>,
    candidates: &'a Candidates<'a>,
    epoch: u32,
}

impl<L: PortLoads> SwitchView for PolicyView<'_, L> {
    #[inline]
    fn candidates(&self) -> u32 {
        self.candidates.ports.len() as u32
    }

    #[inline]
    fn port(&self, candidate: u32) -> u32 {
        self.ports.indices[self.candidates.ports[candidate as usize].index()]
    }

    #[inline]
    fn queue_bytes(&mut self, candidate: u32) -> u64 {
        let port = self.candidates.ports[candidate as usize];
        self.ports.loads.bytes(port, self.ports.indices[port.index()])
    }

    fn rate(&self, candidate: u32) -> BitRate {
        let link = self.candidates.ports[candidate as usize].link();
        self.ports.topology.link(link).rate
    }

    #[inline]
    fn destination_edge(&self) -> SwitchId {
        self.candidates.edge
    }

    #[inline]
    fn destination_pod(&self) -> u32 {
        self.candidates.pods[self.candidates.edge.index()]
    }

    #[inline]
    fn epoch(&self) -> u32 {
        self.epoch
    }

    #[inline]
    fn weight(&self, candidate: u32) -> u32 {
        self.candidates.shares.map_or(1, |shares| shares.weights[candidate as usize])
    }

    #[inline]
    fn schedule_len(&self) -> Option<u32> {
        self.candidates.shares.map(|shares| shares.schedule.len() as u32)
    }

    #[inline]
    fn schedule_entry(&self, index: u32) -> u32 {
        self.candidates.shares.map_or(index, |shares| u32::from(shares.schedule[index as usize]))
    }
}

impl AliveCandidates {
    /// Copies the candidates that are not `dead` and their slots in the weighted schedule.
    fn fill(&mut self, candidates: &Candidates<'_>, dead: &[PortId]) {
        self.ports.clear();
        self.index.clear();
        for port in candidates.ports {
            let is_alive = !dead.contains(port);
            // The index that the port is about to get among the live ones.
            self.index.push(is_alive.then_some(self.ports.len() as u16));
            self.ports.extend(is_alive.then_some(*port));
        }
        // Without weights, stale contents of `weights` and `schedule` are never read.
        let Some(shares) = candidates.shares else { return };
        let is_alive = |candidate: &usize| self.index[*candidate].is_some();
        self.weights.clear();
        let alive = (0..candidates.ports.len()).filter(is_alive);
        self.weights.extend(alive.map(|candidate| shares.weights[candidate]));
        self.schedule.clear();
        // The slots of dead ports are dropped, not reassigned: the others keep their proportions.
        let turns = shares.schedule.iter().filter_map(|&entry| self.index[usize::from(entry)]);
        self.schedule.extend(turns);
    }

    /// Returns the live candidates. If all of them have weight 0, they are weighted equally.
    fn candidates<'a>(&'a self, of: &Candidates<'a>) -> Candidates<'a> {
        let shares = Shares { weights: &self.weights, schedule: &self.schedule };
        let shares = of.shares.map(|_| shares).filter(|shares| !shares.schedule.is_empty());
        Candidates { ports: &self.ports, shares, ..*of }
    }
}

impl Switch {
    pub(super) fn new(scheme: &Scheme, context: &SwitchContext) -> Self {
        Self {
            selector: scheme.switch.build_for(scheme.eligibility, context),
            dead: Vec::new(),
            epoch: 0,
            alive: AliveCandidates::default(),
        }
    }

    /// Returns the hash if the policy hashes every packet.
    pub(super) fn hash(&self) -> Option<Hash> {
        match self.selector {
            PortSelector::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// Returns the output ports that the switch has detected as dead.
    #[inline]
    pub(super) fn dead_ports(&self) -> &[PortId] {
        &self.dead
    }

    /// Lets the policy choose among at least two candidates.
    #[inline]
    pub(super) fn choose<L: PortLoads>(
        &mut self,
        now: Time,
        among: CandidateSet,
        candidates: &Candidates<'_>,
        ports: &Ports<'_, L>,
    ) -> PortId {
        match among {
            CandidateSet::All => self.choose_among_all(now, candidates, ports),
            CandidateSet::Alive => self.choose_among_alive(now, candidates, ports),
        }
    }

    #[inline]
    fn choose_among_all<L: PortLoads>(
        &mut self,
        now: Time,
        candidates: &Candidates<'_>,
        ports: &Ports<'_, L>,
    ) -> PortId {
        let mut view = PolicyView { ports, candidates, epoch: self.epoch };
        candidates.ports[self.selector.choose(now, candidates.packet, &mut view) as usize]
    }

    /// Lets the policy choose among the candidates not known to be dead. If none is alive, it
    /// chooses among all of them: the packet then follows routing and is lost.
    fn choose_among_alive<L: PortLoads>(
        &mut self,
        now: Time,
        candidates: &Candidates<'_>,
        ports: &Ports<'_, L>,
    ) -> PortId {
        // Taken out because `ask` borrows the switch mutably; put back to reuse its memory.
        let mut alive = std::mem::take(&mut self.alive);
        alive.fill(candidates, &self.dead);
        let chosen = match alive.ports[..] {
            [] => self.choose_among_all(now, candidates, ports),
            // Policies expect two candidates, and a round-robin must not count a packet that had no
            // choice.
            [only] => only,
            _ => self.choose_among_all(now, &alive.candidates(candidates), ports),
        };
        self.alive = alive;
        chosen
    }

    /// Records that the switch detected a port as dead or alive.
    pub(super) fn set_port_state(&mut self, port: PortId, state: PortState) {
        // Removed first, so that repeated detections do not add the port twice.
        self.dead.retain(|&other| other != port);
        if state == PortState::Dead {
            self.dead.push(port);
        }
        // Policies that cache tables of candidates compare their epoch with this one.
        self.epoch += 1;
    }

    /// Invalidates tables that the policy derived from candidates, after routing converged.
    pub(super) fn handle_convergence(&mut self) {
        self.epoch += 1;
    }

    /// Notifies the policy of a departing packet.
    #[inline]
    pub(super) fn handle_departure(
        &mut self,
        now: Time,
        packet: &mut Packet,
        departure: &Departure,
    ) {
        self.selector.handle_departure(now, packet, departure);
    }

    /// Returns the candidate through which the policy routes a packet of one of its hosts first.
    pub(super) fn detour(&mut self, view: &impl DetourView) -> Option<u32> {
        self.selector.detour(view)
    }

    /// Returns the size of the policy's state.
    pub(super) fn state(&self) -> StateSize {
        self.selector.state_size()
    }
}

/// Returns the description of a switch that its policy is built from.
pub(super) fn context(
    topology: &Topology,
    config: &FabricConfig,
    seed: u64,
    id: SwitchId,
) -> SwitchContext {
    let ids = topology.ports_of(id);
    let rate = ids.iter().map(|port| topology.link(port.link()).rate).max();
    let rate = rate.unwrap_or(BitRate::from_bps(1));
    let ports = u32::try_from(ids.len()).expect("ids are 32 bits");
    SwitchContext {
        seed,
        id,
        tier: topology.switches()[id.index()].tier,
        ports,
        port_rate: rate,
        port_buffer: match config.switch.buffer {
            Buffer::PerPort(bytes) => bytes,
            Buffer::Shared(bytes) => usual_queue(config.ecn_at(rate)).unwrap_or(bytes),
        },
    }
}

/// Returns the usual maximum queue of a port with a shared buffer. All packets are marked from 4/5
/// of it, as with the default thresholds of a bandwidth-delay product \[inferred\].
fn usual_queue(ecn: Ecn) -> Option<Bytes> {
    match ecn {
        Ecn::Off => None,
        Ecn::Step(all) | Ecn::Ramp { kmax: all, .. } => Some(Bytes::new(all.get() / 4 * 5)),
    }
}
