//! The static library, for C++ programs that tests compile.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Builds the static library with the C++ features of this test.
pub(crate) fn archive() -> &'static Path {
    static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
    ARCHIVE.get_or_init(build)
}

fn build() -> PathBuf {
    let chosen = [("bridge", cfg!(feature = "bridge")), ("astra-sim", cfg!(feature = "astra-sim"))];
    let features = chosen.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name);
    // The target folder of this test already has the dependencies.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustc", "--locked", "--offline", "--package", "evenkeel-bridge", "--lib"])
        .args(["--crate-type", "staticlib", "--no-default-features", "--features"])
        .arg(features.collect::<Vec<_>>().join(","))
        .arg("--target-dir")
        .arg(target)
        .args(["--config", "profile.dev.package.evenkeel-bridge.opt-level=0"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    target.join("debug/libevenkeel_bridge.a")
}
