//! The sentence on several policies at one point.

use super::{MAX_NAMED, Measured};
use crate::page::words::{both, joined};
use crate::report::human;
use crate::results::{Standing, StandingsPoint};
use crate::study::PolicyVerdict::{self, Behind, Best, Tied, Unclear};
use crate::study::Unranked;

/// Compares the policies at one point.
pub(super) fn at_point(point: &StandingsPoint, metric: &Measured<'_>) -> String {
    let [best] = point.with(&[Best])[..] else { return listed(point, metric) };
    let seeds = match point.seeds {
        0 | 1 => String::new(),
        seeds => format!(" (median of {seeds} seeds)"),
    };
    let tied = point.with(&[Tied]);
    let median = best.median.map_or_else(String::new, |it| metric.value(it));
    let mut text = match tied.is_empty() {
        true => format!("{}, {median}{seeds}", metric.lead(&best.policy, false)),
        false => {
            let names: Vec<&str> = [best].into_iter().chain(tied).map(name).collect();
            let all = both(&names, point.policies.len());
            let what = metric.description;
            format!("{all} tie within 1 %, with a {what} of {median}{seeds}")
        }
    };
    let is_best = point.reference.as_deref() == Some(best.policy.as_str());
    let ratios = match is_best {
        true => ratios(&point.with(&[Behind]), metric),
        false => {
            let reference = point.reference.clone().unwrap_or_default();
            let others = point.policies.iter().filter(|it| it.policy != reference);
            let found = ratios(&others.collect::<Vec<_>>(), metric);
            found.map(|text| format!("{text} as {reference}"))
        }
    };
    text.extend(ratios.map(|ratios| format!("; {ratios}")));
    let unclear: Vec<&str> = point.with(&[Unclear]).into_iter().map(name).collect();
    if !unclear.is_empty() {
        let unclear = joined(&unclear);
        text += &format!("; {} seeds do not distinguish {unclear} from it", point.seeds);
    }
    text + &partial(point)
}

/// Returns the clause on policies whose runs did not all complete.
fn partial(point: &StandingsPoint) -> String {
    let partial =
        point.policies.iter().filter(|it| it.verdict.is_some_and(PolicyVerdict::is_partial));
    let clause = |it: &Standing| {
        format!(
            "; {} completed {} of {}",
            it.policy,
            it.completed,
            human::plural(it.runs as u64, "run")
        )
    };
    partial.map(clause).collect()
}

/// Returns the ratios of some policies, smallest first: `b takes 1.5×, c 2× as long`.
fn ratios(of: &[&Standing], metric: &Measured<'_>) -> Option<String> {
    let mut ratios: Vec<(f64, &str)> =
        of.iter().filter_map(|it| Some((it.ratio?.0, it.policy.as_str()))).collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (verb, end) = metric.comparison();
    let times = human::ratio;
    let text = match &ratios[..] {
        [] => return None,
        [(only, name)] => format!("{name} {verb} {}×", times(*only)),
        [(first, name), rest @ ..] if rest.len() < MAX_NAMED => {
            let rest = rest.iter().map(|(ratio, name)| format!("{name} {}×", times(*ratio)));
            let first = format!("{name} {verb} {}×", times(*first));
            joined(&[first].into_iter().chain(rest).collect::<Vec<_>>())
        }
        [(least, first), .., (most, last)] => {
            let verb = if verb == "takes" { "take" } else { "have" };
            let (least, most) = (times(*least), times(*most));
            let count = ratios.len();
            format!("the {count} others {verb} {least}× ({first}) to {most}× ({last})")
        }
    };
    Some(format!("{text} {end}"))
}

/// Lists the values of policies that are not ranked.
fn listed(point: &StandingsPoint, metric: &Measured<'_>) -> String {
    let mut values: Vec<(f64, &str)> =
        point.policies.iter().filter_map(|it| Some((it.median?, name(it)))).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let show = |(value, name): &(f64, &str)| format!("{} with {name}", metric.value(*value));
    let listed = match &values[..] {
        [] => "missing".to_owned(),
        [first, .., last] if values.len() > MAX_NAMED + 1 => {
            format!("between {} and {}", show(first), show(last))
        }
        few => joined(&few.iter().map(show).collect::<Vec<_>>()),
    };
    let why = point.unranked.map_or_else(String::new, |why| why_unranked(why, point.seeds));
    format!("the {} is {listed}{why}{}", metric.description, partial(point))
}

/// Returns the clause that says why no policy is best.
pub(super) fn why_unranked(why: Unranked, seeds: usize) -> String {
    match (why, seeds) {
        (Unranked::FewSeeds, 1) => "; one seed is too few to rank them".to_owned(),
        (Unranked::FewSeeds, _) => format!("; {seeds} seeds are too few to rank them"),
        (Unranked::Interrupted, _) => "; runs are missing, so none is best".to_owned(),
        (Unranked::Incomplete, _) => "; no policy completed all of its runs".to_owned(),
    }
}

fn name(of: &Standing) -> &str {
    &of.policy
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_study, of_text};

    const NONE: f64 = f64::INFINITY;

    #[test]
    fn the_best_policy_is_named_with_the_ratios_of_the_others() {
        let rows = [("a", 2e3), ("b", 1e3), ("c", 5e3)];
        let expected = "b has the lowest completion time, 1.020us (median of 5 seeds); a takes \
                        2.000× and c 5.000× as long.";
        assert_eq!(of_study("policy", &rows), expected);
        let rows = [("a", 2e3), ("b", 1e3), ("c", 5e3), ("d", 3e3), ("e", NONE)];
        let expected = "b has the lowest completion time, 1.020us (median of 5 seeds); a takes \
                        2.000×, d 3.000× and c 5.000× as long; e completed 0 of 5 runs.";
        assert_eq!(of_study("policy", &rows), expected);
        let rows = [("a", 2e3), ("b", 1e3), ("c", 5e3), ("d", 3e3), ("e", 4e3)];
        let others = "the 4 others take 2.000× (a) to 5.000× (c) as long.";
        assert!(of_study("policy", &rows).ends_with(others), "{}", of_study("policy", &rows));
    }

    #[test]
    fn equal_policies_tie_and_others_may_be_unclear() {
        let rows = [("a", 1e3), ("b", 1e3)];
        let expected =
            "Both a and b tie within 1 %, with a completion time of 1.020us (median of 5 seeds).";
        assert_eq!(of_study("policy", &rows), expected);
        let rows = "policy,seed,cct_ns\na,1,10\na,2,10\na,3,10\na,4,10\na,5,10\n\
                    b,1,9\nb,2,15\nb,3,15\nb,4,15\nb,5,15\n";
        let unclear = "; 5 seeds do not distinguish b from it.";
        assert!(of_text(rows).ends_with(unclear), "{}", of_text(rows));
    }

    #[test]
    fn without_a_ranking_the_values_and_the_reason_are_named() {
        let expected = "The completion time is 9.000ns with b and 10.00ns with a; one seed is too \
                        few to rank them.";
        assert_eq!(of_text("policy,seed,cct_ns\na,1,10\nb,1,9\n"), expected);
        let rows = [("a", NONE), ("b", NONE)];
        let expected = "The completion time is missing; no policy completed all of its runs; a \
                        completed 0 of 5 runs; b completed 0 of 5 runs.";
        assert_eq!(of_study("policy", &rows), expected);
    }
}
