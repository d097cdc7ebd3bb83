//! The options of the command.

use super::cases::Case;

/// The table to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Packet-hops per CPU-second compared with the yardstick.
    Yardstick,
    /// Wall time of one run on several threads.
    Threads,
    /// Curve over the number of hosts.
    Sizes,
    /// Several planes compared with as many ports in one plane.
    Planes,
}

pub(crate) struct Options {
    pub(crate) target: Target,
    pub(crate) rounds: usize,
    pub(crate) cases: Vec<Case>,
    pub(crate) is_small: bool,
    pub(crate) write: Option<String>,
}

const SMALL: Case = Case { k: 4, kib: 256 };
const LARGE: Case = Case { k: 32, kib: 2 << 10 };

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let cases = [8, 16].map(|k| Case { k, kib: 8 << 10 });
        let mut options = Self {
            target: Target::Yardstick,
            rounds: 5,
            cases: cases.to_vec(),
            is_small: false,
            write: None,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--threads" => options.target = Target::Threads,
                "--sizes" => options.target = Target::Sizes,
                "--large" => options.cases.push(LARGE),
                "--planes" => options.target = Target::Planes,
                "--small" => (options.cases, options.is_small) = (vec![SMALL], true),
                "--rounds" => {
                    let rounds = words.next().and_then(|it| it.parse().ok()).filter(|&n| n > 0);
                    options.rounds = rounds.ok_or("--rounds needs a number above 0")?;
                }
                "--write" => {
                    let path = words.next().ok_or("--write needs a page")?;
                    options.write = Some((*path).to_owned());
                }
                _ => {
                    return Err(format!(
                        "unknown option {word}; rust/benches/speed/main.rs lists them"
                    ));
                }
            }
        }
        Ok(options)
    }
}
