//! Properties of the NIC: two NICs joined by a pipe that loses, duplicates, delays, reorders, marks
//! and trims packets as scripted, for each combination of loss recovery and congestion control.
//!
//! `properties.rs` holds the properties, `case.rs` the random draws, `pipe.rs` the movement of
//! packets, and `ports.rs` NICs with several ports. `verbs.rs` checks the first three properties
//! for work requests with completions. A failure prints the seed, the shrunk case and its trace.
//! `EVENKEEL_CASES` sets the number of cases per combination (20, and 10,000 with
//! `EVENKEEL_LONG_TESTS=1`). `EVENKEEL_SEED` sets their seed (1), and `EVENKEEL_CONTROL` selects a
//! single congestion control (all).

mod case;
mod pipe;
mod ports;
mod properties;
mod runner;
mod settings;
mod start;
mod verbs;

use std::thread;

use evenkeel::nic::congestion::CONTROLS;
use evenkeel::nic::recovery::RECOVERIES;

use crate::support::extent;

/// Runs a check for every recovery, each in a separate thread.
fn of_every_recovery(check: impl Fn(&'static str) + Sync) {
    of_recoveries(RECOVERIES.iter().map(|recovery| recovery.name).collect(), check);
}

fn of_recoveries(names: Vec<&'static str>, check: impl Fn(&'static str) + Sync) {
    let check = &check;
    thread::scope(|threads| {
        for name in names {
            threads.spawn(move || check(name));
        }
    });
}

/// Returns true if a congestion control is selected.
fn is_wanted(name: &str) -> bool {
    std::env::var("EVENKEEL_CONTROL").map_or(true, |only| only == name)
}

#[test]
fn every_recovery_with_every_congestion_control() {
    of_every_recovery(|recovery| {
        let controls = CONTROLS.iter().filter(|control| is_wanted(control.name));
        let controls = controls.filter(|control| settings::are_possible(recovery, control));
        controls.for_each(|control| runner::check(recovery, control.name));
    });
}

#[test]
fn every_recovery_with_a_window_shared_by_queue_pairs() {
    of_every_recovery(runner::check_sharing);
}

#[test]
fn every_recovery_where_sequence_numbers_wrap() {
    if extent::is_left_out("nic_properties::wrap") {
        return;
    }
    // Each case starts by simulating the millions of packets before the wrap.
    of_every_recovery(runner::check_wrap);
}

/// NICs with 2 to 4 ports, some of which are temporarily dead. Covers each policy that chooses
/// among planes and one that does not, with each recovery that counts by plane. The congestion
/// controls have a window per plane (per queue pair or shared), one window for all planes, a rate,
/// or none.
mod several_ports {
    use super::{is_wanted, of_recoveries};
    use crate::nic_properties::runner::check_planes;
    use crate::nic_properties::settings::OfPlanes;

    fn with(policy: &'static str) {
        of_recoveries(vec!["mrc", "sack", "per-packet", "rudi"], |recovery| {
            let of = |control| OfPlanes { policy, recovery, control, parameters: "" };
            for parameters in [
                "parameters = { scope = \"plane\" }",
                "parameters = { scope = \"destination-plane\" }",
            ] {
                check_planes(OfPlanes { parameters, ..of("nscc") });
            }
            let controls = ["nscc", "line-rate", "dcqcn"].into_iter().filter(|it| is_wanted(it));
            controls.for_each(|control| check_planes(of(control)));
        });
    }

    #[test]
    fn with_the_values_of_mrc() {
        if super::extent::is_left_out("nic_properties::with_the_values_of_mrc") {
            return;
        }
        with("name = \"mrc\"");
    }

    #[test]
    fn with_mrc_paths_and_probed_return_paths() {
        with("name = \"mrc\"\nreverse = \"probe\"\nencoding = \"srv6\"");
    }

    #[test]
    fn with_any_free_port() {
        with("name = \"plane-jsq\"");
    }

    #[test]
    fn with_entropy_values_bound_to_ports() {
        with("name = \"spray\"");
    }
}

/// Verbs at line rate, with a rate, and with a window.
#[test]
fn verbs_with_every_recovery() {
    of_every_recovery(|recovery| {
        for control in ["line-rate", "dcqcn", "nscc"] {
            runner::check_verbs(recovery, control);
        }
    });
}

/// Messages that are WRITEs with immediate data: at most one or two per queue pair are in flight.
#[test]
fn immediate_data_limits_with_every_ordered_recovery() {
    let ordered = |name: &&str| !["erasure", "rudi"].contains(name);
    let names = RECOVERIES.iter().map(|recovery| recovery.name).filter(ordered).collect();
    of_recoveries(names, |recovery| {
        for (control, most) in [("line-rate", 1), ("nscc", 2), ("dcqcn", 2)] {
            runner::check_immediates(recovery, control, most);
        }
    });
}

/// Delivery orders other than a recovery's default, where supported: exactly once, and in order if
/// ordered.
mod delivery {
    use super::settings;
    use crate::nic_properties::runner::check_delivery;

    #[test]
    fn unordered_with_sack() {
        check_delivery("sack", "line-rate", "unordered");
    }

    #[test]
    fn unordered_with_a_timer_per_packet() {
        check_delivery("per-packet", "dcqcn", "unordered");
    }

    #[test]
    fn unordered_with_gaps_declared_lost_by_age() {
        check_delivery("mrc", "nscc", "unordered");
    }

    #[test]
    fn ordered_with_an_erasure_code() {
        check_delivery("erasure", "line-rate", "ordered");
    }

    #[test]
    fn go_back_n_and_rod_are_only_ordered_and_rudi_only_unordered() {
        for recovery in ["go-back-n", "rod"] {
            assert!(settings::delivering(recovery, "line-rate", "unordered").is_err());
            assert!(settings::delivering(recovery, "line-rate", "ordered").is_ok());
        }
        assert!(settings::delivering("rudi", "line-rate", "ordered").is_err());
        assert!(settings::delivering("rudi", "line-rate", "unordered").is_ok());
    }

    #[test]
    fn packets_that_name_their_message_cannot_carry_sender_requests() {
        assert!(settings::delivering("erasure", "rccc", "auto").is_err());
        assert!(settings::delivering("rudi", "rccc", "auto").is_err());
        assert!(settings::delivering("per-packet", "rccc", "unordered").is_err());
        assert!(settings::delivering("per-packet", "rccc", "ordered").is_ok());
    }
}
