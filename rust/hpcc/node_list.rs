//! `TRACE_FILE`: whose packets are traced.
//!
//! A count and as many node numbers, with any white space between; what follows is ignored, as
//! the family's sample has comments there. Numbers beyond the topology are skipped, as by HPCC's
//! `third.cc`.

use std::collections::BTreeSet;

use thiserror::Error;

/// A fault of the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NodeListError {
    /// It does not begin with a number.
    #[error("{file}: '{text}' is no number of nodes; write it first, then the nodes, e.g. 2 0 7")]
    Count {
        /// The file.
        file: String,
        /// What stands there.
        text: String,
    },
    /// A node is none.
    #[error("{file}: '{text}' is no node; write a whole number")]
    Node {
        /// The file.
        file: String,
        /// What stands there.
        text: String,
    },
    /// The file ends early.
    #[error("{file}: {announced} nodes are announced, but the file ends after {found} of them")]
    TooFew {
        /// The file.
        file: String,
        /// The number that it begins with.
        announced: u64,
        /// Nodes that are there.
        found: usize,
    },
}

/// The nodes in `text`; `file` is what errors call it.
///
/// # Errors
/// The first thing that is no number, or too few of them.
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
    fn reads_as_many_as_are_announced() {
        let text = "3\n0 5 2\n\nFirst line: tracing node #\n";
        assert_eq!(read(text, "t").unwrap(), BTreeSet::from([0, 2, 5]));
        let says = |text| read(text, "t").unwrap_err().to_string();
        assert!(says("").starts_with("t: '' is no number of nodes"), "{}", says(""));
        assert_eq!(says("2\n7"), "t: 2 nodes are announced, but the file ends after 1 of them");
        assert_eq!(says("2 7 -1"), "t: '-1' is no node; write a whole number");
    }
}
