//! Rules for `ns3-module/`.

use super::project::{Fault, SourceFile};

/// Finds public headers of a module, those that its `CMakeLists.txt` names, which users could not
/// include without the headers of the Rust side.
pub(crate) fn rust_in_public(lists: &SourceFile, sources: &[SourceFile]) -> Vec<Fault> {
    let folder = lists.path.trim_end_matches("CMakeLists.txt");
    let words: Vec<&str> = lists.text.split_whitespace().collect();
    sources
        .iter()
        .filter(|file| file.path.ends_with(".h") && sees_rust(file))
        .filter(|file| file.path.strip_prefix(folder).is_some_and(|path| words.contains(&path)))
        .map(|file| file.fault(1, "a public header includes the Rust side: keep it in a .cc file"))
        .collect()
}

/// Finds examples of a module that nothing runs.
pub(crate) fn examples(run: &SourceFile, sources: &[SourceFile]) -> Vec<Fault> {
    let folder = run.path.replace("test/examples-to-run.py", "examples/");
    let never_run = |file: &&SourceFile| {
        // Headers are shared by examples, so they are not examples themselves.
        let name = file.path.strip_prefix(&folder).and_then(|name| name.strip_suffix(".cc"));
        name.is_some_and(|name| !run.text.contains(&format!("(\"{name}")))
    };
    let faults = sources.iter().filter(never_run);
    faults.map(|file| file.fault(1, format!("{} must name it", run.path))).collect()
}

/// Finds C++ files of the module without the lines that ns-3 requires in each.
pub(crate) fn licences(sources: &[SourceFile]) -> Vec<Fault> {
    const START: &str = "// SPDX-License-Identifier: GPL-2.0-only\n\
                         // Copyright (c) 2026 The evenkeel authors\n";
    sources
        .iter()
        .filter(|file| file.path.starts_with("ns3-module/") && !file.text.starts_with(START))
        .map(|file| file.fault(1, format!("a file of the module must start with:\n{START}")))
        .collect()
}

/// Finds C++ files of the module that use deprecated words.
pub(crate) fn outdated(sources: &[SourceFile]) -> Vec<Fault> {
    const WORDS: [(&str, &str); 2] = [
        ("DLT_EN10MB", "deprecated by ns-3: use LINKTYPE_ETHERNET of rdma-nic-helper.cc"),
        (
            "NS_ABORT_MSG",
            "an error must name the call and the fix: use EVENKEEL_REFUSE of refuse.h",
        ),
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

fn sees_rust(file: &SourceFile) -> bool {
    ["\"rust/", "\"evenkeel-bridge/", "\"evenkeel.h\""]
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
    fn a_public_header_with_rust_in_it_is_a_fault() {
        let lists = file("ns3-module/m/CMakeLists.txt", "HEADERS\n    model/a.h\n  BRIDGED");
        let header = |text| [file("ns3-module/m/model/a.h", text)];
        assert!(rust_in_public(&lists, &header("#include \"ns3/node.h\"\n")).is_empty());
        assert_eq!(rust_in_public(&lists, &header("#include \"rust/cxx.h\"\n")).len(), 1);
        let generated = header("#include \"evenkeel-bridge/chooser.rs.h\"\n");
        assert_eq!(rust_in_public(&lists, &generated).len(), 1);
        let private = file("ns3-module/m/model/p.h", "#include \"rust/cxx.h\"\n");
        assert!(rust_in_public(&lists, &[private]).is_empty());
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
    fn a_deprecated_word_is_a_fault() {
        let helper = |text| [file("ns3-module/helper/a.cc", text)];
        assert!(outdated(&helper("EVENKEEL_REFUSE_IF(x, \"A::B\", \"call it once\");")).is_empty());
        assert_eq!(outdated(&helper("file->Init(PcapHelper::DLT_EN10MB);\n")).len(), 1);
        assert_eq!(outdated(&helper("\nNS_ABORT_MSG_IF(x, \"y\");\n")).len(), 1);
    }

    #[test]
    fn an_example_that_never_runs_is_a_fault() {
        let source = [file("ns3-module/m/examples/one.cc", "")];
        let list = |text| file("ns3-module/m/test/examples-to-run.py", text);
        assert!(examples(&list("(\"one\","), &source).is_empty());
        assert_eq!(examples(&list(""), &source).len(), 1);
    }
}
