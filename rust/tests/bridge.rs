//! The C++ side of the bridge: a C++11 program that knows nothing but `cpp-bridge/evenkeel.h` is
//! compiled, linked with the static library and run.

#[cfg(not(feature = "bridge"))]
#[test]
fn a_cpp11_program_chooses_ports() {
    use std::io::Write as _;
    // Written past the test harness, which would keep it to itself.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: a_cpp11_program_chooses_ports: built without the bridge feature; \
         cargo test --features bridge runs it"
    );
}

#[cfg(feature = "bridge")]
mod with_bridge {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::{env, fs};

    use evenkeel::balance::switch::hash::Hash;
    use evenkeel::ids::SwitchId;

    /// Prints the version, the ports of 64 entropy values, those of a second chooser of another
    /// switch, and what a policy that needs more throws.
    const PROGRAM: &str = r#"
#include "evenkeel.h"
#include <iostream>
#include <stdexcept>

static void print(evenkeel::SwitchChooser chooser)
{
    for (int entropy = 0; entropy < 64; entropy++)
        std::cout << chooser.choose(7, entropy, 8) << (entropy < 63 ? " " : "\n");
}

int main()
{
    std::cout << evenkeel::version() << "\n";
    print(evenkeel::SwitchChooser("ecmp", 1, 0));
    print(evenkeel::SwitchChooser("ecmp", 1, 0));
    print(evenkeel::SwitchChooser("ecmp", 1, 1));
    try {
        evenkeel::SwitchChooser("conga", 1, 0);
    } catch (const std::invalid_argument& error) {
        std::cout << error.what() << "\n";
    }
}
"#;

    #[test]
    fn a_cpp11_program_chooses_ports() {
        let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        if Command::new(&compiler).arg("--version").output().is_err() {
            let _ = writeln!(
                std::io::stderr(),
                "skipped: a_cpp11_program_chooses_ports: there is no C++ compiler '{compiler}'"
            );
            return;
        }
        let printed = run(&compile(&compiler));
        let lines: Vec<&str> = printed.lines().collect();
        let [version, first, again, other, refusal] = lines[..] else {
            panic!("five lines expected: {printed}")
        };
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        assert_eq!(first, in_rust(0), "C++ must be given what the fabric's switches choose");
        assert_eq!(first, again, "the same seed and switch must choose alike");
        assert_eq!(other, in_rust(1), "the number of the switch must reach the policy");
        assert!(refusal.contains("'conga'") && refusal.contains("one that hashes"), "{refusal}");
    }

    /// What the program prints for a switch, asked without the bridge.
    fn in_rust(switch_id: u32) -> String {
        let hash = Hash::of(1, SwitchId(switch_id));
        let ports = (0..64).map(|entropy| hash.pick(7, entropy, 8).to_string());
        ports.collect::<Vec<_>>().join(" ")
    }

    /// The program, compiled as the oldest ns-3 forks are and with the same warnings on.
    fn compile(compiler: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (source, program) = (folder.join("bridge.cc"), folder.join("bridge"));
        fs::write(&source, PROGRAM).unwrap();
        let output = Command::new(compiler)
            .args(["-std=gnu++11", "-Wall", "-Wextra", "-Werror", "-pedantic"])
            .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/cpp-bridge"), "-o"])
            .args([&program, &source, &archive()])
            .args(["-lpthread", "-ldl", "-lm"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler} failed: {errors}");
        program
    }

    /// The static library that cargo built beside this test: the newest that holds the bridge,
    /// for builds without it lie in the same folder.
    fn archive() -> PathBuf {
        let test = env::current_exe().unwrap();
        let folder = test.parent().unwrap();
        let mut archives: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                name.starts_with("libevenkeel") && name.ends_with(".a") && holds_bridge(path)
            })
            .map(|path| (fs::metadata(&path).unwrap().modified().unwrap(), path))
            .collect();
        archives.sort();
        archives.pop().unwrap_or_else(|| panic!("no static library in {}", folder.display())).1
    }

    fn holds_bridge(archive: &Path) -> bool {
        let symbol = b"evenkeel$contract$cxxbridge1";
        fs::read(archive).unwrap().windows(symbol.len()).any(|bytes| bytes == symbol)
    }

    fn run(program: &Path) -> String {
        let output = Command::new(program).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}
