//! How much of the longest tests runs: a part by default, all with `EVENKEEL_LONG_TESTS=1`.

use std::io::Write as _;

/// True if every case of every test is to run.
pub(crate) fn is_long() -> bool {
    std::env::var("EVENKEEL_LONG_TESTS").is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// The cases of a test that run: all, or by default those to keep. Says on standard error how many
/// are left out.
pub(crate) fn cases<T>(test: &str, all: Vec<T>, keep: impl Fn(&T) -> bool) -> Vec<T> {
    let count = all.len();
    let run: Vec<T> = all.into_iter().filter(|case| is_long() || keep(case)).collect();
    if run.len() < count {
        let left_out = count - run.len();
        let line = format!(
            "left out: {left_out} of {count} cases of {test}; EVENKEEL_LONG_TESTS=1 runs them\n"
        );
        // Written directly, because the test harness would capture it.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    run
}
