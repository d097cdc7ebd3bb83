//! Build steps of the features.
//!
//! `chooser`, `bridge` and `astra-sim` compile the C++ half of their contracts, the first with the
//! glue in `cpp-bridge/`. `ns3` finds an installed ns-3, builds `ns3-module/` against it with the
//! module's own CMakeLists.txt, and links both.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(any(feature = "chooser", feature = "astra-sim"))]
    bridge::build();
    #[cfg(feature = "ns3")]
    ns3::build();
}

#[cfg(any(feature = "chooser", feature = "astra-sim"))]
mod bridge {
    /// Files that declare a part of the contract.
    const BRIDGES: &[&str] = &[
        #[cfg(feature = "astra-sim")]
        "astra_sim/contract.rs",
        #[cfg(feature = "chooser")]
        "chooser.rs",
        #[cfg(feature = "bridge")]
        "world/contract.rs",
        #[cfg(feature = "bridge")]
        "world/enumerations.rs",
        #[cfg(feature = "ns3")]
        "ns3.rs",
    ];
    /// The C++ sources that implement `cpp-bridge/evenkeel.h`.
    const GLUE: &[&str] = &[
        #[cfg(feature = "chooser")]
        "../../cpp-bridge/evenkeel.cc",
    ];
    /// Headers whose changes require a rebuild.
    const HEADERS: &[&str] = &[
        #[cfg(feature = "astra-sim")]
        "../../cpp-bridge/astra-sim/rank-handlers.h",
        #[cfg(feature = "chooser")]
        "../../cpp-bridge/evenkeel.h",
        #[cfg(feature = "ns3")]
        "../../ns3-module/cargo/cargo.h",
        #[cfg(feature = "ns3")]
        "../../ns3-module/cargo/twin.h",
        #[cfg(feature = "bridge")]
        "../../ns3-module/evenkeel-fabric/model/fabric-packet.h",
        #[cfg(feature = "bridge")]
        "../../ns3-module/evenkeel-fabric/model/fabric-records.h",
        #[cfg(feature = "bridge")]
        "../../ns3-module/evenkeel-fabric/model/fabric-verbs.h",
    ];

    /// Compiles both halves of the bridge as C++11, the oldest standard among the ns-3 forks that
    /// the static library must link with.
    pub(crate) fn build() {
        for source in BRIDGES.iter().chain(GLUE).chain(HEADERS) {
            println!("cargo::rerun-if-changed={source}");
        }
        let mut compiler = cxx_build::bridges(BRIDGES);
        compiler
            .files(GLUE)
            .include("../../cpp-bridge")
            .include("../../cpp-bridge/astra-sim")
            .include("../../ns3-module/cargo")
            .include("../../ns3-module/evenkeel-fabric/model")
            .std("c++11")
            .warnings(true)
            .extra_warnings(true);
        // The module comes later on the linker's command line and calls the glue, so the glue must
        // be linked as a whole.
        #[cfg(feature = "ns3")]
        compiler.link_lib_modifier("+whole-archive");
        compiler.compile("evenkeel-glue");
    }
}

#[cfg(feature = "ns3")]
mod ns3 {
    use std::path::{Path, PathBuf};
    use std::process::exit;
    use std::{env, fs};

    /// The ns-3 modules that the library, its tests and its examples need.
    const MODULES: [&str; 7] = [
        "core",
        "network",
        "internet",
        "point-to-point",
        "traffic-control",
        "applications",
        "flow-monitor",
    ];
    /// The Debian packages that provide them.
    const PACKAGES: &str = "libns3-dev libgsl-dev libsqlite3-dev libxml2-dev";

    /// An installed ns-3.
    struct Installed {
        version: String,
        /// The value of `EVENKEEL_NS3_PREFIX`; `None` if pkg-config found it.
        prefix: Option<PathBuf>,
        /// The library folders.
        folders: Vec<PathBuf>,
        /// The library names for the linker, in the order of `MODULES`.
        libraries: Vec<String>,
    }

    /// Finds ns-3 (in `EVENKEEL_NS3_PREFIX`, or by pkg-config), builds the module, links it, and
    /// sets `EVENKEEL_NS3_VERSION` for the crate.
    pub(super) fn build() {
        println!("cargo::rerun-if-env-changed=EVENKEEL_NS3_PREFIX");
        println!("cargo::rerun-if-changed=../../ns3-module");
        let found = match env::var_os("EVENKEEL_NS3_PREFIX") {
            Some(prefix) if !prefix.is_empty() => in_prefix(Path::new(&prefix)),
            _ => by_pkg_config(),
        };
        let installed = found.unwrap_or_else(|reason| {
            println!("cargo::error=feature `ns3`: {reason}");
            exit(1);
        });
        println!("cargo::rustc-env=EVENKEEL_NS3_VERSION={}", installed.version);
        let module = compile(&installed);
        println!("cargo::rustc-link-search=native={}", module.join("lib").display());
        // Otherwise the linker would drop classes that programs use only by TypeId.
        for library in ["evenkeel-calls", "ns3-evenkeel-fabric", "ns3-evenkeel-lb"] {
            println!("cargo::rustc-link-lib=static:+whole-archive={library}");
        }
        for folder in &installed.folders {
            println!("cargo::rustc-link-search=native={}", folder.display());
            if installed.prefix.is_some() {
                println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
            }
        }
        for library in &installed.libraries {
            println!("cargo::rustc-link-lib=dylib={library}");
        }
    }

    /// Builds the static library with CMake. Returns the folder in which CMake installed it.
    fn compile(installed: &Installed) -> PathBuf {
        let folder = |name| env::var(name).expect("cargo sets it");
        let mut cmake = cmake::Config::new("../../ns3-module");
        cmake
            .profile("Release")
            .define("EVENKEEL_FROM_CARGO", "ON")
            .define("EVENKEEL_CRATE_DIR", folder("CARGO_MANIFEST_DIR") + "/../..")
            .define("EVENKEEL_CXXBRIDGE_DIR", folder("OUT_DIR") + "/cxxbridge/include")
            .define("EVENKEEL_NS3_VERSION", &installed.version);
        // Define it even without a prefix, because CMake caches the value of an earlier run.
        cmake.define("EVENKEEL_NS3_PREFIX", installed.prefix.as_deref().unwrap_or(Path::new("")));
        cmake.build()
    }

    /// Finds ns-3 with pkg-config. Only the names and folders of its libraries are used: the other
    /// flags name dependencies of ns-3, and some of them need not be installed.
    fn by_pkg_config() -> Result<Installed, String> {
        let probe = |module| {
            let name = format!("ns3-{module}");
            let mut config = pkg_config::Config::new();
            let library = config.cargo_metadata(false).env_metadata(true).probe(&name);
            library.map_err(|_| name)
        };
        let (found, missing): (Vec<_>, Vec<_>) =
            MODULES.into_iter().map(probe).partition(Result::is_ok);
        let missing: Vec<String> = missing.into_iter().filter_map(Result::err).collect();
        if !missing.is_empty() {
            return Err(format!(
                "pkg-config does not find {}; on Debian: apt-get install {PACKAGES}; for an ns-3 \
                 elsewhere set EVENKEEL_NS3_PREFIX to the folder that has include/ns3 and lib; or \
                 build without the feature",
                missing.join(", ")
            ));
        }
        let found: Vec<_> = found.into_iter().filter_map(Result::ok).collect();
        let libraries = MODULES.map(|module| {
            let mut all = found.iter().flat_map(|library| &library.libs);
            let ending = format!("-{module}");
            let named = all.find(|name| name.starts_with("ns") && name.ends_with(&ending));
            named.cloned().unwrap_or_else(|| format!("ns3-{module}"))
        });
        let mut folders: Vec<PathBuf> =
            found.iter().flat_map(|library| library.link_paths.clone()).collect();
        folders.sort();
        folders.dedup();
        let version = found[0].version.clone();
        Ok(Installed { version, prefix: None, folders, libraries: libraries.into() })
    }

    /// Finds ns-3 in a folder: that of a wheel, or the install folder of a source build.
    fn in_prefix(prefix: &Path) -> Result<Installed, String> {
        let wrong = |what: &str| format!("EVENKEEL_NS3_PREFIX={}: {what}", prefix.display());
        if !prefix.join("include/ns3/core-module.h").is_file() {
            return Err(wrong(
                "include/ns3/core-module.h is missing; it must be the folder that \
                              has include/ns3 and lib or lib64",
            ));
        }
        let folders = ["lib64", "lib"].map(|name| prefix.join(name));
        let files = folders.iter().flat_map(fs::read_dir).flatten().flatten();
        let mut cores: Vec<PathBuf> = files
            .map(|file| file.path())
            .filter(|path| path.to_string_lossy().ends_with(".so") && core_name(path).is_some())
            .collect();
        cores.sort();
        let Some(core) = cores.first() else {
            return Err(wrong("lib64 and lib have no library libns3*-core*.so"));
        };
        let (before, after) = core_name(core).expect("it was found by its name");
        let version: String =
            before.chars().skip_while(|c| *c != '.').skip(1).take_while(|c| *c != '-').collect();
        if version.is_empty() {
            return Err(wrong("the names of its libraries have no version"));
        }
        let libraries = MODULES.map(|module| format!("{before}-{module}{after}"));
        Ok(Installed {
            version: format!("3.{version}"),
            prefix: Some(prefix.to_owned()),
            folders: core.parent().map(Path::to_owned).into_iter().collect(),
            libraries: libraries.into(),
        })
    }

    /// Splits a library's name: `ns3.44` and `-default` for `libns3.44-core-default.so`.
    fn core_name(library: &Path) -> Option<(String, String)> {
        let name = library.file_stem()?.to_str()?.strip_prefix("lib")?;
        let (before, after) = name.split_once("-core")?;
        let is_ns3 = before.starts_with("ns3") && (after.is_empty() || after.starts_with('-'));
        is_ns3.then(|| (before.to_owned(), after.to_owned()))
    }
}
