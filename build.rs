//! Tells tests whether this is the packaged crate.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The packaged crate lacks `rust/fuzz`, a separate package; its tests check this cfg.
    println!("cargo::rustc-check-cfg=cfg(packaged)");
    if !std::path::Path::new("rust/fuzz/Cargo.toml").exists() {
        println!("cargo::rustc-cfg=packaged");
    }
}
