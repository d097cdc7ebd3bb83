//! The message about NICs that no queue pair can connect.

use crate::nic::Unlike;

/// Why two hosts cannot have a queue pair, and what would be right.
pub(super) fn unlike_text(src: u32, dst: u32, unlike: &Unlike) -> String {
    format!(
        "the NICs of host {src} and host {dst} differ in {unlike}, and no queue pair can connect \
         them: give both the same payload, header, recovery and order of delivery, or let them \
         send nothing to each other"
    )
}
