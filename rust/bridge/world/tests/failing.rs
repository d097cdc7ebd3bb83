//! Tests of failures: those of an experiment, and those that a program adds or ends during a run.

use super::*;
use crate::world::enumerations::FabricWitness;
use crate::world::records::FabricStep;

#[test]
fn failures_become_links_and_steps() {
    let text = format!(
        "{SPREAD}[[failure]]\nlink = \"leaf0-spine0\"\nat = \"1us\"\nuntil = \"9us\"\n\
         detection = \"2us\"\nconvergence = \"3us\"\n[[failure]]\nlink = \"leaf1-spine1\"\n\
         kind = \"degrade\"\nfactor = \"1/4\"\nat = \"5us\"\n"
    );
    let experiment = experiment(&text);
    assert_eq!(experiment.core().failing_links(), [4, 7]);
    let steps: Vec<(u64, FabricWitness, u64)> = experiment
        .core()
        .steps()
        .iter()
        .map(|step| (step.at_ps / 1_000_000, step.witness, step.rate_bps / 1_000_000_000))
        .collect();
    let (wire, ends, routing) = (FabricWitness::WIRE, FabricWitness::ENDS, FabricWitness::ROUTING);
    let expected =
        [(3, ends, 400), (4, routing, 400), (5, wire, 100), (11, ends, 400), (12, routing, 400)];
    assert_eq!(steps, expected);
}

/// Two overlapping outages of one link, a reduced rate of it, and losses on another link.
const DOWN: &str = "[[failure]]\nlink = \"leaf0-spine0\"\nat = \"10us\"\nuntil = \"30us\"\n\
                    detection = \"2us\"\nconvergence = \"5us\"\n";
const LONGER: &str = "[[failure]]\nlink = \"leaf0-spine0\"\nat = \"20us\"\nuntil = \"50us\"\n\
                      detection = \"2us\"\nconvergence = \"5us\"\n";
const SLOW: &str = "[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"degrade\"\nfactor = \"1/3\"\n\
                    at = \"22us\"\nuntil = \"40us\"\n";
const LOSSY: &str = "[[failure]]\nlink = \"leaf1-spine0\"\nkind = \"loss\"\nrate = \"1/9\"\n\
                     at = \"20us\"\n";

/// Returns the failing links of a core, its steps, and whether link 4 loses packets that are on the
/// wire for a microsecond, one every microsecond.
fn plan(core: &mut Core) -> (Vec<u32>, Vec<FabricStep>, Vec<bool>) {
    let mut links = core.failing_links();
    links.sort_unstable();
    let lost = (0..60).map(|us| core.loses(8, us * 1_000_000, (us + 1) * 1_000_000)).collect();
    (links, core.steps(), lost)
}

/// Returns the number of steps before a time, in microseconds.
fn applied(core: &Core, now: u64) -> u32 {
    core.steps().iter().filter(|step| step.at_ps < now * 1_000_000).count() as u32
}

fn add(core: &mut Core, sections: &str, now: u64) -> Result<(), ExperimentError> {
    core.add_failures(sections, applied(core, now), now * 1_000_000)
}

fn end(core: &mut Core, target: &str, [at, now]: [u64; 2]) -> Result<(), ExperimentError> {
    core.end_failures(target, at * 1_000_000, applied(core, now), now * 1_000_000)
}

#[test]
fn added_failures_equal_declared_ones() {
    let declared =
        |sections: &[&str]| plan(&mut experiment(&(SPREAD.to_owned() + &sections.concat())).core());
    let all = declared(&[DOWN, LONGER, SLOW, LOSSY]);
    for first in [&[][..], &[DOWN], &[SLOW], &[LOSSY, DOWN]] {
        let mut core = experiment(&(SPREAD.to_owned() + &first.concat())).core();
        for (now, sections) in [(9, DOWN), (13, LONGER), (19, SLOW), (20, LOSSY)] {
            if !first.contains(&sections) {
                add(&mut core, sections, now).unwrap();
            }
        }
        assert_eq!(plan(&mut core), all, "with {first:?} from the start");
    }
    // Two failures in one call, with the later one first.
    let mut core = experiment(SPREAD).core();
    add(&mut core, &(LONGER.to_owned() + LOSSY), 5).unwrap();
    add(&mut core, &(DOWN.to_owned() + SLOW), 6).unwrap();
    assert_eq!(plan(&mut core), all);
}

#[test]
fn ended_failures_equal_declared_ones_with_that_end() {
    let never =
        |text: &str| text.replace("until = \"30us\"\n", "").replace("until = \"40us\"\n", "");
    for text in [DOWN, SLOW] {
        let declared = plan(&mut experiment(&(SPREAD.to_owned() + text)).core());
        let at = if text == DOWN { 30 } else { 40 };
        for now in [25, at] {
            let mut core = experiment(&(SPREAD.to_owned() + &never(text))).core();
            end(&mut core, "link = \"leaf0-spine0\"", [at, now]).unwrap();
            assert_eq!(plan(&mut core), declared, "{text}");
        }
        // The failure has a later end, which the call brings forward.
        let later = text.replace("until = \"30us\"", "until = \"33us\"").replace("40us", "43us");
        let mut core = experiment(&(SPREAD.to_owned() + &later)).core();
        end(&mut core, "switch = \"leaf0\"", [at, 28]).unwrap();
        assert_eq!(plan(&mut core), declared, "{text}");
    }
}

#[test]
fn back_to_back_outages_stay_separate() {
    let down = DOWN.replace("2us", "0us");
    let mut core = experiment(&(SPREAD.to_owned() + &down)).core();
    // By then the ends of the link have detected that it is up again.
    let applied = core.steps().iter().filter(|step| step.at_ps <= 30_000_000).count() as u32;
    let after = down.replace("30us", "60us").replace("10us", "30us");
    core.add_failures(&after, applied, 30_000_000).unwrap();
    let at: Vec<u64> = core.steps().iter().map(|step| step.at_ps / 1_000_000).collect();
    assert_eq!(at, [10, 15, 30, 30, 35, 35, 60, 65]);
}

#[test]
fn invalid_additions_and_ends_of_failures_are_errors() {
    let mut core = experiment(&(SPREAD.to_owned() + DOWN)).core();
    let before = plan(&mut core);
    let unknown = DOWN.replace("spine0", "spine7");
    let backwards = DOWN.replace("10us", "40us");
    let one_way = DOWN.replace("at =", "from = \"leaf0\"\nat =");
    for (sections, now, reason) in [
        (DOWN, 11, "10us is in the past (now 11us)"),
        (&unknown, 1, "leaf0-spine7"),
        (&backwards, 1, "it must be later than"),
        (&one_way, 1, "fails in one direction only"),
        ("[[failure]]\n", 1, "a failure needs one of link"),
        ("nonsense", 1, "the failure"),
    ] {
        let said = add(&mut core, sections, now).unwrap_err().to_string();
        assert!(said.contains(reason), "{said}");
        assert!(!said.contains('\u{1}') && !said.contains(".toml"), "{said}");
    }
    let link = "link = \"leaf0-spine0\"";
    let nothing = "no failure of link 'leaf0-spine0' is in progress";
    for (target, times, reason) in [
        (link, [9, 9], nothing),
        (link, [10, 10], nothing),
        (link, [30, 12], nothing),
        (link, [12, 13], "12us is in the past"),
        ("link = \"leaf0-spine7\"", [12, 12], "leaf0-spine7"),
        ("switch = \"spine1\"", [12, 12], "no failure of switch 'spine1'"),
    ] {
        let said = end(&mut core, target, times).unwrap_err().to_string();
        assert!(said.contains(reason), "{said}");
    }
    assert_eq!(plan(&mut core), before, "errors change nothing");
}
