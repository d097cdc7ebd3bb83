//! Traffic on the scale-up networks of servers.

use schemars::JsonSchema;
use serde::Serialize;

use super::human;
use crate::endpoint::ScaleUpUse;

/// Messages inside servers, which use no NIC and no link of the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScaleUpSummary {
    /// Messages between GPUs of one server.
    pub messages: u64,
    /// Messages to other servers that were relayed by the GPU on the receiver's rail.
    pub relayed: u64,
    /// Bytes sent by all ports of GPUs.
    pub bytes: u64,
    /// Maximum bytes in one direction of one port.
    pub port_bytes_max: u64,
}

impl ScaleUpSummary {
    pub(super) fn of(carried: &ScaleUpUse) -> Self {
        let ports = || carried.ports.iter();
        let most = ports().map(|port| port.sent.max(port.received).get()).max();
        Self {
            messages: carried.inside,
            relayed: carried.relayed,
            bytes: ports().map(|port| port.sent.get()).sum(),
            port_bytes_max: most.unwrap_or(0),
        }
    }

    /// Formats the summary as one line.
    pub(super) fn line(&self) -> String {
        let [messages, relayed] = [self.messages, self.relayed].map(|it| human::count(it as f64));
        let [all, most] = [self.bytes, self.port_bytes_max].map(|it| human::bytes(it as f64));
        format!("{messages} messages and {relayed} relayed, {all}; {most} per port at most")
    }
}
