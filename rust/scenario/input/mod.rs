//! What every part of reading a scenario builds on: its text, values that know their key, faults
//! and where they are, and the checks that sections share. Nothing here knows a section.

pub(super) mod context;
pub(super) mod error;
pub(super) mod located;
pub(super) mod message;
pub(super) mod overrides;
pub(super) mod position;
pub(super) mod reader;
pub(super) mod section;
pub(super) mod source;
