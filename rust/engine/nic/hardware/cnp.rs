//! Congestion notification packets: what triggers them in addition to marks, and what limits them.
//!
//! Lumina (SIGCOMM 2023) found that ConnectX-5 and ConnectX-6 Dx answer a gap with a notification
//! and a NACK, and that vendors limit notifications per port, per pair of addresses or per
//! destination.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::HostId;
use crate::units::{Span, Time};

/// Sources of notifications in addition to marks, and their limiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CnpSources {
    /// A NACK for a gap also sends one (go-back-N).
    pub on_nack: bool,
    /// A packet that the receive pool drops also sends one.
    pub on_discard: bool,
    /// Scope of the interval between two notifications.
    pub limiter: CnpLimiter,
}

impl CnpSources {
    /// True if it triggers notifications without marks.
    pub const fn is_active(self) -> bool {
        self.on_nack || self.on_discard
    }
}

/// Scope of the interval between two notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CnpLimiter {
    /// A queue pair.
    #[default]
    Qp,
    /// All queue pairs with one host.
    Host,
    /// The whole port.
    Port,
}

/// Notifications of a NIC: their number, and their limiter unless each queue pair has its own.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct CnpOutput {
    pub sent: u64,
    pub on_nack: bool,
    /// Key and earliest next time of each limiter; `None` with a limiter for each queue pair.
    limiter: Option<Box<Limiter>>,
}

#[derive(Debug, Clone)]
struct Limiter {
    is_per_host: bool,
    next: BTreeMap<HostId, Time>,
}

impl CnpOutput {
    pub(in crate::nic) fn new(sources: CnpSources) -> Self {
        let CnpSources { on_nack, limiter, .. } = sources;
        let limiter = (limiter != CnpLimiter::Qp).then(|| {
            Box::new(Limiter { is_per_host: limiter == CnpLimiter::Host, next: BTreeMap::new() })
        });
        Self { sent: 0, on_nack, limiter }
    }

    /// Returns whether the limiter permits a notification to `peer`, which then counts as sent.
    /// `None` if each queue pair has its own limiter.
    pub(in crate::nic) fn permits(
        &mut self,
        now: Time,
        peer: HostId,
        interval: Span,
    ) -> Option<bool> {
        let Limiter { is_per_host, next } = &mut **self.limiter.as_mut()?;
        let next = next.entry(if *is_per_host { peer } else { HostId(0) }).or_insert(Time::ZERO);
        let is_due = *next <= now;
        if is_due {
            *next = now.saturating_add(interval);
        }
        Some(is_due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limiter_counts_for_a_host_or_for_the_port() {
        let interval = Span::from_us(4);
        let sent = |limiter, at: [u64; 4]| {
            let mut output = CnpOutput::new(CnpSources { limiter, ..CnpSources::default() });
            let peers = [1, 2, 1, 2].into_iter().zip(at);
            let sent = peers.map(|(peer, us)| {
                let now = Time::ZERO + Span::from_us(us);
                output.permits(now, HostId(peer), interval)
            });
            sent.collect::<Vec<_>>()
        };
        assert_eq!(sent(CnpLimiter::Qp, [0, 0, 0, 0]), [None; 4]);
        assert_eq!(sent(CnpLimiter::Host, [0, 1, 3, 5]), [true, true, false, true].map(Some));
        assert_eq!(sent(CnpLimiter::Port, [0, 1, 3, 5]), [true, false, false, true].map(Some));
    }
}
