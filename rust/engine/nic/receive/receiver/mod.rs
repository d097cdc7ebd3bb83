//! Receivers: which packets a responder accepts and when it acknowledges, one file for each. A loss
//! recovery names the one that it needs.

mod ack_state;
mod any_order;
mod coded;
mod in_order;
mod messages;
mod stateless;

pub(in crate::nic) use ack_state::{AckState, Outbox, QpEndpoints, ReceiverSettings, Reply};

use crate::packet::DataView;
use crate::units::Time;

/// Registers receivers: each file of a receiver needs only a line here. Several recoveries may
/// share a receiver, so a responder is no larger than the largest of them.
macro_rules! registry {
    ($($module:ident :: $receiver:ident),* $(,)?) => {
        $(pub(in crate::nic) use $module::$receiver;)*

        /// The receiving side of one queue pair.
        #[derive(Debug, Clone)]
        pub(in crate::nic) enum Receiving {
            $($receiver($receiver),)*
        }

        $(impl From<$receiver> for Receiving {
            fn from(receiver: $receiver) -> Self {
                Self::$receiver(receiver)
            }
        })*

        impl ReceiveRecovery for Receiving {
            #[inline]
            fn handle_data(
                &mut self,
                now: Time,
                packet: DataView<'_>,
                acks: &mut AckState,
                out: &mut Outbox,
            ) {
                match self {
                    $(Self::$receiver(it) => it.handle_data(now, packet, acks, out),)*
                }
            }
            fn reply(&self) -> Reply<'_> {
                match self { $(Self::$receiver(it) => it.reply(),)* }
            }
            fn delivered(&self) -> u64 {
                match self { $(Self::$receiver(it) => it.delivered(),)* }
            }
            fn has_delivered(&self, index: u64) -> bool {
                match self { $(Self::$receiver(it) => it.has_delivered(index),)* }
            }
            fn expected(&self) -> Option<u64> {
                match self { $(Self::$receiver(it) => it.expected(),)* }
            }
            fn arrived(&self) -> u64 {
                match self { $(Self::$receiver(it) => it.arrived(),)* }
            }
        }
    };
}

registry! {
    in_order::InOrder,
    any_order::AnyOrder,
    coded::Coded,
    stateless::Stateless,
}

/// The receiving side of a loss recovery.
pub(in crate::nic) trait ReceiveRecovery {
    /// Handles a data packet, whole or trimmed to its header, and acknowledges it if that is due.
    fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        acks: &mut AckState,
        out: &mut Outbox,
    );

    /// Returns the reply that would report all arrivals now.
    fn reply(&self) -> Reply<'_>;

    /// Returns the first message that is not delivered.
    fn delivered(&self) -> u64;

    /// True if message `index` is delivered.
    fn has_delivered(&self, index: u64) -> bool {
        index < self.delivered()
    }

    /// Returns the only packet that would be accepted next, if packets are accepted only in order.
    fn expected(&self) -> Option<u64> {
        None
    }

    /// Returns the first packet that has not arrived, if packets are numbered along the queue pair.
    fn arrived(&self) -> u64;
}
