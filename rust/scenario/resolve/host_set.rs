//! `hosts = "0..16"`: which hosts take part in a piece of work, rank by rank.

use crate::ids::HostId;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::ScenarioError;

/// How a set is written, for errors.
const FORM: &str = "write numbers and ranges without their ends, separated by commas: \"0..16\", \
                    \"0,4,8\", or \"0..64/8\" for every eighth of 64";

/// The hosts that `text`, the value of `key`, names: rank 0 first. Of `count` hosts that there are.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    key: &str,
    (text, count): (&str, u32),
) -> Result<Vec<HostId>, ScenarioError> {
    let mut hosts = Vec::new();
    for item in text.split(',') {
        let Some((from, to, step)) = range(item.trim()) else {
            return Err(context.senseless_as(key, format!("\"{text}\""), FORM.to_owned()));
        };
        if from >= to || to > count {
            let right = match from >= to {
                true => format!("{item} is empty; {FORM}"),
                false => format!("the topology has {count} hosts, 0 to {}", count - 1),
            };
            return Err(context.senseless_as(key, format!("\"{text}\""), right));
        }
        hosts.extend((from..to).step_by(step as usize).map(HostId));
        // Whatever is written, a host twice is found below, and no list grows without end.
        if hosts.len() > 2 * count as usize {
            break;
        }
    }
    let mut sorted = hosts.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let right = format!("{} is in it twice; each rank needs a host of its own", pair[0]);
        return Err(context.senseless_as(key, format!("\"{text}\""), right));
    }
    Ok(hosts)
}

/// `7`, `0..16` or `0..64/8`: first, end and step, which is not zero.
fn range(item: &str) -> Option<(u32, u32, u32)> {
    let (range, step) = item.split_once('/').unwrap_or((item, "1"));
    let step = step.parse().ok().filter(|&step| step > 0)?;
    match range.split_once("..") {
        Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?, step)),
        None if item == range => {
            let host: u32 = item.parse().ok()?;
            Some((host, host.checked_add(1)?, 1))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_numbers_ranges_and_strides() {
        assert_eq!(range("7"), Some((7, 8, 1)));
        assert_eq!(range("0..16"), Some((0, 16, 1)));
        assert_eq!(range("3..64/8"), Some((3, 64, 8)));
        for wrong in ["", "a", "1..", "..2", "0..4/0", "7/2", "4294967295", "-1", "0..4..8"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
