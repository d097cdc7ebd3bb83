//! `[topology] kind = "file"`: a graph that somebody else wrote down.
use super::context::Context;
use super::error::ScenarioError;
use super::file::TopologySection;
use super::topology::Built;

pub(super) fn resolve(
    context: &Context<'_>,
    _typed: &TopologySection,
    _common: TopologySection,
) -> Result<Built, ScenarioError> {
    Err(context.unavailable("topology.kind", "file", "leaf-spine, fat-tree"))
}
