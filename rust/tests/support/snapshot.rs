//! Comparisons with tables in `snapshots/`.

/// Compares a text with `snapshots/NAME.snap`.
pub(crate) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Compares a table that must fit a screen of 80 columns and 50 lines.
pub(crate) fn screen(name: &str, table: &str) {
    assert!(table.lines().all(|line| line.chars().count() <= 80), "wider than a screen:\n{table}");
    assert!(table.lines().count() <= 50, "longer than a screen:\n{table}");
    snapshot(name, table);
}

/// Compares a table with its snapshot. By default, compares only the rows that were computed.
pub(crate) fn snapshot_or_rows(name: &str, table: &str) {
    match super::extent::is_long() {
        true => snapshot(name, table),
        false => rows(name, table),
    }
}

/// Compares some rows of a table: each line must be in the snapshot.
pub(crate) fn rows(name: &str, rows: &str) {
    let path = format!("{}/snapshots/{name}.snap", env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    for row in rows.lines() {
        assert!(table.lines().any(|line| line == row), "not in {path}:\n{row}");
    }
}
