//! The figure of the architecture, drawn from the sources: which module uses which, as a matrix
//! whose rows and columns are in the order of the layers.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::layers::Level;

const CELL: usize = 24;
/// Left of and above the matrix, for names.
const LEFT: usize = 128;
const TOP: usize = 104;
const MARGIN: usize = 24;

const INK: &str = "#1f2933";
const FAINT: &str = "#6b7785";
const LINE: &str = "#c5d0dc";
/// The bands of layers, in turn.
const BANDS: [&str; 2] = ["#e9f0f8", "#f6f9fc"];
const BELOW: &str = "#2f6db3";
const PEER: &str = "#d08c1d";
const UPWARD: &str = "#c0392b";

/// Which modules use which, and the layers that they are in.
pub(crate) struct Figure<'a> {
    /// From the ground up.
    pub(crate) levels: &'a [Level],
    /// User and used.
    pub(crate) uses: &'a BTreeSet<(String, String)>,
}

/// A module in its place.
struct Module {
    name: &'static str,
    index: usize,
    level: usize,
}

impl Figure<'_> {
    /// The figure as SVG.
    pub(crate) fn svg(&self) -> String {
        let modules = self.modules();
        let side = modules.len() * CELL;
        let (width, height) = (LEFT + side + MARGIN, TOP + side + 56);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"Helvetica, Arial, sans-serif\" \
             font-size=\"13\" fill=\"{INK}\">\n\
             <title>Which module of evenkeel uses which</title>\n\
             <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\"/>\n"
        );
        self.bands(&mut svg, side);
        for module in &modules {
            names(&mut svg, module);
        }
        for user in &modules {
            for used in &modules {
                svg += &self.cell(user, used);
            }
        }
        legend(&mut svg, TOP + side + 32);
        svg + "</svg>\n"
    }

    fn modules(&self) -> Vec<Module> {
        let levels = self.levels.iter().enumerate();
        let all = levels.flat_map(|(level, it)| it.modules.iter().map(move |name| (level, *name)));
        all.enumerate().map(|(index, (level, name))| Module { name, index, level }).collect()
    }

    /// A band for each layer, across its rows, and a line along its first column.
    fn bands(&self, svg: &mut String, side: usize) {
        let mut first = 0;
        for (level, it) in self.levels.iter().enumerate() {
            let (at, size) = (first * CELL, it.modules.len() * CELL);
            let (y, fill, width) = (TOP + at, BANDS[level % 2], LEFT + side - 8);
            writeln!(
                svg,
                "<rect x=\"8\" y=\"{y}\" width=\"{width}\" height=\"{size}\" fill=\"{fill}\"/>"
            )
            .expect("a string takes all");
            // What a layer's modules may use among themselves is a square on the diagonal.
            let x = LEFT + at;
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{size}\" height=\"{size}\" fill=\"#ffffff\" \
                 stroke=\"{LINE}\"/>"
            )
            .expect("a string takes all");
            first += it.modules.len();
        }
    }

    /// What a row says of a column.
    fn cell(&self, user: &Module, used: &Module) -> String {
        let (x, y) = (center(LEFT, used.index), center(TOP, user.index));
        if user.index == used.index {
            let (x, y) = (x - 5, y - 5);
            return format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{LINE}\"/>\n"
            );
        }
        let edge = (user.name.to_owned(), used.name.to_owned());
        if !self.uses.contains(&edge) {
            return String::new();
        }
        let fill = match user.level.cmp(&used.level) {
            std::cmp::Ordering::Greater => BELOW,
            std::cmp::Ordering::Equal => PEER,
            std::cmp::Ordering::Less => UPWARD,
        };
        let (user, used) = edge;
        format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{fill}\">\
             <title>{user} uses {used}</title></circle>\n"
        )
    }
}

/// The middle of a row or column.
fn center(start: usize, index: usize) -> usize {
    start + index * CELL + CELL / 2
}

/// A module's name beside its row and above its column.
fn names(svg: &mut String, module: &Module) {
    let name = module.name;
    let (x, y) = (LEFT - 10, center(TOP, module.index) + 4);
    writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{name}</text>")
        .expect("a string takes all");
    let (x, y) = (center(LEFT, module.index) + 4, TOP - 10);
    writeln!(svg, "<text x=\"{x}\" y=\"{y}\" transform=\"rotate(-60 {x} {y})\">{name}</text>")
        .expect("a string takes all");
}

fn legend(svg: &mut String, y: usize) {
    let entries = [(BELOW, "uses a layer below"), (PEER, "uses its own layer")];
    let mut x = LEFT + 8;
    for (fill, text) in entries {
        let (middle, after) = (y - 4, x + 12);
        writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{middle}\" r=\"5\" fill=\"{fill}\"/>\
             <text x=\"{after}\" y=\"{y}\" fill=\"{FAINT}\">{text}</text>"
        )
        .expect("a string takes all");
        x += 160;
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::Peers;
    use super::*;

    #[test]
    fn a_dot_stands_in_the_row_of_the_user_and_the_column_of_the_used() {
        let levels = [
            Level { modules: &["ids"], peers: Peers::Unseen },
            Level { modules: &["nic", "balance"], peers: Peers::Seen },
        ];
        let edge = |user: &str, used: &str| (user.to_owned(), used.to_owned());
        let uses = BTreeSet::from([edge("nic", "ids"), edge("nic", "balance")]);
        let svg = Figure { levels: &levels, uses: &uses }.svg();
        let dot = |row: usize, column: usize, fill: &str| {
            let (x, y) = (center(LEFT, column), center(TOP, row));
            svg.contains(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{fill}\">"))
        };
        assert!(dot(1, 0, BELOW) && dot(1, 2, PEER) && !svg.contains(UPWARD), "{svg}");
    }
}
