//! Twenty choices of every policy under one seed: what a change of any of them shows.

use super::sender::{Facts, Feedback, PathSpace, QpContext, SenderPolicy, Verdict};
use super::switch::{SwitchContext, View};
use super::{Parameters, presets};
use crate::ids::{HostId, SwitchId};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// Eight ports, of which port 3 is always full and the others fill as they are chosen.
struct Ports([u64; 8]);

impl View for Ports {
    fn candidates(&self) -> u32 {
        8
    }

    fn port(&self, candidate: u32) -> u32 {
        candidate
    }

    fn bytes(&mut self, candidate: u32) -> u64 {
        self.0[candidate as usize]
    }

    fn edge(&self) -> SwitchId {
        SwitchId(5)
    }

    fn pod(&self) -> u32 {
        1
    }
}

/// A packet each 100 ns, with 5 us of silence before the fifteenth; its acknowledgement comes four
/// packets later, every fifth marked, and the eleventh packet is lost.
fn of_sender(scheme: &super::Scheme) -> Vec<u16> {
    let paths = [8, 8].iter().try_fold(PathSpace::SINGLE, |paths, &n| paths.with_tier(n));
    let context = QpContext { paths: paths.unwrap(), ..QpContext::for_test() };
    let mut policy = scheme.sender.build(&context);
    let mut chosen = Vec::new();
    for n in 0..20usize {
        let silence = if n < 14 { Span::ZERO } else { Span::from_us(5) };
        let now = Time::ZERO + Span::from_ns(100) * n as u64 + silence;
        if let Some(&entropy) = n.checked_sub(4).and_then(|of: usize| chosen.get(of)) {
            let (verdict, packets, marked) = match n - 4 {
                10 => (Verdict::Nack, 0, 0),
                of if of % 5 == 4 => (Verdict::Marked, 1, 1),
                _ => (Verdict::Good, 1, 0),
            };
            let rtt = Facts::default().base_rtt;
            policy.handle_feedback(now, Feedback { entropy, verdict, packets, marked, rtt });
        }
        chosen.push(policy.entropy(now));
    }
    chosen
}

/// A packet each 20 ns from one of three hosts, all to one host below another edge switch.
fn of_switch(scheme: &super::Scheme) -> Vec<u32> {
    let mut policy = scheme.switch.build(&SwitchContext::for_test());
    let mut ports = Ports([0, 0, 0, 800_000, 0, 0, 0, 0]);
    let choose = |n: u32| {
        let now = Time::ZERO + Span::from_ns(20) * u64::from(n);
        let packet = Packet {
            src: HostId(n % 3),
            dst: HostId(40),
            label: n % 3,
            entropy: 100 + n as u16,
            wire_bytes: 4_158,
            ..Packet::default()
        };
        let choice = policy.choose(now, &packet, &mut ports);
        ports.0[choice as usize] += 4_158;
        choice
    };
    (0..20).map(choose).collect()
}

fn row<T: std::fmt::Display>(name: &str, choices: &[T]) -> String {
    let choices: Vec<String> = choices.iter().map(|choice| format!("{choice:>2}")).collect();
    format!("{name:<19}{}\n", choices.join(" "))
}

#[test]
fn twenty_choices_of_every_policy() {
    let mut senders = String::from("entropy values, the lowest six bits of each\n");
    let mut switches = String::from("ports, of eight\n");
    let (mut seen_senders, mut seen_switches) = (Vec::new(), Vec::new());
    for preset in presets() {
        let scheme = (preset.build)(&Parameters::new()).unwrap();
        if !seen_senders.contains(&scheme.sender) {
            let low: Vec<u16> = of_sender(&scheme).iter().map(|value| value % 64).collect();
            senders += &row(preset.name, &low);
            seen_senders.push(scheme.sender.clone());
        }
        if !seen_switches.contains(&scheme.switch) {
            switches += &row(preset.name, &of_switch(&scheme));
            seen_switches.push(scheme.switch.clone());
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("policy-choices", format!("{senders}\n{switches}")));
}
