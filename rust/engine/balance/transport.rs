//! Transport defaults of a scheme: congestion control, header lengths and acknowledgement
//! frequency.

use crate::nic::Marked;
use crate::nic::congestion::CongestionName;
use crate::units::Bytes;

/// Defaults of `[transport]` and of `switch.trim.size`. Most schemes use RoCE's
/// ([`Transport::default`]). Keys in a scenario take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    /// `congestion_control`.
    pub congestion_control: CongestionName,
    /// `header`: bytes that a data packet adds to its payload on the wire.
    pub header: Bytes,
    /// `ack`: size of an acknowledgement on the wire.
    pub ack: Bytes,
    /// `switch.trim.size`: size of a trimmed packet; `None` for all headers of a data packet.
    pub trimmed: Option<Bytes>,
    /// `ack_every`, `ack_bytes`, `ack_time` and `ack_marked`, with the scheme's own loss recovery.
    pub ack_frequency: AckFrequency,
}

/// Conditions under which the receiver acknowledges; the first one that is met counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckFrequency {
    /// Packets per acknowledgement.
    pub every: u32,
    /// Bytes per acknowledgement, if limited.
    pub bytes: Option<Bytes>,
    /// True if an acknowledgement is due one base round trip after an arrival. Without it, a
    /// shrinking window may leave too few packets in flight to trigger an acknowledgement.
    pub timed: bool,
    /// Effect of an ECN mark.
    pub marked: Marked,
}

impl AckFrequency {
    /// One acknowledgement per packet.
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
    /// Returns the scenario keys whose defaults differ from [`Transport::default`], each with its
    /// value as TOML. The value is `None` if it depends on other keys.
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
    fn only_mrc_has_its_own_transport() {
        let none = Parameters::new();
        let keys = |name| build_scheme(name, &none).unwrap().transport.own_defaults();
        assert_eq!(keys("mrc").len(), 7);
        for preset in presets().filter(|preset| preset.name != "mrc") {
            assert!(keys(preset.name).is_empty(), "{}", preset.name);
        }
    }
}
