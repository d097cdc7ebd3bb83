//! The course of a run as its recordings have it, for its summary.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Profile;

/// A profile for each recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Courses(Vec<(Option<String>, Profile)>);

impl Courses {
    /// Those of the recordings with these names; `None` without any.
    pub fn of(profiles: Vec<(Option<String>, Profile)>) -> Option<Self> {
        (!profiles.is_empty()).then_some(Self(profiles))
    }
}

/// The profile itself of a recording without a name, which is the only one; otherwise an object
/// with the profile of each name.
impl Serialize for Courses {
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
