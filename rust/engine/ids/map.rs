//! Maps keyed by ids.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::rng::mix64;

/// A map keyed by one or more ids. Ids are not attacker-controlled, so a hash of a few instructions
/// per id replaces the standard library's, which takes a few hundred.
pub(crate) type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Hash of a key, one part at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u16(&mut self, part: u16) {
        self.write_u32(part.into());
    }

    fn write_u32(&mut self, part: u32) {
        self.0 = mix64(self.0 ^ u64::from(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_keys_are_found() {
        let mut map: IdMap<(u16, u32), u32> = IdMap::default();
        let keys = || (0u16..40).flat_map(|a| (0u32..40).map(move |b| (a, b)));
        map.extend(keys().map(|(a, b)| ((a, b), u32::from(a) * 100 + b)));
        assert_eq!(map.len(), 1_600);
        assert!(keys().all(|(a, b)| map[&(a, b)] == u32::from(a) * 100 + b));
    }
}
