//! The registry entry of a loss recovery, for scenarios and listings.

use super::{NAMES, RECOVERIES, Recovery, RecoveryConfig};

/// Selects the recovery that the policy is designed for.
pub(super) const AUTO: &str = "auto";

/// A loss recovery that can be chosen by name.
#[derive(Debug, Clone, Copy)]
pub struct RecoveryEntry {
    /// The name that scenarios use.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Its source: title, year, section.
    pub source: &'static str,
    /// The recovery with its default parameters.
    pub default: fn() -> Recovery,
}

impl RecoveryEntry {
    pub(super) const fn of<C: RecoveryConfig>() -> Self {
        let (name, summary, source) = (C::NAME, C::SUMMARY, C::SOURCE);
        Self { name, summary, source, default: || C::default().into() }
    }
}

crate::nic::parameters::registered_name!(
    /// The name of a loss recovery, or `auto` for the one that the policy is designed for.
    RecoveryName,
    NAMES,
    AUTO
);

impl RecoveryName {
    /// Returns the name of `recovery`.
    pub const fn of(recovery: Recovery) -> Self {
        Self(recovery.name())
    }

    /// Returns the recovery of this name. If it is that of the policy (`policy_default`), the
    /// parameters of the policy are the defaults.
    pub fn recovery(self, policy_default: Recovery) -> Recovery {
        if self.0 == AUTO || self.0 == policy_default.name() {
            return policy_default;
        }
        let entry = RECOVERIES.iter().find(|entry| entry.name == self.0);
        (entry.expect("names come from the registry").default)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Parameters;

    #[test]
    fn every_recovery_passes_its_check_and_has_a_source() {
        for entry in RECOVERIES {
            assert!(!entry.summary.is_empty() && !entry.source.is_empty(), "{}", entry.name);
            let configured = (entry.default)().configured(&Parameters::new()).unwrap();
            assert_eq!(configured.value.name(), entry.name);
            assert_eq!(configured.value.configured(&configured.parameters), Ok(configured));
        }
    }
}
