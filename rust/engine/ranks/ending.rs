//! What is left of the ranks' work at the end of a run.

use std::fmt;

use super::fault::Fault;
use super::matching::Key;

/// The number of ranks that are listed, and of lines for each.
const LISTED: usize = 8;

/// Sends or receives of one key that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// What they are of.
    pub key: Key,
    /// How many there are.
    pub count: u64,
}

impl From<(Key, u64)> for Waiting {
    fn from((key, count): (Key, u64)) -> Self {
        Self { key, count }
    }
}

/// What is left at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ending {
    /// The ranks that have not finished.
    pub unfinished: Vec<u32>,
    /// Receives whose messages have not arrived.
    pub receives: Vec<Waiting>,
    /// Messages that have not been delivered.
    pub messages: Vec<Waiting>,
    /// Messages that were delivered and that no rank has received.
    pub unreceived: Vec<Waiting>,
    /// Why the run ended, if a request could not be carried out.
    pub fault: Option<Fault>,
}

impl Ending {
    /// Sentences about messages that were sent in vain: they do not keep ranks from finishing.
    pub fn warnings(&self) -> Vec<String> {
        let of = |waiting: &Waiting, what: &str| {
            let Waiting { key: Key { src, dst, tag, bytes }, count } = waiting;
            format!("{count} of {bytes} B from rank {src} to rank {dst}, tag {tag}: {what}")
        };
        let in_vain = self.unreceived.iter().map(|it| of(it, "delivered, never received"));
        let late = self.messages.iter().map(|it| of(it, "sent, not delivered"));
        let mut all: Vec<String> =
            in_vain.chain(late).map(|it| format!("messages: {it}")).collect();
        let more = all.len().saturating_sub(LISTED);
        if more > 0 {
            all.truncate(LISTED);
            all.push(format!("messages: ... and {more} more kinds"));
        }
        all
    }
}

/// The ranks that have not finished and what they wait for, a line each.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &rank in self.unfinished.iter().take(LISTED) {
            let receives = self.receives.iter().filter(|it| it.key.dst == rank);
            let sends = self.messages.iter().filter(|it| it.key.src == rank);
            let receives = receives.map(|Waiting { key: Key { src, tag, bytes, .. }, count }| {
                format!("to receive {count} of {bytes} B from rank {src}, tag {tag}")
            });
            let sends = sends.map(|Waiting { key: Key { dst, tag, bytes, .. }, count }| {
                format!("for {count} of {bytes} B to be delivered to rank {dst}, tag {tag}")
            });
            let waits: Vec<String> = receives.chain(sends).collect();
            let shown = waits.len().min(LISTED);
            match waits.len() - shown {
                _ if waits.is_empty() => {
                    writeln!(
                        f,
                        "  rank {rank} waits for nothing in the network, and has not told the end \
                         of its work"
                    )?;
                }
                0 => writeln!(f, "  rank {rank} waits {}", waits.join("; "))?,
                more => {
                    let first = waits[..shown].join("; ");
                    writeln!(f, "  rank {rank} waits {first}; ... and {more} more")?;
                }
            }
        }
        match self.unfinished.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => writeln!(f, "  ... and {more} more ranks"),
        }
    }
}
