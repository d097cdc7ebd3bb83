//! Keys that have an effect only together with other keys.

use super::located::Key;

/// A key, whether it has an effect, and what it needs to have one.
pub(crate) struct Requirement<'a> {
    pub key: &'a Key,
    pub is_met: bool,
    pub words: &'static str,
}
