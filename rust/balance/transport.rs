//! What a scheme that comes with a transport of its own has where a scenario does not say
//! otherwise: congestion control, lengths of frames, and when acknowledgements are due.

use crate::nic::Marked;
use crate::nic::congestion::CongestionName;
use crate::units::Bytes;

/// Defaults of `[transport]`, and of the length of a trimmed packet. Those of most schemes are
/// RoCE's ([`Transport::default`]); a key that a scenario has always wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    /// `congestion_control`.
    pub congestion_control: CongestionName,
    /// `header`: of a data packet on the wire.
    pub header: Bytes,
    /// `ack`: an acknowledgement on the wire.
    pub ack: Bytes,
    /// `switch.trim.size`: a packet that switches have cut to what its receiver needs; `None` for
    /// all headers of a data packet.
    pub trimmed: Option<Bytes>,
    /// `ack_every`, `ack_bytes` and `ack_marked`, with the scheme's own loss recovery.
    pub rhythm: AckRhythm,
}

/// When an acknowledgement is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckRhythm {
    /// After so many packets.
    pub every: u32,
    /// After so many bytes, if it has such a limit.
    pub bytes: Option<Bytes>,
    /// What a mark does.
    pub marked: Marked,
}

impl AckRhythm {
    /// One for each packet.
    pub const EACH_PACKET: Self = Self { every: 1, bytes: None, marked: Marked::Wait };
}

impl Default for Transport {
    /// RoCEv2 over IPv4: 14 B and 4 B of Ethernet, 20 B of IP, 8 B of UDP, 12 B of BTH and 4 B of
    /// ICRC.
    fn default() -> Self {
        Self {
            congestion_control: CongestionName::default(),
            header: Bytes::new(62),
            ack: Bytes::new(64),
            trimmed: Some(Bytes::new(64)),
            rhythm: AckRhythm::EACH_PACKET,
        }
    }
}

impl Transport {
    /// The keys of a scenario whose defaults are not those of most schemes.
    pub(crate) fn own_keys(&self) -> Vec<&'static str> {
        let (own, most) = (self, Self::default());
        let differ = [
            ("transport.congestion_control", own.congestion_control != most.congestion_control),
            ("transport.header", own.header != most.header),
            ("transport.ack", own.ack != most.ack),
            ("transport.ack_every", own.rhythm.every != most.rhythm.every),
            ("transport.ack_bytes", own.rhythm.bytes != most.rhythm.bytes),
            ("transport.ack_marked", own.rhythm.marked != most.rhythm.marked),
            ("switch.trim.size", own.trimmed != most.trimmed),
        ];
        differ.into_iter().filter(|&(_, differs)| differs).map(|(key, _)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::balance::{Parameters, build_scheme, presets};

    #[test]
    fn mrc_alone_has_a_transport_of_its_own() {
        let none = Parameters::new();
        let keys = |name| build_scheme(name, &none).unwrap().transport.own_keys();
        assert_eq!(keys("mrc").len(), 7);
        for preset in presets().filter(|preset| preset.name != "mrc") {
            assert!(keys(preset.name).is_empty(), "{}", preset.name);
        }
    }
}
