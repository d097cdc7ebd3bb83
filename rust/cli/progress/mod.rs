//! Progress bars on standard error, one per run. Without a terminal, occasional lines.

mod recent;
mod terminal;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evenkeel_engine::fabric::Progress;
use evenkeel_engine::units::Span;
use evenkeel_study::report::{Identity, Stopwatch, human};
use evenkeel_study::{ComparisonRun, Observer};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;
use recent::{Recent, time_left};
use terminal::Narrow;

/// Characters of a label.
const LABEL: usize = 36;

/// Redraws per second.
const HERTZ: u8 = 20;

/// Template of a run. A message that does not fit on the line is cut.
const RUN: &str = "{prefix:<20} {bar:8} {percent:>3}% {wide_msg}";
/// Template of a run with a long label.
const LONG: &str = "{prefix:<36} {percent:>3}% {wide_msg}";
const ALL: &str = "{prefix:<20} {bar:8} {pos} of {len} runs, {elapsed} {wide_msg}";

/// Seconds between two progress lines without a terminal.
const LINES_EVERY: f64 = 30.0;

/// Bars on the terminal and whether it is closed, for a signal that ends the program.
static SHOWN: Mutex<Option<(MultiProgress, Arc<AtomicBool>)>> = Mutex::new(None);

/// Removes all bars and draws no more.
pub(super) fn remove() {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((multi, is_closed)) = shown {
        // From here on, other threads can only remove bars.
        is_closed.store(true, Ordering::Relaxed);
        // A terminal that is gone shows nothing.
        let _ = multi.clear();
        multi.set_draw_target(ProgressDrawTarget::hidden());
    }
}

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
    state: Mutex<PaceState>,
}

#[derive(Default)]
struct PaceState {
    finished: usize,
    /// Time of the last line, in seconds.
    last_line: f64,
    recent: Recent<1>,
}

impl Pace {
    /// Counts a finished run. Returns the rate and remaining time as text, and true if a line is
    /// due.
    fn finished(&self) -> (String, bool) {
        let seconds = self.since.stop().wall.as_secs_f64().max(1e-3);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.finished += 1;
        let is_due = seconds - state.last_line >= LINES_EVERY;
        if is_due {
            state.last_line = seconds;
        }
        let finished = state.finished;
        let [rate] = state.recent.rates(seconds, [finished as f64]);
        let left = time_left(self.runs.saturating_sub(finished) as f64, rate);
        let rate =
            if rate < 0.1 { format!("{:.1}/h", rate * 3600.0) } else { format!("{rate:.1}/s") };
        (joined([Some(rate), left]), is_due)
    }
}

/// Joins the parts of a line.
fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

impl Bars {
    /// Returns the bars of a command with a single run.
    pub(super) fn of_one() -> Self {
        let is_closed = Arc::default();
        let multi = MultiProgress::with_draw_target(target(&is_closed));
        let shown = Some((multi.clone(), is_closed));
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = shown;
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
        let state = Mutex::default();
        bars.pace = Some(Pace { runs: count, since: Stopwatch::start(), state });
        bars
    }

    /// Adds the bar of a run.
    pub(super) fn start(&self, label: String) -> RunBar {
        // A length of 0 would show 100 %.
        let bar = ProgressBar::new(1);
        let bar = match &self.total {
            Some(total) => self.multi.insert_before(total, bar),
            None => self.multi.add(bar),
        };
        let label = shortened(&label);
        bar.set_style(style(if label.chars().count() <= 20 { RUN } else { LONG }));
        bar.set_prefix(label.clone());
        RunBar { bar, label, lines: Arc::default(), recent: Arc::default() }
    }

    fn with_running<T>(&self, act: impl FnOnce(&mut BTreeMap<usize, RunBar>) -> T) -> T {
        act(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the label of a run's bar, such as `ethereal, seed 1`.
pub(super) fn label(identity: &Identity) -> String {
    format!("{}, seed {}", identity.policy, identity.seed)
}

/// Returns the start and the end of a label that is too long for a line. The end has the seed.
fn shortened(label: &str) -> String {
    const END: usize = 14;
    let characters: Vec<char> = label.chars().collect();
    match characters.len() {
        ..=LABEL => label.to_owned(),
        count => {
            let (start, end) = (&characters[..LABEL - END - 1], &characters[count - END..]);
            start.iter().chain(['…'].iter()).chain(end).collect()
        }
    }
}

/// Bar of a run.
#[derive(Clone)]
pub(super) struct RunBar {
    bar: ProgressBar,
    label: String,
    /// Number of lines due so far, without a terminal.
    lines: Arc<AtomicU64>,
    /// Bytes delivered and packet hops.
    recent: Arc<Mutex<Recent<2>>>,
}

impl RunBar {
    /// Shows the progress of a run: the remaining time, the simulated time and packet hops per
    /// second of wall time. Without a terminal, prints a line occasionally.
    pub(super) fn update(&self, progress: &Progress) {
        let bar = &self.bar;
        bar.set_length(progress.total_bytes);
        bar.set_position(progress.delivered_bytes);
        let seconds = bar.elapsed().as_secs_f64().max(1e-3);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let [left, at, hops] = parts(progress, seconds, &mut recent);
        if bar.is_hidden() && line_is_due(&self.lines, seconds) {
            let done = Some(format!("{:.0} %", 100.0 * done(progress)));
            output::note(&format!("{}: {}", self.label, joined([done, left.clone(), at.clone()])));
        }
        bar.set_message(joined([left, at, hops]));
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

/// Returns the parts of a run's line: `30s left`, `at 12.35us`, `1.2M hops/s`.
fn parts(progress: &Progress, seconds: f64, recent: &mut Recent<2>) -> [Option<String>; 3] {
    let counters = [progress.delivered_bytes, progress.packet_hops].map(|it| it as f64);
    let [bytes, hops] = recent.rates(seconds, counters);
    let remaining = progress.total_bytes.saturating_sub(progress.delivered_bytes) as f64;
    // The first messages say little about the rest.
    let left = time_left(remaining, bytes).filter(|_| done(progress) >= 0.01);
    let now = human::span(Span::from_ps(progress.now.as_ps()));
    [left, Some(format!("at {now}")), Some(format!("{} hops/s", human::count(hops)))]
}

/// Hides the bars unless standard error is a terminal.
fn target(is_closed: &Arc<AtomicBool>) -> ProgressDrawTarget {
    if io::stderr().is_terminal() {
        let term = Narrow::stderr(Arc::clone(is_closed));
        ProgressDrawTarget::term_like_with_hz(Box::new(term), HERTZ)
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
        remove();
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
    fn a_line_has_the_remaining_time_from_1_percent_on() {
        let line = |bytes| joined(parts(&progress(bytes), 10.0, &mut Recent::default()));
        assert_eq!(line(250), "30s left, at 0ps, 0 hops/s");
        assert_eq!(line(1_000), "0s left, at 0ps, 0 hops/s");
        assert_eq!(line(9), "at 0ps, 0 hops/s", "too early to say");
    }

    /// The widest values of each part.
    #[test]
    fn lines_fit_into_80_columns() {
        let message = joined(["59m left", "at 100.0us", "12.3M hops/s"].map(|it| Some(it.into())));
        let width = message.chars().count();
        assert!(20 + 1 + 8 + 1 + 4 + 1 + width <= 76, "{RUN}: {width}");
        assert!(LABEL + 1 + 4 + 1 + width <= 76, "{LONG}: {width}");
        let all = 20 + 1 + 8 + 1 + "100000 of 100000 runs, 59m 123.4/s, 59m left".len();
        assert!(all <= 76, "{ALL}: {all}");
        let note = format!("note: {}: 100 %, 59m left, at 100.0us", "x".repeat(LABEL));
        assert!(note.chars().count() <= 80, "{note}");
    }

    #[test]
    fn a_long_label_keeps_its_seed() {
        let label = "policy reps, frozen 100us, congestion_control dctcp, seed 12";
        assert_eq!(shortened(label), "policy reps, frozen 1…dctcp, seed 12");
        assert_eq!(shortened("ecmp, seed 1"), "ecmp, seed 1");
    }

    #[test]
    fn a_run_without_a_terminal_prints_a_line_every_30_seconds() {
        let lines = AtomicU64::default();
        let due = [1.0, 29.9, 30.0, 45.0, 59.9, 61.0, 150.0].map(|it| line_is_due(&lines, it));
        assert_eq!(due, [false, false, true, false, false, true, true]);
    }

    #[test]
    fn several_runs_show_a_rate_and_the_remaining_time() {
        let state = Mutex::default();
        let pace = Pace { runs: 3, since: Stopwatch::start(), state };
        let (line, is_due) = pace.finished();
        assert!(line.contains("/s, ") && line.ends_with(" left") && !is_due, "{line}");
        pace.finished();
        assert!(pace.finished().0.ends_with(", 0s left"));
    }
}
