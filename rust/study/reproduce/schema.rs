//! JSON Schema of studies, with which editors complete and check keys.
//!
//! The tables are those of [`file`](super::file), whose doc comments are the descriptions. The
//! schema does not check which values fit together, or which keys a scenario has under a dotted
//! name. `evenkeel reproduce` and `evenkeel sweep` do that when they read a study.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::file::StudyFile;
use crate::scenario;

/// Returns the schema of a study, for `evenkeel reproduce` and `evenkeel sweep`, as JSON.
pub fn schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<StudyFile>();
    schema.insert("title".to_owned(), "A study of evenkeel".into());
    schema.to_value()
}

/// Returns the schema of the sections of a scenario.
pub(super) fn sections(_: &mut SchemaGenerator) -> Schema {
    let mut all = scenario::schema();
    let table = all.as_object_mut().expect("a schema is an object");
    table.retain(|key, _| !matches!(key.as_str(), "$schema" | "title"));
    Schema::try_from(all).expect("an object is a schema")
}

/// Returns the schema of scenario keys with their values. Dotted keys such as `workload.bytes` are
/// allowed.
pub(super) fn keys(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// Returns the schema of a run's axes: the values of each key, as a list or as a range.
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

/// Returns the schema of the values of some axes, by label.
pub(super) fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": "array" } })
}

/// Returns the schema of several tables of values.
pub(super) fn cells(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "object" } })
}

/// Returns the schema of a list of any values.
pub(super) fn values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array" })
}

/// Returns the schema of a number or a text.
pub(super) fn number_or_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "string"] })
}
