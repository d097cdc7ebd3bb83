//! The command line as other programs see it: what it prints where, with which exit status, and
//! what it leaves in folders.

mod bench;
mod compare;
mod help;
mod hpcc;
mod inspect;
mod run;
#[cfg(not(feature = "ns3"))]
mod twin;
