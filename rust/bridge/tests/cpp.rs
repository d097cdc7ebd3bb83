//! The C++ side of the bridge: compiles C++11 programs that include only `cpp-bridge/evenkeel.h`,
//! links them with the static library and runs them. One is, verbatim, the program that
//! `cpp-bridge/README.md` shows to forks of ns-3.

mod archive;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use evenkeel::balance::switch::hash::Hash;
use evenkeel::ids::SwitchId;

use archive::archive;

/// A program that prints the choices of three choosers and of one that reads queues, and the
/// exceptions for invalid names.
const CHOICES: &str = include_str!("cpp/choices.cc");
/// A switch of the HPCC family with markers for the lines of the page, and a program that
/// includes its header.
const SWITCH_HEADER: &str = include_str!("cpp/fork/switch-node.h");
const SWITCH: &str = include_str!("cpp/fork/switch-node.cc");
const FORK: &str = include_str!("cpp/fork/main.cc");
/// The page.
const PAGE: &str = include_str!("../../../cpp-bridge/README.md");

/// The C++ standard of the oldest forks, and all warnings.
const WARNINGS: [&str; 5] = ["-std=gnu++11", "-Wall", "-Wextra", "-Werror", "-pedantic"];

#[test]
fn a_cpp11_program_chooses_ports() {
    let Some(compiler) = compiler("a_cpp11_program_chooses_ports") else { return };
    let program = compile(&compiler, "choices", CHOICES);
    let printed = success(&Command::new(program).output().unwrap());
    let lines: Vec<&str> = printed.lines().collect();
    let [version, first, again, other, shortest, ref rejections @ ..] = lines[..] else {
        panic!("five lines and rejections expected: {printed}")
    };
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert_eq!(first, in_rust(0), "C++ must be given what the fabric's switches choose");
    assert_eq!(first, again, "the same seed and switch must choose alike");
    assert_eq!(other, in_rust(1), "the number of the switch must reach the policy");
    assert_eq!(shortest, "2 2 2 2", "queue lengths must reach the policy");
    for (rejection, reason) in
        rejections.iter().zip(["headers", "unknown key 'gapp'", "acknowledgements"])
    {
        assert!(rejection.contains(reason), "{rejection}");
    }
    assert_eq!(rejections.len(), 3, "{printed}");
}

#[test]
fn a_fork_of_ns3_takes_the_lines_that_the_page_shows() {
    let test = "a_fork_of_ns3_takes_the_lines_that_the_page_shows";
    let Some(compiler) = compiler(test) else { return };
    let blocks = code_blocks(PAGE);
    let [declaration, member, include, constructor, choice] = &blocks[..] else {
        panic!("five pieces of C++ expected on the page: {blocks:?}")
    };
    let lines: usize = blocks.iter().map(|block| block.lines().count()).sum();
    assert_eq!(lines, 11, "the page speaks of eleven lines");
    let header =
        SWITCH_HEADER.replace("// [include]\n", declaration).replace("// [member]\n", member);
    let again = choice.replace("nexthops", "nexthopsAfterFailure");
    let switch = SWITCH
        .replace("// [include]\n", include)
        .replace("// [constructor]\n", constructor)
        .replace("// [choice]\n", choice)
        .replace("// [choice after a failure]\n", &again);
    let program = fork(&compiler, &header, &switch);
    let run = |policy: &str, parameters: &str| {
        let mut command = Command::new(&program);
        command.env("EVENKEEL_POLICY", policy).env("EVENKEEL_PARAMETERS", parameters);
        command.output().unwrap()
    };
    let ports = |policy: &str| success(&run(policy, ""));
    let fails_at_8 =
        |before: &str, after: &str| format!("ports:{}{}\n", before.repeat(8), after.repeat(8));
    assert_eq!(ports(""), fails_at_8(" 6", " 6"), "unset, the fork does as it did");
    assert_eq!(ports("jsq"), fails_at_8(" 5", " 7"), "these have the shortest queues");
    let rotation = ports("switch-rr");
    let turns: Vec<&str> = rotation.split_whitespace().skip(1).collect();
    let mut first = turns[..4].to_vec();
    first.sort_unstable();
    assert_eq!(first, ["4", "5", "6", "7"], "{rotation}");
    assert!(!turns[8..].contains(&"5"), "port 5 has failed: {rotation}");
    let flow: Vec<String> = ["ecmp", "flowlet"].map(ports).into();
    for ports in &flow {
        let ports: Vec<&str> = ports.split_whitespace().skip(1).collect();
        for half in ports.chunks(8) {
            assert!(half.iter().all(|port| *port == half[0]), "a flow stays: {ports:?}");
        }
    }
    let rejected = run("ethereal", "");
    let error = String::from_utf8_lossy(&rejected.stderr).into_owned();
    assert!(!rejected.status.success() && error.contains("uses source routing"), "{error}");
    assert!(success(&run("flowlet", "gap = \"50us\"")).starts_with("ports: "));
    let mut acknowledgements = Command::new(&program);
    acknowledgements.env("EVENKEEL_POLICY", "jsq").env("EVENKEEL_ACKNOWLEDGEMENTS", "some");
    let error = acknowledgements.output().unwrap();
    let error = String::from_utf8_lossy(&error.stderr).into_owned();
    assert!(error.contains("expected policy or hash"), "{error}");
}

/// A stand-in for a fork with a configuration; writes the file of completion times.
const RUN: &str = "#!/bin/sh
    case \"$EVENKEEL_POLICY\" in
    '') echo '1 2 10000 100 1000 0 500 90'; echo '1 3 10000 100 1000 0 701 90' ;;
    spray) echo '1 2 10000 100 1000 0 600 90' ;;
    drill) echo '1 2 10000 100 1000 0 600 90'; sleep 100 ;;
    jsq) echo 'rcv 1 2 1000 0 7 0 0.5 0.1'; echo '1 2 1000 0 7 0 0.75 0.1' ;;
    *) echo \"no policy $EVENKEEL_POLICY\" >&2; exit 1 ;;
    esac >\"$1\"
    ";

#[test]
fn a_script_makes_the_table_of_a_fork() {
    if Command::new("python3").arg("--version").output().is_err() {
        let _ =
            writeln!(std::io::stderr(), "skipped: a_script_makes_the_table_of_a_fork: no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::write(place("fork.sh"), RUN).unwrap();
    let same = "1 2 10000 100 1000 0 500 90\n1 3 10000 100 1000 0 701 90\n";
    fs::write(place("same.txt"), same).unwrap();
    fs::write(place("other.txt"), "1 2 10000 100 1000 0 500 90\n").unwrap();
    let table = |policies: &str, reference: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cpp-bridge/fork-table.py");
        let mut command = Command::new("python3");
        command.arg(script).arg("--fct").arg(place("fct.txt")).args(["--policies", policies]);
        command.arg("--reference").arg(place(reference)).args(["--timeout", "5", "--", "sh"]);
        command.arg(place("fork.sh")).arg(place("fct.txt")).output().unwrap()
    };
    let printed = success(&table("spray", "same.txt"));
    assert_eq!(
        printed,
        "| `EVENKEEL_POLICY` | flows | first | mean | last |\n| --- | --- | --- | --- | --- |\n\
         | not set (the fork's own) | 2 | 500 ns | 600 ns | 701 ns |\n\
         | `spray` | 1 | 600 ns | 600 ns | 600 ns |\n"
    );
    let floodgate = success(&table("jsq", "same.txt"));
    assert!(floodgate.ends_with("| `jsq` | 1 | 750 ns | 750 ns | 750 ns |\n"), "{floodgate}");
    for (policies, reference, reason) in [
        ("reps", "same.txt", "failed: no policy reps"),
        ("spray", "other.txt", "differs from"),
        ("drill", "same.txt", "failed: ended after 5 s, with 1 flows completed"),
    ] {
        let output = table(policies, reference);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success() && printed.contains(reason), "{printed}");
    }
}

/// Builds the program of the fork with the page's flags for waf. As in a fork, only the switch
/// finds evenkeel's header.
fn fork(compiler: &str, header: &str, switch: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fork");
    fs::create_dir_all(&folder).unwrap();
    let place = |name: &str| folder.join(name);
    for (name, text) in [("switch-node.h", header), ("switch-node.cc", switch), ("main.cc", FORK)] {
        fs::write(place(name), text).unwrap();
    }
    let object = |name: &str, flags: &[String]| {
        let mut command = Command::new(compiler);
        command.args(WARNINGS).args(flags).arg("-c").arg(place(&format!("{name}.cc")));
        success(&command.arg("-o").arg(place(name)).output().unwrap());
    };
    object("switch-node", &flags("CXXFLAGS_EXTRA"));
    object("main", &[]);
    let mut command = Command::new(compiler);
    command.args(flags("LDFLAGS_EXTRA")).arg(place("switch-node")).arg(place("main"));
    success(&command.arg("-o").arg(place("program")).output().unwrap());
    place("program")
}

/// Returns the value that the page gives a waf variable, with this package's paths.
fn flags(variable: &str) -> Vec<String> {
    let start = format!("export {variable}=\"");
    let value = PAGE.split(&start).nth(1).unwrap_or_else(|| panic!("{variable} on the page"));
    let archive = archive().display().to_string();
    let words = value.split('"').next().unwrap().split(' ');
    let place = |word: &str| {
        word.replace("$EVENKEEL/target/release/libevenkeel_bridge.a", &archive)
            .replace("$EVENKEEL", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    };
    words.map(place).collect()
}

/// Returns the C++ code blocks of a page.
fn code_blocks(page: &str) -> Vec<&str> {
    let after = page.split("```cpp\n").skip(1);
    after.map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Returns the expected output of the first program for a switch, computed without the bridge.
fn in_rust(switch_id: u32) -> String {
    let hash = Hash::of(1, SwitchId(switch_id));
    let ports = (0..64).map(|entropy| hash.pick(7, entropy, 8).to_string());
    ports.collect::<Vec<_>>().join(" ")
}

/// Returns the C++ compiler; without one, prints that the test is skipped.
fn compiler(test: &str) -> Option<String> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    if Command::new(&compiler).arg("--version").output().is_ok() {
        return Some(compiler);
    }
    let _ = writeln!(std::io::stderr(), "skipped: {test}: there is no C++ compiler '{compiler}'");
    None
}

/// Builds a program, linked as by waf: the library comes before the objects.
fn compile(compiler: &str, name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join(format!("{name}.cc")), folder.join(name));
    fs::write(&source, text).unwrap();
    let output = Command::new(compiler)
        .args(WARNINGS)
        .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/../../cpp-bridge"), "-o"])
        .args([&program, Path::new("-Wl,--whole-archive"), archive()])
        .args([Path::new("-Wl,--no-whole-archive"), &source])
        .args(["-lpthread", "-ldl", "-lm"])
        .output()
        .unwrap();
    success(&output);
    program
}

fn success(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}
