//! Base of reading a scenario: its text, values with keys, faults with positions, and shared
//! checks. This module depends on no section.

pub(super) mod context;
pub(super) mod document;
pub(super) mod error;
pub(super) mod located;
pub(super) mod message;
pub(super) mod overrides;
pub(super) mod position;
pub(super) mod reader;
pub(super) mod requirement;
pub(super) mod section;
pub(super) mod settings;
pub(super) mod source;
