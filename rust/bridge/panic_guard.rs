//! Panic guard at the language boundary: turns a panic into an error, in calls that can fail.
//!
//! A panic is a bug in this library and must not unwind into C++. A call that returns an error
//! catches it, and the caller gets an exception with the panic's text. In a call that cannot fail,
//! `cxx` ends the process with that text.

use std::any::Any;
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why a call failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure<E> {
    /// The call was rejected or could not be carried out.
    Rejected(E),
    /// An internal error (a bug in evenkeel), with its text.
    InternalError(String),
}

impl<E: Display> Display for Failure<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(error) => error.fmt(f),
            Self::InternalError(text) => write!(
                f,
                "internal error in evenkeel {} (a bug, please report it): {text}; do not use this \
                 object again",
                env!("CARGO_PKG_VERSION")
            ),
        }
    }
}

/// Returns the result of a call. A panic becomes [`Failure::InternalError`].
pub(super) fn catch_panic<T, E>(call: impl FnOnce() -> Result<T, E>) -> Result<T, Failure<E>> {
    // Unwind-safe by contract: the message says that the object must not be used after a panic.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(Failure::Rejected),
        Err(payload) => Err(Failure::InternalError(text(payload.as_ref()))),
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no panic message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_text() {
        let value = 3;
        let fault = catch_panic(|| -> Result<(), String> { panic!("{value} is not even") });
        let text = fault.unwrap_err().to_string();
        assert!(
            text.contains("internal error in evenkeel") && text.contains("3 is not even"),
            "{text}"
        );
        let rejected = catch_panic(|| Err::<(), _>("no such host"));
        assert_eq!(rejected.unwrap_err().to_string(), "no such host");
        assert_eq!(catch_panic(|| Ok::<_, String>(7)), Ok(7));
    }
}
