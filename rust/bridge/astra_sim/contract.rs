//! The calls that C++ makes, and the two that Rust makes.
//!
//! What can fail fails with a text for people, which becomes an exception in C++. An exception of a
//! handler ends the run, whose [`Ending`] has its text.

use super::network::{Network, try_open_network};

pub(super) use ffi::*;

#[allow(
    unsafe_code,
    unreachable_pub,
    reason = "cxx generates the calls across the language border, and their visibility"
)]
#[cxx::bridge(namespace = "evenkeel::astra_sim")]
mod ffi {
    /// The kind of a request.
    #[derive(Debug)]
    #[repr(u8)]
    enum RequestKind {
        /// To send `amount` bytes to `peer`.
        Send,
        /// To receive `amount` bytes from `peer`.
        Receive,
        /// To be called after `amount` nanoseconds.
        Schedule,
        /// Nothing more: all work of the rank is done.
        Finish,
    }

    /// What a rank asks for; fields that its kind does not use are zero.
    #[derive(Debug, Clone, Copy)]
    struct Request {
        kind: RequestKind,
        rank: u32,
        peer: i32,
        tag: i32,
        amount: u64,
        /// The handler that is called when it has come about.
        ticket: u64,
    }

    /// The inputs of a network.
    #[derive(Debug, Clone, Default)]
    struct NetworkOptions {
        /// The path of the scenario.
        scenario: String,
        /// The policy in place of the scenario's; empty for that of the scenario.
        policy: String,
        /// The seed in place of the scenario's, in decimal digits; empty for that of the scenario.
        seed: String,
        /// The folder for results; empty for none.
        results_folder: String,
    }

    /// How a run ended.
    #[derive(Debug, Clone, Default)]
    struct Ending {
        /// 0 if every rank has finished, 1 if ranks wait, 2 if a request cannot be carried out.
        status: u8,
        /// Why the status is not 0: a sentence, and a line for each of the first ranks that wait.
        error: String,
        warnings: Vec<String>,
        /// A line about the network: its policy, packets, losses and queues.
        summary: String,
    }

    unsafe extern "C++" {
        include!("rank-handlers.h");

        /// The ranks, with a handler for each ticket.
        type RankHandlers;

        /// Starts every rank, and appends what they ask for.
        fn start(self: Pin<&mut RankHandlers>, requests: &mut Vec<Request>) -> Result<()>;
        /// Calls the handler of a ticket, and appends what ranks ask for meanwhile.
        fn call(
            self: Pin<&mut RankHandlers>,
            now_ps: u64,
            ticket: u64,
            requests: &mut Vec<Request>,
        ) -> Result<()>;
        /// Nothing is left to do while ranks have not finished: asks for the end of those whose
        /// work is done.
        fn idle(self: Pin<&mut RankHandlers>, requests: &mut Vec<Request>) -> Result<()>;
    }

    extern "Rust" {
        type Network;

        /// Reads a scenario, and opens the results folder if there is to be one.
        #[cxx_name = "open_network"]
        fn try_open_network(options: &NetworkOptions) -> Result<Box<Network>>;
        /// The number of hosts, which is the most ranks that a run has.
        fn hosts(self: &Network) -> u32;
        /// The rate of the first host's link, in bytes per nanosecond (GB/s).
        fn host_rate(self: &Network) -> f64;
        /// A sentence for each key of the scenario that has no effect here.
        fn warnings(self: &Network) -> Vec<String>;
        /// Runs the ranks from 0 to `ranks`, exclusive, each on the host of its number, and writes
        /// the results folder. A network may run several times, each time from the beginning.
        #[cxx_name = "run"]
        fn try_run(self: &Network, handlers: Pin<&mut RankHandlers>, ranks: u32) -> Result<Ending>;
    }
}
