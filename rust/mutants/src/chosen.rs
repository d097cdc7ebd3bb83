//! Which mutant is on. Compiled into the mutated crate, as its module `mutation`.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The environment has not been read yet.
const UNREAD: u32 = u32::MAX;
/// All are off, and those that are reached are written down.
const RECORD: u32 = u32::MAX - 1;

static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicBool; 1 << 14] = [const { AtomicBool::new(false) }; 1 << 14];

/// Whether this mutant is on: the one whose number `EVENKEEL_MUTANT` has.
#[inline]
pub(crate) fn on(mutant: u32) -> bool {
    let chosen = CHOSEN.load(Ordering::Relaxed);
    if chosen < RECORD { chosen == mutant } else { reached(mutant, chosen) }
}

/// The first call of all, or a call while what is reached is written down: each number once, to the
/// file that `EVENKEEL_MUTANTS_REACHED` names.
#[cold]
#[inline(never)]
fn reached(mutant: u32, chosen: u32) -> bool {
    if chosen == UNREAD {
        let text = std::env::var("EVENKEEL_MUTANT").unwrap_or_default();
        let chosen = if text == "record" { RECORD } else { text.parse().unwrap_or(0) };
        CHOSEN.store(chosen, Ordering::Relaxed);
        return on(mutant);
    }
    let reached = &REACHED[mutant as usize];
    if !reached.load(Ordering::Relaxed)
        && !reached.swap(true, Ordering::Relaxed)
        && let Some(path) = std::env::var_os("EVENKEEL_MUTANTS_REACHED")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        // One write: several processes append to one file.
        file.write_all(format!("{mutant}\n").as_bytes()).ok();
    }
    false
}
