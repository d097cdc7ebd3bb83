//! The wall time of pieces of the simulator: `cargo bench --bench pieces [-- FILTER]`.
//!
//! Each time comes with the rate of its items: events of the calendar, packet-hops, packets of a
//! NIC, pieces of messages. Set-up is not measured.

mod calendar;
#[path = "../cases.rs"]
mod cases;
mod hops;
mod nic;
mod split;

fn main() {
    divan::main();
}
