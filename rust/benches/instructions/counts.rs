//! The runs measured by callgrind, each from its first to its last event, without set-up.

use evenkeel::fabric::{FixedWorkload, Observers, Outcome, World, drive};
use gungraun::{library_benchmark, library_benchmark_group, main};

use super::CASE;
use crate::cases::LINES;

fn world(line: usize) -> World {
    World::new(&LINES[line].setup(CASE))
}

#[library_benchmark]
#[benches::line(args = [0, 1, 2, 3, 4, 5], setup = world)]
fn hops(world: World) -> Outcome {
    drive(world, &mut FixedWorkload, Observers { watch: None, progress: &mut |_| {} })
}

library_benchmark_group!(name = lines, benchmarks = hops);
main!(library_benchmark_groups = lines);

/// Runs the program that `gungraun` generates from this module.
pub(super) fn run() {
    main();
}
