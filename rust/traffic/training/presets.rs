//! Published models, by name.

use super::model::{Attention, Experts, Model, ModelFamily};

/// A published model with its dimensions.
#[derive(Debug, Clone, Copy)]
pub struct ModelPreset {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line description for lists of models.
    pub summary: &'static str,
    /// Reference for its dimensions.
    pub source: &'static str,
    /// The dimensions of the model.
    pub model: Model,
}

const GPT: &str = "Radford et al., Improving Language Understanding (2018), section 4.1";
const GPT_3: &str = "Brown et al., Language Models are Few-Shot Learners (2020), tables 2.1, D.1";
const LLAMA_3: &str = "Grattafiori et al., The Llama 3 Herd of Models (2024), table 3";
const MIXTRAL: &str = "Jiang et al., Mixtral of Experts (2024), table 1";
const DEEPSEEK: &str = "DeepSeek-AI, DeepSeek-V3 Technical Report (2024), section 4.2";

/// All published models, as listed by `evenkeel list models`.
pub const MODELS: &[ModelPreset] = &[
    ModelPreset {
        name: "gpt-117m",
        summary: "12 layers of 768, the first GPT: 117 million parameters",
        source: GPT,
        model: Model { vocabulary: 40_478, sequence: 512, ..gpt(12, 768, 12) },
    },
    ModelPreset {
        name: "gpt-1.3b",
        summary: "24 layers of 2,048, GPT-3 XL: 1.3 billion parameters",
        source: GPT_3,
        model: gpt(24, 2_048, 16),
    },
    ModelPreset {
        name: "gpt-6.7b",
        summary: "32 layers of 4,096: 6.7 billion parameters",
        source: GPT_3,
        model: gpt(32, 4_096, 32),
    },
    ModelPreset {
        name: "gpt-13b",
        summary: "40 layers of 5,120 (the table's 5,140 is not a multiple of the head size): 13 \
                  billion",
        source: GPT_3,
        model: gpt(40, 5_120, 40),
    },
    ModelPreset {
        name: "gpt-3",
        summary: "96 layers of 12,288: 175 billion parameters",
        source: GPT_3,
        model: gpt(96, 12_288, 96),
    },
    ModelPreset {
        name: "llama-3-8b",
        summary: "32 layers of 4,096: 8 billion parameters",
        source: LLAMA_3,
        model: llama(32, 4_096, 14_336, 32, 8),
    },
    ModelPreset {
        name: "llama-3-70b",
        summary: "80 layers of 8,192: 70 billion parameters",
        source: LLAMA_3,
        model: llama(80, 8_192, 28_672, 64, 8),
    },
    ModelPreset {
        name: "llama-3-405b",
        summary: "126 layers of 16,384: 405 billion parameters",
        source: LLAMA_3,
        model: llama(126, 16_384, 53_248, 128, 8),
    },
    ModelPreset {
        name: "mixtral-8x7b",
        summary: "32 layers of 4,096 with 8 experts, 2 per token: 46.7 billion parameters",
        source: MIXTRAL,
        model: Model {
            vocabulary: 32_000,
            sequence: 4_096,
            experts: Some(Experts { count: 8, top_k: 2, ffn: 14_336, shared: 0, dense_layers: 0 }),
            ..llama(32, 4_096, 14_336, 32, 8)
        },
    },
    ModelPreset {
        name: "deepseek-v3",
        summary: "61 layers of 7,168 with 256 experts and a shared one, 8 per token: 671 billion",
        source: DEEPSEEK,
        model: Model {
            attention: Attention::Latent {
                heads: 128,
                head: 128,
                rotated: 64,
                value: 128,
                query_rank: 1_536,
                kv_rank: 512,
            },
            vocabulary: 129_280,
            sequence: 4_096,
            experts: Some(Experts { count: 256, top_k: 8, ffn: 2_048, shared: 1, dense_layers: 3 }),
            ..llama(61, 7_168, 18_432, 128, 128)
        },
    },
];

/// Returns a GPT with the vocabulary of GPT-2 and GPT-3, and the sequence length of GPT-3.
const fn gpt(layers: u32, hidden: u32, heads: u32) -> Model {
    Model {
        family: ModelFamily::Gpt,
        layers,
        hidden,
        ffn: 4 * hidden,
        attention: Attention::Grouped { heads, kv_heads: heads, head: hidden / heads },
        vocabulary: 50_257,
        sequence: 2_048,
        experts: None,
    }
}

/// Returns a Llama with the vocabulary and sequence length of Llama 3.
const fn llama(layers: u32, hidden: u32, ffn: u32, heads: u32, kv_heads: u32) -> Model {
    Model {
        family: ModelFamily::Llama,
        layers,
        hidden,
        ffn,
        attention: Attention::Grouped { heads, kv_heads, head: hidden / heads },
        vocabulary: 128_256,
        sequence: 8_192,
        experts: None,
    }
}

/// Returns the model called `name`.
pub fn find(name: &str) -> Option<&'static ModelPreset> {
    MODELS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Millions of parameters as published by the models' authors.
    const PUBLISHED: [(&str, f64); 10] = [
        ("gpt-117m", 117.0),
        ("gpt-1.3b", 1_320.0),
        ("gpt-6.7b", 6_660.0),
        ("gpt-13b", 12_850.0),
        ("gpt-3", 174_600.0),
        ("llama-3-8b", 8_030.0),
        ("llama-3-70b", 70_550.0),
        ("llama-3-405b", 405_850.0),
        ("mixtral-8x7b", 46_700.0),
        ("deepseek-v3", 671_000.0),
    ];

    #[test]
    fn parameter_counts_match_the_published_ones() {
        assert_eq!(MODELS.len(), PUBLISHED.len());
        for (preset, (name, millions)) in MODELS.iter().zip(PUBLISHED) {
            assert_eq!(preset.name, name);
            preset.model.check().unwrap();
            let ours = preset.model.parameters() as f64 / 1e6;
            assert!((ours / millions - 1.0).abs() < 0.01, "{name}: {ours} for {millions}");
        }
    }

    #[test]
    fn parameters_match_published_checkpoints_exactly() {
        let count = |name| find(name).map(|it| it.model.parameters());
        assert_eq!(count("llama-3-8b"), Some(8_030_261_248));
        assert_eq!(count("llama-3-70b"), Some(70_553_706_496));
        assert_eq!(count("llama-3-405b"), Some(405_853_388_800));
        assert_eq!(count("mixtral-8x7b"), Some(46_702_792_704));
        assert_eq!(count("no-such-model"), None);
    }
}
