//! The table of metrics in `docs/results.md`, generated from the schema of a run.
//!
//! `INSTA_UPDATE=always cargo test --test integration metrics_table` writes it again.

use std::fs;

use serde_json::Value;

use super::bench::Bench;
use crate::page::{Table, replaced, section};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/results.md");

/// Appends the metrics below a node of the schema to a table: its numbers, and those of objects in
/// it. Numbers of lists are of a job, a class or a failure and are no metrics of the run.
fn metrics(node: &Value, above: &str, table: &mut Table) {
    for (key, value) in node["properties"].as_object().into_iter().flatten() {
        let name = format!("{above}{key}");
        let types: Vec<&str> = match &value["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        if types.iter().any(|it| ["integer", "number"].contains(it)) {
            let meaning = value["description"].as_str().unwrap_or_default().replace('\n', " ");
            table.row(format!("`{name}` | {meaning}"));
        } else if types.contains(&"object") {
            metrics(value, &format!("{name}."), table);
        }
    }
}

#[test]
fn the_table_of_metrics_is_that_of_the_schema() {
    let left = Bench::new().evenkeel(&["schema", "run"]);
    let schema: Value = serde_json::from_str(&left.out).expect("a schema is JSON");
    let mut table = Table::new(&["metric", "meaning"]);
    metrics(&schema, "", &mut table);
    let page = fs::read_to_string(PAGE).expect("docs/results.md can be read");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        let page = replaced(&page, "metrics", &table).expect("the page has the markers");
        fs::write(PAGE, page).expect("docs/ is writable");
        return;
    }
    let committed = section(&page, "metrics").expect("the page has the markers");
    assert_eq!(committed, table.text(), "INSTA_UPDATE=always writes docs/results.md again");
}
