//! Progress on standard error, where that is a terminal: a bar a run.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};

use evenkeel::fabric::Progress;
use evenkeel::report::{Identity, human};
use evenkeel::study::{Job, Observer};
use evenkeel::units::Span;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

const RUN: &str = "{prefix:<22} {bar:20} {percent:>3}%  {msg}";
const ALL: &str = "{prefix:<22} {bar:20} {pos} of {len} runs, {elapsed}";

/// All bars of a command.
pub struct Bars {
    multi: MultiProgress,
    whole: Option<ProgressBar>,
    running: Mutex<BTreeMap<usize, ProgressBar>>,
}

impl Bars {
    /// For a single run.
    pub fn of_one() -> Self {
        let multi = MultiProgress::with_draw_target(target());
        Self { multi, whole: None, running: Mutex::default() }
    }

    /// For that many runs: one more bar counts them.
    pub fn of_many(count: usize) -> Self {
        let mut bars = Self::of_one();
        let whole = bars.multi.add(ProgressBar::new(count as u64));
        whole.set_style(style(ALL));
        whole.set_prefix("all");
        whole.tick();
        bars.whole = Some(whole);
        bars
    }

    /// A bar for a run.
    pub fn start(&self, label: String) -> ProgressBar {
        let bar = ProgressBar::new(0);
        let bar = match &self.whole {
            Some(whole) => self.multi.insert_before(whole, bar),
            None => self.multi.add(bar),
        };
        bar.set_style(style(RUN));
        bar.set_prefix(label);
        bar
    }

    fn with_running<T>(&self, act: impl FnOnce(&mut BTreeMap<usize, ProgressBar>) -> T) -> T {
        act(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// `ethereal, seed 1`.
pub fn label(identity: &Identity) -> String {
    format!("{}, seed {}", identity.policy, identity.seed)
}

/// Shows how far a run is: bytes delivered, simulated time, packet-hops a second of wall time.
pub fn update(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total_bytes);
    bar.set_position(progress.delivered_bytes);
    let seconds = bar.elapsed().as_secs_f64().max(1e-3);
    let now = human::span(Span::from_ps(progress.now.as_ps()));
    let rate = human::count(progress.packet_hops as f64 / seconds);
    bar.set_message(format!("{now} simulated, {rate} hops/s"));
}

/// Nothing is drawn unless somebody sees it.
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
    fn started(&self, job: Job, identity: &Identity) {
        let bar = self.start(label(identity));
        self.with_running(|running| running.insert(job.index, bar));
    }

    fn progress(&self, job: Job, progress: &Progress) {
        let bar = self.with_running(|running| running.get(&job.index).cloned());
        if let Some(bar) = bar {
            update(&bar, progress);
        }
    }

    fn finished(&self, job: Job) {
        if let Some(bar) = self.with_running(|running| running.remove(&job.index)) {
            bar.finish_and_clear();
            self.multi.remove(&bar);
        }
        if let Some(whole) = &self.whole {
            whole.inc(1);
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        if let Some(whole) = &self.whole {
            whole.finish_and_clear();
        }
    }
}
