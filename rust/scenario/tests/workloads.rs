//! Workloads and jobs: their hosts, order and defaults.

use std::path::Path;

use super::parse;
use crate::workload::Workload;
use crate::{Overrides, Scenario};

#[test]
fn jobs_use_their_hosts_and_are_explained_one_by_one() {
    let text = "[[job]]\nkind = \"shift\"\nhosts = \"0..64/8\"\n\
        [[job]]\nname = \"late\"\nkind = \"permutation\"\nhosts = \"1,3,5\"\nafter = \"job0\"\n\
        start = \"2us\"\n[[job]]\nkind = \"permutation\"\nhosts = \"2,4,6,8,10,12,14,16\"\n";
    let scenario = parse(text).unwrap();
    let messages = &scenario.workload.messages;
    let pairs = messages[..8].iter().map(|it| (it.src.0, it.dst.0));
    let expected = [(0, 8), (8, 16), (16, 24), (24, 32), (32, 40), (40, 48), (48, 56), (56, 0)];
    assert_eq!(pairs.collect::<Vec<_>>(), expected);
    assert!(messages[8..11].iter().all(|it| [1, 3, 5].contains(&it.src.0)));
    let names: Vec<&str> = scenario.workload.jobs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["job0", "late", "job2"]);
    assert!(scenario.file.workload.is_none());
    let rendered = scenario.render();
    assert!(rendered.contains("[[job]]\nkind = \"permutation\"  # line 6\n"), "{rendered}");
    let again = parse(&rendered).unwrap();
    assert_eq!((&again.file, &again.workload), (&scenario.file, &scenario.workload));
    let other = scenario.with_seed(2).unwrap();
    assert_ne!(other.workload.messages[11..], messages[11..]);
    assert_eq!(other.workload.jobs, scenario.workload.jobs);
}

#[test]
fn an_existing_fabric_sends_the_typed_jobs_or_nothing() {
    let folder = Path::new("");
    let on_it = |text: &str| {
        let fabric = Scenario::topology("leaves = 2\nhosts_per_leaf = 2", "test", folder).unwrap();
        Scenario::on(fabric, text, "test", folder, &Overrides::default())
    };
    assert!(on_it("").unwrap().workload.messages.is_empty());
    let scenario =
        on_it("[[job]]\nkind = \"shift\"\n[[job]]\nkind = \"incast\"\nfan_in = 3\n").unwrap();
    let names: Vec<&str> = scenario.workload.jobs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((names, scenario.workload.messages.len()), (vec!["job0", "job1"], 4 + 3));
    let error = on_it("[[job]]\nkind = \"shift\"\nhosts = \"0..5\"").unwrap_err().to_string();
    assert!(error.starts_with("test.toml:3:9: job[0].hosts"), "{error}");
}

#[test]
fn one_job_sends_what_a_workload_sends() {
    for keys in ["", "kind = \"permutation\"\nstart_jitter = \"1us\"\nhosts = \"0..9\"\n"] {
        let [job, workload] =
            ["[job]", "workload"].map(|name| parse(&format!("[{name}]\n{keys}")).unwrap());
        assert_eq!(job.workload.jobs.len(), 1);
        let of_job = Workload { jobs: Vec::new(), ..job.workload.as_ref().clone() };
        assert_eq!(of_job, *workload.workload);
    }
}

#[test]
fn a_text_on_an_existing_fabric_sends_its_workload_or_its_jobs() {
    let on = |text: &str| {
        let topology = parse("").unwrap().topology.as_ref().clone();
        Scenario::on(topology, text, "test", Path::new(""), &Overrides::default()).unwrap()
    };
    assert_eq!(on("").messages(), 0);
    for text in ["[workload]\nkind = \"shift\"\n", "[[job]]\n[[job]]\nafter = \"job0\"\n"] {
        assert_eq!(on(text).workload, parse(text).unwrap().workload);
    }
}

#[test]
fn steps_can_follow_acknowledgements_in_workloads_and_jobs() {
    let keys = "kind = \"ring-all-reduce\"\nranks = 4\n";
    let told = "step_after = \"acknowledgement\"\n";
    let delays = |text: &str| parse(text).unwrap().workload.delays.len();
    // Five of the six steps of each rank are followed by a step of another rank.
    assert_eq!(delays(&format!("[workload]\n{keys}")), 0);
    assert_eq!(delays(&format!("[workload]\n{keys}{told}")), 20);
    assert_eq!(delays(&format!("[[job]]\n{keys}[[job]]\n{keys}{told}")), 20);
    let training = "[workload]\nkind = \"training\"\nranks = 4\ndata = 4\nlayers = 1\n";
    assert!(delays(&format!("{training}{told}")) > delays(training));
    for kind in ["permutation", "goal", "flows"] {
        let error = parse(&format!("[workload]\nkind = \"{kind}\"\n{told}")).unwrap_err();
        assert!(error.to_string().contains("step_after"), "{error}");
    }
}

#[test]
fn groups_inside_servers_without_nvlink_are_a_warning() {
    let warnings = |keys: &str, workload: &str| {
        let text = format!(
            "[topology]\nkind = \"rail-optimized\"\nrails = 4\nservers = 4\nunits = 1\n{keys}\n\
             [workload]\n{workload}\n"
        );
        let scenario = parse(&text).unwrap();
        let other = scenario.with_policy("spray").unwrap();
        let all = [&scenario, &other].map(|it| {
            let without = |warning: &&String| warning.contains("without NVLink");
            it.warnings.iter().filter(without).cloned().collect::<Vec<_>>()
        });
        assert_eq!(all[0], all[1], "whatever the policy");
        all[0].clone()
    };
    let model = "model = { layers = 1, hidden = 64, heads = 4, sequence = 16 }";
    let tensor = format!("kind = \"training\"\n{model}\ntensor = 4");
    let found = warnings("", &tensor);
    let expected = "groups of 4 ranks span GPUs of one server, and without NVLink their messages \
                    cross the fabric; write scale_up = { gpus = 4 } under [topology]";
    assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    assert!(found[0].contains("workload.tensor"), "{found:?}");
    let hierarchical = "kind = \"hierarchical-all-reduce\"\ngroup = 4";
    assert_eq!(warnings("", hierarchical).len(), 1);
    let nvlink = "scale_up = { gpus = 4 }";
    assert_eq!((warnings(nvlink, &tensor), warnings(nvlink, hierarchical)), (vec![], vec![]));
    let alone = tensor.replace("tensor = 4", "tensor = 1");
    assert!(warnings("", &alone).is_empty());
    let grouped = format!("{alone}\ngroup = 4\nalgorithms = {{ all-reduce = \"hierarchical\" }}");
    assert_eq!(warnings("", &grouped).len(), 1);
    assert!(warnings("", "kind = \"ring-all-reduce\"").is_empty());
    let text = |scale_up: &str| {
        let shape = "kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4";
        format!("[topology]\n{shape}\n{scale_up}\n[workload]\n{tensor}\n")
    };
    let without_rails = parse(&text("")).unwrap().warnings;
    let expected = "if they share a server with NVLink, write scale_up = { gpus = 4 }";
    assert!(without_rails.iter().any(|it| it.contains(expected)), "{without_rails:?}");
    assert_eq!(parse(&text(nvlink)).unwrap().warnings, [] as [&str; 0]);
    let apart = format!("{tensor}\nhosts = \"0,4,8,12\"");
    assert!(warnings("", &apart).is_empty(), "one GPU of each server");
}

#[test]
fn a_rotation_needs_several_channels_and_an_operation_without_a_root() {
    let rotated = |kind: &str, channels: u32| {
        let text = format!("[workload]\nkind = \"{kind}\"\nchannels = {channels}\nrotation = 4\n");
        parse(&text).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(rotated("all-reduce", 4), Ok(()));
    let error = rotated("all-reduce", 1).unwrap_err();
    assert!(error.contains("a single channel has a single order of ranks"), "{error}");
    for kind in ["broadcast", "reduce", "pipeline"] {
        let error = rotated(kind, 4).expect_err(kind);
        assert!(error.contains("begins or ends at one rank"), "{error}");
    }
}

#[test]
fn an_operation_takes_an_algorithm_of_its_own() {
    let text = |workload: &str| format!("[workload]\n{workload}\n");
    for operation in ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce"] {
        let scenario = parse(&text(&format!("kind = \"{operation}\""))).unwrap();
        let rated = scenario.setup().workload.operation.unwrap();
        assert_eq!(rated.name, operation);
    }
    let error = parse(&text("kind = \"reduce\"\nalgorithm = \"ring-all\"")).unwrap_err();
    assert!(error.to_string().contains("unknown algorithm 'ring-all'"), "{error}");
}

/// Two servers of four GPUs.
const SERVERS: &str = "[topology]\nkind = \"rail-optimized\"\nrails = 4\nservers = 2\nunits = 1\n\
    scale_up = { gpus = 4, cross_rail = \"relay\" }\n";

#[test]
fn nccl_fills_in_what_it_chooses_and_repeats_it() {
    let scenario = |keys: &str| parse(&format!("{SERVERS}[workload]\nkind = \"nccl\"\n{keys}"));
    let chosen = scenario("bytes = \"8B\"").unwrap();
    let rendered = chosen.render();
    for line in ["algorithm = \"tree\"", "protocol = \"ll\"", "channels = 1", "ranks = 8"] {
        assert!(rendered.contains(line), "{line}: {rendered}");
    }
    let auto = scenario("bytes = \"8B\"\nalgorithm = \"auto\"\nprotocol = \"auto\"").unwrap();
    assert_eq!(auto.workload, chosen.workload);
    assert_eq!(parse(&rendered).unwrap().workload, chosen.workload);
    let (system, run) = chosen.nccl().unwrap();
    assert_eq!((system.ranks, system.server, run.channels), (8, 4, 1));
    let error = |keys: &str| scenario(keys).unwrap_err().to_string();
    for (keys, expected) in [
        ("ranks = 6", "a server's ranks must be consecutive"),
        ("hosts = \"0,4,1,5\"", "hosts = 0,4,1,5 is invalid: a server's ranks"),
        ("operation = \"all-gather\"\nalgorithm = \"tree\"", "all-gather has no tree"),
        ("protocol = \"ll128\"\ngpu = \"ampere\"", "no algorithm with ll128"),
        ("channels = 0", "channels = 0"),
        ("operation = \"all-to-all\"\nchannels = 4", "all-to-all sends and receives"),
        ("channels = 4000000000\nalgorithm = \"tree\"", "workload.channels: "),
        ("bytes = \"0B\"", "0 bytes"),
    ] {
        let error = error(keys);
        assert!(error.contains(expected), "{keys}: {error}");
    }
    let auto = parse("[workload]\nkind = \"all-reduce\"\nalgorithm = \"auto\"").unwrap_err();
    assert!(auto.to_string().contains("kind = \"nccl\" with operation = \"all-reduce\""), "{auto}");
    // One server, and one rank of each, are clusters too.
    assert_eq!(scenario("ranks = 4").unwrap().nccl().unwrap().0.servers(), 1);
    let spread = scenario("hosts = \"0,4\"").unwrap();
    assert!(spread.workload.messages.iter().all(|it| it.src.0 % 4 == 0 && it.dst.0 % 4 == 0));
}

#[test]
fn the_end_of_a_collective_s_name_is_no_kind() {
    for kind in ["gather", "scatter", "tree-all-reduce"] {
        let error = parse(&format!("[workload]\nkind = \"{kind}\"")).unwrap_err().to_string();
        assert!(error.contains("unknown workload"), "{kind}: {error}");
    }
}
