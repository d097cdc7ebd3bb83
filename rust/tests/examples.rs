//! The claims of the examples, and tests that need fabrics of realistic size. Each scenario runs as
//! a user would run it, policy by policy.

use std::path::Path;

use evenkeel::fabric::{self, Outcome, Verdict};
use evenkeel::report::JobSummary;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;
use evenkeel::units::{Span, Time};

use crate::support::extent;

/// Runs an example under a policy; returns its scenario and outcome.
fn run(example: &str, policy: &str) -> (Scenario, Outcome) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
    let overrides = Overrides { policy: Some(policy.to_owned()), ..Overrides::default() };
    let scenario = Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let outcome = fabric::run(&scenario.setup(), &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed, "{example} under {policy}");
    (scenario, outcome)
}

/// Returns the completion time in nanoseconds and its ratio to the lower bound.
fn cct(example: &str, policy: &str) -> (f64, f64) {
    let (scenario, outcome) = run(example, policy);
    let cct = outcome.cct.expect("it completed").as_ns_f64();
    let slowdown = cct / lower_bound(&scenario.setup()).time.as_ns_f64();
    assert!(slowdown >= 1.0, "{example} under {policy} beats the bound: {slowdown}");
    (cct, slowdown)
}

/// Returns the completion time in nanoseconds under a seed.
fn seeded(example: &str, policy: &str, seed: u64) -> f64 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
    let overrides =
        Overrides { policy: Some(policy.to_owned()), seed: Some(seed), ..Overrides::default() };
    let scenario = Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let outcome = fabric::run(&scenario.setup(), &mut |_| {});
    outcome.cct.expect("it completed").as_ns_f64()
}

#[test]
fn all_to_all_256_ethereal_is_within_a_hundredth_of_spray_and_ecmp_is_slower_than_both() {
    if extent::is_left_out("examples::all_to_all_256") {
        return;
    }
    let [(ecmp, _), (spray, _), (ethereal, slowdown)] =
        ["ecmp", "spray", "ethereal"].map(|policy| cct("all-to-all-256.toml", policy));
    assert!(ethereal <= 1.01 * spray, "{ethereal} against {spray}");
    assert!(ecmp >= 1.08 * spray.max(ethereal), "{ecmp} is not clearly slower than {spray}");
    assert!(slowdown < 1.03, "{slowdown}");
}

#[test]
fn on_rails_ecmp_meets_the_bound_and_only_traffic_between_units_crosses_a_spine() {
    let (scenario, outcome) = run("rail-optimized.toml", "ecmp");
    let bound = lower_bound(&scenario.setup()).time.as_ns_f64();
    let cct = outcome.cct.expect("it completed").as_ns_f64();
    assert!(cct < 1.01 * bound, "{cct} against {bound}");
    // Only the last server of each unit sends out of it.
    let wired = scenario.topology.links().iter().zip(outcome.link_bytes.chunks(2));
    let fabric = wired.skip(scenario.topology.host_count() as usize);
    let carried: u64 = fabric.map(|(_, bytes)| bytes[0].get() + bytes[1].get()).sum();
    let data = 16 * 2 * (4 << 20) / 4_096 * (4_096 + 62);
    let with_acks = 16 * 2 * (4 << 20) / 4_096 * (4_096 + 62 + 64);
    assert!((data..=with_acks).contains(&carried), "{carried} {data} {with_acks}");
}

#[test]
fn relabelling_shortens_the_longest_flow_and_splitting_does_more() {
    if extent::is_left_out("examples::relabelling") {
        return;
    }
    let [ecmp, plb, subflow] = ["ecmp", "plb", "subflow-8"].map(|policy| {
        let seeds = [1, 2, 3];
        seeds.map(|seed| seeded("relabelling.toml", policy, seed)).iter().sum::<f64>() / 3.0
    });
    assert!(plb < 0.95 * ecmp && subflow < 0.8 * plb, "{ecmp} {plb} {subflow}");
}

#[test]
fn flowlets_leave_a_failed_path_and_ecmp_waits_for_the_repair() {
    let [ecmp, flowlet] = ["ecmp", "flowlet"].map(|policy| cct("flowlets.toml", policy).0);
    let (timeout, repair) = (100e3, 10e6);
    assert!(ecmp >= repair, "{ecmp}");
    assert!((timeout..4.0 * timeout).contains(&flowlet), "{flowlet}");
}

#[test]
fn leaf_switches_leave_a_failed_path_and_ecmp_waits_for_the_repair() {
    // The policy's parameters are those of `letflow`; ecmp has no gap.
    let ecmp = altered("letflow.toml", "ecmp", &[("gap = \"50us\"", "")]).1.cct.unwrap();
    let letflow = cct("letflow.toml", "letflow").0;
    let (timeout, repair) = (100e3, 10e6);
    assert!(ecmp.as_ns_f64() >= repair, "{ecmp:?}");
    assert!((timeout..10.0 * timeout).contains(&letflow), "{letflow}");
}

#[test]
fn mp_rdma_acknowledgements_steer_around_slow_links() {
    let [own, spray] = ["mp-rdma", "spray"].map(|policy| cct("mp-rdma.toml", policy).0);
    assert!(own < 0.55 * spray, "{own} {spray}");
}

#[test]
fn host_rotation_has_almost_no_queues() {
    let (_, host_dr) = run("host-rotation.toml", "host-dr");
    let (_, spray) = run("host-rotation.toml", "spray");
    let packets = |outcome: &Outcome| outcome.queue_bytes_max.get() / 4_158;
    assert!(packets(&host_dr) <= 8 && packets(&spray) >= 60, "{host_dr:?} {spray:?}");
    assert!(host_dr.cct < spray.cct);
}

#[test]
fn subflows_multiply_queue_pairs() {
    // 255 peers with 8 queue pairs each; sending and receiving together give the "more than 4,000"
    // of Ethereal's MP-RDMA-8.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/all-to-all-256.toml");
    let overrides = Overrides { policy: Some("subflow-8".into()), ..Overrides::default() };
    let mut setup = Scenario::load(&path, &overrides).unwrap().setup();
    setup.time_limit = Time::ZERO + Span::from_us(1);
    let outcome = fabric::run(&setup, &mut |_| {});
    assert_eq!((outcome.qps.per_nic_max, outcome.qps.extra_per_nic_max), (255 * 8, 255 * 7));
    assert_eq!(outcome.qp_accounts[0].opened, 4_080);
}

#[test]
fn a_flapping_link_costs_ethereal_one_timeout_and_others_several() {
    let [ecmp, spray, ethereal] =
        ["ecmp", "spray", "ethereal"].map(|policy| cct("flapping-link.toml", policy));
    let timeout = 200e3;
    assert!(ethereal.0 < ethereal.0 / ethereal.1 + timeout, "{ethereal:?}");
    assert!(spray.0 > ethereal.0 + 3.0 * timeout, "{spray:?}");
    assert!(ecmp.0 > ethereal.0 + 10.0 * timeout, "{ecmp:?}");
}

#[test]
fn conga_staggered_has_a_shorter_mean_completion_time_than_ecmp() {
    let [ecmp, conga] = ["ecmp", "conga"].map(|policy| {
        let (_, outcome) = run("conga-staggered.toml", policy);
        outcome.message_fct.iter().map(|fct| fct.as_ns_f64()).sum::<f64>()
    });
    assert!(conga < 0.97 * ecmp, "{conga} against {ecmp}");
}

#[test]
fn idle_path_takes_exactly_the_time_of_the_closed_form() {
    for policy in ["ecmp", "spray", "ethereal"] {
        let (scenario, outcome) = run("idle-path.toml", policy);
        assert_eq!(outcome.cct, Some(lower_bound(&scenario.setup()).time), "{policy}");
    }
}

#[test]
fn lossless_incast_loses_nothing_and_is_limited_by_the_last_link() {
    let (scenario, outcome) = run("lossless-incast.toml", "ecmp");
    assert!(outcome.counters.pfc_pauses > 0);
    assert_eq!((outcome.counters.dropped, outcome.counters.retransmitted), (0, 0));
    let bound = lower_bound(&scenario.setup()).time.as_ns_f64();
    let lossless = outcome.cct.expect("it completed").as_ns_f64();
    assert!(lossless < 1.01 * bound, "{lossless} ns for {bound}");
    let mut setup = scenario.setup();
    setup.fabric.switch.pfc = None;
    let lossy = fabric::run(&setup, &mut |_| {});
    assert!(lossy.counters.dropped > 0);
    assert!(lossy.cct.expect("it completed").as_ns_f64() > 1.2 * lossless);
}

#[test]
fn credit_flow_control_loses_nothing_and_is_limited_by_the_last_link() {
    let (scenario, outcome) = run("credit-flow-control.toml", "ecmp");
    let counters = outcome.counters;
    assert_eq!((counters.dropped, counters.retransmitted, counters.pfc_pauses), (0, 0, 0));
    let bound = lower_bound(&scenario.setup()).time.as_ns_f64();
    let lossless = outcome.cct.expect("it completed").as_ns_f64();
    assert!(lossless < 1.01 * bound, "{lossless} ns for {bound}");
    let off = [("cbfc = { memory = \"200KB\" }", "buffer = \"200KB\"")];
    let (_, lossy) = altered("credit-flow-control.toml", "ecmp", &off);
    assert!(lossy.counters.dropped > 0 && lossy.cct > outcome.cct, "{:?}", lossy.cct);
}

#[test]
fn receiver_credit_queues_only_in_the_first_round_trip() {
    let (scenario, outcome) = run("receiver-credit.toml", "spray");
    assert_eq!((outcome.counters.dropped, outcome.counters.retransmitted), (0, 0));
    let bound = lower_bound(&scenario.setup()).time.as_ns_f64();
    let cct = outcome.cct.expect("it completed").as_ns_f64();
    assert!(cct < 1.03 * bound, "{cct} ns for {bound}");
    // 16 senders have 1.5 bandwidth-delay products in flight each, which is less than they send.
    let (queue, all) = (outcome.queue_bytes_max.get(), 16 * 4_000_000);
    assert!(queue < all / 8, "{queue}");
    let (_, ahead) = altered("receiver-credit.toml", "spray", &[("\"rccc\"", "\"line-rate\"")]);
    assert!(ahead.queue_bytes_max.get() > 5 * queue, "{}", ahead.queue_bytes_max);
}

#[test]
fn a_loss_costs_rod_the_whole_flight_and_rudi_one_packet() {
    let (_, rod) = run("delivery-modes.toml", "spray");
    let (_, rudi) = altered("delivery-modes.toml", "spray", &[("\"rod\"", "\"rudi\"")]);
    assert!(rod.counters.dropped > 0 && rudi.counters.dropped > 0);
    // One retransmission for each lost packet and each lost response.
    let lost = rudi.counters.dropped + rudi.counters.control_dropped;
    assert_eq!(rudi.counters.retransmitted, lost);
    assert!(rod.counters.retransmitted > 20 * rod.counters.dropped, "{:?}", rod.counters);
    assert!(rudi.counters.out_of_order > 0);
}

#[test]
fn hpcc_incast_has_a_short_queue_at_nearly_the_same_throughput() {
    let (_, hpcc) = run("hpcc-incast.toml", "ecmp");
    let control = [("\"hpcc\"", "\"dcqcn-mlx\""), ("preset = \"simulator\", max_stage = 5", "")];
    let (_, dcqcn) = altered("hpcc-incast.toml", "ecmp", &control);
    let (short, long) = (hpcc.queue_bytes_max.get(), dcqcn.queue_bytes_max.get());
    assert_eq!((hpcc.counters.dropped, dcqcn.counters.dropped), (0, 0));
    assert!(20 * short < long, "{short} against {long}");
    let [hpcc, dcqcn] = [hpcc, dcqcn].map(|it| it.cct.expect("it completed").as_ns_f64());
    assert!(hpcc < 1.05 * dcqcn, "{hpcc} against {dcqcn}");
}

#[test]
fn link_level_retry_leaves_nothing_to_retransmit() {
    let (_, with) = run("link-level-retry.toml", "ecmp");
    let (_, without) = altered("link-level-retry.toml", "ecmp", &[("llr = { replays = 255 }", "")]);
    assert_eq!((with.counters.dropped, with.counters.retransmitted), (0, 0));
    assert!(without.counters.retransmitted > 100, "{}", without.counters.retransmitted);
}

#[test]
fn incast_32_is_limited_by_the_last_link_under_every_policy() {
    for policy in ["ecmp", "spray", "ethereal"] {
        let (_, slowdown) = cct("incast-32.toml", policy);
        assert!(slowdown < 1.03, "{policy}: {slowdown}");
    }
}

#[test]
fn ofan_permutation_has_the_published_bound_and_ethereal_is_close_to_it() {
    let (scenario, _) = run("ofan-permutation.toml", "ethereal");
    // The paper counts a gap of 200 ps after the last packet.
    assert_eq!(lower_bound(&scenario.setup()).time.as_ps(), 17_056_940 - 200);
    let (_, ethereal) = cct("ofan-permutation.toml", "ethereal");
    let (_, spray) = cct("ofan-permutation.toml", "spray");
    assert!(ethereal < 1.05 && spray < 1.2, "{ethereal} {spray}");
}

#[test]
fn permutation_1024_orders_the_policies() {
    if extent::is_left_out("examples::permutation_1024") {
        return;
    }
    let [(ecmp, _), (spray, _), (ethereal, _)] =
        ["ecmp", "spray", "ethereal"].map(|policy| cct("permutation-1024.toml", policy));
    assert!(ethereal < spray && spray < ecmp / 2.0, "{ethereal} {spray} {ecmp}");
}

/// Runs an example under a policy, with some of its text replaced.
fn altered(example: &str, policy: &str, changes: &[(&str, &str)]) -> (Scenario, Outcome) {
    let scenario = parsed(example, policy, changes);
    let outcome = fabric::run(&scenario.setup(), &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed, "{example} under {policy}");
    (scenario, outcome)
}

fn parsed(example: &str, policy: &str, changes: &[(&str, &str)]) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut text = std::fs::read_to_string(folder.join(example)).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{example} has no '{from}'");
        text = text.replace(from, to);
    }
    let overrides = Overrides { policy: Some(policy.to_owned()), ..Overrides::default() };
    let scenario = Scenario::parse(&text, "altered", &folder, &overrides);
    scenario.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the completion time of each job in nanoseconds.
fn jobs((scenario, outcome): &(Scenario, Outcome)) -> Vec<f64> {
    let jobs = JobSummary::of(outcome, &scenario.workload);
    jobs.iter().map(|job| job.cct_ns.expect("it completed")).collect()
}

#[test]
fn two_jobs_collide_under_ecmp_but_not_under_ethereal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let text = std::fs::read_to_string(folder.join("two-jobs.toml")).unwrap();
    let parts: Vec<&str> = text.split("[[job]]").collect();
    let slower = |policy: &str| {
        let overrides = Overrides { policy: Some(policy.to_owned()), ..Overrides::default() };
        let alone = |place: usize| {
            let text = format!("{}[[job]]{}", parts[0], parts[place + 1]);
            let scenario = Scenario::parse(&text, "alone", &folder, &overrides).unwrap();
            fabric::run(&scenario.setup(), &mut |_| {}).cct.expect("it completed").as_ns_f64()
        };
        let both = jobs(&run("two-jobs.toml", policy));
        [0, 1].map(|place| both[place] / alone(place))
    };
    let ecmp = slower("ecmp");
    assert!(ecmp[1] > 1.15 && ecmp[0] > 1.005, "{ecmp:?}");
    let ethereal = slower("ethereal");
    assert!(ethereal.iter().all(|it| (0.99..1.01).contains(it)), "{ethereal:?}");
}

#[test]
fn a_strict_class_shields_an_all_reduce() {
    let of = |changes: &[(&str, &str)]| jobs(&altered("traffic-classes.toml", "spray", changes))[0];
    let (strict, one) = (of(&[]), of(&[("class = \"latency\"", "class = \"bulk\"")]));
    let alone = of(&[("bytes = \"8MB\"", "bytes = \"1B\"")]);
    assert!((1.0..1.03).contains(&(strict / alone)), "{strict} for {alone}");
    assert!((1.8..2.1).contains(&(one / alone)), "{one} for {alone}");
}

#[test]
fn spraying_an_all_to_all_also_speeds_up_the_ordered_all_reduce() {
    let mixed = jobs(&altered("mixed-policies.toml", "ecmp", &[]));
    let ordered = jobs(&altered("mixed-policies.toml", "ecmp", &[("policy = \"reps\"", "")]));
    assert!(mixed[0] < 0.95 * ordered[0] && mixed[1] < 0.9 * ordered[1], "{mixed:?} {ordered:?}");
}

#[test]
fn combined_parallelisms_are_slower_only_under_ecmp() {
    let [ecmp, spray, ethereal] =
        ["ecmp", "spray", "ethereal"].map(|policy| cct("parallelisms.toml", policy).0);
    assert!(ecmp > 1.5 * ethereal, "{ecmp} for {ethereal}");
    assert!((ethereal / spray - 1.0).abs() < 0.03, "{ethereal} for {spray}");
}

#[test]
fn fsdp_flow_lengths_follow_from_llamas_layers() {
    let models = [("llama-3-8b", 104), ("llama-3-70b", 408), ("llama-3-405b", 1_520)];
    for (model, packets) in models {
        // With 16 hosts, flows are 64 times as long as with 1,024.
        let changes = [("k = 16", "k = 4"), ("llama-3-8b\"", &format!("{model}\""))];
        let scenario = parsed("fsdp-llama-3.toml", "ofan", &changes);
        let messages = &scenario.workload.messages;
        assert_eq!(messages.len(), 3 * 16 * 15);
        for message in messages {
            let found = message.bytes.get() as f64 / 64.0 / 4_096.0;
            assert_eq!(found.round() as u64, packets, "{model}");
        }
    }
}

#[test]
fn fsdp_with_short_layers_is_slower_under_ecmp_than_under_ofan() {
    // A layer with 1/64 of the 8B model's parameters, on 1/64 of the hosts, has flows of equal
    // length.
    let table = "model = { layers = 1, hidden = 512, ffn = 1792, heads = 4, kv_heads = 1, \
                 family = \"llama\", sequence = 8192 }";
    let changes =
        [("k = 16", "k = 4"), ("model = \"llama-3-8b\"", table), ("layers = 1      ", "#")];
    let [ecmp, ofan] = ["ecmp", "ofan"].map(|policy| {
        let (scenario, outcome) = altered("fsdp-llama-3.toml", policy, &changes);
        let longest = scenario.workload.messages.iter().map(|it| it.bytes.get()).max().unwrap();
        assert_eq!((longest as f64 / 4_096.0).round() as u64, 104);
        let bound = lower_bound(&scenario.setup()).time.as_ns_f64();
        outcome.cct.unwrap().as_ns_f64() / bound
    });
    assert!(ecmp > 1.07 * ofan && ofan < 1.1, "{ecmp} {ofan}");
}

#[test]
fn a_gpt_step_is_slower_only_under_ecmp() {
    if extent::is_left_out("examples::gpt_step") {
        return;
    }
    let whole = parsed("gpt-step.toml", "ethereal", &[]);
    let blocks = &whole.workload.jobs[0];
    let bytes = whole.workload.messages[blocks.messages.clone()].iter().map(|it| it.bytes.get());
    // Four direct all-reduces among 256 ranks: each block goes to 255 ranks and comes back from as
    // many.
    assert_eq!(bytes.sum::<u64>(), 4 * 2 * 255 * 6_291_456);
    let changes = [
        ("leaves = 16", "leaves = 4"),
        ("spines = 16", "spines = 4"),
        ("hosts_per_leaf = 16", "hosts_per_leaf = 4"),
        ("tensor = 256", "tensor = 16"),
        ("576454656B", "36028416B"),
        ("288227328B", "18014208B"),
    ];
    let [ecmp, spray, ethereal] = ["ecmp", "spray", "ethereal"].map(|policy| {
        let (_, outcome) = altered("gpt-step.toml", policy, &changes);
        outcome.cct.unwrap().as_ns_f64()
    });
    assert!((ethereal / spray - 1.0).abs() < 0.01, "{ethereal} for {spray}");
    assert!(ecmp > 1.4 * ethereal, "{ecmp} for {ethereal}");
}

#[test]
fn moe_64_ends_with_collectives_of_gigabytes() {
    use evenkeel::training::TrafficClass;
    let scenario = parsed("moe-64.toml", "ethereal", &[]);
    // All bytes of a final collective over the 64 GPUs: each sends all but its own share.
    let sent = |class: TrafficClass, parts: f64| {
        let messages = scenario.workload.messages.iter();
        let of_class = messages.filter(|it| TrafficClass::of_stream(it.stream) == Some(class));
        let sum: u64 = of_class.map(|it| it.bytes.get()).sum();
        (sum as f64 / 64.0 * parts / (parts - 1.0) / 1e7).round() / 100.0
    };
    assert_eq!(sent(TrafficClass::ExpertGradients, 8.0), 4.3);
    assert_eq!(sent(TrafficClass::Gradients, 64.0), 1.08);
    assert_eq!(sent(TrafficClass::ExpertParameters, 8.0), 2.15);
    assert_eq!(sent(TrafficClass::Parameters, 64.0), 0.54);
    // Two all-to-alls per layer and pass, of 67 MB each.
    assert_eq!(sent(TrafficClass::Expert, 8.0), 1.07);
}

#[test]
fn ring_all_reduce_is_about_the_same_for_all() {
    let times = ["ecmp", "spray", "ethereal"].map(|policy| cct("ring-all-reduce.toml", policy).0);
    let (least, most) = times.iter().fold((f64::MAX, 0f64), |(a, b), &t| (a.min(t), b.max(t)));
    assert!(most < 1.02 * least, "{times:?}");
}

#[test]
fn under_mrc_a_host_survives_a_dead_port_without_affecting_others() {
    let (scenario, outcome) = run("multi-plane.toml", "mrc");
    let bound = lower_bound(&scenario.setup()).time.as_ns_f64();
    let mut fct: Vec<f64> = outcome.message_fct.iter().map(|fct| fct.as_ns_f64()).collect();
    fct.sort_by(f64::total_cmp);
    let (median, slowest) = (fct[fct.len() / 2], fct[fct.len() - 1]);
    assert!(median < 1.1 * bound, "{median} against {bound}");
    assert!((1.25 * bound..2.0 * bound).contains(&slowest), "{slowest} against {bound}");
    // After the detection, nothing is sent by the dead port.
    let dead = scenario.topology.link_named("host0-p1-leaf0").expect("it is the one that fails");
    let port = scenario.topology.planes().ports_of(evenkeel::ids::HostId(0))[1];
    assert_eq!(port.link(), dead);
    let most = 200e9 / 8.0 * 160e-6;
    assert!((outcome.link_bytes[port.index()].get() as f64) < most);
}

#[test]
fn queue_pairs_over_two_planes_take_less_than_half_the_time_of_those_in_one() {
    let [jsq, ecmp] = ["plane-jsq", "ecmp"].map(|policy| cct("plane-jsq.toml", policy).0);
    assert!(jsq < 0.5 * ecmp, "{jsq} against {ecmp}");
}

#[test]
fn the_network_of_astra_sim_has_eight_hosts_and_no_messages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cpp-bridge/astra-sim/network.toml");
    let scenario = Scenario::load_without_messages(&path, &Overrides::default()).unwrap();
    assert_eq!((scenario.topology.host_count(), scenario.messages()), (8, 0));
    assert!(scenario.warnings.is_empty());
}
