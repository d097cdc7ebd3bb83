//! Snapshot of twenty decisions of every policy under one seed: any change of behaviour shows.

use super::sender::{Feedback, NetworkParameters, PathSignal, PathSpace, QpContext, SenderPolicy};
use super::switch::SwitchContext;
use super::test_view::Ports;
use super::{Parameters, Scheme, presets};
use crate::ids::{HostId, SwitchId};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// Returns the entropy values of twenty packets. One is sent every 100 ns, with a pause of 5 us
/// before the fifteenth. Each acknowledgement arrives four packets later; every fifth is marked.
/// The eleventh packet is lost.
fn sender_choices(scheme: &Scheme) -> Vec<u16> {
    let paths = [8, 8].iter().try_fold(PathSpace::SINGLE, |paths, &n| paths.with_tier(n));
    let context = QpContext { paths: paths.unwrap(), ..QpContext::for_test() };
    let mut policy = scheme.sender.build(&context);
    let mut chosen = Vec::new();
    for n in 0..20usize {
        let silence = if n < 14 { Span::ZERO } else { Span::from_us(5) };
        let now = Time::ZERO + Span::from_ns(100) * n as u64 + silence;
        if let Some(&entropy) = n.checked_sub(4).and_then(|of: usize| chosen.get(of)) {
            let (signal, packets, marked) = match n - 4 {
                10 => (PathSignal::Nack, 0, 0),
                of if of % 5 == 4 => (PathSignal::Marked, 1, 1),
                _ => (PathSignal::Good, 1, 0),
            };
            let rtt = NetworkParameters::default().base_rtt;
            policy.handle_feedback(now, Feedback { entropy, signal, packets, marked, rtt });
        }
        chosen.push(policy.entropy(now));
    }
    chosen
}

/// Returns the ports of twenty packets, one every 20 ns from one of three hosts. All go to one host
/// below another edge switch. Port 3 of eight is always full; the others fill as they are chosen.
fn switch_choices(scheme: &Scheme) -> Vec<u32> {
    let mut policy = scheme.switch.build(&SwitchContext::for_test());
    let queues = Ports::with_bytes(&[0, 0, 0, 800_000, 0, 0, 0, 0]);
    let mut ports = Ports { edge: SwitchId(5), pod: 1, ..queues };
    let choose = |n: u32| {
        let now = Time::ZERO + Span::from_ns(20) * u64::from(n);
        let packet = Packet {
            src: HostId(n % 3),
            dst: HostId(40),
            label: n % 3,
            entropy: 100 + n as u16,
            route: 100 + n as u16,
            wire_bytes: 4_158,
            ..Packet::default()
        };
        let choice = policy.choose(now, &packet, &mut ports);
        ports.bytes[choice as usize] += 4_158;
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
            let low: Vec<u16> = sender_choices(&scheme).iter().map(|value| value % 64).collect();
            senders += &row(preset.name, &low);
            seen_senders.push(scheme.sender.clone());
        }
        if !seen_switches.contains(&scheme.switch) {
            switches += &row(preset.name, &switch_choices(&scheme));
            seen_switches.push(scheme.switch.clone());
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("policy-choices", format!("{senders}\n{switches}")));
}
