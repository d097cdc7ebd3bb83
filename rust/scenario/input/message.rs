//! Words that several messages share.

/// What is expected where a key holds a table.
pub(crate) fn table_expected(key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    let page = ["policy.", "parameters."].iter().any(|above| key.contains(above));
    let keys = match page {
        true => "docs/scenario.md".to_owned(),
        false => format!("`evenkeel explain {}`", without_indices(key)),
    };
    format!("a table: {name} = {{ ... }}; {keys} has its keys")
}

/// A key as sections write it: `job.policy` of `job[0].policy`.
pub(crate) fn without_indices(key: &str) -> String {
    let mut name = key.to_owned();
    while let Some((start, end)) = name.find('[').zip(name.find(']')) {
        name.replace_range(start..=end, "");
    }
    name
}

/// What the parser of TOML says of the text at a fault; of a bare word, that it needs quotes.
pub(crate) fn syntax_reason(message: &str, text: &str) -> String {
    let refused = message.split_once(", expected ").map_or(message, |(refused, _)| refused);
    let is_word = match refused {
        "string values must be quoted" => true,
        // It took the first letter for that of `true`, `false`, `inf` or `nan`.
        "invalid boolean" | "invalid float" => text.starts_with(char::is_alphabetic),
        _ => false,
    };
    match text.trim() {
        "" if is_word => "a value is missing after the equals sign".to_owned(),
        word if is_word => needs_quotes(word),
        _ => message.replace('\n', ", "),
    }
}

/// The message for a bare word.
pub(crate) fn needs_quotes(word: &str) -> String {
    format!("a text stands in quotes: {word:?}")
}
