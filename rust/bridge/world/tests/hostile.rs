//! Calls that can fail, in random order and with random values: each returns a result or an error,
//! and none panics.

use evenkeel_engine::rng::{Purpose, Stream};

use super::*;
use crate::panic_guard::Failure;
use crate::world::enumerations::{FabricOperation, FabricQpState};
use crate::world::records::{FabricQpSettings, FabricWork};

/// Draws a number that callers often get wrong, or a valid one.
fn number(random: &mut Stream) -> u64 {
    match random.below(8) {
        0 => u64::MAX,
        1 => u64::from(u32::MAX) + u64::from(random.below(2)),
        2 => 1 << random.below(64),
        3 => u64::from(random.next_u32()),
        _ => random.below(4).into(),
    }
}

fn small(random: &mut Stream) -> u32 {
    number(random) as u32
}

/// Checks that a call has not panicked, and returns its result, if any.
fn expect<T, E: std::fmt::Display>(result: Result<T, Failure<E>>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Failure::InternalError(text)) => panic!("an internal error: {text}"),
        Err(rejected) => {
            assert!(rejected.to_string().len() > 10, "an error with only '{rejected}'");
            None
        }
    }
}

/// Draws a time that has not passed yet, because a simulator's clock never goes back.
fn later(now: &mut u64, random: &mut Stream) -> u64 {
    *now += u64::from(random.below(1_000_000));
    *now
}

fn call(core: &mut Core, now: &mut u64, random: &mut Stream) {
    let [host, qp, other] = [0; 3].map(|_| small(random));
    match random.below(9) {
        0 => {
            let (bytes, start) = (number(random) >> 24, number(random));
            let at = later(now, random);
            expect(core.try_post(host, other, bytes, at, start, qp));
        }
        1 | 2 => drop(expect(core.try_create_qp(host, other, qp))),
        3 => drop(expect(core.try_set_peer_qp(host, qp, other))),
        4 => {
            let state = FabricQpState { repr: random.below(9) as u8 };
            expect(core.try_modify_qp(host, qp, state, later(now, random)));
        }
        5 => drop(expect(core.try_query_qp(host, qp))),
        6 => drop(expect(core.try_destroy_qp(host, qp, later(now, random)))),
        7 => {
            let work = FabricWork {
                work_id: number(random),
                operation: FabricOperation { repr: random.below(6) as u8 },
                bytes: number(random),
                immediate: other,
                signaled: random.below(2) == 0,
            };
            expect(core.try_post_send(host, qp, &work, later(now, random)));
        }
        _ => {
            let id = number(random);
            expect(core.try_post_receive(host, qp, id, later(now, random)));
        }
    }
}

#[test]
fn random_verbs_do_not_panic() {
    let experiment = experiment(&format!("{SPREAD}[workload]\nkind = \"permutation\"\n"));
    for seed in 0..300 {
        let mut random = Stream::new(seed, Purpose::Test, 1);
        let (mut core, mut now) = (experiment.core(), 0);
        for _ in 0..60 {
            call(&mut core, &mut now, &mut random);
            let mut event = FabricMessageEvent::default();
            while core.poll_message_event(&mut event) {}
            while core.poll_touched() != NONE {}
        }
    }
}

#[test]
fn random_queue_pair_settings_do_not_panic() {
    let mut random = Stream::new(1, Purpose::Test, 2);
    let mut experiment = experiment(&format!("{SPREAD}[workload]\nkind = \"permutation\"\n"));
    for _ in 0..2_000 {
        let settings = FabricQpSettings {
            send_queue: small(&mut random),
            receive_queue: small(&mut random),
            rnr_timer_ps: number(&mut random),
            rnr_retries: small(&mut random),
            retries: small(&mut random),
        };
        expect(experiment.try_set_queue_pairs(&settings));
    }
}

#[test]
fn random_graphs_do_not_panic() {
    let mut random = Stream::new(1, Purpose::Test, 3);
    let names = ["", "a", "leaf0", "host 1", "\u{1b}[2J", "a"];
    for _ in 0..3_000 {
        let mut name = || names[random.below(6) as usize].to_owned();
        let (hosts, switches) = ([0; 3].map(|_| name()), [0; 2].map(|_| name()));
        let links = (0..random.below(6)).map(|_| {
            let mut end =
                || FabricEnd { number: small(&mut random), is_host: random.below(2) == 0 };
            let (a, b) = (end(), end());
            FabricLink { a, b, rate_bps: number(&mut random), delay_ps: number(&mut random) }
        });
        let links = links.collect();
        let graph = Graph {
            hosts: hosts[..random.below(4) as usize].to_vec(),
            switches: switches[..random.below(3) as usize].to_vec(),
            links,
            joined_ports: random.below(2) == 0,
        };
        expect(super::super::panic_guard::link_names(&graph));
        let none = Overrides::default();
        let made = super::super::panic_guard::experiment_on_graph(&graph, "", "", &none);
        if let Some(experiment) = expect(made) {
            drop(experiment.core());
        }
    }
}

#[test]
fn invalid_texts_do_not_panic() {
    use super::super::panic_guard;

    let none = Overrides::default();
    let texts = ["[topology", "\u{0}", "seed = 99999999999999999999", "[workload]\nkind = 3"];
    for text in texts {
        assert!(expect(panic_guard::experiment_of_text(text, "no-such-folder", &none)).is_none());
        assert!(expect(panic_guard::experiment_of_scenario(text, &none)).is_none());
        expect(panic_guard::graph_of(text, ""));
    }
    let policy = Overrides { policy: "no such policy".to_owned(), ..Overrides::default() };
    assert!(expect(panic_guard::experiment_of_text(SPREAD, "", &policy)).is_none());
}

#[test]
fn random_failures_during_a_run_do_not_panic() {
    let experiment = experiment(SPREAD);
    for seed in 0..200 {
        let mut random = Stream::new(seed, Purpose::Test, 4);
        let (mut core, mut now) = (experiment.core(), 0);
        for _ in 0..20 {
            let kind = ["down", "degrade", "loss", "flap", "none"][random.below(5) as usize];
            let link = ["leaf0-spine0", "leaf1-spine1", "host0-leaf0", "x"];
            let target = format!("link = \"{}\"", link[random.below(4) as usize]);
            let (at, until) = (number(&mut random) >> 20, number(&mut random) >> 20);
            let section = format!(
                "[[failure]]\n{target}\nkind = \"{kind}\"\nat = \"{at}ns\"\nuntil = \"{until}ns\"\n\
                 {}",
                ["", "factor = \"1/3\"\n", "rate = \"1/3\"\n"][random.below(3) as usize]
            );
            let (applied, now) = (small(&mut random), later(&mut now, &mut random));
            expect(core.try_add_failures(&section, applied, now));
            expect(core.try_end_failures(&target, number(&mut random), applied, now));
        }
    }
}

#[test]
fn random_nic_settings_do_not_panic() {
    use crate::world::contract::NicSettings;

    let mut random = Stream::new(1, Purpose::Test, 5);
    for _ in 0..200 {
        let mut experiment = experiment(&format!("{SPREAD}[workload]\nkind = \"permutation\"\n"));
        for _ in 0..3 {
            let keys = [
                format!("payload = \"{}B\"", number(&mut random)),
                format!("ack_every = {}", small(&mut random)),
                "recovery = \"sack\"".to_owned(),
                "congestion_control = \"rccc\"".to_owned(),
            ];
            let settings = format!("[transport]\n{}\n", keys[random.below(4) as usize]);
            let queue_pairs = FabricQpSettings {
                send_queue: random.below(3),
                receive_queue: 1,
                ..FabricQpSettings::default()
            };
            let hosts = (0..random.below(3)).map(|_| small(&mut random)).collect();
            expect(experiment.try_set_host_nics(&[NicSettings { hosts, settings, queue_pairs }]));
        }
        drop(experiment.core());
    }
}
