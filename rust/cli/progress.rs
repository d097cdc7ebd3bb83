//! Progress bars on standard error, one for each run, if that is a terminal.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use evenkeel::fabric::Progress;
use evenkeel::report::{Identity, Stopwatch, human};
use evenkeel::study::{ComparisonRun, Observer};
use evenkeel::units::Span;
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;

const RUN: &str = "{prefix:<22} {bar:20} {percent:>3}%  {msg}";
/// Of a run with a long label, within 80 columns.
const LONG: &str = "{prefix:<42!} {percent:>3}%  {msg}";
const ALL: &str = "{prefix:<22} {bar:20} {pos} of {len} runs, {elapsed}";
const SWEEP: &str = "{prefix:<22} {bar:20} {pos} of {len} runs, {msg}";

/// The time between two lines of progress where there is no terminal, seconds.
const LINES_EVERY: f64 = 30.0;

/// All bars of a command.
pub(super) struct Bars {
    multi: MultiProgress,
    /// Counts finished runs, if there are several.
    total: Option<ProgressBar>,
    /// The bars of the current runs, by index of the run.
    running: Mutex<BTreeMap<usize, ProgressBar>>,
    /// The rate of finished runs, of a sweep.
    pace: Option<Pace>,
}

/// How fast runs end, and when the last one will.
struct Pace {
    runs: usize,
    since: Stopwatch,
    /// Finished runs, and the time of the last line in seconds.
    state: Mutex<(usize, f64)>,
}

impl Pace {
    /// Counts a finished run; the rate and the time left in words, and whether a line is due.
    fn finished(&self) -> (String, bool) {
        let seconds = self.since.stop().wall.as_secs_f64().max(1e-3);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        let is_due = seconds - state.1 >= LINES_EVERY;
        if is_due {
            state.1 = seconds;
        }
        let left = seconds / state.0 as f64 * self.runs.saturating_sub(state.0) as f64;
        let rate = state.0 as f64 / seconds;
        let rate =
            if rate < 0.1 { format!("{:.1}/h", rate * 3600.0) } else { format!("{rate:.1}/s") };
        let left = HumanDuration(Duration::from_secs_f64(left));
        let line = format!("{rate}, {left:#} left");
        (line, is_due)
    }
}

impl Bars {
    /// The bars of a command with a single run.
    pub(super) fn of_one() -> Self {
        let multi = MultiProgress::with_draw_target(target());
        Self { multi, total: None, running: Mutex::default(), pace: None }
    }

    /// The bars of a command with `count` runs; one more bar counts finished runs.
    pub(super) fn of_many(count: usize) -> Self {
        let mut bars = Self::of_one();
        let total = bars.multi.add(ProgressBar::new(count as u64));
        total.set_style(style(ALL));
        total.set_prefix("all");
        total.tick();
        bars.total = Some(total);
        bars
    }

    /// The bars of a sweep with `count` runs to come, with their rate and the time left; a line
    /// from time to time where standard error is not a terminal.
    pub(super) fn of_sweep(count: usize) -> Self {
        let mut bars = Self::of_many(count);
        bars.pace = Some(Pace { runs: count, since: Stopwatch::start(), state: Mutex::default() });
        if let Some(total) = &bars.total {
            total.set_style(style(SWEEP));
        }
        bars
    }

    /// Adds the bar of a run.
    pub(super) fn start(&self, label: String) -> ProgressBar {
        let bar = ProgressBar::new(0);
        let bar = match &self.total {
            Some(total) => self.multi.insert_before(total, bar),
            None => self.multi.add(bar),
        };
        bar.set_style(style(if label.chars().count() <= 28 { RUN } else { LONG }));
        bar.set_prefix(label);
        bar
    }

    fn with_running<T>(&self, act: impl FnOnce(&mut BTreeMap<usize, ProgressBar>) -> T) -> T {
        act(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The label of a run's bar, such as `ethereal, seed 1`.
pub(super) fn label(identity: &Identity) -> String {
    format!("{}, seed {}", identity.policy, identity.seed)
}

/// Shows the progress of a run: bytes delivered, simulated time, packet-hops per second of wall
/// time.
pub(super) fn update(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total_bytes);
    bar.set_position(progress.delivered_bytes);
    let seconds = bar.elapsed().as_secs_f64().max(1e-3);
    let now = human::span(Span::from_ps(progress.now.as_ps()));
    let rate = human::count(progress.packet_hops as f64 / seconds);
    bar.set_message(format!("{now} simulated, {rate} hops/s"));
}

/// Bars are hidden unless standard error is a terminal.
fn target() -> ProgressDrawTarget {
    if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    style.progress_chars("=> ")
}

impl Observer for Bars {
    fn started(&self, run: ComparisonRun, identity: &Identity) {
        let bar = self.start(label(identity));
        self.with_running(|running| running.insert(run.index, bar));
    }

    fn progress(&self, run: ComparisonRun, progress: &Progress) {
        let bar = self.with_running(|running| running.get(&run.index).cloned());
        if let Some(bar) = bar {
            update(&bar, progress);
        }
    }

    fn finished(&self, run: ComparisonRun) {
        if let Some(bar) = self.with_running(|running| running.remove(&run.index)) {
            bar.finish_and_clear();
            self.multi.remove(&bar);
        }
        let Some(total) = &self.total else { return };
        total.inc(1);
        let Some(pace) = &self.pace else { return };
        let (line, is_due) = pace.finished();
        if is_due && total.is_hidden() {
            output::note(&format!("{} of {} runs, {line}", total.position(), pace.runs));
        }
        total.set_message(line);
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        if let Some(total) = &self.total {
            total.finish_and_clear();
        }
    }
}
