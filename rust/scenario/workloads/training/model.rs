//! The model of a training workload: a name, or a table of dimensions.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::input::context::{Context, Lookup};
use crate::input::error::ScenarioError;
use crate::input::located::{Key, Located};
use crate::input::section::{Form, Section, Value, named, section};
use crate::training::{self, Attention, Experts, Model, ModelFamily};

/// A model by name or by its dimensions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ModelChoice {
    /// A name listed by `evenkeel list models`.
    Name(String),
    /// Dimensions of an unlisted model.
    Dimensions(Box<ModelSection>),
}

impl Value for ModelChoice {
    fn form() -> Form {
        let text = "name that `evenkeel list models` shows, or a table".to_owned();
        Form { text, keys: ModelSection::keys() }
    }

    fn locate(&mut self, key: &Key) {
        if let Self::Dimensions(section) = self {
            section.locate(key);
        }
    }
}

impl<'de> Deserialize<'de> for ModelChoice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = ModelChoice;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let keys = ModelSection::NAMES.join(", ");
                write!(f, "a model's name, or a table of its dimensions ({keys})")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<ModelChoice, E> {
                Ok(ModelChoice::Name(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelChoice, A::Error> {
                let section = ModelSection::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ModelChoice::Dimensions(Box::new(section)))
            }
        }
        from.deserialize_map(NameOrTable)
    }
}

section! {
    /// `model = { ... }`: the dimensions of a transformer.
    pub struct ModelSection {
        /// Number of layers.
        layers?: u32 = "required",
        /// Dimensions of a token between layers.
        hidden?: u32 = "required",
        /// Inner dimensions of a feed-forward block.
        ffn?: u32 = "4 times `hidden`",
        /// Query heads, a divisor of `hidden`.
        heads?: u32 = "one for each 128 of `hidden`",
        /// Key and value heads.
        kv_heads?: u32 = "as many as `heads`",
        /// Vocabulary size; 0 means no embedding and no output.
        vocabulary: u32 = 0,
        /// Tokens per sequence.
        sequence: u32 = 2_048,
        /// Architecture: `gpt` (two feed-forward matrices, biases) or `llama` (three, no biases).
        family: ModelFamily = ModelFamily::Gpt,
        /// Experts per layer.
        experts?: u32 = "none",
        /// Experts per token.
        top_k?: u32 = "2",
        /// Inner dimensions of an expert.
        expert_ffn?: u32 = "`ffn`",
        /// Additional experts for every token.
        shared_experts?: u32 = "0",
        /// Leading layers without experts.
        dense_layers?: u32 = "0",
    }
}

named! { ModelFamily }

/// Resolves the model of a section.
pub(super) fn model(
    context: &Context<'_>,
    choice: &Located<ModelChoice>,
) -> Result<Model, ScenarioError> {
    match &**choice {
        ModelChoice::Dimensions(section) => dimensions(context, section),
        ModelChoice::Name(name) => training::find(name).map(|it| it.model).ok_or_else(|| {
            let known: Vec<&str> = training::MODELS.iter().map(|preset| preset.name).collect();
            context.unknown(choice.key(), Lookup { what: "model", name, known: &known })
        }),
    }
}

/// Returns the model of a table of dimensions.
fn dimensions(context: &Context<'_>, section: &ModelSection) -> Result<Model, ScenarioError> {
    let needed = |count: &Located<Option<u32>>, example: &str| {
        let because = "a model has layers and hidden dimensions";
        count.ok_or_else(|| context.missing(count.key(), because, example))
    };
    let layers = needed(&section.layers, "layers = 24")?;
    let hidden = needed(&section.hidden, "hidden = 2048")?;
    let heads = section.heads.with(section.heads.unwrap_or((hidden / 128).max(1)));
    if *heads == 0 || hidden % *heads != 0 {
        return Err(context.invalid(&heads, format!("heads must divide hidden = {hidden}")));
    }
    let ffn = section.ffn.unwrap_or(hidden.saturating_mul(4));
    Ok(Model {
        family: *section.family,
        layers,
        hidden,
        ffn,
        attention: Attention::Grouped {
            heads: *heads,
            kv_heads: section.kv_heads.unwrap_or(*heads),
            head: hidden / *heads,
        },
        vocabulary: *section.vocabulary,
        sequence: *section.sequence,
        experts: experts(context, section, ffn)?,
    })
}

/// Returns the experts of a model, if it has any. `ffn` is the inner dimension of its other blocks.
fn experts(
    context: &Context<'_>,
    section: &ModelSection,
    ffn: u32,
) -> Result<Option<Experts>, ScenarioError> {
    let Some(count) = *section.experts else {
        let of_experts =
            [&section.top_k, &section.expert_ffn, &section.shared_experts, &section.dense_layers];
        return match of_experts.into_iter().find(|key| key.is_some()) {
            None => Ok(None),
            Some(given) => {
                let because = "the model has no experts; add them with experts = 8";
                Err(context.misplaced(given.key(), because))
            }
        };
    };
    let layers = section.layers.unwrap_or(u32::MAX);
    if let Some(dense) = section.dense_layers.given().filter(|dense| **dense >= layers) {
        let expected = format!("with {layers} layers no layer has experts; write a lower number");
        return Err(context.invalid(&dense, expected));
    }
    Ok(Some(Experts {
        count,
        top_k: section.top_k.unwrap_or(2),
        ffn: section.expert_ffn.unwrap_or(ffn),
        shared: section.shared_experts.unwrap_or(0),
        dense_layers: section.dense_layers.unwrap_or(0),
    }))
}
