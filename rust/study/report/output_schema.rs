//! JSON Schemas of evenkeel's outputs, generated from the types that are serialized.
//!
//! Times are nanoseconds and sizes are bytes, as the names of the keys say. Later versions may add
//! keys. A change of a key's meaning needs an entry in `CHANGELOG.md`.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::comparison_files::Record;
use super::cost::CostSummary;
use super::{AllRuns, CheckSummary, RailSummary, Summary, Twin};
use crate::reproduce::{Reproduction, RunLine};
use crate::{BoundSummary, ExplainSummary, ListSummary, NcclTable, QpsSummary};

/// An output with a schema: the name of its file or command, and the schema.
pub struct OutputSchema {
    /// Name on the command line.
    pub name: &'static str,
    /// Command or file that the schema describes.
    pub of: &'static str,
    make: fn() -> Value,
}

/// All JSON outputs.
pub const OUTPUT_SCHEMAS: [OutputSchema; 15] = [
    OutputSchema {
        name: "run",
        of: "`run --json`, `hpcc --json`, and summary.json, which has no costs",
        make: || of_results::<Summary>("A run of evenkeel"),
    },
    OutputSchema {
        name: "rails",
        of: "The same for a scenario with [[rail]]",
        make: || of_results::<RailSummary>("A run of evenkeel over several rails"),
    },
    OutputSchema {
        name: "cost",
        of: "cost.json: the time and memory of a run, which depend on the machine",
        make: || of::<CostSummary>("The cost of a run of evenkeel"),
    },
    OutputSchema {
        name: "compare",
        of: "`compare --json`, and runs.json, which has no costs",
        make: || of_results::<AllRuns<Vec<Summary>>>("A comparison of evenkeel"),
    },
    OutputSchema {
        name: "compare-rails",
        of: "The same for a scenario with [[rail]]",
        make: || of_results::<AllRuns<Vec<RailSummary>>>("A comparison of evenkeel over rails"),
    },
    OutputSchema {
        name: "statistics",
        of: "a line of `compare --format jsonl`; its keys are the columns of comparison.csv",
        make: || of::<Record<'_>>("A metric of a policy in a comparison of evenkeel"),
    },
    OutputSchema {
        name: "sweep",
        of: "a line of sweep.runs.jsonl or NAME.runs.jsonl",
        make: || of::<RunLine>("A run of a study of evenkeel"),
    },
    OutputSchema {
        name: "reproduce",
        of: "NAME.json of `reproduce --out`, and an item of `reproduce --json`",
        make: || of::<Reproduction>("The results of a study of evenkeel"),
    },
    OutputSchema {
        name: "check",
        of: "`check --json`",
        make: || of::<CheckSummary>("Checks of evenkeel"),
    },
    OutputSchema {
        name: "explain",
        of: "`explain --json`",
        make: || of::<ExplainSummary>("The meaning of a word of evenkeel"),
    },
    OutputSchema {
        name: "list",
        of: "`list --json`",
        make: || of::<ListSummary>("A category of names of evenkeel"),
    },
    OutputSchema {
        name: "bound",
        of: "`bound --json`",
        make: || of::<BoundSummary>("The lower bound of a scenario of evenkeel"),
    },
    OutputSchema {
        name: "qps",
        of: "`qps --json`",
        make: || of::<QpsSummary>("The queue pairs of a scenario of evenkeel"),
    },
    OutputSchema {
        name: "nccl-tests",
        of: "`nccl-tests --json`",
        make: || of::<NcclTable>("The table of an operation of NCCL of evenkeel"),
    },
    OutputSchema {
        name: "twin",
        of: "`twin --json`",
        make: || of::<Twin>("A run of evenkeel in both worlds"),
    },
];

impl OutputSchema {
    /// Returns the schema as JSON.
    pub fn schema(&self) -> Value {
        (self.make)()
    }
}

fn of<T: JsonSchema>(title: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    let mut value = schema.to_value();
    use_json_null(&mut value);
    value
}

/// Returns the schema of results as stored in a folder, which omits their cost.
fn of_results<T: JsonSchema>(title: &str) -> Value {
    let mut schema = of::<T>(title);
    let mut whole = &mut schema;
    if whole["properties"].get("runs").is_some() {
        whole = &mut whole["properties"]["runs"]["items"];
    }
    if let Some(Value::Array(required)) = whole.get_mut("required") {
        required.retain(|key| key != "wall_s" && key != "peak_rss_bytes");
    }
    schema
}

/// Adapts descriptions to JSON. They are Rust's doc comments, which say `None` for null.
fn use_json_null(value: &mut Value) {
    match value {
        Value::Object(table) => {
            if let Some(Value::String(text)) = table.get_mut("description") {
                *text = text.replace("`None`", "null").replace('\n', " ");
            }
            table.values_mut().for_each(use_json_null);
        }
        Value::Array(items) => items.iter_mut().for_each(use_json_null),
        _ => {}
    }
}

/// Returns the schema of the time series of one recording, or of several by name.
pub(crate) fn time_series_schema(_: &mut SchemaGenerator) -> Schema {
    let numbers = json_schema!({ "type": "array", "items": { "type": "number" } });
    let course = json_schema!({
        "type": "object",
        "properties": { "window_ns": { "type": "number" } },
        "required": ["window_ns"],
        "additionalProperties": numbers,
    });
    json_schema!({ "anyOf": [
        course,
        { "type": "object", "additionalProperties": course },
    ] })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the type of a value, with the keys of an object; `?` follows a key that may be
    /// absent.
    fn kind(schema: &Value) -> String {
        if let Some(choices) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array)
        {
            return choices.iter().map(kind).collect::<Vec<_>>().join("|");
        }
        if let Some(names) = schema.get("enum").and_then(Value::as_array) {
            return names.iter().map(Value::to_string).collect::<Vec<_>>().join("|");
        }
        if let Some(name) = schema.get("const") {
            return name.to_string();
        }
        let of_object = || {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let properties = schema.get("properties").and_then(Value::as_object)?;
            let key = |(key, value): (&String, &Value)| {
                let mark = if required.contains(&key.as_str().into()) { "" } else { "?" };
                format!("{key}{mark} {}", kind(value))
            };
            Some(properties.iter().map(key).collect::<Vec<_>>().join(", "))
        };
        let name = |name: &Value| match name.as_str() {
            Some("object") => format!("{{{}}}", of_object().unwrap_or_default()),
            Some("array") => format!("[{}]", schema.get("items").map(kind).unwrap_or_default()),
            name => name.unwrap_or("any").to_owned(),
        };
        match &schema["type"] {
            Value::Array(names) => names.iter().map(name).collect::<Vec<_>>().join("|"),
            one => name(one),
        }
    }

    /// A changed snapshot is a changed contract, which needs an entry in `CHANGELOG.md`.
    #[test]
    fn keys_of_all_outputs_match_the_contract() {
        let mut text = String::new();
        let mut known: Vec<(String, &str)> = Vec::new();
        for output in &OUTPUT_SCHEMAS {
            let mut line = format!("{}:", output.name);
            let whole = kind(&output.schema());
            // Objects that were listed above are shown by name.
            let short = known.iter().fold(whole.clone(), |it, (of, name)| it.replace(of, name));
            known.push((whole, output.name));
            for word in short.split(' ') {
                if line.len() + word.len() >= 100 {
                    text.push_str(&format!("{line}\n"));
                    line = " ".to_owned();
                }
                line.push_str(&format!(" {word}"));
            }
            text.push_str(&format!("{line}\n"));
        }
        super::super::sample::snapshot("json-contract", &text);
    }

    #[test]
    fn every_key_is_described_and_contract_keys_are_required() {
        let of = |name: &str| {
            let found = OUTPUT_SCHEMAS.iter().find(|it| it.name == name);
            found.expect("there is such an output").schema()
        };
        for output in &OUTPUT_SCHEMAS {
            let schema = output.schema();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            let properties = schema["properties"].as_object().expect(output.name);
            for (key, property) in properties {
                let words = property["description"].as_str().unwrap_or_default();
                assert!(!words.is_empty() && !words.contains("None"), "{} {key}", output.name);
            }
        }
        let run = of("run");
        let required = run["required"].as_array().unwrap();
        for key in ["scenario", "seed", "cct_ns", "packets", "fct_ns"] {
            assert!(required.contains(&key.into()), "{key}");
        }
        for key in ["fidelity", "jobs", "record", "resolved", "wall_s"] {
            assert!(!required.contains(&key.into()), "{key} may be absent");
        }
        assert_eq!(run["properties"]["cct_ns"]["type"], serde_json::json!(["number", "null"]));
        assert!(run["properties"].get("qp_account").is_none());
    }
}
