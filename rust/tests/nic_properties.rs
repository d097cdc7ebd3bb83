//! Properties of the NIC: two of them joined by a pipe that loses, doubles, delays, reorders,
//! marks and trims packets as a script says, for each loss recovery × congestion control.
//!
//! `properties.rs` has the properties, `case.rs` the random draws, `pipe.rs` the movement of
//! packets; `verbs.rs` has all three for work requests with completions. A failure prints the seed,
//! the case after shrinking and its trace. `EVENKEEL_CASES` is how many cases a pair has (1,000,
//! and 10,000 with `EVENKEEL_LONG_TESTS=1`), `EVENKEEL_SEED` where they are drawn from (1).

mod case;
mod pipe;
mod properties;
mod runner;
mod settings;
mod start;
mod verbs;

use evenkeel::nic::congestion::CONTROLS as CONTROLS_OF_THE_NIC;
use evenkeel::nic::recovery::RECOVERIES as RECOVERIES_OF_THE_NIC;

/// A test for each pair; a new recovery or control is one line of the table below.
macro_rules! pairs {
    (recoveries: { $($module:ident: $recovery:literal,)* } controls: $controls:tt) => {
        /// Recoveries of the table.
        const RECOVERIES: &[&str] = &[$($recovery),*];

        $(mod $module {
            #[test]
            fn where_sequence_numbers_wrap() {
                crate::nic_properties::runner::check_wrap($recovery);
            }
            #[test]
            fn verbs_at_line_rate() {
                crate::nic_properties::runner::check_verbs($recovery, "line-rate");
            }
            #[test]
            fn verbs_with_a_rate() {
                crate::nic_properties::runner::check_verbs($recovery, "dcqcn");
            }
            #[test]
            fn verbs_with_a_window() {
                crate::nic_properties::runner::check_verbs($recovery, "nscc");
            }
            pairs!(controls of $recovery: $controls);
        })*
        pairs!(names $controls);
    };
    (controls of $recovery:literal: { $($test:ident: $control:literal,)* }) => {
        $(#[test]
        fn $test() {
            crate::nic_properties::runner::check($recovery, $control);
        })*
    };
    (names { $($test:ident: $control:literal,)* }) => {
        /// Congestion controls of the table.
        const CONTROLS: &[&str] = &[$($control),*];
    };
}

pairs! {
    recoveries: {
        go_back_n: "go-back-n",
        sack: "sack",
        per_packet: "per-packet",
        erasure: "erasure",
    }
    controls: {
        line_rate: "line-rate",
        dcqcn: "dcqcn",
        dcqcn_mlx: "dcqcn-mlx",
        dctcp_rate: "dctcp-rate",
        dctcp_window: "dctcp-window",
        nscc: "nscc",
        swift: "swift",
        new_reno: "new-reno",
    }
}

/// Delivery orders other than a recovery's default, where it supports them: exactly once, and in
/// order if ordered.
mod delivery {
    use super::settings;
    use crate::nic_properties::runner::check_delivery;

    #[test]
    fn unordered_with_sack() {
        check_delivery("sack", "line-rate", "unordered");
    }

    #[test]
    fn unordered_with_a_timer_a_packet() {
        check_delivery("per-packet", "dcqcn", "unordered");
    }

    #[test]
    fn ordered_with_an_erasure_code() {
        check_delivery("erasure", "line-rate", "ordered");
    }

    #[test]
    fn go_back_n_delivers_in_order_alone() {
        assert!(settings::delivering("go-back-n", "line-rate", "unordered").is_err());
        assert!(settings::delivering("go-back-n", "line-rate", "ordered").is_ok());
    }
}

/// The table has every recovery and control that a scenario can choose.
#[test]
fn the_table_has_every_recovery_and_control() {
    let recoveries: Vec<&str> = RECOVERIES_OF_THE_NIC.iter().map(|it| it.name).collect();
    assert_eq!(RECOVERIES, recoveries);
    let controls: Vec<&str> = CONTROLS_OF_THE_NIC.iter().map(|it| it.name).collect();
    assert_eq!(CONTROLS, controls);
}
