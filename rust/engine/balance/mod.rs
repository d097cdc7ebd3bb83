//! Load balancing: the sender writes an entropy value into each packet, and switches derive the
//! output port from it.
//!
//! Every scheme is a pair. Its sender policy picks an entropy value for each packet; its switch
//! policy picks one of the equal-cost ports. A [`Preset`] names the pair, the splitter that divides
//! messages beforehand and the loss recovery that the pair needs. Policies have no access to the
//! simulated network: they see what hardware in their position sees.

mod argmin;
#[cfg(test)]
mod choices;
mod detour;
mod parameters;
mod path_space;
mod preset;
mod qp_context;
#[cfg(test)]
mod recorder;
pub mod rotation;
mod scheme;
pub mod sender;
mod state_size;
pub mod switch;
#[cfg(test)]
mod test_view;
mod transport;
mod view;

pub use parameters::Parameters;
pub use preset::{
    SHARED_PARAMETERS, build_scheme, display_name, find_preset, presets, presets_like,
};
pub use scheme::{
    Eligibility, Forwarding, Origin, Preset, Scheme, SchemeError, Weights, parse_config,
};
pub use transport::{AckFrequency, Transport};
