//! Sweeps on clusters: the scripts of `examples/sweeps` as shown in `docs/sweeps.md`.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::bench::Bench;
use crate::support::extent;

const STUDY: &str = "examples/sweeps/sizes.toml";
const SCRIPT: &str = "examples/sweeps/slurm.sh";
const MANIFEST: &str = "examples/sweeps/kubernetes-job.yaml";

/// Returns a folder with the examples, and with the results of the unsharded sweep in `whole`.
fn bench() -> Bench {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("examples/sweeps")).unwrap();
    for file in [STUDY, SCRIPT, MANIFEST] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::copy(from, bench.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let left = bench.evenkeel(&["sweep", STUDY, "--out", "whole"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    bench
}

/// Returns `PATH` with the program's folder first.
fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_evenkeel"));
    let folder = program.parent().expect("it is in a folder").display();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

/// Merges `results/sizes-0` to `-3` and compares the result with the unsharded sweep.
fn expect_merged(bench: &Bench) {
    let folders = ["0", "1", "2", "3"].map(|index| format!("results/sizes-{index}"));
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    for folder in &folders {
        let rows = bench.read(&format!("{folder}/results.csv")).lines().count() - 1;
        assert!((11..=12).contains(&rows), "{folder}: {rows} of 45 rows");
    }
    let left = bench.evenkeel(&[&["merge"], &folders[..], &["--out", "results/sizes"]].concat());
    assert_eq!(left.status, 0, "{left:?}");
    for file in ["results.csv", "study.toml"] {
        let of = |folder: &str| bench.read(&format!("{folder}/{file}"));
        assert_eq!(of("results/sizes"), of("whole"), "{file}");
    }
}

/// Returns the mean `slowdown` over the rows of a policy and a size.
fn slowdown(results: &str, policy: &str, size: &str) -> f64 {
    let mut reader = csv::Reader::from_reader(results.as_bytes());
    let names = reader.headers().expect("it has a header").clone();
    let column = names.iter().position(|name| name == "slowdown").expect("it is a column");
    let rows = reader.records().map(|row| row.expect("it is CSV"));
    let rows = rows.filter(|row| &row[1] == policy && &row[2] == size);
    let values: Vec<f64> = rows.map(|row| row[column].parse().expect("a number")).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_examples_claim_holds_and_pages_show_its_script() {
    let bench = bench();
    let results = bench.read("whole/results.csv");
    let of = |policy: &str| ["64KB", "256KB", "1024KB"].map(|it| slowdown(&results, policy, it));
    let ecmp = of("ecmp");
    assert!(ecmp.is_sorted() && (1.5..1.7).contains(&ecmp[0]), "{ecmp:?}");
    assert!((3.7..4.0).contains(&ecmp[2]), "{ecmp:?}");
    for policy in ["spray", "reps"] {
        assert!(of(policy).iter().all(|slowdown| *slowdown <= 1.2), "{policy}: {:?}", of(policy));
    }
    let page = include_str!("../../../docs/sweeps.md");
    assert!(page.contains(&bench.read(SCRIPT)), "{page}");
}

#[test]
fn the_kubernetes_job_runs_each_index_as_a_shard() {
    let bench = bench();
    let job: Value = yaml_serde::from_str(&bench.read(MANIFEST)).expect("it is YAML");
    assert_eq!(job["kind"].as_str(), Some("Job"));
    let spec = &job["spec"];
    assert_eq!(spec["completionMode"].as_str(), Some("Indexed"));
    let container = &spec["template"]["spec"]["containers"][0];
    let words = |key: &str| {
        let words = container[key].as_array().expect("it is a list").iter();
        words.map(|word| word.as_str().expect("a text").to_owned()).collect::<Vec<String>>()
    };
    let command = [words("command"), words("args")].concat();
    let completions = spec["completions"].as_i64().expect("a number");
    assert!(command[2].contains(&format!("--shards {completions} ")), "{command:?}");
    let mounts = container["volumeMounts"][0]["name"].as_str();
    assert_eq!(mounts, spec["template"]["spec"]["volumes"][0]["name"].as_str());
    assert_ne!(spec["parallelism"], Value::Null);
    for index in 0..completions {
        let mut pod = Command::new(&command[0]);
        pod.args(&command[1..]).current_dir(bench.path("")).env("PATH", path());
        let left = pod.env("JOB_COMPLETION_INDEX", index.to_string()).output().unwrap();
        assert!(left.status.success(), "{left:?}");
    }
    expect_merged(&bench);
}

/// The daemons of a single-machine Slurm cluster, stopped on drop.
struct Slurm {
    configuration: String,
    daemons: Vec<Child>,
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Returns the output of a command if it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

fn is_installed(program: &str) -> bool {
    output(Command::new("sh").args(["-c", &format!("command -v {program}")])).is_some()
}

impl Slurm {
    /// Starts the daemons in a folder and waits until the node accepts jobs.
    fn start(bench: &Bench) -> Self {
        let folder = bench.path("slurm");
        fs::create_dir_all(folder.join("state")).unwrap();
        fs::create_dir_all(folder.join("spool")).unwrap();
        let place = |name: &str| folder.join(name).display().to_string();
        let key = "umask 077; head -c 128 /dev/urandom >\"$0\"";
        assert!(output(Command::new("sh").args(["-c", key, &place("munge.key")])).is_some());
        let host = output(Command::new("hostname").arg("-s")).expect("the machine has a name");
        let user = output(Command::new("id").arg("-un")).expect("the user has a name");
        bench
            .write("slurm/slurm.conf", &configuration(&folder.display().to_string(), &host, &user));
        let mut slurm = Self { configuration: place("slurm.conf"), daemons: Vec::new() };
        let [socket, key] = ["munge.socket", "munge.key"].map(place);
        let munge = ["pid", "seed", "log"].map(|kind| place(&format!("munge.{kind}")));
        slurm.daemon(
            "munged",
            &[
                "--foreground",
                "--force",
                &format!("--socket={socket}"),
                &format!("--key-file={key}"),
                &format!("--pid-file={}", munge[0]),
                &format!("--seed-file={}", munge[1]),
                &format!("--log-file={}", munge[2]),
            ],
        );
        slurm.wait_for("munged", |_| Path::new(&socket).exists());
        slurm.daemon("slurmctld", &["-D"]);
        slurm.daemon("slurmd", &["-D", "-N", &host]);
        slurm.wait_for("the node", |slurm| {
            output(&mut slurm.command("sinfo", &["-h", "-o", "%T"])).is_some_and(|it| it == "idle")
        });
        slurm
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", &self.configuration);
        command
    }

    fn daemon(&mut self, program: &str, arguments: &[&str]) {
        let mut command = self.command(program, arguments);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap_or_else(|error| panic!("{program}: {error}")));
    }

    fn wait_for(&self, what: &str, is_there: impl Fn(&Self) -> bool) {
        for _ in 0..600 {
            if is_there(self) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("slurm: {what} is not there after a minute");
    }
}

/// Returns the configuration of a one-node cluster whose daemons need neither root nor a
/// machine-wide configuration.
fn configuration(folder: &str, host: &str, user: &str) -> String {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port is free"));
    let [of_controller, of_node] = listeners.map(|it| it.local_addr().expect("it is bound").port());
    format!(
        "ClusterName=evenkeel\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\n\
         SlurmdUser={user}\nSlurmctldPort={of_controller}\nSlurmdPort={of_node}\n\
         AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\n\
         CredType=cred/munge\nMpiDefault=none\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\n\
         SlurmdParameters=config_overrides\nStateSaveLocation={folder}/state\n\
         SlurmdSpoolDir={folder}/spool\nSlurmctldPidFile={folder}/slurmctld.pid\n\
         SlurmdPidFile={folder}/slurmd.pid\nSlurmctldLogFile={folder}/slurmctld.log\n\
         SlurmdLogFile={folder}/slurmd.log\n\
         AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\n\
         PartitionName=main Nodes=ALL Default=YES State=UP\n"
    )
}

/// Needs Debian's packages `slurm-wlm` and `munge`.
#[test]
fn a_slurm_array_of_four_merges_into_an_identical_sweep() {
    if extent::is_left_out("cli::clusters::a_slurm_array_of_four") {
        return;
    }
    let missing: Vec<&str> = ["munged", "slurmctld", "slurmd", "sbatch"]
        .into_iter()
        .filter(|program| !is_installed(program))
        .collect();
    if !missing.is_empty() {
        eprintln!("skipped: cli::clusters::a_slurm_array_of_four: {missing:?} are not installed");
        return;
    }
    let bench = bench();
    let slurm = Slurm::start(&bench);
    let mut submit = slurm.command("sbatch", &["--wait", SCRIPT]);
    submit.current_dir(bench.path("")).env("PATH", path());
    let left = submit.stdin(Stdio::null()).output().expect("sbatch starts");
    assert!(left.status.success(), "{left:?}");
    drop(slurm);
    let first = bench.read("slurm-1_0.out");
    assert!(first.starts_with("note: shard 1 of 4, by SLURM_ARRAY_TASK_ID\n"), "{first}");
    expect_merged(&bench);
}
