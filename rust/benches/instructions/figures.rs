//! Instructions per packet-hop as committed in `instructions.toml`, and their comparison with a new
//! count.

use serde::{Deserialize, Serialize};

use crate::page::{Table, thousands};

/// Maximum relative excess over the committed figure: 3 %.
pub(crate) const TOLERANCE: f64 = 0.03;
/// Command that renews the committed figures.
pub(crate) const RENEW: &str = "cargo bench --bench instructions -- --write";

/// The figures of all lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figures {
    /// Compiler version and target of the figures.
    pub(crate) compiler: String,
    /// Figures by policy and transport.
    pub(crate) line: Vec<Figure>,
}

/// The figure of a policy with a transport.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// Policy and transport, as two cells of a table.
    pub(crate) name: String,
    /// Instructions per packet-hop.
    pub(crate) instructions: f64,
}

/// The result of a comparison.
#[derive(Debug, PartialEq)]
pub(crate) enum Finding {
    /// No line exceeds the tolerance.
    Passed,
    /// A line exceeds it, but the compiler differs from that of the committed figures.
    Warned,
    /// A line exceeds it with the same compiler.
    Failed,
}

impl Figures {
    /// Returns the table for `docs/speed.md`.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(&["policy", "transport", "instructions per packet-hop"]);
        for line in &self.line {
            table.row(format!("{} | {}", line.name, thousands(line.instructions.round() as u64)));
        }
        table
    }

    /// Compares a new count with these figures; the text says what to do.
    pub(crate) fn compare(&self, counted: &Self) -> (Finding, String) {
        let (mut above, mut below, mut text) = (false, false, String::new());
        for new in &counted.line {
            let Some(old) = self.line.iter().find(|old| old.name == new.name) else {
                text += &format!("error: {} has no committed figure\n", new.name);
                above = true;
                continue;
            };
            let change = new.instructions / old.instructions - 1.0;
            let mark = match change {
                _ if change > TOLERANCE => "above the committed figure",
                _ if change < -TOLERANCE => "below the committed figure",
                _ => "as committed",
            };
            above |= change > TOLERANCE;
            below |= change < -TOLERANCE;
            let [was, is] = [old.instructions, new.instructions];
            let (name, percent) = (&new.name, change * 100.0);
            text += &format!("{name}: {is:.1}, committed {was:.1} ({percent:+.1} %): {mark}\n");
        }
        let same = self.compiler == counted.compiler;
        let (ours, theirs) = (&counted.compiler, &self.compiler);
        if !same {
            text += &format!("warning: compiled by {ours}; the figures are from {theirs}\n");
        }
        if above || below {
            text += &format!("update the figures if the change is intended: {RENEW}\n");
        }
        let finding = match (above, same) {
            (false, _) => Finding::Passed,
            (true, false) => Finding::Warned,
            (true, true) => Finding::Failed,
        };
        (finding, text)
    }
}
