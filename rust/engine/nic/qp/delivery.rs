//! Delivery order of the messages of a queue pair.
//!
//! Source: the delivery modes of Ultra Ethernet 1.0, reliable ordered (ROD) and reliable unordered
//! (RUD); reliable connections of InfiniBand are ordered (specification, volume 1, section 9.7).
//!
//! *Delivered* means that the receiver may use the message: its event or completion is reported,
//! and work that depends on it starts. In either order each message is delivered once, with all its
//! bytes, and the sender completes its work in posting order. Unordered delivery needs packets that
//! name their message. Here they carry its index and its number of packets
//! ([`MessageLabel`](crate::packet::MessageLabel)), as each packet of IRN carries its RETH (SIGCOMM
//! 2018, section 5.3) and each of RUD the number of its message.

use std::fmt;

use serde::{Deserialize, Serialize};

/// When a message that has all its bytes is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// In posting order: after all messages posted before it (ROD, InfiniBand RC).
    Ordered,
    /// Immediately, whatever other messages miss (RUD).
    Unordered,
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ordered => "ordered",
            Self::Unordered => "unordered",
        })
    }
}
