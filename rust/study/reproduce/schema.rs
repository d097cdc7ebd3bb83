//! The JSON Schema of studies, from which editors complete and check keys.
//!
//! The tables are those of [`file`](super::file); its doc comments are the descriptions. What
//! values fit together, and which keys a scenario has under a dotted name, `evenkeel reproduce`
//! and `evenkeel sweep` say when they read a study.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::file::StudyFile;
use crate::scenario;

/// The schema of a study, of `evenkeel reproduce` and of `evenkeel sweep`, as JSON.
pub fn schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<StudyFile>();
    schema.insert("title".to_owned(), "A study of evenkeel".into());
    schema.to_value()
}

/// The sections of a scenario.
pub(super) fn sections(_: &mut SchemaGenerator) -> Schema {
    let mut all = scenario::schema();
    let table = all.as_object_mut().expect("a schema is an object");
    table.retain(|key, _| !matches!(key.as_str(), "$schema" | "title"));
    Schema::try_from(all).expect("an object is a schema")
}

/// Keys of a scenario with their values; `workload.bytes` is a key too.
pub(super) fn keys(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// The axes of a run: the values of each key, as a list or as a range.
pub(super) fn axes(_: &mut SchemaGenerator) -> Schema {
    let number = json_schema!({ "type": ["number", "string"] });
    let plain = json_schema!({ "type": ["string", "number", "boolean"] });
    let labelled = json_schema!({
        "type": "object",
        "properties": {
            "label": { "type": "string", "description": "The name in results and claims." },
            "set": { "type": "object", "description": "Keys of a scenario with their values." },
        },
        "required": ["label"],
        "additionalProperties": false,
    });
    json_schema!({
        "type": "object",
        "additionalProperties": { "anyOf": [
            { "type": "array", "minItems": 1, "items": { "anyOf": [plain, labelled] } },
            {
                "type": "object",
                "properties": { "from": number, "to": number, "step": number, "times": number },
                "required": ["from", "to"],
                "oneOf": [{ "required": ["step"] }, { "required": ["times"] }],
                "additionalProperties": false,
            },
        ] },
    })
}

/// The values of some axes, by label.
pub(super) fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": "array" } })
}

/// Several tables of values.
pub(super) fn cells(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "object" } })
}

/// A list of any values.
pub(super) fn values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array" })
}

/// A number, or words.
pub(super) fn number_or_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "string"] })
}
