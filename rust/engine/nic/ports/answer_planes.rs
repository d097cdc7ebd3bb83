//! By which of several ports answers leave.

/// The planes by which answers leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerPlanes {
    /// That of the packet that they answer.
    #[default]
    Echo,
    /// The next free one in turn.
    Rotate,
    /// The next free one in turn, by a value that switches hash and that was found by probes.
    ProbedHash,
    /// The next free one in turn, by a route that was found by probes.
    ProbedRoute,
}
