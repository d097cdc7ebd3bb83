//! `hosts = "0..16"`: the hosts of a workload in rank order.

use crate::ids::HostId;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::input::located::Located;

/// Notation of a set, for errors.
const FORM: &str = "use numbers and half-open ranges, separated by commas: \"0..16\", \
                    \"0,4,8\", or \"0..64/8\" for every eighth of 64";

/// Resolves `text` to hosts among the first `count`, rank 0 first.
pub(super) fn resolve(
    context: &Context<'_>,
    text: &Located<String>,
    count: u32,
) -> Result<Vec<HostId>, ScenarioError> {
    let invalid =
        |expected: String| context.invalid_as(text.key(), format!("\"{text}\""), expected);
    let mut hosts = Vec::new();
    for item in text.split(',') {
        let Some(Stride { from, to, step }) = stride(item.trim()) else {
            return Err(invalid(FORM.to_owned()));
        };
        if from >= to {
            return Err(invalid(format!("{item} is empty; {FORM}")));
        }
        if to > count {
            return Err(invalid(format!("the topology has {count} hosts, 0 to {}", count - 1)));
        }
        hosts.extend((from..to).step_by(step as usize).map(HostId));
        // Bounds the list: this many entries must contain a duplicate, which is detected below.
        if hosts.len() > 2 * count as usize {
            break;
        }
    }
    let mut sorted = hosts.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(invalid(format!("{} occurs twice; each rank needs its own host", pair[0])));
    }
    Ok(hosts)
}

/// Every `step`-th number from `from`, below `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stride {
    from: u32,
    to: u32,
    /// Distance between consecutive numbers, at least 1.
    step: u32,
}

/// Parses `7`, `0..16` or `0..64/8`.
fn stride(item: &str) -> Option<Stride> {
    let (range, step) = item.split_once('/').unwrap_or((item, "1"));
    let step = step.parse().ok().filter(|&step| step > 0)?;
    match range.split_once("..") {
        Some((from, to)) => Some(Stride { from: from.parse().ok()?, to: to.parse().ok()?, step }),
        None if item == range => {
            let host: u32 = item.parse().ok()?;
            Some(Stride { from: host, to: host.checked_add(1)?, step: 1 })
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_numbers_ranges_and_strides() {
        let read = |item| stride(item).map(|Stride { from, to, step }| [from, to, step]);
        assert_eq!(read("7"), Some([7, 8, 1]));
        assert_eq!(read("0..16"), Some([0, 16, 1]));
        assert_eq!(read("3..64/8"), Some([3, 64, 8]));
        for wrong in ["", "a", "1..", "..2", "0..4/0", "7/2", "4294967295", "-1", "0..4..8"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
