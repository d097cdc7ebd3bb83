//! The C++ side of the bridge: C++11 programs that include only `cpp-bridge/evenkeel.h` are
//! compiled, linked with the static library and run. One is what `cpp-bridge/README.md` shows to
//! forks of ns-3, word for word.

#[cfg(not(feature = "bridge"))]
#[test]
fn cpp11_programs() {
    use std::io::Write as _;
    // Written directly, because the test harness would capture it.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: cpp11_programs: built without the bridge feature; \
         cargo test --features bridge runs them"
    );
}

#[cfg(feature = "bridge")]
mod with_bridge {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};
    use std::{env, fs};

    use evenkeel::balance::switch::hash::Hash;
    use evenkeel::ids::SwitchId;

    use crate::support::newest_archive;

    /// Choices of three choosers, of one that reads queues, and the exceptions for invalid names.
    const CHOICES: &str = include_str!("bridge/choices.cc");
    /// A switch of the HPCC family, with markers for the lines of the page.
    const FORK: &str = include_str!("bridge/fork.cc");
    /// The page.
    const PAGE: &str = include_str!("../../cpp-bridge/README.md");

    #[test]
    fn a_cpp11_program_chooses_ports() {
        let Some(compiler) = compiler("a_cpp11_program_chooses_ports") else { return };
        let program = compile(&compiler, "choices", CHOICES);
        let printed = success(&Command::new(program).output().unwrap());
        let lines: Vec<&str> = printed.lines().collect();
        let [version, first, again, other, shortest, ref refusals @ ..] = lines[..] else {
            panic!("five lines and refusals expected: {printed}")
        };
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        assert_eq!(first, in_rust(0), "C++ must be given what the fabric's switches choose");
        assert_eq!(first, again, "the same seed and switch must choose alike");
        assert_eq!(other, in_rust(1), "the number of the switch must reach the policy");
        assert_eq!(shortest, "2 2 2 2", "queue lengths must reach the policy");
        for (refusal, reason) in
            refusals.iter().zip(["headers", "unknown field `gapp`", "acknowledgements"])
        {
            assert!(refusal.contains(reason), "{refusal}");
        }
        assert_eq!(refusals.len(), 3, "{printed}");
    }

    #[test]
    fn a_fork_of_ns3_takes_the_lines_that_the_page_shows() {
        let test = "a_fork_of_ns3_takes_the_lines_that_the_page_shows";
        let Some(compiler) = compiler(test) else { return };
        let blocks = code_blocks(PAGE);
        let [include, member, constructor, choice] = &blocks[..] else {
            panic!("four pieces of C++ expected on the page: {blocks:?}")
        };
        let lines: usize = blocks.iter().map(|block| block.lines().count()).sum();
        assert_eq!(lines, 9, "the page speaks of nine lines");
        let source = FORK
            .replace("// [include]\n", include)
            .replace("// [member]\n", member)
            .replace("// [constructor]\n", constructor)
            .replace("// [choice]\n", choice);
        let program = compile(&compiler, "fork", &source);
        let run = |policy: &str, parameters: &str| {
            let mut command = Command::new(&program);
            command.env("EVENKEEL_POLICY", policy).env("EVENKEEL_PARAMETERS", parameters);
            command.output().unwrap()
        };
        let ports = |policy: &str| success(&run(policy, ""));
        assert_eq!(ports(""), "ports: 6 6 6 6 6 6 6 6\n", "unset, the fork does as it did");
        assert_eq!(ports("jsq"), "ports: 5 5 5 5 5 5 5 5\n", "port 5 has the shortest queue");
        let rotation = ports("switch-rr");
        let mut turns: Vec<&str> = rotation.split_whitespace().skip(1).take(4).collect();
        turns.sort_unstable();
        assert_eq!(turns, ["4", "5", "6", "7"], "{rotation}");
        let flow: Vec<String> = ["ecmp", "flowlet"].map(ports).into();
        for ports in &flow {
            let ports: Vec<&str> = ports.split_whitespace().skip(1).collect();
            assert!(ports.iter().all(|port| *port == ports[0]), "a flow stays: {ports:?}");
        }
        let refused = run("ethereal", "");
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && error.contains("routes at the source"), "{error}");
        assert!(success(&run("flowlet", "gap = \"50us\"")).starts_with("ports: "));
    }

    /// The pieces of C++ on a page.
    fn code_blocks(page: &str) -> Vec<&str> {
        let after = page.split("```cpp\n").skip(1);
        after.map(|rest| rest.split("```").next().unwrap()).collect()
    }

    /// The expected output of the first program for a switch, computed without the bridge.
    fn in_rust(switch_id: u32) -> String {
        let hash = Hash::of(1, SwitchId(switch_id));
        let ports = (0..64).map(|entropy| hash.pick(7, entropy, 8).to_string());
        ports.collect::<Vec<_>>().join(" ")
    }

    /// The C++ compiler; without one, prints that the test is skipped.
    fn compiler(test: &str) -> Option<String> {
        let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        if Command::new(&compiler).arg("--version").output().is_ok() {
            return Some(compiler);
        }
        let _ =
            writeln!(std::io::stderr(), "skipped: {test}: there is no C++ compiler '{compiler}'");
        None
    }

    /// The program, compiled as the oldest ns-3 forks are and with the same warnings on; linked
    /// as waf does it, with the library before the objects.
    fn compile(compiler: &str, name: &str, text: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (source, program) = (folder.join(format!("{name}.cc")), folder.join(name));
        fs::write(&source, text).unwrap();
        let output = Command::new(compiler)
            .args(["-std=gnu++11", "-Wall", "-Wextra", "-Werror", "-pedantic"])
            .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/cpp-bridge"), "-o"])
            .args([
                &program,
                Path::new("-Wl,--whole-archive"),
                &newest_archive("evenkeel$contract$cxxbridge1"),
            ])
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
}
