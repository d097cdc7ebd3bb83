//! The studies of this project, under `examples/reproduce/`.

use crate::study::reproduce::BuiltIn;

macro_rules! studies {
    ($($name:literal,)*) => {
        /// The studies that have a name, in the order in which they are listed.
        pub const BUILT_IN: &[BuiltIn] = &[$((
            $name,
            include_str!(concat!("../examples/reproduce/", $name, ".toml")),
        ),)*];
    };
}

studies! {
    "ethereal-collectives",
    "ethereal-leaf-spine",
    "ethereal-fat-tree",
    "ethereal-failure",
    "ethereal-qps",
    "ethereal-gpt",
    "ofan-ideal",
    "ofan-failures",
    "ofan-sweeps",
    "ofan-fsdp",
    "prime",
    "reps-symmetric",
    "reps-coalescing",
    "reps-asymmetric",
    "reps-failures",
    "reps-law",
    "reps-flapping",
    "hardware",
    "silicon",
    "nezha",
    "nccl",
}
