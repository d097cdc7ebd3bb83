//! Priority flow control (PFC): how a switch shares its memory among its input links, and when it
//! pauses a link.
//!
//! Source: IEEE 802.1Qbb for the frames; the rules are those of the HPCC simulator's
//! `switch-mmu.cc`. A link first uses its own reserve, then its share of the free memory of a
//! common pool. Last, it uses its headroom, which is for packets in flight when the link was
//! paused. A packet is counted from its enqueue until it starts on a wire. A packet that does not
//! wait is never counted. ConWeave's simulator has another rule: see `conweave`.
//!
//! With traffic classes, each class of a link has its own accounts, and all share the pool. A class
//! without PFC protection has neither reserve nor headroom and is never paused. It uses its share
//! of the pool, and packets beyond that are dropped.

mod conweave;

use super::config::{Buffer, FabricConfig, Headroom, PfcAdmission, PfcConfig};
use crate::ids::{ClassId, HostId, LinkClass, PortId, SwitchId};
use crate::packet::PauseOrder;
use crate::topology::Topology;
use crate::units::{BitRate, Bytes, Fraction, Span};

/// Length of a PFC frame on the wire: the smallest Ethernet frame.
pub const PFC_FRAME_BYTES: u16 = 64;

/// Memory reserved for a link into a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IngressLimits {
    /// Private memory that is used before the shared pool, in bytes.
    reserve: u64,
    /// Private memory for packets in flight when the link was paused, in bytes.
    headroom: u64,
    /// Share of the pool's free memory that the link may use.
    alpha: Fraction,
}

/// A traffic class of a link into a switch.
#[derive(Debug, Clone, Copy)]
struct Ingress {
    /// The switch whose memory it uses; `None` for a link into a host.
    pool: Option<SwitchId>,
    limits: IngressLimits,
    /// Bytes in reserve and pool; with ConWeave's rule, all bytes.
    used: u64,
    /// Bytes beyond reserve and pool, received after the link was due to be paused. With ConWeave's
    /// rule, bytes received while the pool was full.
    in_headroom: u64,
    /// Whether the last frame sent over it was a pause.
    paused: bool,
    /// Whether it can be paused.
    is_protected: bool,
}

/// Switch memory shared by its input links.
#[derive(Debug, Clone, Copy)]
struct SharedPool {
    size: u64,
    used: u64,
    /// Total memory of the switch.
    buffer: u64,
    /// Memory available to output queues: all but the reserves.
    queues: u64,
}

/// A packet that requests room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arriving {
    /// Input link and class.
    pub(super) from: LinkClass,
    /// Length on the wire.
    pub(super) bytes: u64,
    /// Data bytes of its class queued at its output port.
    pub(super) queued: u64,
}

/// PFC accounting of every switch.
#[derive(Debug)]
pub(super) struct Pfc {
    resume_offset: u64,
    admission: PfcAdmission,
    /// Whether a pause is repeated for each packet that arrives while its link should be paused.
    repeats: bool,
    /// By the output port at the other end of the link, then by class.
    links: Vec<Ingress>,
    /// Number of classes per link.
    classes: usize,
    /// Shared memory by switch.
    pools: Vec<SharedPool>,
}

impl PfcConfig {
    /// Returns the bytes reserved for the input links of `switch`, reserve and headroom. The shared
    /// pool is the rest of the buffer.
    pub fn reserved_bytes(
        &self,
        fabric: &FabricConfig,
        topology: &Topology,
        switch: SwitchId,
    ) -> Bytes {
        let links = topology.ports_of(switch).iter().map(|port| port.reverse());
        let mut kept: Vec<u64> =
            links.map(|port| self.headroom_of(fabric, topology, port)).collect();
        if let (PfcAdmission::ConWeave { packet }, Some(last)) = (self.admission, kept.last_mut()) {
            *last = conweave::headroom_of_no_link(packet);
        }
        let sum = kept.into_iter().fold(0u64, |sum, headroom| {
            sum.saturating_add(headroom).saturating_add(self.reserve.get())
        });
        // Each class of a link has its own reserve and headroom.
        Bytes::new(sum.saturating_mul(fabric.protected_classes()))
    }

    /// Returns the headroom of the link behind `port`, in bytes. Its delay spans from the last bit
    /// out to the queue at the other end, including that switch's forwarding delay.
    pub fn headroom_of(&self, fabric: &FabricConfig, topology: &Topology, port: PortId) -> u64 {
        let link = topology.link(port.link());
        let in_flight = bytes_in(link.rate, link.delay + fabric.forwarding_delay);
        // Saturating arithmetic throughout: a headroom beyond 64 bits exceeds any buffer.
        match self.headroom {
            Headroom::Hpcc => in_flight.saturating_mul(3),
            Headroom::ConWeave { packet } => {
                in_flight.saturating_mul(2).saturating_add(packet.get().saturating_mul(2))
            }
            Headroom::WorstCase { packet } => {
                let packets = packet.get().saturating_mul(3);
                let frame = u64::from(PFC_FRAME_BYTES) + fabric.gap.get().saturating_mul(2);
                // The pause frame may wait for a frame of each other class.
                let others = fabric.protected_classes().saturating_sub(1);
                let others = others.saturating_mul(u64::from(PFC_FRAME_BYTES) + fabric.gap.get());
                let frame = frame.saturating_add(others);
                in_flight.saturating_mul(2).saturating_add(packets).saturating_add(frame)
            }
            Headroom::Fixed(bytes) => bytes.get(),
        }
    }

    /// Returns the pool share of a link of `rate`. It doubles for each doubling relative to `nic`,
    /// up to 1. With ConWeave's rule all links have the same share.
    fn alpha_of(&self, mut rate: BitRate, nic: BitRate) -> Fraction {
        let mut alpha = self.alpha;
        if self.admission != PfcAdmission::Hpcc {
            return alpha;
        }
        // `third.cc` lowers a shift by one per doubling; shares that are not powers of two double
        // alike.
        while rate > nic && alpha.numerator() < alpha.denominator() {
            let doubled = alpha.numerator().saturating_mul(2).min(alpha.denominator());
            alpha = Fraction::new(doubled, alpha.denominator()).unwrap_or(alpha);
            rate = BitRate::from_bps(rate.as_bps() / 2);
        }
        alpha
    }
}

/// Returns the bytes in flight on a wire, rounded down. Saturates, since such a count exceeds any
/// buffer.
fn bytes_in(rate: BitRate, span: Span) -> u64 {
    let bytes = u128::from(span.as_ps()) * u128::from(rate.as_bps()) / 8_000_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Pfc {
    /// Creates the accounting of all switches of `topology`, with empty memory.
    pub(super) fn new(config: &PfcConfig, fabric: &FabricConfig, topology: &Topology) -> Self {
        let nic = match topology.host_count() {
            0 => BitRate::default(),
            _ => topology.link(topology.host_port(HostId(0)).link()).rate,
        };
        let ports = (0..2 * topology.links().len()).map(|id| PortId(id as u32));
        let classes = fabric.class_count();
        let kept = |is_protected: bool, bytes: u64| if is_protected { bytes } else { 0 };
        let ingress = |port: PortId, class: ClassId| {
            let is_protected = fabric.is_protected(class);
            Ingress {
                pool: topology.ends_of(port).1.switch(),
                limits: IngressLimits {
                    reserve: kept(is_protected, config.reserve.get()),
                    headroom: kept(is_protected, config.headroom_of(fabric, topology, port)),
                    alpha: config.alpha_of(topology.link(port.link()).rate, nic),
                },
                used: 0,
                in_headroom: 0,
                paused: false,
                is_protected,
            }
        };
        let of_port = |port| (0..classes as u32).map(move |class| (port, ClassId(class)));
        let links = ports.flat_map(of_port).map(|(port, class)| ingress(port, class));
        let switches = (0u32..).map(SwitchId).take(topology.switches().len());
        let pools = switches.map(|switch| {
            let buffer = match fabric.switch.buffer {
                Buffer::Shared(bytes) => bytes.get(),
                Buffer::PerPort(bytes) => {
                    bytes.get().saturating_mul(topology.ports_of(switch).len() as u64)
                }
            };
            // The pool is the rest of the buffer; oversized private memory leaves an empty pool.
            let private = config.reserved_bytes(fabric, topology, switch).get();
            let reserves = (config.reserve.get())
                .saturating_mul(topology.ports_of(switch).len() as u64)
                .saturating_mul(fabric.protected_classes());
            SharedPool {
                size: buffer.saturating_sub(private),
                used: 0,
                buffer,
                queues: buffer.saturating_sub(reserves),
            }
        });
        Self {
            resume_offset: config.resume_offset.get(),
            admission: config.admission,
            repeats: config.pause_time.is_some(),
            pools: pools.collect(),
            links: links.collect(),
            classes,
        }
    }

    /// Returns the index of a class of a link.
    #[inline(always)]
    fn index(&self, from: LinkClass) -> usize {
        from.link.index() * self.classes + from.class.index()
    }

    /// Returns true if a packet fits.
    pub(super) fn admits(&self, packet: Arriving) -> bool {
        let Arriving { from, bytes, .. } = packet;
        let ingress = &self.links[self.index(from)];
        if let PfcAdmission::ConWeave { packet: full } = self.admission {
            return self.admits_by_conweave(full.get(), packet);
        }
        bytes + ingress.used <= ingress.limits.reserve
            || bytes + ingress.in_headroom <= ingress.limits.headroom
            || bytes + ingress.pool_bytes() <= ingress.threshold(self.pool_of(ingress))
    }

    /// Counts enqueued bytes; returns the frame to send over the link, if any.
    pub(super) fn add(&mut self, from: LinkClass, bytes: u64) -> Option<PauseOrder> {
        let index = self.index(from);
        if let PfcAdmission::ConWeave { packet } = self.admission {
            let full = self.add_by_conweave(packet.get(), index, bytes);
            return self.pause_if_full(index, full);
        }
        let ingress = &mut self.links[index];
        let pool = ingress.pool.map(|pool| &mut self.pools[pool.index()]);
        let mut threshold = ingress.threshold(pool.as_deref());
        // The three cases of `switch-mmu.cc`, in its order: within the reserve, beyond the
        // threshold, within the pool. A packet is never split between pool and headroom.
        let after = ingress.used + bytes;
        if after <= ingress.limits.reserve {
            ingress.used = after;
        } else if after - ingress.limits.reserve > threshold {
            ingress.in_headroom += bytes;
        } else {
            ingress.used = after;
            let pool = pool?;
            // If the packet crosses the end of the reserve, only the part beyond comes from the
            // pool.
            pool.used += bytes.min(after - ingress.limits.reserve);
            // The threshold falls as the pool fills, so it is recomputed after the packet.
            threshold = ingress.threshold(Some(pool));
        }
        let full = ingress.in_headroom > 0 || ingress.pool_bytes() >= threshold;
        self.pause_if_full(index, full)
    }

    /// Returns the pool from which a link takes memory.
    fn pool_of(&self, ingress: &Ingress) -> Option<&SharedPool> {
        ingress.pool.map(|pool| &self.pools[pool.index()])
    }

    /// Returns the pause frame to send for a class of a link that is `full`, if any.
    fn pause_if_full(&mut self, index: usize, full: bool) -> Option<PauseOrder> {
        let ingress = &mut self.links[index];
        // One frame per state change, unless pauses expire.
        if ingress.paused && !self.repeats || !full || !ingress.is_protected {
            return None;
        }
        ingress.paused = true;
        Some(PauseOrder::Pause)
    }

    /// Counts dequeued bytes; returns the frame to send over the link, if any.
    pub(super) fn remove(&mut self, from: LinkClass, bytes: u64) -> Option<PauseOrder> {
        let index = self.index(from);
        if let PfcAdmission::ConWeave { packet } = self.admission {
            return self.remove_by_conweave(packet.get(), index, bytes);
        }
        let ingress = &mut self.links[index];
        // Headroom drains first, then the pool, then the reserve.
        let from_headroom = ingress.in_headroom.min(bytes);
        // Before `used` changes, because `pool_bytes` depends on it.
        let from_shared = (bytes - from_headroom).min(ingress.pool_bytes());
        ingress.in_headroom -= from_headroom;
        ingress.used -= bytes - from_headroom;
        let pool = &mut self.pools[ingress.pool?.index()];
        pool.used -= from_shared;
        if !ingress.paused || ingress.in_headroom > 0 {
            return None;
        }
        let shared = ingress.pool_bytes();
        // The offset avoids a pause and a resume per packet for a link near its threshold.
        if shared > 0 && shared + self.resume_offset > ingress.threshold(Some(pool)) {
            return None;
        }
        ingress.paused = false;
        Some(PauseOrder::Resume)
    }
}

impl Ingress {
    /// Returns the pool bytes that the link may use now; 0 for a link into a host, which uses no
    /// switch memory.
    fn threshold(&self, pool: Option<&SharedPool>) -> u64 {
        pool.map_or(0, |pool| self.limits.alpha.of(pool.size.saturating_sub(pool.used)))
    }

    /// Returns the link's bytes in the pool.
    const fn pool_bytes(&self) -> u64 {
        self.used.saturating_sub(self.limits.reserve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkClass = LinkClass { link: PortId(0), class: ClassId(0) };
    const HALF: Fraction = Fraction::new(1, 2).unwrap();

    /// Returns one link with a reserve of 1,000 and a headroom of 2,000 at a pool of 8,000. It may
    /// use half of the free pool.
    fn one() -> Pfc {
        let ingress = Ingress {
            pool: Some(SwitchId(0)),
            limits: IngressLimits { reserve: 1_000, headroom: 2_000, alpha: HALF },
            used: 0,
            in_headroom: 0,
            paused: false,
            is_protected: true,
        };
        Pfc {
            resume_offset: 300,
            admission: PfcAdmission::Hpcc,
            repeats: false,
            links: vec![ingress],
            classes: 1,
            pools: vec![SharedPool { size: 8_000, used: 0, buffer: 11_000, queues: 10_000 }],
        }
    }

    fn admits(pfc: &Pfc, bytes: u64) -> bool {
        pfc.admits(Arriving { from: LINK, bytes, queued: 0 })
    }

    #[test]
    fn bytes_fill_the_reserve_then_the_pool_then_the_headroom() {
        let mut pfc = one();
        assert_eq!(pfc.add(LINK, 1_000), None);
        assert_eq!(pfc.pools[0].used, 0, "the reserve is its own");
        assert_eq!(pfc.add(LINK, 2_000), None, "2,000 of a threshold of 3,000");
        assert_eq!(pfc.pools[0].used, 2_000);
        // 3,000 would be at the previous threshold of (8,000 − 2,000) / 2.
        assert_eq!(pfc.add(LINK, 1_000), Some(PauseOrder::Pause), "3,000 of 2,500 now");
        assert_eq!(pfc.add(LINK, 1_500), None, "paused once; this one is in headroom");
        assert_eq!((pfc.links[0].in_headroom, pfc.pools[0].used), (1_500, 3_000));
        assert!(admits(&pfc, 500) && !admits(&pfc, 501));
    }

    #[test]
    fn headroom_drains_first_and_the_link_resumes_below_the_threshold_by_the_offset() {
        let mut pfc = one();
        for bytes in [1_000, 2_000, 1_000, 1_500] {
            pfc.add(LINK, bytes);
        }
        assert_eq!(pfc.remove(LINK, 1_000), None);
        assert_eq!((pfc.links[0].in_headroom, pfc.links[0].used), (500, 4_000));
        assert_eq!(pfc.remove(LINK, 500), None, "headroom is empty, but 3,000 + 300 > 2,500");
        // 2,567 of a threshold of 2,716, then 2,466 of 2,767: 301 below.
        assert_eq!(pfc.remove(LINK, 433), None);
        assert_eq!(pfc.remove(LINK, 101), Some(PauseOrder::Resume));
        assert_eq!(pfc.remove(LINK, 100), None, "resumed once");
        assert_eq!(pfc.remove(LINK, 3_366), None);
        assert_eq!((pfc.links[0].used, pfc.pools[0].used), (0, 0));
    }

    #[test]
    fn without_headroom_and_pool_nothing_is_admitted_beyond_the_reserve() {
        let mut pfc = one();
        pfc.links[0].limits.headroom = 0;
        pfc.pools[0].size = 0;
        assert!(admits(&pfc, 1_000));
        pfc.add(LINK, 1_000);
        assert!(!admits(&pfc, 1));
    }

    #[test]
    fn expired_pauses_are_repeated_for_each_arriving_packet() {
        let mut pfc = Pfc { repeats: true, ..one() };
        let orders = [1_000, 2_000, 1_000, 500, 500].map(|bytes| pfc.add(LINK, bytes));
        let pause = Some(PauseOrder::Pause);
        assert_eq!(orders, [None, None, pause, pause, pause]);
    }

    #[test]
    fn alpha_grows_with_the_link_rate_up_to_one() {
        let alpha = |gbps| {
            let (rate, nic) = (BitRate::from_gbps(gbps), BitRate::from_gbps(100));
            let alpha = PfcConfig::HPCC.alpha_of(rate, nic);
            (alpha.numerator(), alpha.denominator())
        };
        let parts = [25, 100, 200, 400, 800, 3_200].map(alpha);
        assert_eq!(parts, [(1, 8), (1, 8), (2, 8), (4, 8), (8, 8), (8, 8)]);
    }
}
