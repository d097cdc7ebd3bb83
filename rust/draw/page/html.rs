//! Helpers that write HTML.

/// Escapes the characters that have a meaning in HTML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes JSON for a script element, so that nothing in it ends the element.
pub(super) fn script_json(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Returns a table cell with a number: formatted for readers, and at full precision in
/// `data-value`.
pub(super) fn number_cell(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    match value {
        Some(value) => format!("<td data-value=\"{value}\">{}</td>", escape(&show(value))),
        None => "<td><abbr title=\"none\">–</abbr></td>".to_owned(),
    }
}

/// The cue above content that is wider than the screen. The script shows it.
pub(super) const CUE: &str = "<p class=\"cue\" hidden>Scroll sideways for more →</p>\n";

/// Maximum number of columns that fit on paper in the usual size of text.
const MAX_PRINTED: usize = 8;

/// Returns a cell that heads its row.
pub(super) fn row_heading(text: &str) -> String {
    format!("<th scope=\"row\">{}</th>", escape(text))
}

/// Returns a link, visible with the keyboard's focus, over many tab stops to the element `id`.
pub(super) fn skip(id: &str, text: &str) -> String {
    format!("<a class=\"skip\" href=\"#{id}\">{}</a>\n", escape(text))
}

/// Returns a table that scrolls horizontally if it is wider than the screen. A cue then says so.
pub(super) fn table(caption: &str, columns: &[&str], rows: &[String]) -> String {
    let head: String =
        columns.iter().map(|column| format!("<th scope=\"col\">{}</th>", escape(column))).collect();
    let body: String = rows.iter().map(|row| format!("<tr>{row}</tr>\n")).collect();
    let caption = escape(caption);
    let class = if columns.len() > MAX_PRINTED { " class=\"dense\"" } else { "" };
    format!(
        "{CUE}<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n\
         <table{class}>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let text = "<script>alert(\"a & b\")</script>";
        assert_eq!(escape(text), "&lt;script&gt;alert(&quot;a &amp; b&quot;)&lt;/script&gt;");
        assert!(!script_json("{\"a\":\"</script>\"}").contains('<'));
    }

    #[test]
    fn a_cell_has_the_formatted_and_the_exact_number() {
        let cell = number_cell(Some(208_261.88), |value| format!("{value:.0}"));
        assert_eq!(cell, "<td data-value=\"208261.88\">208262</td>");
        assert!(number_cell(None, |_| String::new()).contains('–'));
    }
}
