//! Unfinished work of the ranks at the end of a run.

use std::fmt;

use super::fault::Fault;
use super::matching::Key;

/// Maximum number of ranks listed, and of items listed for each.
const LISTED: usize = 8;

/// Pending sends or receives of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Key of the sends or receives.
    pub key: Key,
    /// Number of them.
    pub count: u64,
}

impl From<(Key, u64)> for Waiting {
    fn from((key, count): (Key, u64)) -> Self {
        Self { key, count }
    }
}

/// Unfinished work at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ending {
    /// Ranks that have not finished.
    pub unfinished: Vec<u32>,
    /// Receives whose messages have not arrived.
    pub receives: Vec<Waiting>,
    /// Messages that have not been delivered.
    pub messages: Vec<Waiting>,
    /// Delivered messages that no rank has received.
    pub unreceived: Vec<Waiting>,
    /// Reason why the run ended, if a request could not be carried out.
    pub fault: Option<Fault>,
}

impl Ending {
    /// Returns warnings about messages that were sent in vain. They do not keep ranks from
    /// finishing.
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

/// One line for each unfinished rank, with everything it waits for.
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
                        "  rank {rank} waits for nothing in the network and has not reported \
                         completion"
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
