//! `TRACE_FILE`: the nodes whose packets are traced.
//!
//! The file holds a count and as many node numbers, separated by white space. The text after them
//! is ignored, because the family's sample has comments there. Numbers of nodes that the topology
//! does not have are skipped, as in HPCC's `third.cc`.

use std::collections::BTreeSet;

use thiserror::Error;

/// An error in a list of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NodeListError {
    /// The file does not begin with a count.
    #[error("{file}: invalid count '{text}'; expected a count and as many nodes, e.g. 2 0 7")]
    Count {
        /// Name of the list's file.
        file: String,
        /// The text found instead of the count.
        text: String,
    },
    /// A node is not a number.
    #[error("{file}: invalid node '{text}'; expected a whole number")]
    Node {
        /// Name of the list's file.
        file: String,
        /// The text found instead of the node's number.
        text: String,
    },
    /// The file has fewer nodes than its count.
    #[error("{file}: the count is {announced}, but the file ends after {found} nodes")]
    TooFew {
        /// Name of the list's file.
        file: String,
        /// The count at the start of the file.
        announced: u64,
        /// The number of nodes in the file.
        found: usize,
    },
}

/// Reads the nodes in `text`; `file` is its name in error messages.
///
/// # Errors
/// Fails at the first token that is not a number, or if there are fewer nodes than the count.
pub(super) fn read(text: &str, file: &str) -> Result<BTreeSet<u32>, NodeListError> {
    let mut tokens = text.split_whitespace();
    let first = tokens.next().unwrap_or_default();
    let announced: u64 = first
        .parse()
        .map_err(|_| NodeListError::Count { file: file.to_owned(), text: first.to_owned() })?;
    let mut nodes = BTreeSet::new();
    for found in 0..announced {
        let Some(token) = tokens.next() else {
            let found = usize::try_from(found).expect("each is in memory");
            return Err(NodeListError::TooFew { file: file.to_owned(), announced, found });
        };
        let node = token
            .parse()
            .map_err(|_| NodeListError::Node { file: file.to_owned(), text: token.to_owned() })?;
        nodes.insert(node);
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_limits_the_nodes_that_are_read() {
        let text = "3\n0 5 2\n\nFirst line: tracing node #\n";
        assert_eq!(read(text, "t").unwrap(), BTreeSet::from([0, 2, 5]));
        let error = |text| read(text, "t").unwrap_err().to_string();
        assert!(error("").starts_with("t: invalid count ''"), "{}", error(""));
        assert_eq!(error("2\n7"), "t: the count is 2, but the file ends after 1 nodes");
        assert_eq!(error("2 7 -1"), "t: invalid node '-1'; expected a whole number");
    }
}
