//! `pfc`, `cbfc` and `trim`: off, on with defaults, or on with a table of settings.

use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::input::located::Key;
use crate::input::section::{Form, Section, Value};

/// `false`, `true` or a table. `true` is a table of defaults.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Toggle<T> {
    /// Off, written `false`.
    #[default]
    Off,
    /// On, with these settings.
    On(T),
}

impl<T: Section> Value for Toggle<T> {
    fn form() -> Form {
        Form { text: "`true`, `false`, or a table".to_owned(), keys: T::keys() }
    }

    fn locate(&mut self, key: &Key) {
        if let Self::On(section) = self {
            section.locate(key);
        }
    }
}

impl<T: Serialize> Serialize for Toggle<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => to.serialize_bool(false),
            Self::On(settings) => settings.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Toggle<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct BoolOrTable<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for BoolOrTable<T> {
            type Value = Toggle<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true, false, or a table of settings")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Toggle<T>, E> {
                Ok(if on { Toggle::On(T::default()) } else { Toggle::Off })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Toggle<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Toggle::On)
            }
        }
        from.deserialize_map(BoolOrTable(PhantomData))
    }
}
