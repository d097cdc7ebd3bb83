//! Texts shared by several messages.

/// Describes what is expected where a key takes a table.
pub(crate) fn table_expected(key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    let page = ["policy.", "parameters."].iter().any(|above| key.contains(above));
    let keys = match page {
        true => "docs/scenario.md".to_owned(),
        false => format!("`evenkeel explain {}`", without_indices(key)),
    };
    format!("a table: {name} = {{ ... }}; {keys} has its keys")
}

/// Returns a key without indices: `job.policy` for `job[0].policy`.
pub(crate) fn without_indices(key: &str) -> String {
    let mut name = key.to_owned();
    while let Some((start, end)) = name.find('[').zip(name.find(']')) {
        name.replace_range(start..=end, "");
    }
    name
}

/// Returns the TOML parser's reason for a fault. For a bare word, it says that quotes are missing.
pub(crate) fn syntax_reason(message: &str, text: &str) -> String {
    let found = message.split_once(", expected ").map_or(message, |(found, _)| found);
    let is_word = match found {
        "string values must be quoted" => true,
        // The parser took the first letter for the start of `true`, `false`, `inf` or `nan`.
        "invalid boolean" | "invalid float" => text.starts_with(char::is_alphabetic),
        _ => false,
    };
    match text.trim() {
        "" if is_word => "a value is missing after the equals sign".to_owned(),
        word if is_word => needs_quotes(word),
        _ => message.replace('\n', ", "),
    }
}

/// Returns the message for a bare word.
pub(crate) fn needs_quotes(word: &str) -> String {
    format!("text must be quoted: {word:?}")
}
