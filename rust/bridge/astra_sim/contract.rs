//! The calls from C++ into Rust, and the handlers that Rust calls in C++.
//!
//! A call that can fail returns a readable message, which becomes an exception in C++. An exception
//! in a handler ends the run, and its text is in [`Ending`].

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
        /// Sends `amount` bytes to `peer`.
        Send,
        /// Receives `amount` bytes from `peer`.
        Receive,
        /// Calls the handler after `amount` nanoseconds.
        Schedule,
        /// Reports that all work of the rank is done.
        Finish,
    }

    /// A rank's request. Fields that its kind does not use are zero.
    #[derive(Debug, Clone, Copy)]
    struct Request {
        kind: RequestKind,
        rank: u32,
        peer: i32,
        tag: i32,
        amount: u64,
        /// The handler to call when the request completes.
        ticket: u64,
    }

    /// The options of a network.
    #[derive(Debug, Clone, Default)]
    struct NetworkOptions {
        /// The path of the scenario.
        scenario: String,
        /// The policy, which overrides the scenario's unless it is empty.
        policy: String,
        /// The seed in decimal digits, which overrides the scenario's unless it is empty.
        seed: String,
        /// The folder for results, or empty for no results.
        results_folder: String,
    }

    /// The result of a run.
    #[derive(Debug, Clone, Default)]
    struct Ending {
        /// 0 if every rank has finished, 1 if ranks still wait, 2 if a request was invalid.
        status: u8,
        /// Why the status is not 0: a sentence, then one line for each of the first waiting ranks.
        error: String,
        warnings: Vec<String>,
        /// A line about the network: its policy, packets, losses and queues.
        summary: String,
    }

    unsafe extern "C++" {
        include!("rank-handlers.h");

        /// The ranks, with a handler for each ticket.
        type RankHandlers;

        /// Starts every rank and appends their requests.
        fn start(self: Pin<&mut RankHandlers>, requests: &mut Vec<Request>) -> Result<()>;
        /// Calls the handler of a ticket and appends the requests that ranks make in it.
        fn call(
            self: Pin<&mut RankHandlers>,
            now_ps: u64,
            ticket: u64,
            requests: &mut Vec<Request>,
        ) -> Result<()>;
        /// Called when no event is left although ranks have not finished. Appends a `Finish` for
        /// ranks whose work is done.
        fn idle(self: Pin<&mut RankHandlers>, requests: &mut Vec<Request>) -> Result<()>;
    }

    extern "Rust" {
        type Network;

        /// Reads a scenario, and checks that the results folder can be used if there is one.
        #[cxx_name = "open_network"]
        fn try_open_network(options: &NetworkOptions) -> Result<Box<Network>>;
        /// Returns the number of hosts, which limits the number of ranks.
        fn hosts(self: &Network) -> u32;
        /// Returns the rate of the first host's link, in bytes per nanosecond (GB/s).
        fn host_rate(self: &Network) -> f64;
        /// Returns a sentence for each key of the scenario that has no effect here.
        fn warnings(self: &Network) -> Vec<String>;
        /// Runs ranks 0 to `ranks` - 1, rank `i` on host `i`, and writes the results folder. A
        /// network may run several times, each time from the beginning.
        #[cxx_name = "run"]
        fn try_run(self: &Network, handlers: Pin<&mut RankHandlers>, ranks: u32) -> Result<Ending>;
    }
}
