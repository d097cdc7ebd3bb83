//! Published tables of nccl-tests; `examples/reproduce/nccl.csv` has every row.
//!
//! `EVENKEEL_LONG_TESTS=1 INSTA_UPDATE=always cargo test --test integration published::nccl`
//! rewrites its last column, the time simulated today. The predictions stay as they were committed.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;

use crate::reproduce::Unobserved;
use crate::support::extent;
use evenkeel::studies::BUILT_IN;
use evenkeel::study::reproduce::{Scale, Study};
use evenkeel::units::Bytes;

const CSV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/reproduce/nccl.csv");

/// A row: table, class, operation, GPUs, bytes, three of the choice, three times, simulated.
struct Row {
    cells: Vec<String>,
}

impl Row {
    fn number(&self, column: usize) -> Option<f64> {
        self.cells[column].parse().ok()
    }

    /// Returns the name of the study's run, and the bytes.
    fn place(&self) -> (String, u64) {
        let bytes = self.number(4).expect("each row has a size");
        (format!("{}, {} GPUs", self.cells[0], self.cells[3]), bytes as u64)
    }
}

fn rows() -> (String, Vec<Row>) {
    let text = fs::read_to_string(CSV).unwrap();
    let (heading, rest) = text.split_once('\n').unwrap();
    let row = |line: &str| Row { cells: line.split(',').map(str::to_owned).collect() };
    (heading.to_owned(), rest.lines().map(row).collect())
}

/// Returns the simulated time of every run of the study, in microseconds.
fn simulated(scale: Scale) -> BTreeMap<(String, u64), String> {
    let study = Study::load("nccl", BUILT_IN, scale).unwrap_or_else(|error| panic!("{error}"));
    let (_, runs) = study.run(NonZeroUsize::new(2).unwrap(), &Unobserved).unwrap();
    let time = |run: evenkeel::study::reproduce::RunRow| {
        let bytes = run.parameters.trim_start_matches("bytes ").parse::<Bytes>().unwrap();
        let cct = run.numbers.iter().find(|(name, _)| name == "cct_ns").unwrap();
        let us = cct.1.parse::<f64>().unwrap() / 1e3;
        ((run.run, bytes.get()), format!("{us:.1}"))
    };
    runs.into_iter().map(time).collect()
}

#[test]
fn every_row_has_the_time_that_is_simulated_today() {
    if extent::is_left_out("published::nccl") {
        return;
    }
    let (heading, mut rows) = rows();
    let simulated = simulated(Scale::Paper);
    let mut found = 0;
    for row in &mut rows {
        let now = simulated.get(&row.place());
        found += usize::from(now.is_some());
        row.cells[11] = now.cloned().unwrap_or_default();
    }
    assert_eq!(found, simulated.len(), "each run of the study is a row");
    let lines = rows.iter().map(|row| row.cells.join(",") + "\n");
    let text = format!("{heading}\n{}", lines.collect::<String>());
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        fs::write(CSV, text).unwrap();
    } else {
        assert_eq!(text, fs::read_to_string(CSV).unwrap());
    }
}

#[test]
fn the_study_states_how_many_predictions_are_within_the_target() {
    let (mut counts, mut today) = ([[0, 0]; 2], [[0, 0]; 2]);
    for row in rows().1.iter().filter(|row| row.cells[1] == "P") {
        let (Some(predicted), Some(measured)) = (row.number(8), row.number(9)) else { continue };
        let off = 100.0 * (predicted / measured - 1.0);
        assert!((off - row.number(10).unwrap()).abs() < 0.01, "{:?}", row.cells);
        let large = row.place().1 >= 64 << 20;
        let target = if large { 10.0 } else { 25.0 };
        let within = off.abs() <= target;
        counts[usize::from(large)][0] += i32::from(within);
        counts[usize::from(large)][1] += 1;
        if let Some(now) = row.number(11) {
            let within = (100.0 * (now / measured - 1.0)).abs() <= target;
            today[usize::from(large)][0] += i32::from(within);
            today[usize::from(large)][1] += 1;
        }
    }
    let [small, large] = counts;
    let stated = format!(
        "Blind, {} of {} rows from 64 MiB on are within 10 %, and {} of {} below within 25 %.",
        large[0], large[1], small[0], small[1]
    );
    let study = BUILT_IN.iter().find(|(name, _)| *name == "nccl").unwrap().1;
    assert!(study.contains(&stated), "{stated}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/workloads.md");
    let page = fs::read_to_string(page).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let stated = format!(
        "Blind predictions of {} published rows: {} of {} from 64 MiB on are within 10 %, \
         and {} of {} below within 25 %; the present code, mended since, has {} of {} and {} of {}",
        small[1] + large[1],
        large[0],
        large[1],
        small[0],
        small[1],
        today[1][0],
        today[1][1],
        today[0][0],
        today[0][1]
    );
    assert!(page.contains(&stated), "{stated}");
}
