//! Rules on `ns3-module/`, whose lists of files are kept by hand.

use super::project::{Fault, SourceFile};

/// Folders whose files are built, by the list of `CMakeLists.txt`.
const LISTED: [&str; 3] = ["helper/", "model/", "test/"];

/// Faults of C++ files that `CMakeLists.txt` of the module does not build or hand on. A header of
/// the tests, and one that includes what cxx made, is nobody else's.
pub(crate) fn unlisted(lists: &SourceFile, sources: &[SourceFile]) -> Vec<Fault> {
    let words: Vec<&str> = words(&lists.text);
    let inside = |file: &SourceFile| file.path.trim_start_matches("ns3-module/").to_owned();
    sources
        .iter()
        .filter(|file| {
            let path = inside(file);
            let in_folder = |folder: &&str| path.strip_prefix(*folder).is_some_and(is_plain);
            let is_private = path.ends_with(".h") && (path.starts_with("test/") || sees_rust(file));
            LISTED.iter().any(in_folder) && !is_private && !words.contains(&path.as_str())
        })
        .map(|file| {
            let what = format!("no list of {} has it: put it into one", lists.path);
            file.fault(1, what)
        })
        .collect()
}

/// Faults of public headers that users could not include without the Rust side's headers.
pub(crate) fn rust_in_public(lists: &SourceFile, sources: &[SourceFile]) -> Vec<Fault> {
    let words: Vec<&str> = words(&lists.text);
    sources
        .iter()
        .filter(|file| words.contains(&file.path.trim_start_matches("ns3-module/")))
        .filter(|file| file.path.ends_with(".h") && sees_rust(file))
        .map(|file| file.fault(1, "a public header includes the Rust side: keep it in a .cc file"))
        .collect()
}

/// Faults of examples that are not built, or that nothing runs.
pub(crate) fn examples(built: &SourceFile, run: &SourceFile, sources: &[SourceFile]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in sources {
        let name = file.path.strip_prefix("ns3-module/examples/");
        // Headers are what examples share.
        let Some(name) = name.and_then(|name| name.strip_suffix(".cc")) else { continue };
        for (list, start) in [(built, name.to_owned()), (run, format!("(\"{name}"))] {
            if !list.text.contains(&start) {
                faults.push(file.fault(1, format!("{} must name {name}", list.path)));
            }
        }
    }
    faults
}

/// Faults of C++ files of the module without the lines that ns-3 asks of each.
pub(crate) fn licences(sources: &[SourceFile]) -> Vec<Fault> {
    const START: &str = "// SPDX-License-Identifier: GPL-2.0-only\n\
                         // Copyright (c) 2026 The evenkeel authors\n";
    sources
        .iter()
        .filter(|file| file.path.starts_with("ns3-module/") && !file.text.starts_with(START))
        .map(|file| file.fault(1, format!("a file of the module starts with:\n{START}")))
        .collect()
}

/// Faults of C++ files of the module with words that have a successor.
pub(crate) fn outdated(sources: &[SourceFile]) -> Vec<Fault> {
    const WORDS: [(&str, &str); 2] = [
        ("DLT_EN10MB", "ns-3 deprecates it: use LINKTYPE_ETHERNET of rdma-nic-helper.cc"),
        ("NS_ABORT_MSG", "an error names call and cure: use EVENKEEL_REFUSE of refuse.h"),
    ];
    let mut faults = Vec::new();
    for file in sources.iter().filter(|file| file.path.starts_with("ns3-module/")) {
        for (index, line) in file.text.lines().enumerate() {
            for (_, what) in WORDS.iter().filter(|(word, _)| line.contains(word)) {
                faults.push(file.fault(index + 1, *what));
            }
        }
    }
    faults
}

/// What stands between blanks and brackets.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| c.is_whitespace() || c == '(' || c == ')').collect()
}

/// Whether a file lies right in its folder.
fn is_plain(name: &str) -> bool {
    !name.contains('/')
}

fn sees_rust(file: &SourceFile) -> bool {
    ["\"rust/", "\"evenkeel/rust/", "\"evenkeel.h\""]
        .iter()
        .any(|start| file.text.contains(&format!("#include {start}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn files_that_no_list_has_are_faults() {
        let lists = file("ns3-module/CMakeLists.txt", "set(_sources\n    model/a.cc\n)");
        let source = |path| file(&format!("ns3-module/{path}"), "");
        assert!(unlisted(&lists, &[source("model/a.cc"), source("test/own.h")]).is_empty());
        assert_eq!(unlisted(&lists, &[source("model/b.cc")]).len(), 1);
        assert_eq!(unlisted(&lists, &[source("model/a.h")]).len(), 1);
        assert!(unlisted(&lists, &[source("test/stand-alone/runner.cc")]).is_empty());
        let private = file("ns3-module/model/p.h", "#include \"rust/cxx.h\"\n");
        assert!(unlisted(&lists, &[private]).is_empty());
    }

    #[test]
    fn a_public_header_with_rust_in_it_is_a_fault() {
        let lists = file("ns3-module/CMakeLists.txt", "set(_headers\n    model/a.h\n)");
        let header = |text| [file("ns3-module/model/a.h", text)];
        assert!(rust_in_public(&lists, &header("#include \"ns3/node.h\"\n")).is_empty());
        assert_eq!(rust_in_public(&lists, &header("#include \"rust/cxx.h\"\n")).len(), 1);
    }

    #[test]
    fn a_file_without_copyright_and_licence_is_a_fault() {
        let start = "// SPDX-License-Identifier: GPL-2.0-only\n\
                     // Copyright (c) 2026 The evenkeel authors\n";
        assert!(licences(&[file("ns3-module/model/a.cc", start)]).is_empty());
        let bare = "// SPDX-License-Identifier: GPL-2.0-only\n";
        assert_eq!(licences(&[file("ns3-module/model/a.cc", bare)]).len(), 1);
    }

    #[test]
    fn a_word_with_a_successor_is_a_fault() {
        let helper = |text| [file("ns3-module/helper/a.cc", text)];
        assert!(outdated(&helper("EVENKEEL_REFUSE_IF(x, \"A::B\", \"call it once\");")).is_empty());
        assert_eq!(outdated(&helper("file->Init(PcapHelper::DLT_EN10MB);\n")).len(), 1);
        assert_eq!(outdated(&helper("\nNS_ABORT_MSG_IF(x, \"y\");\n")).len(), 1);
    }

    #[test]
    fn an_example_that_is_not_run_is_a_fault() {
        let source = [file("ns3-module/examples/one.cc", "")];
        let (built, run) = (file("CMakeLists.txt", "foreach(e one)"), file("run.py", "(\"one\","));
        assert!(examples(&built, &run, &source).is_empty());
        assert_eq!(examples(&built, &file("run.py", ""), &source).len(), 1);
        assert_eq!(examples(&file("CMakeLists.txt", ""), &run, &source).len(), 1);
    }
}
