//! Parameter sets by name: where two forms of a control are in use, each has one.

/// A set of parameters.
#[derive(Debug, Clone, Copy)]
pub struct Preset<C> {
    /// As a scenario names it: `[transport] parameters = { preset = "paper" }`.
    pub name: &'static str,
    /// Its parameters; those that a scenario gives beside the name go before them.
    pub config: fn() -> C,
}

/// Parameters that there are named sets of.
pub trait Presets: Default + 'static {
    /// All sets; the first one is the default. Empty where there is one set alone.
    const PRESETS: &'static [Preset<Self>] = &[];
}
