//! The sentence on several points.

use super::point::why_unranked;
use super::{MAX_NAMED, Measured};
use crate::page::words::{joined, short};
use crate::report::human;
use crate::results::{Quantity, Standing, Standings, StandingsPoint};
use crate::study::PolicyVerdict::{self, Behind, Best, Tied, Unclear};

/// Describes how one policy's values differ between the points.
pub(super) fn extremes(of: &Standings, points: &[StandingsPoint], metric: &Measured<'_>) -> String {
    let value = |point: &StandingsPoint| Some((point.policies.first()?.median?, place(of, point)));
    let values: Vec<(f64, String)> = points.iter().filter_map(value).collect();
    let least = values.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = values.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (Some((low, at_low)), Some((high, at_high))) = (least, most) else {
        return "no run completed".to_owned();
    };
    let with = match of.policies()[..] {
        [""] | [] => String::new(),
        [policy, ..] => format!(" of {policy}"),
    };
    let what = metric.description;
    let factor =
        if *low > 0.0 { format!(", {}×", human::ratio(high / low)) } else { String::new() };
    let (low, high) = (metric.value(*low), metric.value(*high));
    format!("the {what}{with} is {low} with {at_low} and {high} with {at_high}{factor}")
}

/// Returns the labels of a point: `bytes 64KB, hosts 8`.
fn place(of: &Standings, point: &StandingsPoint) -> String {
    let pair = |(key, label): (&String, &String)| format!("{} {label}", short(key));
    of.keys.iter().zip(&point.labels).map(pair).collect::<Vec<_>>().join(", ")
}

/// Compares the policies over all points.
pub(super) fn over_points(
    of: &Standings,
    points: &[StandingsPoint],
    metric: &Measured<'_>,
) -> String {
    let ranked: Vec<&StandingsPoint> =
        points.iter().filter(|point| !point.with(&[Best]).is_empty()).collect();
    if ranked.is_empty() {
        return unranked_points(of, points, metric);
    }
    let count = |policy: &str, verdicts: &[PolicyVerdict]| {
        let is = |it: &Standing| it.verdict.is_some_and(|verdict| verdicts.contains(&verdict));
        ranked.iter().filter(|point| point.of(policy).is_some_and(is)).count()
    };
    let policies = of.policies();
    let leads = |policy: &&&str| count(policy, &[Best, Tied, Unclear]) == ranked.len();
    let leaders: Vec<&str> = policies.iter().filter(leads).copied().collect();
    let is_unclear = leaders.iter().any(|policy| count(policy, &[Unclear]) > 0);
    let is_alone = leaders.len() == 1 && count(leaders[0], &[Best]) == ranked.len();
    let at = place_of_points(of, &ranked, points.len());
    let is_plural = leaders.len() > 1;
    let or = match (is_alone, is_unclear, is_plural) {
        (true, ..) => "",
        (false, true, true) => ", or are indistinguishable from it,",
        (false, true, false) => ", or is indistinguishable from it,",
        (false, false, true) => ", or tie with it,",
        (false, false, false) => ", or ties with it,",
    };
    let text = match leaders.len() {
        0 => {
            let mut wins: Vec<(usize, &str)> =
                policies.iter().map(|it| (count(it, &[Best, Tied, Unclear]), *it)).collect();
            wins.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            let wins = wins.iter().filter(|(count, _)| *count > 0).take(MAX_NAMED + 1);
            let wins: Vec<String> = wins.map(|(count, it)| format!("{it} at {count}")).collect();
            let none = metric.lead("no policy", false);
            format!("{none} everywhere: {} of {} points", joined(&wins), ranked.len())
        }
        count if count == policies.len() => {
            format!("no policy has a clearly better {} than another at {at}", metric.description)
        }
        _ => format!("{}{or} at {at}", metric.lead(&joined(&leaders), is_plural)),
    };
    let others = policies.iter().filter(|it| !leaders.is_empty() && !leaders.contains(it));
    let unclear = others.map(|it| (count(it, &[Unclear]), *it));
    let unclear = unclear.filter(|(count, _)| 2 * count >= ranked.len());
    let unclear: Vec<String> = unclear.map(|(count, it)| format!("{it} at {count}")).collect();
    let unclear = match unclear.is_empty() {
        true => String::new(),
        false => format!("; seeds do not distinguish {} from the best", joined(&unclear)),
    };
    text + &ranges(of, &ranked, metric) + &unclear + &failed_points(of, points)
}

/// Returns the clause with the range of ratios of each policy that is behind at some point.
fn ranges(of: &Standings, points: &[&StandingsPoint], metric: &Measured<'_>) -> String {
    let (verb, end) = metric.comparison();
    let policies = of.policies();
    let range = |policy| {
        let behind = points.iter().filter_map(|point| point.of(policy));
        let behind = behind.filter(|it| it.verdict == Some(Behind));
        let ratios: Vec<f64> = behind.filter_map(|it| Some(it.ratio?.0)).collect();
        let low = ratios.iter().copied().reduce(f64::min)?;
        let high = ratios.iter().copied().reduce(f64::max)?;
        Some((high, low, policy, ratios.len()))
    };
    let mut ranges: Vec<(f64, f64, &str, usize)> = policies.into_iter().filter_map(range).collect();
    ranges.sort_by(|a, b| b.0.total_cmp(&a.0));
    let times = |(high, low, _, count): &(f64, f64, &str, usize)| {
        let (low, high) = (human::ratio(*low), human::ratio(*high));
        match *count < points.len() {
            true => format!("up to {high}×"),
            false if low == high => format!("{high}×"),
            false => format!("{low}× to {high}×"),
        }
    };
    let Some((first, others)) = ranges.split_first() else { return String::new() };
    let first = format!("{} {verb} {} {end}", first.2, times(first));
    let others = others.iter().take(MAX_NAMED - 1).map(|it| format!("{} {}", it.2, times(it)));
    let shown: Vec<String> = [first].into_iter().chain(others).collect();
    format!("; {}", joined(&shown))
}

/// Returns the clause on points at which a policy did not complete all its runs.
fn failed_points(of: &Standings, points: &[StandingsPoint]) -> String {
    let clause = |policy: &&str| {
        let partial = points.iter().filter_map(|point| point.of(policy));
        let partial = partial.filter(|it| it.verdict.is_some_and(PolicyVerdict::is_partial));
        let count = partial.count();
        (count > 0).then(|| {
            let (points, policy) = (human::plural(count as u64, "point"), *policy);
            format!("; {policy} did not complete all runs at {points}")
        })
    };
    of.policies().iter().filter_map(clause).collect()
}

/// Describes points without a best policy.
fn unranked_points(of: &Standings, points: &[StandingsPoint], metric: &Measured<'_>) -> String {
    let mut values: Vec<(f64, &str, &StandingsPoint)> = Vec::new();
    for point in points {
        let of_point = point.policies.iter();
        values.extend(of_point.filter_map(|it| Some((it.median?, it.policy.as_str(), point))));
    }
    let least = values.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = values.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(least), Some(most)) = (least, most) else { return "no run completed".to_owned() };
    let show = |(value, policy, point): &(f64, &str, &StandingsPoint)| {
        format!("{} ({policy}, {})", metric.value(*value), place(of, point))
    };
    let first = points.iter().find_map(|point| Some((point.unranked?, point.seeds)));
    let why = first.map_or_else(String::new, |(why, seeds)| why_unranked(why, seeds));
    format!(
        "the {} is from {} to {}{why}{}",
        metric.description,
        show(least),
        show(most),
        failed_points(of, points)
    )
}

/// Returns the words for the points: `all 3 values of workload.bytes (64KB to 1MB)`.
fn place_of_points(of: &Standings, ranked: &[&StandingsPoint], all: usize) -> String {
    let count = match ranked.len() == all {
        true if all == 2 => "both".to_owned(),
        true => format!("all {all}"),
        false => format!("{} of {all}", ranked.len()),
    };
    let [key] = &of.keys[..] else {
        return format!("{count} combinations of {}", joined(&of.keys));
    };
    let labels: Vec<&str> = ranked.iter().map(|point| point.labels[0].as_str()).collect();
    let are_numbers = labels.iter().all(|label| Quantity::parse(label).is_some());
    match &labels[..] {
        [first, .., last] if are_numbers => {
            format!("{count} values of {key} ({first} to {last})")
        }
        _ => format!("{count} values of {key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_study, of_text};

    #[test]
    fn a_policy_that_leads_everywhere_is_named_with_the_ranges_of_the_others() {
        let rows = [("a,64KB", 1e3), ("a,1MB", 9e3), ("b,64KB", 2e3), ("b,1MB", 30e3)];
        let expected = "a has the lowest completion time at both values of workload.bytes (64KB \
                        to 1MB); b takes 2.000× to 3.333× as long.";
        assert_eq!(of_study("policy,workload.bytes", &rows), expected);
        let rows = [("a,64KB", 1e3), ("a,1MB", 9e3), ("b,64KB", 1e3), ("b,1MB", 30e3)];
        let expected = "a has the lowest completion time at both values of workload.bytes (64KB \
                        to 1MB); b takes up to 3.333× as long.";
        assert_eq!(of_study("policy,workload.bytes", &rows), expected);
        let rows = [("a,64KB", 1e3), ("a,1MB", 9e3), ("b,64KB", 1e3), ("b,1MB", 9e3)];
        let rows = [&rows[..], &[("c,64KB", 2e3), ("c,1MB", 27e3)]].concat();
        let expected = "a and b have the lowest completion time, or tie with it, at both values \
                        of workload.bytes (64KB to 1MB); c takes 2.000× to 3.000× as long.";
        assert_eq!(of_study("policy,workload.bytes", &rows), expected);
    }

    #[test]
    fn a_policy_that_may_be_as_good_is_named() {
        let mut text = "policy,workload.bytes,seed,cct_ns\n".to_owned();
        for bytes in ["64KB", "1MB"] {
            for seed in 1..=5 {
                let other = if seed == 1 { 8 } else { 20 };
                text += &format!("a,{bytes},{seed},10\nb,{bytes},{seed},{other}\n");
                text += &format!("c,{bytes},{seed},30\n");
            }
        }
        let expected = "a and b have the lowest completion time, or are indistinguishable from \
                        it, at both values of workload.bytes (64KB to 1MB); c takes 3.000× as \
                        long.";
        assert_eq!(of_text(&text), expected);
        let behind = text.replace("b,1MB,1,8", "b,1MB,1,20");
        let expected = "a has the lowest completion time at both values of workload.bytes (64KB \
                        to 1MB); c takes 3.000× as long and b up to 2.000×; seeds do not \
                        distinguish b at 1 from the best.";
        assert_eq!(of_text(&behind), expected);
    }

    #[test]
    fn without_such_a_policy_the_points_are_counted() {
        let rows = [("a,64KB", 1e3), ("a,1MB", 9e3), ("b,64KB", 2e3), ("b,1MB", 6e3)];
        let expected = "No policy has the lowest completion time everywhere: a at 1 and b at 1 of \
                        2 points; b takes up to 2.000× as long and a up to 1.500×.";
        assert_eq!(of_study("policy,workload.bytes", &rows), expected);
    }
}
