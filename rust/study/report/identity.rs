//! Identity of a run, which every output carries.

/// Version of this program. Results of different versions may differ.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Identity of a run. Together with the version it determines the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name of the scenario: the stem of its file's name.
    pub scenario: String,
    /// Name of the load-balancing policy or of the allocator.
    pub policy: String,
    /// Seed of every random draw.
    pub seed: u64,
}

impl Identity {
    /// Returns the first line of every text output, without its line end. Control characters in the
    /// scenario's name are escaped, since a file name may have any, to keep it one line.
    pub fn header(&self) -> String {
        let Self { scenario, policy, seed } = self;
        let scenario: String = scenario
            .chars()
            .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
            .collect();
        format!("{MARK}{VERSION} scenario={scenario} policy={policy} seed={seed}")
    }
}

/// Start of every header, by which outputs are recognised.
pub(super) const MARK: &str = "# evenkeel ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_one_line_for_any_name() {
        let identity =
            Identity { scenario: "a\nb ü".to_owned(), policy: "ecmp".to_owned(), seed: 3 };
        let expected = format!("# evenkeel {VERSION} scenario=a\\nb ü policy=ecmp seed=3");
        assert_eq!(identity.header(), expected);
    }
}
