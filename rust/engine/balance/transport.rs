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
    /// `ack_every`, `ack_bytes`, `ack_time` and `ack_marked`, with the scheme's own loss recovery.
    pub ack_frequency: AckFrequency,
}

/// When an acknowledgement is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckFrequency {
    /// After so many packets.
    pub every: u32,
    /// After so many bytes, if it has such a limit.
    pub bytes: Option<Bytes>,
    /// A base round trip after an arrival. Without it, what a window that shrinks leaves in flight
    /// may be too little for an acknowledgement.
    pub timed: bool,
    /// What a mark does.
    pub marked: Marked,
}

impl AckFrequency {
    /// One for each packet.
    pub const EACH_PACKET: Self =
        Self { every: 1, bytes: None, timed: false, marked: Marked::Wait };
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
            ack_frequency: AckFrequency::EACH_PACKET,
        }
    }
}

impl Transport {
    /// The keys of a scenario whose defaults are not those of most schemes, with the default as
    /// TOML writes it; none if it depends on other keys.
    pub fn own_defaults(&self) -> Vec<(&'static str, Option<String>)> {
        let (own, most) = (self.defaults(), Self::default().defaults());
        let differ = own.into_iter().zip(most).filter(|(own, most)| own != most);
        differ.map(|(own, _)| own).collect()
    }

    fn defaults(&self) -> [(&'static str, Option<String>); 8] {
        let quoted = |bytes: Bytes| format!("\"{bytes}\"");
        let marked = match self.ack_frequency.marked {
            Marked::Wait => "wait",
            Marked::AtOnce => "at-once",
        };
        let control = self.congestion_control.name();
        [
            ("transport.congestion_control", Some(format!("\"{control}\""))),
            ("transport.header", Some(quoted(self.header))),
            ("transport.ack", Some(quoted(self.ack))),
            ("transport.ack_every", Some(self.ack_frequency.every.to_string())),
            ("transport.ack_bytes", self.ack_frequency.bytes.map(quoted)),
            ("transport.ack_time", (!self.ack_frequency.timed).then(String::new)),
            ("transport.ack_marked", Some(format!("\"{marked}\""))),
            ("switch.trim.size", self.trimmed.map(quoted)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::balance::{Parameters, build_scheme, presets};

    #[test]
    fn mrc_alone_has_a_transport_of_its_own() {
        let none = Parameters::new();
        let keys = |name| build_scheme(name, &none).unwrap().transport.own_defaults();
        assert_eq!(keys("mrc").len(), 7);
        for preset in presets().filter(|preset| preset.name != "mrc") {
            assert!(keys(preset.name).is_empty(), "{}", preset.name);
        }
    }
}
