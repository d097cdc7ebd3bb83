//! Sections: declares each key's form, default and description together with the field that serde
//! reads.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::located::{Key, Located};
use crate::balance::Parameters;
use crate::nic::congestion::AbsoluteOrFraction;
use crate::units::{BitRate, Bytes, Flops, Fraction, Span};
use crate::values::{self, Reason};

/// Form of a key's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    /// Notation: `whole number`, or the valid names.
    pub text: String,
    /// Keys of its table, if any.
    pub keys: Vec<KeyDescription>,
}

/// Notation of a section that is a value.
pub(crate) const TABLE: &str = "table";

impl Form {
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), keys: Vec::new() }
    }
}

/// Description of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyDescription {
    pub name: &'static str,
    /// Meaning, from its doc comment.
    pub summary: String,
    pub form: Form,
    /// Default as TOML writes it, or in words.
    pub default: String,
}

/// A type that values of keys can have.
pub(crate) trait Value {
    /// Returns the form of the value.
    fn form() -> Form;

    /// Sets the keys of nested values.
    fn locate(&mut self, _key: &Key) {}
}

/// Keys of a section that are listed together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub names: &'static [&'static str],
    pub keys: fn() -> Vec<KeyDescription>,
}

impl Group {
    pub(crate) const fn of<S: Section>() -> Self {
        Self { names: S::NAMES, keys: S::keys }
    }
}

/// A table with known keys, declared by [`section!`].
pub(crate) trait Section: Value + Default + DeserializeOwned {
    /// Names of its keys.
    const NAMES: &'static [&'static str];

    /// Returns its keys in order.
    fn keys() -> Vec<KeyDescription>;

    /// Returns the key of that name, if there is one.
    fn key_named(&self, name: &str) -> Option<Key>;
}

impl<T: Value> Value for Located<T> {
    fn form() -> Form {
        T::form()
    }

    fn locate(&mut self, key: &Key) {
        self.set_key(key);
        T::locate(&mut **self, key);
    }
}

impl<T: Value> Value for Option<T> {
    fn form() -> Form {
        T::form()
    }

    fn locate(&mut self, key: &Key) {
        if let Some(value) = self {
            value.locate(key);
        }
    }
}

/// Implements [`Value`] for types without nested values.
macro_rules! plain {
    ($($type:ty: $form:expr),* $(,)?) => {
        $(impl Value for $type {
            fn form() -> Form {
                Form::of($form)
            }
        })*
    };
}

plain! {
    u8: "whole number",
    i64: "whole number",
    u32: "whole number",
    u64: "whole number",
    bool: "`true` or `false`",
    String: "text",
    Vec<u32>: "list of whole numbers",
    BTreeMap<String, String>: "table of names",
    Parameters: "table",
    Bytes: "size, such as `\"64MB\"`",
    Span: "time, such as `\"500ns\"`",
    BitRate: "rate, such as `\"400Gbps\"`",
    Flops: "operations a second, such as `\"400Tflops\"`",
    Fraction: "fraction, such as `\"1/5\"`",
    AbsoluteOrFraction<Bytes>: "size, such as `\"64KB\"`, or part, such as `\"1/5\"`",
}

/// Returns the names that serde accepts for `T`, an enum without data.
pub(crate) fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    let no_name = toml::Value::String(String::new());
    match values::read::<T>(no_name).err().map(|error| error.reason) {
        Some(Reason::UnknownName { known, .. }) => known,
        _ => &[],
    }
}

/// Returns the form of a value that is one of several names: `` `"a"`, `"b"` ``.
pub(crate) fn one_of(names: &[&str]) -> Form {
    let quoted: Vec<String> = names.iter().map(|name| format!("`\"{name}\"`")).collect();
    Form::of(quoted.join(", "))
}

/// Formats a default as TOML in backquotes; empty for a table.
pub(crate) fn written<T: Serialize>(value: &T) -> String {
    match toml::Value::try_from(value) {
        Ok(toml::Value::Table(_)) | Err(_) => String::new(),
        Ok(value) => format!("`{value}`"),
    }
}

/// Declares a section: a struct for serde, in which every field is a key with a doc comment and a
/// default. `key: Type = default` is a [`Located`] value. `key?: Type = "words"` is optional, and
/// the words describe its default.
macro_rules! section {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $(
                $(#[doc = $key_doc:literal])+
                $key:ident $(: $type:ty = $default:expr,)? $(?: $maybe:ty = $words:literal,)?
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[doc = $key_doc])+
                pub $key: $($crate::input::located::Located<$type>)?
                    $($crate::input::located::Located<Option<$maybe>>)?,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                use $crate::input::located::Located;
                Self {
                    $($key: $(Located::<$type>::new($default))? $(Located::new(None::<$maybe>))?,)*
                }
            }
        }

        impl $crate::input::section::Section for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($key)),*];

            fn keys() -> Vec<$crate::input::section::KeyDescription> {
                use $crate::input::section::{KeyDescription, Value};
                let _default = Self::default();
                vec![$(KeyDescription {
                    name: stringify!($key),
                    summary: [$($key_doc),+].concat().trim().to_owned(),
                    form: $(<$type as Value>::form())? $(<$maybe as Value>::form())?,
                    default:
                        $($crate::input::section::written::<$type>(&_default.$key))?
                        $($words.to_owned())?,
                }),*]
            }

            fn key_named(&self, name: &str) -> Option<$crate::input::located::Key> {
                match name {
                    $(stringify!($key) => Some(self.$key.key().clone()),)*
                    _ => None,
                }
            }
        }

        impl $crate::input::section::Value for $name {
            fn form() -> $crate::input::section::Form {
                use $crate::input::section::{Form, Section, TABLE};
                Form { text: TABLE.to_owned(), keys: Self::keys() }
            }

            fn locate(&mut self, _section: &$crate::input::located::Key) {
                $($crate::input::section::Value::locate(
                    &mut self.$key,
                    &_section.child(stringify!($key)),
                );)*
            }
        }
    };
}
pub(crate) use section;

/// Implements [`Value`] for an enum without data: the names that serde accepts.
macro_rules! named {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::input::section::Value for $type {
            fn form() -> $crate::input::section::Form {
                let names = $crate::input::section::names::<$type>();
                $crate::input::section::one_of(names)
            }
        })*
    };
}
pub(crate) use named;
