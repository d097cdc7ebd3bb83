//! The fuzz targets as plain tests: their seeds, and random mutations of the seeds.
//!
//! `EVENKEEL_CASES` is the number of mutated inputs per target (1,000, and 100,000 with
//! `EVENKEEL_LONG_TESTS=1`). The fuzzer itself finds more: see CONTRIBUTING.md.

#[allow(unreachable_pub, reason = "for the fuzzer they are a library")]
#[path = "../fuzz/bodies/mod.rs"]
mod bodies;

use std::path::Path;

use evenkeel::rng::{Purpose, Stream};

use crate::support::extent;

/// Number of mutated inputs without `EVENKEEL_CASES`: by default, and with `EVENKEEL_LONG_TESTS=1`.
const INPUTS: [u32; 2] = [1_000, 100_000];

/// Maximum length of an input.
const LONGEST: usize = 4_096;

#[test]
fn nic() {
    fuzz("nic", bodies::nic);
}

#[test]
fn verbs() {
    fuzz("verbs", bodies::verbs);
}

#[test]
fn topology_hpcc() {
    fuzz("topology_hpcc", bodies::topology_hpcc);
}

#[test]
fn flows_hpcc() {
    fuzz("flows_hpcc", bodies::flows_hpcc);
}

#[test]
fn config_hpcc() {
    fuzz("config_hpcc", bodies::config_hpcc);
}

#[test]
fn scenario() {
    fuzz("scenario", bodies::scenario);
}

#[test]
fn chakra() {
    fuzz("chakra", bodies::chakra);
}

#[test]
fn goal() {
    fuzz("goal", bodies::goal);
}

#[test]
fn connection_matrix() {
    fuzz("connection_matrix", bodies::connection_matrix);
}

#[test]
fn simccl() {
    fuzz("simccl", bodies::simccl);
}

#[test]
fn infragraph() {
    fuzz("infragraph", bodies::infragraph);
}

#[test]
fn splitter() {
    fuzz("splitter", bodies::splitter);
}

#[test]
fn allocator() {
    fuzz("allocator", bodies::allocator);
}

#[test]
fn results() {
    fuzz("results", bodies::results);
}

#[test]
fn rails() {
    fuzz("rails", bodies::rails);
}

#[test]
fn settings() {
    fuzz("settings", bodies::settings);
}

#[test]
fn study() {
    fuzz("study", bodies::study);
}

/// Runs a target with its seeds and with mutations of them; a failure prints its input.
fn fuzz(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rust/fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).expect("each target has seeds");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> =
        paths.iter().map(|path| std::fs::read(path).expect("readable")).collect();
    seeds.iter().for_each(|seed| run(target, seed, body));
    let inputs = std::env::var("EVENKEEL_CASES").ok();
    let inputs = match inputs {
        Some(text) => text.parse().expect("EVENKEEL_CASES is a number"),
        None => INPUTS[usize::from(extent::is_long())],
    };
    let mut random = Stream::new(1, Purpose::Test, target.len() as u64);
    for _ in 0..inputs {
        let mut input = pick(&mut random, &seeds).clone();
        for _ in 0..=random.below(8) {
            mutate(&mut random, &mut input, &seeds);
        }
        input.truncate(LONGEST);
        run(target, &input, body);
    }
}

fn run(target: &str, input: &[u8], body: fn(&[u8])) {
    if std::panic::catch_unwind(|| body(input)).is_err() {
        panic!("{target} fails on this input:\n{}", input.escape_ascii());
    }
}

fn pick<'a, T>(random: &mut Stream, all: &'a [T]) -> &'a T {
    &all[random.below(u32::try_from(all.len()).expect("few")) as usize]
}

/// Returns a random position in `input`, including its end.
fn place(random: &mut Stream, input: &[u8]) -> usize {
    random.below(u32::try_from(input.len() + 1).expect("short")) as usize
}

/// Mutates the input once: changes a byte, removes or repeats a part, or inserts a part of another
/// seed.
fn mutate(random: &mut Stream, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = place(random, input);
    let end = (at + random.below(40) as usize).min(input.len());
    match random.below(6) {
        0 if at < input.len() => input[at] = random.next_u32() as u8,
        1 if at < input.len() => input[at] ^= 1 << random.below(8),
        2 => drop(input.drain(at..end)),
        3 => {
            let piece = input[at..end].to_vec();
            let to = place(random, input);
            input.splice(to..to, piece);
        }
        4 => {
            let other = pick(random, seeds);
            let from = place(random, other);
            let upto = (from + random.below(60) as usize).min(other.len());
            input.splice(at..end, other[from..upto].iter().copied());
        }
        _ => {
            let bytes: Vec<u8> = (0..random.below(30)).map(|_| random.next_u32() as u8).collect();
            input.splice(at..at, bytes);
        }
    }
}
