//! The dependencies that layers may have, read from every `crate::` path.

use super::lexer;
use super::project::{Fault, SourceFile};

/// A level of the architecture: a set of modules.
pub(crate) struct Level {
    pub(crate) modules: &'static [&'static str],
    /// Whether they may use each other.
    pub(crate) peers: Peers,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peers {
    Seen,
    Unseen,
}

/// The levels from the bottom up; each may use all levels below it.
pub(crate) const LEVELS: [Level; 13] = [
    Level { modules: &["units", "ids", "rng", "prefetch", "sharing"], peers: Peers::Seen },
    Level { modules: &["packet"], peers: Peers::Unseen },
    // Schemes name a recovery of the NIC; the NIC asks sender policies; splitters pin paths.
    Level { modules: &["nic", "balance", "split", "rail"], peers: Peers::Seen },
    Level { modules: &["topology", "collective", "workload"], peers: Peers::Seen },
    // The decisions of hosts and of switches, in any world.
    Level { modules: &["endpoint", "switching"], peers: Peers::Unseen },
    // Closed forms and the simulator verify each other, so they must be independent.
    Level { modules: &["bound", "fabric"], peers: Peers::Unseen },
    // Other worlds: without packets, and with several networks; the ranks of another program; and
    // what observes a world.
    Level {
        modules: &["fluid", "multirail", "ranks", "record", "timeline", "invariants"],
        peers: Peers::Unseen,
    },
    Level { modules: &["scenario", "hpcc"], peers: Peers::Unseen },
    Level { modules: &["study", "report"], peers: Peers::Seen },
    // What was written is read again, and drawn from what was read.
    Level { modules: &["results"], peers: Peers::Unseen },
    Level { modules: &["plot"], peers: Peers::Unseen },
    Level { modules: &["page"], peers: Peers::Unseen },
    // What people use: the program, and the Python module.
    Level { modules: &["cli", "python"], peers: Peers::Unseen },
];

/// The modules that the bridge to C++ may use.
const BRIDGE_SEES: [&str; 17] = [
    "nic",
    "balance",
    "split",
    "rail",
    "units",
    "ids",
    "rng",
    "packet",
    "topology",
    "workload",
    "endpoint",
    "switching",
    "fabric",
    "ranks",
    "scenario",
    "hpcc",
    "report",
];

/// Files outside of all layers.
const OUTSIDE: [&str; 7] = [
    "rust/lib.rs",
    "rust/engine/lib.rs",
    "rust/main.rs",
    "rust/tests/",
    "rust/benches/",
    "rust/fuzz/",
    "rust/mutants/",
];

/// Faults of one file under `rust/`.
pub(crate) fn check(file: &SourceFile) -> Vec<Fault> {
    if OUTSIDE.iter().any(|path| file.path.starts_with(path)) {
        return Vec::new();
    }
    let user = layer_of(&file.path);
    if user != "bridge" && level_of(user).is_none() {
        let what = format!(
            "no layer is called '{user}': put the file into one of {}, or add the layer to \
             LEVELS in rust/tests/house/layers.rs and to the architecture text",
            all_layers().join(", ")
        );
        return vec![file.fault(1, what)];
    }
    let code = lexer::split(&file.text).code;
    uses(&code, depth(&file.path))
        .into_iter()
        .filter(|(_, used)| !may_use(user, used))
        .map(|(line, used)| {
            let what = format!("{user} must not use {used}: it may use {}", allowed(user));
            file.fault(line, what)
        })
        .collect()
}

/// The path in the folder of its crate: `nic/pacer.rs` of `rust/engine/nic/pacer.rs`.
fn in_crate(path: &str) -> &str {
    path.trim_start_matches("rust/").trim_start_matches("engine/")
}

/// `nic` of `rust/engine/nic/pacer.rs`, `hpcc` of `rust/hpcc.rs`.
pub(crate) fn layer_of(path: &str) -> &str {
    let inside = in_crate(path);
    inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs")
}

/// Modules between the crate's root and what the file holds.
fn depth(path: &str) -> usize {
    in_crate(path).trim_end_matches("/mod.rs").split('/').count()
}

fn all_layers() -> Vec<&'static str> {
    LEVELS.iter().flat_map(|level| level.modules.iter().copied()).collect()
}

fn level_of(layer: &str) -> Option<usize> {
    LEVELS.iter().position(|level| level.modules.contains(&layer))
}

fn may_use(user: &str, used: &str) -> bool {
    if user == used {
        return true;
    }
    if user == "bridge" {
        return BRIDGE_SEES.contains(&used);
    }
    match (level_of(user), level_of(used)) {
        (Some(above), Some(below)) if above == below => LEVELS[above].peers == Peers::Seen,
        (Some(above), Some(below)) => above > below,
        // Macros and items of the root itself belong to no layer.
        _ => used != "bridge" && used != "main",
    }
}

/// What `user` may use, for a message.
fn allowed(user: &str) -> String {
    let mut names = all_layers();
    names.retain(|used| *used != user && may_use(user, used));
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Line and first segment of every path from the crate's root: `crate::a`, `crate::{a, b::{c}}`
/// and, for a file `depth` modules deep, `super::a` that leads to the root.
fn uses(code: &str, depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (offset, start) in code.match_indices("crate::") {
        let before = code[..offset].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        found.extend(first_segments(code, offset + start.len()));
    }
    let climb = "super::".repeat(depth);
    let mut offset = 0;
    for line in code.split_inclusive('\n') {
        let path = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("use ");
        // Only at the left margin: `super` within `mod tests` is the file itself.
        if let Some(rest) = path.and_then(|path| path.strip_prefix(climb.as_str())) {
            found.extend(first_segments(code, offset + line.len() - rest.len()));
        }
        offset += line.len();
    }
    found.sort();
    found
}

/// The segments that follow a path at `offset`: one word, or those of a group in braces at its
/// outer level.
fn first_segments(code: &str, offset: usize) -> Vec<(usize, String)> {
    let rest = &code[offset..];
    if !rest.trim_start().starts_with('{') {
        return word(rest).map(|name| (lexer::line_of(code, offset), name)).into_iter().collect();
    }
    let mut segments = Vec::new();
    let mut nesting = 0;
    for (index, character) in rest.char_indices() {
        match character {
            '{' => nesting += 1,
            '}' => nesting -= 1,
            _ => {}
        }
        if nesting == 0 && character == '}' {
            break;
        }
        if nesting == 1 && matches!(character, '{' | ',') {
            let tail = &rest[index + 1..];
            let blanks = tail.len() - tail.trim_start().len();
            let line = lexer::line_of(code, offset + index + 1 + blanks);
            segments.extend(word(tail).map(|name| (line, name)));
        }
    }
    segments
}

fn word(text: &str) -> Option<String> {
    let name: String =
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        check(&SourceFile::new(path, text)).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn upward_edges_are_faults() {
        assert_eq!(
            faults("rust/nic/qp.rs", "//! A QP.\nuse crate::fabric::Outcome;\n"),
            ["rust/nic/qp.rs:2: nic must not use fabric: it may use units, ids, rng, prefetch, \
                 sharing, packet, balance, split, rail"]
        );
        assert_eq!(
            faults("rust/units/time.rs", "use crate::packet::Stamp;"),
            ["rust/units/time.rs:1: units must not use packet: it may use ids, rng, prefetch, \
              sharing"]
        );
    }

    #[test]
    fn downward_edges_and_mutual_ones_of_a_level_are_no_faults() {
        assert!(faults("rust/cli/run.rs", "use crate::{units::Time, report, study};").is_empty());
        assert!(faults("rust/balance/scheme.rs", "use crate::nic::Recovery;").is_empty());
        assert!(faults("rust/nic/qp.rs", "use crate::nic::config::Recovery;").is_empty());
    }

    #[test]
    fn closed_forms_and_simulator_must_not_use_each_other() {
        assert_eq!(faults("rust/bound/cut.rs", "use crate::fabric::FabricConfig;").len(), 1);
        assert_eq!(faults("rust/fabric/port.rs", "use crate::bound::bound;").len(), 1);
    }

    #[test]
    fn groups_inline_paths_and_super_paths_are_found() {
        let group = "use crate::{\n    ids::{HostId, fabric},\n    cli::{run, units},\n};\n";
        assert_eq!(uses(group, 1), [(2, "ids".to_owned()), (3, "cli".to_owned())]);
        assert_eq!(faults("rust/nic/qp.rs", "fn f() { crate::cli::run() }").len(), 1);
        assert_eq!(faults("rust/nic/qp.rs", "use super::super::cli::run;").len(), 1);
        assert_eq!(faults("rust/nic/mod.rs", "pub use super::cli::run;").len(), 1);
        assert!(faults("rust/nic/qp.rs", "use super::cli;").is_empty());
    }

    #[test]
    fn comments_and_texts_do_not_count() {
        assert!(faults("rust/nic/qp.rs", "// use crate::cli;\nf(\"crate::cli\")").is_empty());
    }

    #[test]
    fn an_unknown_layer_is_a_fault() {
        assert!(faults("rust/helpers/mod.rs", "")[0].contains("no layer is called 'helpers'"));
    }

    #[test]
    fn the_bridge_must_not_use_study_and_no_module_may_use_the_bridge() {
        assert_eq!(faults("rust/bridge/chooser.rs", "use crate::cli::run;").len(), 1);
        assert_eq!(faults("rust/bridge/chooser.rs", "use crate::study::run;").len(), 1);
        assert!(faults("rust/bridge/chooser.rs", "use crate::balance::switch;").is_empty());
        assert_eq!(faults("rust/cli/mod.rs", "use crate::bridge;").len(), 1);
    }
}
