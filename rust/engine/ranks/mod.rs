//! Ranks of another program, which send, receive and compute by calls: the system layer of
//! ASTRA-sim, or any program that posts receives beside its sends.
//!
//! The program asks for something by a [`Request`] and names it by a [`Ticket`]; when it has come
//! about, the ticket is called ([`Ranks::call`]), and what the program asks for meanwhile is the
//! next list of requests. A rank is a host. [`Exchange`] is the [`Program`](crate::fabric::Program)
//! that carries this out in a world: `matching` joins sends with receives, and calls of one time
//! have the order in which they became due. [`run`] is a whole run.
//!
//! - A receive is called when its message has been delivered; a message that comes first waits for
//!   it. A send is called when its sender has the last acknowledgement.
//! - No ticket is called while requests are carried out: what is due at once is called at the same
//!   time, after what is due already.
//! - Events of the fabric precede calls of the same time.
//!
//! It does not know collectives and computations: those are the program's.

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

/// Names what a rank waits for; the program chooses it, and it is called once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A message as one of its ends asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The rank that asks.
    pub rank: u32,
    /// The rank at the other end.
    pub peer: i32,
    /// The tag of the message; sends and receives of different tags do not match.
    pub tag: i32,
    /// Length of the message in bytes.
    pub bytes: u64,
    /// Called when the message has been delivered (of a receive) or has completed (of a send).
    pub ticket: Ticket,
}

/// What a rank asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// To send a message to its peer.
    Send(Transfer),
    /// To receive a message from its peer.
    Receive(Transfer),
    /// To be called after a delay.
    Schedule {
        /// The time from now until the call.
        delay: Span,
        /// What is called.
        ticket: Ticket,
    },
    /// Nothing more: all work of this rank is done.
    Finish {
        /// The rank.
        rank: u32,
    },
}

/// The program whose ranks communicate.
pub trait Ranks {
    /// Starts every rank, and adds what they ask for to `requests`.
    ///
    /// # Errors
    /// Fails with the program's own reason, which ends the run.
    fn start(&mut self, requests: &mut Vec<Request>) -> Result<(), String>;

    /// What a ticket stands for has come about at `now`; adds what ranks ask for to `requests`.
    ///
    /// # Errors
    /// Fails with the program's own reason, which ends the run.
    fn call(
        &mut self,
        now: Time,
        ticket: Ticket,
        requests: &mut Vec<Request>,
    ) -> Result<(), String>;

    /// Nothing is left that can end the waiting of the ranks that have not finished: the last
    /// chance to finish those whose work is done.
    ///
    /// # Errors
    /// Fails with the program's own reason, which ends the run.
    fn idle(&mut self, _requests: &mut Vec<Request>) -> Result<(), String> {
        Ok(())
    }
}
