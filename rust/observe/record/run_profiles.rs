//! The profiles of a run's recordings, for its summary.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Profile;

/// The profile of each recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunProfiles(Vec<(Option<String>, Profile)>);

impl RunProfiles {
    /// Collects the profiles of named recordings; `None` if there are no recordings.
    pub fn of(profiles: Vec<(Option<String>, Profile)>) -> Option<Self> {
        (!profiles.is_empty()).then_some(Self(profiles))
    }
}

/// Serializes a single unnamed recording as its profile. Otherwise writes an object that maps names
/// to profiles.
impl Serialize for RunProfiles {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if let [(None, profile)] = &self.0[..] {
            return profile.serialize(to);
        }
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, profile) in &self.0 {
            map.serialize_entry(name.as_deref().unwrap_or_default(), profile)?;
        }
        map.end()
    }
}
