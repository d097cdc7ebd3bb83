//! In which order the messages of a queue pair are delivered.
//!
//! Source: the delivery modes of Ultra Ethernet 1.0, reliable ordered (ROD) and reliable unordered
//! (RUD); reliable connections of InfiniBand are ordered (specification, volume 1, section 9.7).
//!
//! *Delivered* means that the receiver may use the message: its event, its completion, the start
//! of what depends on it. Either way each is delivered once, with all its bytes, and the sender
//! completes its work in the order in which it was posted. Unordered delivery needs packets that
//! name their message: here by its index and how many packets it has
//! ([`MessageLabel`](crate::packet::MessageLabel)), as each packet of IRN carries its RETH (SIGCOMM
//! 2018, section 5.3) and each of RUD the number of its message.

use std::fmt;

use serde::{Deserialize, Serialize};

/// When a message that has all its bytes is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// When all messages posted before it are: in the order posted (ROD, InfiniBand RC).
    Ordered,
    /// At once, whatever others miss (RUD).
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
