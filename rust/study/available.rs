//! Memory that is available to a run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::units::Bytes;

/// Bytes per page in `/proc/self/statm`, and per kB in other files of `/proc`.
const PAGE: u64 = 4_096;
const KB: u64 = 1 << 10;

/// Returns the memory that is available to this process, or `None` if it is unknown. It is the
/// least of the system's available memory, the limit of the address space (`ulimit -v`) and the
/// limits of all enclosing control groups.
pub fn available_memory() -> Option<Bytes> {
    available_in(Path::new("/"))
}

/// Returns the available memory of a system whose files are below `root`.
fn available_in(root: &Path) -> Option<Bytes> {
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let system = text("proc/meminfo").as_deref().and_then(of_system);
    let process = text("proc/self/limits").as_deref().and_then(of_process).map(|most| {
        // Only resident pages are used up: the allocator can still hand out reserved ones.
        let pages = text("proc/self/statm").and_then(|text| number(text.split(' ').nth(1)?));
        most.saturating_sub(pages.unwrap_or(0).saturating_mul(PAGE))
    });
    let groups = text("proc/self/cgroup").unwrap_or_default();
    let groups = groups.lines().filter_map(|line| of_group(root, line));
    system.into_iter().chain(process).chain(groups).min().map(Bytes::new)
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Parses the available memory in bytes from the text of `/proc/meminfo`.
fn of_system(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    number(line.trim().strip_suffix("kB")?)?.checked_mul(KB)
}

/// Parses the limit of the address space in bytes from the text of `/proc/self/limits`; `None`
/// without a limit.
fn of_process(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    number(line.split_whitespace().next()?)
}

/// Returns the least memory left in the group of a line of `/proc/self/cgroup` and its ancestors.
fn of_group(root: &Path, line: &str) -> Option<u64> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let (folder, most, used) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
        _ if controllers.split(',').any(|it| it == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        }
        _ => return None,
    };
    let folder = root.join(folder);
    // Seen from another cgroup namespace, a path may lead out of the tree.
    let parts = path.split('/').filter(|part| !matches!(*part, "" | ".."));
    let inner = parts.fold(PathBuf::new(), |path, part| path.join(part));
    let left = |group: &Path| {
        let value = |name: &str| number(&fs::read_to_string(folder.join(group).join(name)).ok()?);
        Some(value(most)?.saturating_sub(value(used).unwrap_or(0)))
    };
    inner.ancestors().filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the files of a system with 20,000 kB of available memory, and `files`.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let meminfo = "MemTotal: 30000 kB\nMemAvailable:   20000 kB\nBuffers: 1 kB\n";
        for (path, text) in [("proc/meminfo", meminfo)].iter().chain(files) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn available(files: &[(&str, &str)]) -> Option<u64> {
        available_in(system(files).path()).map(Bytes::get)
    }

    const LIMITS: &str = "Limit              Soft Limit  Hard Limit  Units\n\
                          Max cpu time       unlimited   unlimited   seconds\n";

    #[test]
    fn system_memory_is_the_limit_if_there_is_no_other() {
        assert_eq!(available(&[]), Some(20_000 << 10));
        let none = format!("{LIMITS}Max address space  unlimited  unlimited  bytes\n");
        assert_eq!(available(&[("proc/self/limits", &none)]), Some(20_000 << 10));
        assert_eq!(available_in(tempfile::tempdir().unwrap().path()), None);
    }

    #[test]
    fn a_process_has_the_unused_part_of_its_address_space() {
        let limits = format!("{LIMITS}Max address space  3000000  4000000  bytes\n");
        let files = [("proc/self/limits", &*limits), ("proc/self/statm", "100 50 20 5 0 40 0\n")];
        assert_eq!(available(&files), Some(3_000_000 - 204_800));
    }

    #[test]
    fn the_tightest_enclosing_cgroup_limits_a_process() {
        let second = [
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "5000000\n"),
            ("sys/fs/cgroup/a/memory.current", "1000000\n"),
        ];
        assert_eq!(available(&second), Some(4_000_000));
        let first = [
            ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a\n0::/\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000000\n"),
        ];
        assert_eq!(available(&first), Some(7_000_000));
        let outside =
            [("proc/self/cgroup", "0::/../..\n"), ("sys/fs/cgroup/memory.max", "6000000\n")];
        assert_eq!(available(&outside), Some(6_000_000));
    }
}
