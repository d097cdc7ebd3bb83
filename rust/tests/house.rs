//! Style tests: project rules that neither rustc nor clippy checks.
//!
//! Each rule is a function from text to faults. Its own tests apply it to small invalid texts, and
//! the tests here apply it to the project. A fault names the file, the line and what is expected.

mod house {
    pub(crate) mod lexer;
    pub(crate) mod manifest;
    pub(crate) mod miri;
    pub(crate) mod ns3_module;
    pub(crate) mod pages;
    pub(crate) mod policies;
    pub(crate) mod project;
    pub(crate) mod prose;
    pub(crate) mod quotes;
    pub(crate) mod readme;
    pub(crate) mod release;
    pub(crate) mod size;
    pub(crate) mod snapshots;
    pub(crate) mod source;
    pub(crate) mod tree;
}

use house::project::{self, Fault, SourceFile};

/// Fails with all faults, one per line.
fn expect_none(faults: Vec<Fault>) {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

#[test]
fn no_file_is_over_450_lines_and_half_have_150_or_fewer() {
    let sources = project::sources();
    let long = sources.iter().flat_map(house::size::length);
    expect_none(long.chain(house::size::median(&sources)).collect());
}

#[test]
fn no_function_is_over_60_lines() {
    expect_none(project::rust_sources().iter().flat_map(house::size::function_length).collect());
}

#[test]
fn no_line_is_over_100_columns() {
    expect_none(project::rust_sources().iter().flat_map(house::size::width).collect());
}

#[test]
fn no_code_is_unfinished_and_no_test_is_ignored() {
    expect_none(project::rust_sources().iter().flat_map(house::source::unfinished).collect());
}

#[test]
fn lints_are_silenced_only_with_a_reason() {
    expect_none(project::rust_sources().iter().flat_map(house::source::silenced).collect());
}

#[test]
fn no_hash_map_is_iterated() {
    expect_none(project::rust_sources().iter().flat_map(house::source::hash_iteration).collect());
}

#[test]
fn cpp_files_name_their_licence() {
    let sources = project::cpp_sources();
    assert!(!sources.is_empty(), "cpp-bridge/ must hold C++ files");
    expect_none(sources.iter().flat_map(house::source::licence).collect());
}

/// The module is copied into ns-3 trees, where it cannot read the manifest.
#[test]
fn the_ns3_module_names_this_version() {
    let expected = format!("set(_evenkeel_version \"{}\")", env!("CARGO_PKG_VERSION"));
    let file = project::read("ns3-module/evenkeel-lb/cmake/module.cmake");
    assert!(file.text.contains(&expected), "{}: it must say {expected}", file.path);
    let readme = project::read("ns3-module/README.md");
    let expected = format!("Version {} ", env!("CARGO_PKG_VERSION"));
    assert!(readme.text.contains(&expected), "{}: it must say {expected}", readme.path);
}

/// Recipes take the address and the version from the manifest; other files repeat them.
#[test]
fn the_files_of_a_release_name_this_version_and_the_address() {
    let address = env!("CARGO_PKG_REPOSITORY");
    let all = project::everything();
    expect_none(all.iter().flat_map(|file| house::release::addresses(file, address)).collect());
    let version = format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"));
    let addressed = ["README.md", "SECURITY.md", "llms.txt", "pyproject.toml", "docs/install.md"];
    let lacking = addressed.map(|path| (path, address)).into_iter();
    let lacking = lacking.chain([("CITATION.cff", address), ("CITATION.cff", &version)]);
    // Another project has the shorter name.
    let install = ["README.md", "docs/install.md", "docs/python.md", "docs/own-policy.md"];
    let lacking = lacking.chain(install.map(|path| (path, "pip install evenkeel-sim")));
    expect_none(
        lacking
            .filter_map(|(path, text)| house::release::lacks(&project::read(path), text))
            .collect(),
    );
}

#[test]
fn the_ns3_modules_keep_their_rules() {
    let sources = project::cpp_sources();
    for module in ["ns3-module/evenkeel-lb", "ns3-module/evenkeel-fabric"] {
        let lists = project::read(&format!("{module}/CMakeLists.txt"));
        expect_none(house::ns3_module::rust_in_public(&lists, &sources));
        let run = project::read(&format!("{module}/test/examples-to-run.py"));
        expect_none(house::ns3_module::examples(&run, &sources));
    }
    expect_none(house::ns3_module::licences(&sources));
    expect_none(house::ns3_module::outdated(&sources));
}

/// `git status` stays clean after the README commands: their build products are ignored.
#[test]
fn commands_of_the_readmes_leave_nothing_untracked() {
    let ignored = project::read(".gitignore");
    for page in ["README.md", "CONTRIBUTING.md", "ns3-module/README.md", "cpp-bridge/README.md"] {
        expect_none(house::readme::untracked(&project::read(page), &ignored));
    }
    // cargo, Python, and the packages of the modules, whose commands name no folder.
    for line in ["/target", "__pycache__/", "/evenkeel-ns3-*.tar.gz", "/evenkeel_ns3-*.whl"] {
        assert!(ignored.text.lines().any(|each| each == line), ".gitignore must have {line}");
    }
}

/// The ns-3 App Store asks for the ns-3 release that the module supports.
#[test]
fn the_ns3_module_names_the_release_that_is_tested() {
    let release = project::read("ns3-module/NS3-VERSION").text;
    let version = release.strip_prefix("release ns-").map(str::trim_end).expect("a release");
    let checks = project::read(".ci/full").text;
    let trees = checks.lines().find(|line| line.contains("for version in ")).expect("trees");
    assert!(trees.ends_with(&format!(" {version}; do")), "no tree of {version} in .ci/full");
    assert!(project::read("ns3-module/README.md").text.contains(version));
}

#[test]
fn each_test_for_miri_exists() {
    let list = project::read("rust/tests/miri/tests.txt");
    expect_none(house::miri::unknown(&list, &project::files("rust", ".rs")));
}

/// Generated results and snapshots are no prose.
#[test]
fn prose_is_plain() {
    let is_prose = |file: &SourceFile| {
        let generated = ["snapshots/", "docs/reproduce/", "rust/fuzz/corpus/"];
        let endings = [".md", ".rs", ".cc", ".h", ".py", ".toml"];
        endings.iter().any(|ending| file.path.ends_with(ending))
            && !generated.iter().any(|folder| file.path.starts_with(folder))
    };
    let files: Vec<SourceFile> = project::everything().into_iter().filter(is_prose).collect();
    let lines: usize = files.iter().map(|file| house::prose::lines(file).len()).sum();
    let hits: Vec<_> = files.iter().flat_map(house::prose::hits).collect();
    let per_1000 = 1_000.0 * hits.len() as f64 / lines as f64;
    println!("{} of {lines} lines: {per_1000:.1} of 1,000", hits.len());
    if hits.len() * 1_000 > house::prose::MAX_PER_1000 * lines {
        expect_none(hits.into_iter().take(50).collect());
    }
}

#[test]
fn the_project_contains_no_machine_specific_paths() {
    let root = project::root().display().to_string();
    expect_none(
        project::everything()
            .iter()
            .flat_map(|file| house::source::machine_paths(file, &root))
            .collect(),
    );
}

#[test]
fn each_policy_names_its_source() {
    let folders = ["balance/sender", "balance/switch", "split"];
    let files = folders.map(|folder| project::files(&format!("rust/engine/{folder}"), ".rs"));
    assert!(files.iter().all(|files| !files.is_empty()), "{folders:?} have moved");
    expect_none(files.iter().flatten().flat_map(house::policies::source_named).collect());
}

#[test]
fn each_example_starts_with_its_claim() {
    let examples = project::files("examples", ".toml");
    expect_none(examples.iter().flat_map(house::policies::claim).collect());
}

#[test]
fn each_dependency_has_its_reason() {
    for manifest in manifests() {
        expect_none(house::manifest::reasons(&manifest));
    }
}

/// Returns the manifests of the project: the root's, and that of each folder of `rust`.
///
/// The packaged root crate contains the original manifest too, because cargo strips comments from
/// its own.
fn manifests() -> Vec<SourceFile> {
    let original = "Cargo.toml.orig";
    let of_root = match project::root().join(original).exists() {
        true => SourceFile { path: "Cargo.toml".to_owned(), ..project::read(original) },
        false => project::read("Cargo.toml"),
    };
    let below = project::files("rust", "/Cargo.toml");
    std::iter::once(of_root).chain(below).collect()
}

/// Fuzzing is a separate package that the default build does not compile.
#[cfg(not(packaged))]
#[test]
fn every_fuzz_target_is_built_has_seeds_and_a_plain_test() {
    let manifest = project::read("rust/fuzz/Cargo.toml");
    let tests = project::read("rust/tests/fuzz.rs");
    let targets = project::files("rust/fuzz/targets", ".rs");
    assert!(!targets.is_empty(), "rust/fuzz/targets must hold the targets");
    for target in targets {
        let file = target.path.trim_start_matches("rust/fuzz/");
        let name = file.trim_start_matches("targets/").trim_end_matches(".rs");
        assert!(manifest.text.contains(&format!("path = \"{file}\"")), "{name} is not built");
        assert!(tests.text.contains(&format!("fuzz(\"{name}\"")), "{name} is no plain test");
        // Seeds need not be text.
        let corpus = project::root().join("rust/fuzz/corpus").join(name);
        let seeds = std::fs::read_dir(corpus).map_or(0, |seeds| seeds.count());
        assert!(seeds > 0, "{name} has no seeds");
    }
}

/// Targets are listed explicitly: an unreachable file would silently not be compiled.
#[test]
fn each_file_is_reached_from_a_target() {
    let mut roots: Vec<String> = manifests().iter().flat_map(house::manifest::roots).collect();
    roots.extend(["build.rs", "rust/bridge/build.rs"].map(str::to_owned));
    expect_none(house::tree::orphans(&roots, &project::rust_sources()));
}

#[test]
fn the_page_of_reproduced_figures_quotes_the_snapshots() {
    let snapshots = project::files("snapshots", ".snap");
    expect_none(house::quotes::stale(&project::read("docs/reproduce/published.txt"), &snapshots));
}

/// Returns the pages of the book.
fn pages() -> Vec<SourceFile> {
    let mut pages = project::files("docs", ".md");
    pages.retain(|page| page.path != "docs/SUMMARY.md");
    pages
}

#[test]
fn pages_are_short_and_open_with_their_readers_and_a_command() {
    let pages = pages();
    assert!(pages.len() <= 31, "{} pages, at most 31", pages.len());
    expect_none(pages.iter().flat_map(house::pages::shape).collect());
    expect_none(pages.iter().flat_map(house::pages::commands).collect());
    expect_none(house::pages::unlisted(&project::read("docs/SUMMARY.md"), &pages));
}

#[test]
fn links_of_pages_lead_somewhere() {
    let read = |path: &str| std::fs::read_to_string(project::root().join(path)).ok();
    let all = project::everything();
    let pages: Vec<_> = all.iter().filter(|file| file.path.ends_with(".md")).collect();
    expect_none(pages.iter().flat_map(|page| house::pages::links(page, read)).collect());
    let words: usize = pages.iter().map(|page| page.text.split_whitespace().count()).sum();
    assert!(words <= 45_000, "{words} words in all pages, at most 45,000");
}

#[test]
fn each_snapshot_belongs_to_a_test() {
    let snapshots = project::files("snapshots", "");
    expect_none(house::snapshots::orphans(&snapshots, &project::rust_sources()));
}
