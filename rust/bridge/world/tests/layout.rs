//! Checks that the boundary's records have the same fields, in the same order, in Rust and C++.
//!
//! cxx checks the values of enumerations when C++ is compiled, but not the fields of records.

use std::collections::BTreeMap;

/// The type and the name of each field, in Rust's spelling.
type Fields = Vec<(String, String)>;

const HEADERS: [&str; 3] = [
    include_str!("../../../../ns3-module/evenkeel-fabric/model/fabric-packet.h"),
    include_str!("../../../../ns3-module/evenkeel-fabric/model/fabric-records.h"),
    include_str!("../../../../ns3-module/evenkeel-fabric/model/fabric-verbs.h"),
];

#[test]
fn every_record_has_the_same_fields_in_both_languages() {
    let in_cpp: BTreeMap<String, Fields> = HEADERS.into_iter().flat_map(cpp_structs).collect();
    let mut in_rust = rust_structs(include_str!("../records.rs"));
    let nic = rust_structs(include_str!("../../../engine/nic/counters.rs"));
    let network = rust_structs(include_str!("../../../engine/fabric/counters.rs"));
    let endpoint = rust_structs(include_str!("../../../engine/endpoint/record.rs"));
    // These are transparent wrappers, so compare the fields of the wrapped types.
    in_rust.insert("FabricNicCounters".into(), nic["NicCounters"].clone());
    in_rust.insert("FabricCounters".into(), network["NetworkCounters"].clone());
    in_rust.insert("FabricQpCounts".into(), endpoint["QpCounts"].clone());
    assert!(in_rust.len() >= 14, "records: {in_rust:?}");
    for (name, fields) in &in_rust {
        assert_eq!(in_cpp.get(name), Some(fields), "the fields of {name} in C++ and in Rust");
    }
}

/// Returns the structs of a Rust file, by name.
fn rust_structs(text: &str) -> BTreeMap<String, Fields> {
    structs(text, |line| {
        let (name, kind) =
            line.trim_start_matches("pub ").trim_end_matches(',').split_once(": ")?;
        Some((kind.to_owned(), name.to_owned()))
    })
}

/// Returns the structs of a C++ header, by name.
fn cpp_structs(text: &str) -> BTreeMap<String, Fields> {
    structs(text, |line| {
        let declaration = line.split_once(';')?.0.split('{').next()?;
        let [kind, name] = declaration.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let kind = match kind {
            "uint8_t" => "u8",
            "uint16_t" => "u16",
            "uint32_t" => "u32",
            "uint64_t" => "u64",
            "return" | "using" => return None,
            other => other,
        };
        Some((kind.to_owned(), snake_case(name)))
    })
}

/// Returns the structs of a text; `field` parses a line as a field.
fn structs(
    text: &str,
    field: impl Fn(&str) -> Option<(String, String)>,
) -> BTreeMap<String, Fields> {
    let mut found: BTreeMap<String, Fields> = BTreeMap::new();
    let mut inside: Option<String> = None;
    for line in text.lines().map(str::trim) {
        // In Rust, the visibility precedes the keyword.
        let declared = line.split_once("struct ").filter(|(before, rest)| {
            (before.is_empty() || before.starts_with("pub")) && !rest.ends_with(';')
        });
        if let Some((_, declared)) = declared {
            let name = declared.split([' ', '{', '<']).next().unwrap_or(declared).to_owned();
            found.entry(name.clone()).or_default();
            inside = Some(name);
        } else if line == "}" && !text_is_cpp(text) || line == "};" {
            inside = None;
        } else if let (Some(name), false) = (&inside, line.starts_with(['/', '*', '#'])) {
            found.entry(name.clone()).or_default().extend(field(line));
        }
    }
    found
}

/// True for a C++ header, in which `};` ends a struct and `}` only a function.
fn text_is_cpp(text: &str) -> bool {
    text.contains("#ifndef")
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[test]
fn fields_are_parsed_in_both_languages() {
    let cpp = "#ifndef X\nstruct Flow\n{\n    using Kind = A;\n    uint64_t startPs{0}; //!< when\n\
               \n    bool Has(uint8_t flag) const\n    {\n        return true;\n    }\n\
               \n    Kind kind;\n};\n";
    let rust =
        "pub(crate) struct Flow {\n    start_ps: u64,\n    /// Kind.\n    pub kind: Kind,\n}\n";
    let fields = vec![("u64".into(), "start_ps".into()), ("Kind".into(), "kind".into())];
    assert_eq!(cpp_structs(cpp)["Flow"], fields);
    assert_eq!(rust_structs(rust)["Flow"], fields);
}
