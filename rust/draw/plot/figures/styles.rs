//! Styles of lines: a link, a policy or a host has one colour in all figures.

use crate::plot::{Chart, DASHES, Figure, PALETTE};

/// Number of distinct styles.
const STYLES: usize = PALETTE.len() * DASHES.len();

/// Assigns a style to each name. Names get styles in the order in which they appear. Names that
/// share a chart have different colours as far as there are colours.
pub(super) fn assign(figures: &mut [Figure]) {
    let charts = |figures: &mut [Figure], change: &mut dyn FnMut(&mut Chart)| {
        figures.iter_mut().flat_map(Figure::charts_mut).for_each(change);
    };
    let mut groups: Vec<Vec<String>> = Vec::new();
    charts(figures, &mut |chart| {
        groups.push(chart.series.iter().map(|series| series.name.clone()).collect());
    });
    let mut styles: Vec<(&str, usize)> = Vec::new();
    let style_of = |styles: &[(&str, usize)], name: &str| {
        styles.iter().find(|(it, _)| *it == name).map(|(_, style)| *style)
    };
    for name in groups.iter().flatten() {
        if style_of(&styles, name).is_some() {
            continue;
        }
        let near = groups.iter().filter(|group| group.contains(name)).flatten();
        let used: Vec<usize> = near.filter_map(|other| style_of(&styles, other)).collect();
        let color = |style: usize| style % PALETTE.len();
        let has_own_color = |style: &usize| used.iter().all(|it| color(*it) != color(*style));
        let free = (0..STYLES).find(has_own_color);
        let free = free.or_else(|| (0..STYLES).find(|style| !used.contains(style)));
        styles.push((name, free.unwrap_or(styles.len() % STYLES)));
    }
    let styles: Vec<(String, usize)> =
        styles.into_iter().map(|(name, style)| (name.to_owned(), style)).collect();
    charts(figures, &mut |chart| {
        for series in &mut chart.series {
            let style = styles.iter().find(|(name, _)| *name == series.name);
            series.style = style.map_or(0, |(_, style)| *style);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Drawing, Join, Series};

    fn figure(names: &[&str]) -> Figure {
        let axis = || Axis::new("", Default::default(), [1.0].into_iter());
        let series = names.iter().map(|it| Series::new((*it).to_owned(), Join::Line, Vec::new()));
        let (title, note, marks) = (String::new(), String::new(), Vec::new());
        let chart = Chart { title, note, x: axis(), y: axis(), series: series.collect(), marks };
        Figure::new("a", Drawing::Chart(chart))
    }

    fn styles(figure: &mut Figure) -> Vec<usize> {
        figure.charts_mut()[0].series.iter().map(|series| series.style).collect()
    }

    #[test]
    fn a_link_has_one_style_in_all_figures_and_links_of_a_figure_differ_in_colour() {
        let mut all = [figure(&["a", "b"]), figure(&["c", "a"]), figure(&["b", "d", "c"])];
        assign(&mut all);
        assert_eq!(all.each_mut().map(styles), [vec![0, 1], vec![2, 0], vec![1, 0, 2]]);
        let names: Vec<String> = (0..30).map(|it| it.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut all = [figure(&names)];
        assign(&mut all);
        let mut first = styles(&mut all[0])[..STYLES].to_vec();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), STYLES);
    }
}
