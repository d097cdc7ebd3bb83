//! Wall time of parts of the simulator: `cargo bench --bench pieces [-- FILTER]`.
//!
//! Each time comes with a rate: calendar events, packet-hops, NIC packets, or pieces of messages
//! per second. Set-up is not measured.

mod calendar;
#[path = "../cases.rs"]
mod cases;
mod hops;
mod nic;
mod split;

fn main() {
    divan::main();
}
