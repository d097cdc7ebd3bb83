//! Progress bars on standard error, one per run. Without a terminal, occasional lines.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evenkeel_engine::fabric::Progress;
use evenkeel_engine::units::Span;
use evenkeel_study::report::{Identity, Stopwatch, human};
use evenkeel_study::{ComparisonRun, Observer};
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;

const RUN: &str = "{prefix:<22} {bar:20} {percent:>3}%  {msg}";
/// Template for a run with a long label, within 80 columns.
const LONG: &str = "{prefix:<42!} {percent:>3}%  {msg}";
const ALL: &str = "{prefix:<22} {bar:20} {pos} of {len} runs, {elapsed} {msg}";

/// Seconds between two progress lines without a terminal.
const LINES_EVERY: f64 = 30.0;

/// Bars of a command.
pub(super) struct Bars {
    multi: MultiProgress,
    /// Bar that counts finished runs, if there are several.
    total: Option<ProgressBar>,
    /// Bars of the current runs, by run index.
    running: Mutex<BTreeMap<usize, RunBar>>,
    /// Rate of finished runs in a sweep.
    pace: Option<Pace>,
}

/// Rate of finished runs and estimate of the end.
struct Pace {
    runs: usize,
    since: Stopwatch,
    /// Number of finished runs, and the time of the last line in seconds.
    state: Mutex<(usize, f64)>,
}

impl Pace {
    /// Counts a finished run. Returns the rate and remaining time as text, and true if a line is
    /// due.
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
    /// Returns the bars of a command with a single run.
    pub(super) fn of_one() -> Self {
        let multi = MultiProgress::with_draw_target(target());
        Self { multi, total: None, running: Mutex::default(), pace: None }
    }

    /// Returns the bars of a command with `count` runs. An additional bar shows the finished runs,
    /// their rate and the remaining time. Without a terminal, lines are printed occasionally.
    pub(super) fn of_many(count: usize) -> Self {
        let mut bars = Self::of_one();
        let total = bars.multi.add(ProgressBar::new(count as u64));
        total.set_style(style(ALL));
        total.set_prefix("all");
        total.tick();
        // Refreshes the elapsed time between finished runs.
        total.enable_steady_tick(Duration::from_secs(1));
        bars.total = Some(total);
        bars.pace = Some(Pace { runs: count, since: Stopwatch::start(), state: Mutex::default() });
        bars
    }

    /// Removes the bars, to make room for a message.
    pub(super) fn clear(&self) {
        // A terminal that is gone shows nothing.
        let _ = self.multi.clear();
    }

    /// Adds the bar of a run.
    pub(super) fn start(&self, label: String) -> RunBar {
        let bar = ProgressBar::new(0);
        let bar = match &self.total {
            Some(total) => self.multi.insert_before(total, bar),
            None => self.multi.add(bar),
        };
        bar.set_style(style(if label.chars().count() <= 28 { RUN } else { LONG }));
        bar.set_prefix(label.clone());
        RunBar { bar, label, lines: Arc::default() }
    }

    fn with_running<T>(&self, act: impl FnOnce(&mut BTreeMap<usize, RunBar>) -> T) -> T {
        act(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the label of a run's bar, such as `ethereal, seed 1`.
pub(super) fn label(identity: &Identity) -> String {
    format!("{}, seed {}", identity.policy, identity.seed)
}

/// Bar of a run.
#[derive(Clone)]
pub(super) struct RunBar {
    bar: ProgressBar,
    label: String,
    /// Number of lines due so far, without a terminal.
    lines: Arc<AtomicU64>,
}

impl RunBar {
    /// Shows the progress of a run: bytes delivered, simulated time, packet hops per second of wall
    /// time, and the remaining time. Without a terminal, prints a line occasionally.
    pub(super) fn update(&self, progress: &Progress) {
        let bar = &self.bar;
        bar.set_length(progress.total_bytes);
        bar.set_position(progress.delivered_bytes);
        let seconds = bar.elapsed().as_secs_f64().max(1e-3);
        let now = human::span(Span::from_ps(progress.now.as_ps()));
        let rate = human::count(progress.packet_hops as f64 / seconds);
        let left =
            time_left(progress, seconds).map_or_else(String::new, |left| format!(", {left}"));
        let line = format!("{now} simulated, {rate} hops/s{left}");
        if bar.is_hidden() && line_is_due(&self.lines, seconds) {
            let percent = 100.0 * done(progress);
            output::note(&format!("{}: {percent:.0} % of bytes delivered, {line}", self.label));
        }
        bar.set_message(line);
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// True if a line is due after `seconds`; `lines` counts those due before.
fn line_is_due(lines: &AtomicU64, seconds: f64) -> bool {
    let due = (seconds / LINES_EVERY) as u64;
    lines.fetch_max(due, Ordering::Relaxed) < due
}

/// Returns the fraction of bytes delivered.
fn done(progress: &Progress) -> f64 {
    progress.delivered_bytes as f64 / progress.total_bytes.max(1) as f64
}

/// Estimates the remaining time from the rate so far; `None` before 1 % of the bytes.
fn time_left(progress: &Progress, seconds: f64) -> Option<String> {
    let done = done(progress);
    let left = Duration::from_secs_f64(seconds * (1.0 - done).max(0.0) / done.max(0.01));
    (done >= 0.01).then(|| format!("{:#} left", HumanDuration(left)))
}

/// Hides the bars unless standard error is a terminal.
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
            bar.update(progress);
        }
    }

    fn finished(&self, run: ComparisonRun) {
        if let Some(bar) = self.with_running(|running| running.remove(&run.index)) {
            bar.end();
            self.multi.remove(&bar.bar);
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

#[cfg(test)]
mod tests {
    use evenkeel_engine::units::Time;

    use super::*;

    fn progress(delivered_bytes: u64) -> Progress {
        Progress {
            now: Time::ZERO,
            completed: 0,
            messages: 1,
            delivered_bytes,
            total_bytes: 1_000,
            packet_hops: 0,
        }
    }

    #[test]
    fn the_remaining_time_follows_from_the_rate_so_far() {
        assert_eq!(time_left(&progress(250), 10.0).as_deref(), Some("30s left"));
        assert_eq!(time_left(&progress(1_000), 10.0).as_deref(), Some("0s left"));
        assert_eq!(time_left(&progress(9), 10.0), None, "too early to say");
    }

    #[test]
    fn a_run_without_a_terminal_prints_a_line_every_30_seconds() {
        let lines = AtomicU64::default();
        let due = [1.0, 29.9, 30.0, 45.0, 59.9, 61.0, 150.0].map(|it| line_is_due(&lines, it));
        assert_eq!(due, [false, false, true, false, false, true, true]);
    }

    #[test]
    fn several_runs_show_a_rate_and_the_remaining_time() {
        let pace = Pace { runs: 3, since: Stopwatch::start(), state: Mutex::default() };
        let (line, is_due) = pace.finished();
        assert!(line.contains("/s, ") && line.ends_with(" left") && !is_due, "{line}");
        pace.finished();
        assert!(pace.finished().0.ends_with(", 0s left"));
    }
}
