//! Prepares what the optional features need; without features it does nothing.
//!
//! `bridge` compiles the C++ half of the contract in `rust/bridge/` and the glue in
//! `cpp-bridge/`. `ns3` looks for an installed ns-3 and hands its version on.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(ns3_version, values(any()))");
    #[cfg(feature = "bridge")]
    bridge::build();
    #[cfg(feature = "ns3")]
    ns3::probe();
}

#[cfg(feature = "bridge")]
mod bridge {
    /// Files that declare a part of the contract.
    const BRIDGES: [&str; 1] = ["rust/bridge/chooser.rs"];
    /// The glue around each.
    const GLUE: [&str; 1] = ["cpp-bridge/evenkeel.cc"];
    /// What else makes the C++ side stale.
    const HEADERS: [&str; 1] = ["cpp-bridge/evenkeel.h"];

    /// Compiles both halves of the bridge. C++11 is the oldest standard among the ns-3 forks
    /// that the static library has to link with.
    pub fn build() {
        for source in BRIDGES.into_iter().chain(GLUE).chain(HEADERS) {
            println!("cargo::rerun-if-changed={source}");
        }
        cxx_build::bridges(BRIDGES)
            .files(GLUE)
            .include("cpp-bridge")
            .std("c++11")
            .warnings(true)
            .extra_warnings(true)
            .compile("evenkeel-bridge");
    }
}

#[cfg(feature = "ns3")]
mod ns3 {
    use std::process::exit;

    /// What Debian calls the packages, by the pkg-config name that each is found under.
    /// `libns3-dev` 3.37 names the libraries of the others without depending on them.
    const PACKAGES: [(&str, &str); 7] = [
        ("ns3-core", "libns3-dev"),
        ("ns3-network", "libns3-dev"),
        ("ns3-internet", "libns3-dev"),
        ("ns3-point-to-point", "libns3-dev"),
        ("gsl", "libgsl-dev"),
        ("sqlite3", "libsqlite3-dev"),
        ("libxml-2.0", "libxml2-dev"),
    ];

    /// Finds ns-3 through pkg-config and emits `cfg(ns3_version = "3.37")` and the same as
    /// `EVENKEEL_NS3_VERSION`; ends the build with one message if anything is missing.
    pub fn probe() {
        let probed = PACKAGES.map(|(name, package)| (find(name), name, package));
        let missing: Vec<&str> =
            probed.iter().filter(|(found, ..)| found.is_none()).map(|(_, name, _)| *name).collect();
        if !missing.is_empty() {
            println!(
                "cargo::error=feature `ns3`: pkg-config does not find {}; on Debian: apt-get \
                 install libns3-dev libgsl-dev libsqlite3-dev libxml2-dev; for an ns-3 elsewhere \
                 set PKG_CONFIG_PATH to the folder of its ns3-core.pc; or build without the \
                 feature",
                missing.join(", ")
            );
            exit(1);
        }
        let version = probed[0].0.as_deref().expect("nothing is missing");
        println!("cargo::rustc-cfg=ns3_version=\"{version}\"");
        println!("cargo::rustc-env=EVENKEEL_NS3_VERSION={version}");
    }

    /// The version that pkg-config has of `name`. Nothing is linked yet, so no flags are passed
    /// on.
    fn find(name: &str) -> Option<String> {
        let library =
            pkg_config::Config::new().cargo_metadata(false).env_metadata(true).probe(name);
        library.ok().map(|library| library.version)
    }
}
