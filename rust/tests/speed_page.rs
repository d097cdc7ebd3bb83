//! `docs/speed.md` and `docs/reproduce/speed.txt`: their markers and the table of instruction
//! counts, and the commands that write and check the tables.

use std::path::Path;

use crate::instruction_figures::{Figure, Figures, Finding};
use crate::page::{Table, replaced, section, thousands};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn figures(compiler: &str, instructions: f64) -> Figures {
    let line = vec![Figure { name: "`spray` | line rate".to_owned(), instructions }];
    Figures { compiler: compiler.to_owned(), line }
}

#[test]
fn every_table_is_between_its_markers() {
    let [page, more] = ["docs/speed.md", "docs/reproduce/speed.txt"];
    for (file, name) in [
        (page, "yardstick"),
        (page, "instructions"),
        (more, "sizes"),
        (more, "threads"),
        (more, "planes"),
    ] {
        let text = read(file);
        let table = section(&text, name).unwrap_or_else(|it| panic!("{file}: {it}"));
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows.len() > 2, "{file}: the table {name:?} has no rows");
        let columns = rows[0].matches('|').count();
        for row in rows {
            assert_eq!(row.matches('|').count(), columns, "{file}, {name}: {row}");
        }
    }
}

#[test]
fn the_page_has_the_committed_instruction_counts() {
    let figures: Figures = toml::from_str(&read("rust/benches/instructions.toml")).unwrap();
    let page = read("docs/speed.md");
    assert_eq!(section(&page, "instructions").unwrap(), figures.table().text());
}

#[test]
fn gungraun_runner_and_crate_versions_agree() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("it is TOML");
    let gungraun = &manifest["dev-dependencies"]["gungraun"];
    // In the packaged crate, cargo rewrites the dependency as a table.
    let version = gungraun.get("version").unwrap_or(gungraun).as_str().expect("it has a version");
    let version = version.strip_prefix('=').expect("a version that is exact");
    for path in ["docs/speed.md", ".ci/full"] {
        let wanted = format!("gungraun-runner --version ={version}");
        assert!(read(path).contains(&wanted), "{path}: it must say {wanted}");
    }
}

#[test]
fn a_table_replaces_only_the_text_between_its_markers() {
    let page = "a\n<!-- begin: t -->\nold\n<!-- end: t -->\nb\n<!-- end: u -->\n";
    let mut table = Table::new(&["hosts", "rate"]);
    assert_eq!(table.row("16 | 2"), "| 16 | 2 |");
    let expected = "a\n<!-- begin: t -->\n| hosts | rate |\n|---|---|\n| 16 | 2 |\n\
                    <!-- end: t -->\nb\n<!-- end: u -->\n";
    assert_eq!(replaced(page, "t", &table).unwrap(), expected);
    let fault = replaced(page, "u", &table).unwrap_err();
    assert_eq!(fault, "no line \"<!-- begin: u -->\\n\"");
    assert_eq!([7, 1_024, 131_072].map(thousands), ["7", "1,024", "131,072"]);
}

#[test]
fn counts_over_3_percent_above_the_figures_fail_only_with_the_same_compiler() {
    let committed = figures("rustc 1", 1_000.0);
    let with = |compiler, instructions| committed.compare(&figures(compiler, instructions));
    assert_eq!(with("rustc 1", 1_029.0).0, Finding::Passed);
    let (finding, text) = with("rustc 1", 1_031.0);
    assert_eq!(finding, Finding::Failed);
    assert!(text.contains("1031.0, committed 1000.0 (+3.1 %): above"), "{text}");
    assert!(text.contains("cargo bench --bench instructions -- --write"), "{text}");

    let (finding, text) = with("rustc 2", 1_031.0);
    assert_eq!(finding, Finding::Warned);
    assert!(text.contains("compiled by rustc 2; the figures are from rustc 1"), "{text}");
}

#[test]
fn counts_over_3_percent_below_the_figures_ask_for_renewal() {
    let committed = figures("rustc 1", 1_000.0);
    let (finding, text) = committed.compare(&figures("rustc 1", 969.0));
    assert_eq!(finding, Finding::Passed);
    assert!(text.contains("-3.1 %): below") && text.contains("update the figures"), "{text}");
    let text = committed.compare(&figures("rustc 1", 971.0)).1;
    assert!(!text.contains("update the figures"), "{text}");
}

#[test]
fn a_line_without_a_figure_fails() {
    let committed = Figures { compiler: "rustc 1".to_owned(), line: Vec::new() };
    assert_eq!(committed.compare(&figures("rustc 1", 1.0)).0, Finding::Failed);
}
