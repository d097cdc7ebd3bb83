//! The scenarios of runs, and the commands that reproduce the page.

use std::path::Path;

use super::PageText;
use super::html::escape;
use crate::results::{Results, RunFolder};

/// Returns the distinct scenarios of the runs and the files of sweeps, folded; `None` if there are
/// none.
pub(super) fn scenarios(results: &[Results], runs: &[&RunFolder]) -> Option<String> {
    let mut text = String::new();
    let studies = results.iter().filter_map(|it| match it {
        Results::Studies(studies) => Some(studies),
        Results::Run(_) | Results::Comparison(_) => None,
    });
    for study in studies.flatten() {
        text.extend(study.study_text().map(|file| folded(&study.name, &file)));
    }
    let mut known: Vec<String> = Vec::new();
    for run in runs {
        let Some(scenario) = run.scenario_text().filter(|text| !known.contains(text)) else {
            continue;
        };
        let name = format!("{}, {}, seed {}", run.scenario(), run.policy(), run.seed());
        text += &folded(&name, &scenario);
        known.push(scenario);
    }
    (!text.is_empty()).then_some(text)
}

/// Folds the text of a file.
fn folded(name: &str, text: &str) -> String {
    let (name, text) = (escape(name), escape(text));
    format!(
        "<details><summary>{name}</summary>\n<pre tabindex=\"0\"><code>{text}</code></pre>\
         </details>\n"
    )
}

/// Returns a command for each of the results, followed by the command of the page.
pub(super) fn commands(results: &[Results], of: &PageText) -> String {
    let text = of.reproduce.clone().unwrap_or_else(|| of_folders(results, &of.command));
    let text = escape(&text);
    format!("<pre tabindex=\"0\"><code id=\"command\">{text}</code></pre>\n")
}

fn of_folders(results: &[Results], page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for result in results {
        match result {
            Results::Run(run) => lines.push(run_command(run)),
            Results::Comparison(table) => {
                let file = quote(table.file());
                lines.push(format!("# {file} is the output of evenkeel compare"));
            }
            Results::Studies(tables) => {
                lines.extend(tables.iter().map(|study| study_command(Path::new(study.file()))));
            }
        }
    }
    lines.push(page.to_owned());
    lines.join("\n")
}

/// Returns the commands that repeat a run. The resolved scenario in the results folder contains the
/// policy and the seed. The commands copy it because a run is named after its file; the copy is in
/// the same folder, because paths in it are relative to that.
fn run_command(run: &RunFolder) -> String {
    let folder = quote(&run.path().display().to_string());
    let scenario = run.path().join("scenario.toml");
    if !run.has("scenario.toml") {
        return format!("# {folder} has no scenario.toml");
    }
    let copy =
        quote(&scenario.with_file_name(format!("{}.toml", run.scenario())).display().to_string());
    let scenario = quote(&scenario.display().to_string());
    match scenario == copy {
        true => format!("evenkeel run {scenario} --out {folder}"),
        false => format!("cp {scenario} {copy}\nevenkeel run {copy} --out {folder}"),
    }
}

fn study_command(file: &Path) -> String {
    let folder = file.parent().unwrap_or(Path::new("."));
    let out = quote(&folder.display().to_string());
    let study = folder.join("study.toml");
    match study.is_file() {
        true => format!("evenkeel sweep {} --out {out}", quote(&study.display().to_string())),
        false => {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            format!("evenkeel reproduce {} --scale paper --out {out}", quote(&name))
        }
    }
}

/// Joins words into a shell command, quoting where necessary.
pub(super) fn shell_words(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for the shell if necessary.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_blanks_are_quoted() {
        assert_eq!(quote("results/a-1"), "results/a-1");
        assert_eq!(quote("it's here"), "'it'\\''s here'");
    }
}
