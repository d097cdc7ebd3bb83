//! The admission rule of ConWeave's simulator.
//!
//! Source: conweave-project/conweave-ns3 (`switch-mmu.cc`: `CheckIngressAdmission`,
//! `CheckEgressAdmission`, `UpdateIngressAdmission`, `GetPauseClasses`, `GetResumeClasses`), which
//! follows the terms of Broadcom's switches. All bytes of a link come from the pool, including the
//! first packet. A link is paused in two cases: its pool bytes minus two packets exceed its share
//! of the free memory, or its headroom is in use. Its packets are still admitted until the pool is
//! full, and then while they fit its headroom.
//!
//! Output queues are also limited. Beyond one packet of its own, a queue may be as long as the
//! memory that the others leave (alpha 1), regardless of flow control. \[inferred\] Private bytes
//! of the other queues count as used, at most one packet each.
//!
//! The pool is the buffer minus reserves and headrooms. The simulator sums them from port 0, which
//! has no link. The default of an unused port therefore replaces the last link's headroom
//! (`InitSwitch`).

use super::{Arriving, Ingress, Pfc, SharedPool};
use crate::packet::PauseOrder;
use crate::units::Bytes;

/// Returns the headroom of a port without a link, in bytes: the default `PGHeadroomLimit`.
pub(super) fn headroom_of_no_link(packet: Bytes) -> u64 {
    packet.get().saturating_mul(2).saturating_add(12_500)
}

impl Pfc {
    /// Returns true if an arriving packet fits. A full packet has `packet` bytes.
    pub(super) fn admits_by_conweave(&self, packet: u64, arriving: Arriving) -> bool {
        let Arriving { from, bytes, queued } = arriving;
        let ingress = &self.links[self.index(from)];
        // A link into a host uses no switch memory.
        let Some(pool) = ingress.pool.map(|it| &self.pools[it.index()]) else { return true };
        let is_first = ingress.used + bytes <= packet;
        let has_headroom = ingress.in_headroom + bytes <= ingress.limits.headroom;
        // A queue's private room is one packet plus one byte.
        let shared = queued.saturating_sub(packet + 1);
        pool.used + bytes <= pool.buffer
            && shared + bytes <= pool.queues.saturating_sub(pool.used)
            && (is_first || pool.used <= pool.size || has_headroom)
    }

    /// Counts enqueued bytes; returns true if their link must be paused.
    pub(super) fn add_by_conweave(&mut self, packet: u64, index: usize, bytes: u64) -> bool {
        let ingress = &mut self.links[index];
        let Some(pool) = ingress.pool.map(|it| &mut self.pools[it.index()]) else { return false };
        ingress.used += bytes;
        pool.used += bytes;
        // The packet that overfills the pool already counts as headroom.
        if pool.used > pool.size {
            ingress.in_headroom += bytes;
        }
        let beyond = ingress.used.saturating_sub(2 * packet);
        let free = pool.size.saturating_sub(pool.used);
        beyond > 0 && (ingress.in_headroom > 0 || exceeds(ingress, beyond, free))
    }

    /// Counts dequeued bytes; returns the frame to send over the link, if any.
    pub(super) fn remove_by_conweave(
        &mut self,
        packet: u64,
        index: usize,
        bytes: u64,
    ) -> Option<PauseOrder> {
        let ingress = &mut self.links[index];
        let pool: &mut SharedPool = &mut self.pools[ingress.pool?.index()];
        ingress.used -= bytes;
        pool.used -= bytes;
        ingress.in_headroom = ingress.in_headroom.saturating_sub(bytes);
        let free = pool.size.saturating_sub(pool.used).saturating_sub(self.resume_offset);
        // Strictly below: one more byte must not exceed the share either.
        let below = ingress.used < 2 * packet || {
            let beyond = ingress.used - 2 * packet;
            let (num, den) = parts(ingress);
            u128::from(beyond) * den < u128::from(free) * num
        };
        if !ingress.paused || ingress.in_headroom > 0 || !below {
            return None;
        }
        ingress.paused = false;
        Some(PauseOrder::Resume)
    }
}

/// Returns true if `bytes` exceed the link's share of `free` memory.
fn exceeds(ingress: &Ingress, bytes: u64, free: u64) -> bool {
    let (num, den) = parts(ingress);
    u128::from(bytes) * den > u128::from(free) * num
}

fn parts(ingress: &Ingress) -> (u128, u128) {
    let alpha = ingress.limits.alpha;
    (alpha.numerator().into(), alpha.denominator().into())
}

#[cfg(test)]
mod tests {
    use super::super::IngressLimits;
    use super::*;
    use crate::ids::{ClassId, LinkClass, PortId, SwitchId};
    use crate::switching::config::PfcAdmission;
    use crate::units::Fraction;

    const LINK: LinkClass = LinkClass { link: PortId(0), class: ClassId(0) };

    /// Returns two links at a pool of 100 packets of 1,000 bytes. Each may use a quarter of the
    /// free pool, and has 2 packets of headroom and 8 of reserve.
    fn two() -> Pfc {
        let limits =
            IngressLimits { reserve: 8_000, headroom: 2_000, alpha: Fraction::new(1, 4).unwrap() };
        let pool = Some(SwitchId(0));
        let ingress =
            Ingress { pool, limits, used: 0, in_headroom: 0, paused: false, is_protected: true };
        let pool = SharedPool { size: 100_000, used: 0, buffer: 120_000, queues: 104_000 };
        Pfc {
            resume_offset: 16,
            admission: PfcAdmission::ConWeave { packet: Bytes::new(1_000) },
            repeats: true,
            links: vec![ingress; 2],
            classes: 1,
            pools: vec![pool],
        }
    }

    fn admits(pfc: &Pfc, link: u32, queued: u64) -> bool {
        let from = LinkClass { link: PortId(link), ..LINK };
        pfc.admits(Arriving { from, bytes: 1_000, queued })
    }

    #[test]
    fn a_link_beyond_its_share_is_paused_and_its_packets_are_admitted() {
        let mut pfc = two();
        let first = (1..).find(|_| pfc.add(LINK, 1_000).is_some()).unwrap();
        // u - 2 > (100 - u) / 4 holds first at u = 22.
        assert_eq!(first, 22);
        // HPCC's rule would admit only two more, in the headroom.
        let more = (0..40).take_while(|_| {
            let fits = admits(&pfc, 0, 0);
            fits && pfc.add(LINK, 1_000) == Some(PauseOrder::Pause)
        });
        assert_eq!(more.count(), 40);
    }

    #[test]
    fn headroom_is_used_when_the_pool_is_full() {
        let mut pfc = two();
        (0..101).for_each(|_| {
            pfc.add(LINK, 1_000);
        });
        assert_eq!(pfc.links[0].in_headroom, 1_000, "the packet that filled the pool");
        assert!(admits(&pfc, 0, 0));
        pfc.add(LINK, 1_000);
        assert!(!admits(&pfc, 0, 0), "two packets of headroom");
        assert!(admits(&pfc, 1, 0), "its first packet, whatever the pool has");
        pfc.add(LinkClass { link: PortId(1), ..LINK }, 1_000);
        assert!(admits(&pfc, 1, 0), "and its headroom");
    }

    #[test]
    fn a_queue_may_use_what_the_others_leave() {
        let mut pfc = two();
        (0..60).for_each(|_| {
            pfc.add(LINK, 1_000);
        });
        // 44,000 bytes are left, and the queue has 1,001 of its own.
        assert!(admits(&pfc, 0, 44_001) && !admits(&pfc, 0, 44_002));
    }

    #[test]
    fn a_link_resumes_strictly_below_its_share() {
        let mut pfc = two();
        (0..30).for_each(|_| {
            pfc.add(LINK, 1_000);
        });
        let orders: Vec<_> = (0..30).map(|_| pfc.remove(LINK, 1_000)).collect();
        let resumed = orders.iter().position(|order| order.is_some()).unwrap();
        // u - 2 < (100 - u - 0.016) / 4 holds first at u = 21.
        assert_eq!((resumed, orders.iter().flatten().count()), (30 - 21 - 1, 1));
        assert_eq!((pfc.links[0].used, pfc.pools[0].used), (0, 0));
    }
}
