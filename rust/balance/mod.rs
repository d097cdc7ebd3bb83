//! Load balancing: what a sender puts into a packet, and what a switch makes of it.
//!
//! Every scheme is a pair: a sender policy that picks an entropy value for each packet, and a
//! switch policy that picks one of the equal-cost ports. A [`Preset`] names the pair, together
//! with what happens to a message before (the splitter) and the loss recovery it is made for.
//! Policies know no world: they are given what hardware in their place can see, and no more.

#[cfg(test)]
mod choices;
mod least;
mod preset;
pub mod rotation;
mod scheme;
pub mod sender;
pub mod switch;
#[cfg(test)]
mod test_view;
mod view;

pub use preset::{SHARED_PARAMETERS, find, preset, presets, shown};
pub use scheme::{
    Forwarding, Origin, Parameters, Preset, Scheme, SchemeError, Weights, configured,
};
