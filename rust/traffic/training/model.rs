//! Transformers, given by their dimensions, and their numbers of parameters.

use serde::{Deserialize, Serialize};

use super::error::TrainingError;

/// The architecture of a model family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelFamily {
    /// Two matrices per feed-forward block, biases, learned positions, one embedding for input and
    /// output (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019).
    #[default]
    Gpt,
    /// Three matrices (gated), no biases, rotary positions, a separate output matrix (Touvron et
    /// al., "LLaMA", 2023, section 2.2).
    Llama,
}

/// The attention of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// Query heads share key-value heads (Ainslie et al., "GQA", 2023).
    Grouped {
        /// Number of query heads.
        heads: u32,
        /// Number of key-value heads; divides `heads`.
        kv_heads: u32,
        /// Dimensions of a head.
        head: u32,
    },
    /// Multi-head latent attention: queries, keys and values are projected from few dimensions
    /// (DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1).
    Latent {
        /// Number of heads for queries, keys and values.
        heads: u32,
        /// Dimensions of a query or key head without rotary position.
        head: u32,
        /// Dimensions with rotary position, shared by all key heads.
        rotated: u32,
        /// Dimensions of a value head.
        value: u32,
        /// Dimensions from which queries are projected.
        query_rank: u32,
        /// Dimensions from which keys and values are projected.
        kv_rank: u32,
    },
}

/// The experts of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    /// Number of experts per layer, without shared ones.
    pub count: u32,
    /// Number of experts per token.
    pub top_k: u32,
    /// Inner dimensions of an expert.
    pub ffn: u32,
    /// Number of shared experts, present on every host and used by every token.
    pub shared: u32,
    /// Number of initial layers with an ordinary block instead of experts.
    pub dense_layers: u32,
}

/// A transformer, given by its dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The architecture of the model's family.
    pub family: ModelFamily,
    /// Number of layers, without embedding and output.
    pub layers: u32,
    /// Dimensions of a token between layers.
    pub hidden: u32,
    /// Inner dimensions of a feed-forward block.
    pub ffn: u32,
    /// The attention of every layer.
    pub attention: Attention,
    /// Size of the vocabulary; 0 for a model without embedding and output.
    pub vocabulary: u32,
    /// Number of tokens per sequence.
    pub sequence: u32,
    /// The experts of a mixture of experts; `None` for a dense model.
    pub experts: Option<Experts>,
}

/// The largest dimension: three dimensions times the layers fit into 64 bits.
const MAX_DIMENSION: u32 = 1 << 20;

impl Model {
    /// Rejects dimensions that are out of range or inconsistent.
    pub(super) fn check(&self) -> Result<(), TrainingError> {
        let mut sizes = vec![
            ("model.layers", self.layers, 4_096),
            ("model.hidden", self.hidden, MAX_DIMENSION),
            ("model.ffn", self.ffn, MAX_DIMENSION),
            ("model.sequence", self.sequence, 1 << 24),
        ];
        if let Attention::Grouped { heads, kv_heads, head } = self.attention {
            sizes.push(("model.heads", heads, 65_536));
            sizes.push(("model.kv_heads", kv_heads, 65_536));
            sizes.push(("model.head", head, 65_536));
        }
        if let Some(experts) = self.experts {
            sizes.push(("model.experts", experts.count, 65_536));
            sizes.push(("model.expert_ffn", experts.ffn, MAX_DIMENSION));
        }
        for (what, value, max) in sizes {
            if value == 0 {
                return Err(TrainingError::Zero { what });
            }
            if value > max {
                return Err(TrainingError::TooLarge { what, value, max });
            }
        }
        let shared = self.experts.map_or(0, |it| it.shared);
        for (what, value, max) in [
            ("model.vocabulary", self.vocabulary, 1 << 24),
            ("model.shared_experts", shared, 1_024),
        ] {
            if value > max {
                return Err(TrainingError::TooLarge { what, value, max });
            }
        }
        match (self.attention, self.experts) {
            (Attention::Grouped { heads, kv_heads, .. }, _) if heads % kv_heads != 0 => {
                Err(TrainingError::Heads { heads, kv_heads })
            }
            (_, Some(Experts { count: experts, top_k, .. })) if !(1..=experts).contains(&top_k) => {
                Err(TrainingError::TopK { top_k, experts })
            }
            _ => Ok(()),
        }
    }

    /// Returns true if the layer at this index has experts.
    pub(super) fn has_experts(&self, layer: u32) -> bool {
        self.experts.is_some_and(|experts| layer >= experts.dense_layers)
    }

    /// Returns the parameters of a layer's attention, including the preceding normalisation.
    pub(super) fn attention_parameters(&self) -> u64 {
        let hidden = u64::from(self.hidden);
        match self.attention {
            Attention::Grouped { heads, kv_heads, head } => {
                let [queries, keys] = [heads, kv_heads].map(|it| u64::from(it) * u64::from(head));
                let matrices = 2 * hidden * (queries + keys);
                self.norm() + matrices + self.bias(queries + 2 * keys + hidden)
            }
            Attention::Latent { heads, head, rotated, value, query_rank, kv_rank } => {
                let [heads, head, rotated, value, query_rank, kv_rank] =
                    [heads, head, rotated, value, query_rank, kv_rank].map(u64::from);
                let queries = hidden * query_rank + query_rank * heads * (head + rotated);
                let keys = hidden * (kv_rank + rotated) + kv_rank * heads * (head + value);
                // The compressed queries, keys and values are normalised too.
                let norms = self.norm() + query_rank + kv_rank;
                norms + queries + keys + heads * value * hidden
            }
        }
    }

    /// Returns the parameters of an ordinary feed-forward block, including the preceding
    /// normalisation.
    pub(super) fn block_parameters(&self) -> u64 {
        self.norm() + self.matrices(self.ffn)
    }

    /// Returns the parameters of one expert; 0 for a dense model.
    pub(super) fn expert_parameters(&self) -> u64 {
        self.experts.map_or(0, |experts| self.matrices(experts.ffn))
    }

    /// Returns the parameters of a layer with experts that every host holds, apart from the
    /// attention: the router, the shared experts, and the normalisation.
    pub(super) fn common_parameters(&self) -> u64 {
        self.experts.map_or(0, |experts| {
            let router = u64::from(self.hidden) * u64::from(experts.count);
            self.norm() + router + u64::from(experts.shared) * self.expert_parameters()
        })
    }

    /// Returns the parameters of the embedding.
    pub(super) fn embedding_parameters(&self) -> u64 {
        if self.vocabulary == 0 {
            return 0;
        }
        let positions = match self.family {
            ModelFamily::Gpt => self.sequence,
            ModelFamily::Llama => 0,
        };
        (u64::from(self.vocabulary) + u64::from(positions)) * u64::from(self.hidden)
    }

    /// Returns the parameters after the last layer: the final normalisation, and the output matrix
    /// unless it is tied to the embedding.
    pub(super) fn output_parameters(&self) -> u64 {
        match (self.vocabulary, self.family) {
            (0, _) => 0,
            (_, ModelFamily::Gpt) => self.norm(),
            (vocabulary, ModelFamily::Llama) => {
                self.norm() + u64::from(vocabulary) * u64::from(self.hidden)
            }
        }
    }

    /// Returns the number of parameters of the whole model, including all experts.
    pub fn parameters(&self) -> u64 {
        let layer = |index: u32| {
            let experts = self.experts.map_or(0, |it| u64::from(it.count));
            let block = match self.has_experts(index) {
                true => self.common_parameters() + experts * self.expert_parameters(),
                false => self.block_parameters(),
            };
            self.attention_parameters() + block
        };
        let layers: u64 = (0..self.layers).map(layer).sum();
        self.embedding_parameters() + layers + self.output_parameters()
    }

    /// Returns the operations of one token's attention to `sequence` tokens in a forward pass,
    /// without the parameter matrices. These are scores and weighted values over whole sequences,
    /// although half may be masked (Narayanan et al., 2021, appendix).
    pub(super) fn attention_operations(&self, sequence: u32) -> u128 {
        let dimensions = match self.attention {
            Attention::Grouped { heads, head, .. } => u128::from(heads) * 2 * u128::from(head),
            Attention::Latent { heads, head, rotated, value, .. } => {
                u128::from(heads) * (u128::from(head) + u128::from(rotated) + u128::from(value))
            }
        };
        2 * dimensions * u128::from(sequence)
    }

    /// Returns the matrix parameters of a feed-forward block with `ffn` inner dimensions.
    fn matrices(&self, ffn: u32) -> u64 {
        let area = u64::from(self.hidden) * u64::from(ffn);
        match self.family {
            ModelFamily::Gpt => 2 * area + u64::from(self.hidden) + u64::from(ffn),
            ModelFamily::Llama => 3 * area,
        }
    }

    fn norm(&self) -> u64 {
        u64::from(self.hidden) + self.bias(self.hidden.into())
    }

    fn bias(&self, length: u64) -> u64 {
        if self.family == ModelFamily::Gpt { length } else { 0 }
    }
}
