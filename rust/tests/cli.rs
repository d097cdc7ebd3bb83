//! The command line as other programs use it: its output, its exit status, and the files that it
//! writes.

mod bench;
mod compare;
mod help;
mod hpcc;
mod inspect;
mod reproduce;
mod run;
#[cfg(not(feature = "ns3"))]
mod twin;
