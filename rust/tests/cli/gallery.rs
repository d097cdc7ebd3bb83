//! The gallery of `docs/plotting.md`: each picture is the output of its commands.
//!
//! `INSTA_UPDATE=always cargo test --test integration gallery` regenerates the pictures.

use std::fs;
use std::path::Path;

use super::bench::Bench;
use crate::support::extent;

const PROJECT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the commands of the page that run, without the program name. The pictures of a training
/// step and of studies take most of the time.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("evenkeel "));
    let is_short = |line: &&str| {
        !["training", "nezha", "reps-failures"].iter().any(|name| line.contains(name))
    };
    let lines = extent::cases("cli::gallery", lines.collect(), is_short);
    lines.into_iter().map(|line| line.split(' ').collect()).collect()
}

#[cfg(unix)]
#[test]
fn gallery_pictures_match_the_output_of_their_commands() {
    let project = Path::new(PROJECT);
    let page = fs::read_to_string(project.join("docs/plotting.md")).unwrap();
    let bench = Bench::new();
    fs::create_dir(bench.path("docs")).unwrap();
    std::os::unix::fs::symlink(project.join("examples"), bench.path("examples")).unwrap();
    let commands = commands(&page);
    for command in &commands {
        let left = bench.evenkeel(command);
        // A run may print remarks about its result and its progress.
        let is_remark =
            |line: &str| ["warning: the ", "note: "].iter().any(|start| line.starts_with(start));
        let are_remarks = left.err.lines().all(is_remark);
        assert!(left.status == 0 && are_remarks, "{command:?}: {left:?}");
    }
    let drawn = bench.names("docs/gallery");
    let committed = project.join("docs/gallery");
    for name in &drawn {
        assert!(page.contains(&format!("](gallery/{name})")), "{name} is not on the page");
        let svg = bench.read(&format!("docs/gallery/{name}"));
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            fs::write(committed.join(name), &svg).unwrap();
        }
        let old = fs::read_to_string(committed.join(name)).unwrap_or_default();
        let how = "INSTA_UPDATE=always cargo test --test integration gallery";
        assert!(old == svg, "docs/gallery/{name} is out of date: {how}");
    }
    let is_drawn =
        |command: &&Vec<&str>| command.last().is_some_and(|out| out.starts_with("docs/gallery/"));
    let ordered = commands.iter().filter(is_drawn).count();
    assert_eq!(drawn.len(), ordered);
    assert!(!extent::is_long() || ordered == page.matches("](gallery/").count());
}
