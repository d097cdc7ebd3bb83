//! The extent of long tests: a part of the cases by default, all with `EVENKEEL_LONG_TESTS=1`.

use std::io::Write as _;

/// True if every case of every test is to run.
pub(crate) fn is_long() -> bool {
    std::env::var("EVENKEEL_LONG_TESTS").is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// True if a whole test is skipped, which it reports on standard error. This is for long tests that
/// run only with `EVENKEEL_LONG_TESTS=1`.
#[allow(dead_code, reason = "the tests of the fabric, which share the file, leave out cases alone")]
pub(crate) fn is_left_out(test: &str) -> bool {
    cases(test, vec![()], |()| false).is_empty()
}

/// Returns the cases of a test to run: all of them, or by default those that `keep` selects.
/// Reports on standard error how many are skipped.
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
