//! Selection of the port for control packets on a NIC with several.

/// The plane by which a control packet leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ControlPaths {
    /// The plane of the packet that it acknowledges.
    #[default]
    Echo,
    /// The next free one, round-robin.
    Rotate,
    /// The next free one, round-robin, with an entropy value that probes found; switches hash it.
    ProbedHash,
    /// The next free one, round-robin, with a source route that probes found.
    ProbedRoute,
}
