//! ns-3 in the same process, where the `ns3` feature links it: what of it can be asked from Rust.

/// What can be asked of ns-3. Its simulator is one a process: calls must not overlap.
#[allow(unsafe_code, reason = "cxx generates the calls across the language border")]
#[cxx::bridge(namespace = "evenkeel::ns3way")]
pub mod contract {
    // Both sides are declared by hand here, so that it is for the reader to say that these calls
    // are sound: they take and give text, and keep nothing.
    unsafe extern "C++" {
        include!("cargo.h");

        /// Runs a test suite of the module by ns-3's own test runner, which prints its report; 0
        /// if all is well.
        fn run_test_suite(suite: &str) -> i32;

        /// The classes that are registered in a group, by name, one a line.
        fn type_names(group: &str) -> String;
    }
}

/// The version of the ns-3 that is linked, such as "3.37".
pub const VERSION: &str = env!("EVENKEEL_NS3_VERSION");
