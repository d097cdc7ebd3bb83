//! Escapes texts from files for pages of Markdown.

/// Returns a text as a line of Markdown or a table cell, in which HTML shows literally. In code
/// between backticks, only the column separator needs an escape.
pub(super) fn markdown_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let parts: Vec<&str> = line.split('`').collect();
    let is_closed = parts.len() % 2 == 1;
    let escaped = parts.iter().enumerate().map(|(index, part)| match index % 2 == 1 && is_closed {
        true => (*part).to_owned(),
        false => part.replace('&', "&amp;").replace('<', "&lt;"),
    });
    escaped.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_in_markdown_is_escaped() {
        assert_eq!(markdown_text("a\n <b> & c | `x<y>`"), "a &lt;b> &amp; c \\| `x<y>`");
        assert_eq!(markdown_text("`<script>"), "`&lt;script>");
    }
}
