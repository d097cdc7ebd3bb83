//! The error text for NICs that no queue pair can connect.

use evenkeel_engine::nic::Mismatch;

/// Explains why two hosts cannot have a queue pair and how to fix that.
pub(super) fn mismatch_text(src: u32, dst: u32, mismatch: &Mismatch) -> String {
    format!(
        "the NICs of host {src} and host {dst} differ in {mismatch}, so no queue pair can connect \
         them: give both the same payload, header, recovery and order of delivery, or let them \
         send nothing to each other"
    )
}
