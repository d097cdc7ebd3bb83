//! `evenkeel twin`, in the program without ns-3.

use super::bench::Bench;

#[test]
fn without_ns3_the_error_names_the_command_that_builds_it() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/idle-path.toml");
    let left = Bench::new().evenkeel(&["twin", scenario]);
    left.expect_invalid(&["cargo run --release --package evenkeel-bridge --features ns3 -- twin"]);
    assert!(left.err.starts_with("error: twin: this build has no ns-3; "), "{left:?}");
}
