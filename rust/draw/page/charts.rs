//! The figures on the page: charts for the script, and other figures as inline SVG.

use super::html::{CUE, escape, number_cell, script_json, table};
use super::is_chart;
use crate::plot::{Chart, DASHES, DotPlot, Drawing, Figure, PALETTE};

/// Returns the JSON of all charts at full precision, in the order in which they appear on the page.
pub(super) fn data(figures: &[&Figure]) -> String {
    let charts: Vec<serde_json::Value> = figures
        .iter()
        .filter_map(|figure| match &figure.drawing {
            Drawing::Chart(chart) => Some(serde_json::json!({
                "name": figure.name,
                "chart": chart,
            })),
            _ => None,
        })
        .collect();
    let colors: Vec<String> = PALETTE
        .iter()
        .map(|(red, green, blue)| format!("#{red:02x}{green:02x}{blue:02x}"))
        .collect();
    let dashes: Vec<Vec<u32>> = DASHES
        .iter()
        .map(|dash| dash.map_or_else(Vec::new, |(dash, gap)| vec![dash, gap]))
        .collect();
    let data = serde_json::json!({ "colors": colors, "dashes": dashes, "charts": charts });
    script_json(&data.to_string())
}

/// Returns the figures with the one that shows the answer first: a metric by policy or over a swept
/// key, if there is one.
pub(super) fn answer_first(figures: &[Figure]) -> Vec<&Figure> {
    let is_answer =
        |figure: &&Figure| figure.name.starts_with("by-policy") || figure.name.starts_with("over-");
    let mut ordered: Vec<&Figure> = figures.iter().collect();
    if let Some(at) = ordered.iter().position(is_answer) {
        ordered[..=at].rotate_right(1);
    }
    ordered
}

/// Returns the HTML of the first figure.
pub(super) fn first(figures: &[&Figure]) -> String {
    html(&figures[..figures.len().min(1)], 0)
}

/// Returns the HTML of the other figures; `None` without others.
pub(super) fn others(figures: &[&Figure]) -> Option<String> {
    let (first, others) = figures.split_first()?;
    let text = format!(
        "<p class=\"hint\">Drag across a chart to zoom in, and double-click to reset the zoom. The \
         buttons do the same.</p>\n{}",
        html(others, usize::from(is_chart(first)))
    );
    (!others.is_empty()).then_some(text)
}

/// Returns the HTML of figures. `charts` is the number of charts before them.
fn html(figures: &[&Figure], mut charts: usize) -> String {
    let mut text = String::new();
    for figure in figures {
        let content = match &figure.drawing {
            Drawing::Chart(chart) => {
                charts += 1;
                chart_html(chart, charts - 1)
            }
            Drawing::Dots(dots) => svg_html(figure) + &dots_table(dots),
            Drawing::Heat(_) | Drawing::Facets(_) => svg_html(figure),
        };
        let kind = match &figure.drawing {
            Drawing::Chart(_) => "figure",
            Drawing::Dots(_) => "figure still dots",
            _ => "figure still",
        };
        text += &format!(
            "<figure id=\"{}\" class=\"{kind}\">\n{content}</figure>\n",
            escape(&figure.name)
        );
    }
    text
}

/// Returns the placeholder of a chart with its buttons, and a table of its values.
fn chart_html(chart: &Chart, index: usize) -> String {
    let (title, note) = (escape(&chart.title), escape(&chart.note));
    let (x, y) = (escape(&chart.x.title()), escape(&chart.y.title()));
    let rows: Vec<String> = chart
        .series
        .iter()
        .map(|series| {
            let ys = || series.points.iter().map(|point| point.y / chart.y.unit_size);
            let ends = [ys().reduce(f64::min), ys().reduce(f64::max)];
            let show = |value: f64| format!("{:.4}", value).trim_end_matches('0').to_owned();
            let show = |value: f64| show(value).trim_end_matches('.').to_owned();
            let name = format!("<th scope=\"row\">{}</th>", escape(&series.name));
            let points = format!("<td>{}</td>", series.points.len());
            name + &points + &ends.map(|end| number_cell(end, show)).concat()
        })
        .collect();
    let summary = table(
        &format!("{}: {} by line", chart.title, chart.y.title()),
        &["line", "points", "minimum", "maximum"],
        &rows,
    );
    let count = chart.series.len();
    format!(
        "<figcaption><h3>{title}</h3><p>{note}</p></figcaption>\n\
         <div class=\"buttons\" role=\"group\" aria-label=\"Zoom of {title}\">\
         <button type=\"button\" data-zoom=\"in\" data-chart=\"{index}\">Zoom in</button>\
         <button type=\"button\" data-zoom=\"out\" data-chart=\"{index}\">Zoom out</button>\
         <button type=\"button\" data-zoom=\"left\" data-chart=\"{index}\" \
         aria-label=\"Move left\">←</button>\
         <button type=\"button\" data-zoom=\"right\" data-chart=\"{index}\" \
         aria-label=\"Move right\">→</button>\
         <button type=\"button\" data-zoom=\"all\" data-chart=\"{index}\">All</button></div>\n\
         <div class=\"chart\" role=\"img\" aria-label=\"{title}: {y} over {x}, {count} lines\" \
         data-chart=\"{index}\"></div>\n\
         <details><summary>Show numbers</summary>\n{summary}</details>\n"
    )
}

/// Returns a figure as inline SVG.
fn svg_html(figure: &Figure) -> String {
    let svg = figure.svg();
    format!(
        "<figcaption><h3>{}</h3></figcaption>\n{CUE}<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{0}\">{svg}</div>\n",
        escape(figure.title())
    )
}

fn dots_table(dots: &DotPlot) -> String {
    let scale = dots.axis.unit_size;
    let rows: Vec<String> = dots
        .rows
        .iter()
        .map(|row| {
            let (low, high) = row.interval.map_or((None, None), |(a, b)| (Some(a), Some(b)));
            let show = |value: f64| format!("{:.4}", value / scale);
            let name = format!("<th scope=\"row\">{}</th>", escape(&row.name));
            name + &[Some(row.value), low, high].map(|it| number_cell(it, show)).concat()
        })
        .collect();
    let caption = format!("{}: {}", dots.title, dots.axis.title());
    let rows = table(&caption, &["", "median", "low", "high"], &rows);
    format!("<details><summary>Show numbers</summary>\n{rows}</details>\n")
}
