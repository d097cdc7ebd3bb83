//! Summarises the course of a run in a bounded number of windows.

use serde::{Serialize, Serializer};

use crate::units::{Span, Time};

/// Maximum number of windows of a profile. When a run exceeds it, neighbouring windows are merged.
pub const MAX_WINDOWS: usize = 256;

/// A window of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Longest sampled queue of a recorded port in the window, in bytes.
    pub queue_bytes_max: u64,
    /// Packets that recorded hosts sent.
    pub packets: u64,
    /// Number of times the entropy value differed from the previous packet's, over all flows.
    pub entropy_changes: u64,
    /// Number of times the path differed from the previous packet's, over all flows.
    pub path_changes: u64,
    /// Maximum number of distinct entropy values of a flow in an interval.
    pub entropies_max: u64,
    /// Maximum number of distinct paths of a flow in an interval.
    pub paths_max: u64,
    /// Pauses of recorded ports that started (PFC).
    pub pauses: u64,
    /// Total time that recorded ports were paused, in picoseconds, summed over ports.
    pub paused_ps: u64,
}

impl Window {
    fn join(&mut self, other: &Self) {
        self.queue_bytes_max = self.queue_bytes_max.max(other.queue_bytes_max);
        self.packets += other.packets;
        self.entropy_changes += other.entropy_changes;
        self.path_changes += other.path_changes;
        self.entropies_max = self.entropies_max.max(other.entropies_max);
        self.paths_max = self.paths_max.max(other.paths_max);
        self.pauses += other.pauses;
        self.paused_ps += other.paused_ps;
    }
}

/// The course of a run: windows of equal length, starting at time zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    length: Span,
    windows: Vec<Window>,
}

impl Profile {
    /// Creates an empty profile. Windows have this `length` until there are too many of them.
    pub fn new(length: Span) -> Self {
        Self { length, windows: Vec::new() }
    }

    /// Returns the length of a window.
    pub fn length(&self) -> Span {
        self.length
    }

    /// Returns the windows, from the beginning of the run.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Returns the window of an interval that ends at `until`.
    pub(super) fn window(&mut self, until: Time) -> &mut Window {
        // An interval that ends at a window boundary belongs to the window before it.
        let index =
            |length: Span| (until.as_ps().saturating_sub(1) / length.as_ps().max(1)) as usize;
        while index(self.length) >= MAX_WINDOWS {
            self.merge_pairs();
        }
        let index = index(self.length);
        if self.windows.len() <= index {
            self.windows.resize(index + 1, Window::default());
        }
        &mut self.windows[index]
    }

    fn merge_pairs(&mut self) {
        self.length = self.length + self.length;
        let pairs = self.windows.chunks(2);
        self.windows = pairs
            .map(|pair| {
                let mut joined = pair[0];
                pair[1..].iter().for_each(|other| joined.join(other));
                joined
            })
            .collect();
    }
}

/// The JSON form: a list for each quantity.
#[derive(Serialize)]
struct Lists {
    window_ns: f64,
    queue_bytes_max: Vec<u64>,
    packets: Vec<u64>,
    entropies_max: Vec<u64>,
    entropy_changes: Vec<u64>,
    paths_max: Vec<u64>,
    path_changes: Vec<u64>,
    pauses: Vec<u64>,
    paused_ns: Vec<f64>,
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let list = |of: fn(&Window) -> u64| self.windows.iter().map(of).collect();
        let lists = Lists {
            window_ns: self.length.as_ns_f64(),
            queue_bytes_max: list(|window| window.queue_bytes_max),
            packets: list(|window| window.packets),
            entropies_max: list(|window| window.entropies_max),
            entropy_changes: list(|window| window.entropy_changes),
            paths_max: list(|window| window.paths_max),
            path_changes: list(|window| window.path_changes),
            pauses: list(|window| window.pauses),
            paused_ns: self.windows.iter().map(|window| window.paused_ps as f64 / 1e3).collect(),
        };
        lists.serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_merged_in_pairs_beyond_the_maximum() {
        let mut profile = Profile::new(Span::from_us(1));
        for us in 1..=1_000 {
            let window = profile.window(Time::ZERO + Span::from_us(us));
            window.packets += 1;
            window.queue_bytes_max = window.queue_bytes_max.max(us);
        }
        assert_eq!((profile.length(), profile.windows().len()), (Span::from_us(4), 250));
        assert!(profile.windows().iter().all(|window| window.packets == 4));
        assert_eq!(profile.windows()[249].queue_bytes_max, 1_000);
        let json = serde_json::to_value(&profile).unwrap();
        assert_eq!((&json["window_ns"], &json["packets"][0]), (&4e3.into(), &4.into()));
    }
}
