//! Ranks of another program that send, receive and compute through calls: the system layer of
//! ASTRA-sim, or any program that posts both sends and receives.
//!
//! The program issues a [`Request`] and names it by a [`Ticket`]. When the request has been
//! fulfilled, its ticket is called ([`Ranks::call`]); the program's further requests are returned
//! by that call. A rank is a host. [`Exchange`] is the [`Program`](crate::fabric::Program) that
//! carries out requests in a world: `matching` joins sends with receives, and calls of the same
//! time run in the order in which they became due. [`run`] performs a whole run.
//!
//! - A receive is called when its message has been delivered; a message that arrives first waits
//!   for it. A send is called when its sender has the last acknowledgement.
//! - No ticket is called while requests are carried out. A call that is due immediately runs at the
//!   same time, after the calls that are already due.
//! - Events of the fabric precede calls of the same time.
//!
//! Collectives and computations are the program's concern; this module does not know them.

mod ending;
mod exchange;
mod fault;
mod matching;

#[cfg(test)]
mod tests;

pub use ending::{Ending, Waiting};
pub use exchange::{Exchange, run};
pub use fault::Fault;
pub use matching::{Key, Matching};

use crate::units::{Span, Time};

/// Identifies a request. The program chooses it, and it is called once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A message as requested by one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The requesting rank.
    pub rank: u32,
    /// The rank at the other end.
    pub peer: i32,
    /// Tag of the message; sends and receives with different tags do not match.
    pub tag: i32,
    /// Length of the message in bytes.
    pub bytes: u64,
    /// Called when the message has been delivered (for a receive) or has completed (for a send).
    pub ticket: Ticket,
}

/// A request of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Send a message to the peer.
    Send(Transfer),
    /// Receive a message from the peer.
    Receive(Transfer),
    /// Call a ticket after a delay.
    Schedule {
        /// Time from now until the call.
        delay: Span,
        /// The ticket to call.
        ticket: Ticket,
    },
    /// Declare the work of this rank complete.
    Finish {
        /// The rank.
        rank: u32,
    },
}

/// A program whose ranks communicate.
pub trait Ranks {
    /// Starts every rank, and adds their requests to `requests`.
    ///
    /// # Errors
    /// Fails with the program's own reason, which ends the run.
    fn start(&mut self, requests: &mut Vec<Request>) -> Result<(), String>;

    /// Handles the fulfilment at `now` of the request with this ticket, and adds further requests
    /// to `requests`.
    ///
    /// # Errors
    /// Fails with the program's own reason, which ends the run.
    fn call(
        &mut self,
        now: Time,
        ticket: Ticket,
        requests: &mut Vec<Request>,
    ) -> Result<(), String>;

    /// Called when nothing is pending that could wake the unfinished ranks: the last chance to
    /// finish those whose work is done.
    ///
    /// # Errors
    /// Fails with the program's own reason, which ends the run.
    fn idle(&mut self, _requests: &mut Vec<Request>) -> Result<(), String> {
        Ok(())
    }
}
