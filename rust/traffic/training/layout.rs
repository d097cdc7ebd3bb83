//! Degrees of parallelism and the resulting groups of ranks.
//!
//! Source: Megatron-LM, `megatron/core/parallel_state.py`, `initialize_model_parallel` with its
//! default order `tp-cp-ep-dp-pp`: tensor varies fastest, then (within the replicas) experts, then
//! data, then the pipeline. Ranks of a tensor group are consecutive.

use super::error::TrainingError;
use super::model::Model;

/// The degrees of parallelism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Degrees {
    /// Ranks that share each layer's matrices.
    pub tensor: u32,
    /// Number of pipeline stages.
    pub pipeline: u32,
    /// Replicas of the model: the degree of data parallelism.
    pub data: u32,
    /// Replicas over which a layer's experts are spread; divides `data`.
    pub expert: u32,
}

impl Degrees {
    /// Returns the total number of ranks.
    pub fn ranks(self) -> u32 {
        self.tensor * self.pipeline * self.data
    }

    /// Rejects degrees that are inconsistent or do not fit the model, and more than 2^20 ranks.
    pub(super) fn check(self, model: &Model) -> Result<(), TrainingError> {
        let Self { tensor, pipeline, data, expert } = self;
        let counts =
            [("tensor", tensor), ("pipeline", pipeline), ("data", data), ("expert", expert)];
        let max = 1 << 20;
        for (what, value) in counts {
            if value == 0 {
                return Err(TrainingError::Zero { what });
            }
            if value > max {
                return Err(TrainingError::TooLarge { what, value, max });
            }
        }
        if u64::from(tensor) * u64::from(pipeline) * u64::from(data) > max.into() {
            return Err(TrainingError::TooLarge { what: "data", value: data, max });
        }
        match model.experts {
            None if expert > 1 => Err(TrainingError::NoExperts { expert }),
            Some(experts) if experts.count % expert != 0 => {
                Err(TrainingError::Experts { expert, experts: experts.count })
            }
            _ if data % expert != 0 => Err(TrainingError::ExpertsOfReplicas { expert, data }),
            _ => Ok(()),
        }
    }

    /// Returns the ranks of a stage.
    pub(super) fn stage(self, stage: u32) -> std::ops::Range<u32> {
        let size = self.tensor * self.data;
        stage * size..(stage + 1) * size
    }

    /// Returns the groups of a stage whose ranks share matrices.
    pub(super) fn tensor_groups(self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.tensor, 1)
    }

    /// Returns the groups of a stage whose ranks have the same parameters.
    pub(super) fn data_groups(self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.data, self.tensor)
    }

    /// Returns the groups of a stage over whose ranks experts are spread.
    pub(super) fn expert_groups(self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.expert, self.tensor)
    }

    /// Returns the groups of a stage whose ranks have the same experts.
    pub(super) fn expert_data_groups(self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.data / self.expert, self.tensor * self.expert)
    }

    /// Returns the groups of a stage: `size` ranks each, at a distance of `stride`.
    fn groups(self, stage: u32, size: u32, stride: u32) -> Vec<Vec<u32>> {
        let ranks = self.stage(stage);
        let first = |rank: &u32| ((rank - ranks.start) / stride).is_multiple_of(size);
        let group = |rank: u32| (0..size).map(|member| rank + member * stride).collect();
        ranks.clone().filter(first).map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::find;

    #[test]
    fn tensor_varies_fastest_then_experts_then_data_then_the_pipeline() {
        let degrees = Degrees { tensor: 2, pipeline: 2, data: 4, expert: 2 };
        assert_eq!(degrees.ranks(), 16);
        assert_eq!(degrees.stage(1), 8..16);
        assert_eq!(degrees.tensor_groups(1), [[8, 9], [10, 11], [12, 13], [14, 15]]);
        assert_eq!(degrees.data_groups(0), [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!(degrees.expert_groups(0), [[0, 2], [1, 3], [4, 6], [5, 7]]);
        assert_eq!(degrees.expert_data_groups(0), [[0, 4], [1, 5], [2, 6], [3, 7]]);
    }

    #[test]
    fn every_rank_of_a_stage_is_in_one_group_of_each_kind() {
        let degrees = Degrees { tensor: 3, pipeline: 2, data: 8, expert: 4 };
        let kinds = [
            degrees.tensor_groups(1),
            degrees.data_groups(1),
            degrees.expert_groups(1),
            degrees.expert_data_groups(1),
        ];
        for groups in kinds {
            let mut members = groups.concat();
            members.sort_unstable();
            assert_eq!(members, degrees.stage(1).collect::<Vec<_>>());
        }
    }

    #[test]
    fn inconsistent_degrees_are_rejected() {
        let degrees = |tensor, data, expert| Degrees { tensor, pipeline: 1, data, expert };
        let [dense, mixture] = ["gpt-3", "mixtral-8x7b"].map(|name| find(name).unwrap().model);
        let error = |degrees: Degrees, model: &Model| {
            degrees.check(model).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(error(degrees(1, 4, 1), &dense), "");
        assert_eq!(error(degrees(0, 4, 1), &dense), "tensor = 0 is too small; expected at least 1");
        assert!(error(degrees(1, 4, 2), &dense).contains("the model has no experts"));
        assert!(error(degrees(1, 6, 3), &mixture).contains("the model's 8 experts"));
        assert!(error(degrees(1, 6, 4), &mixture).contains("does not divide data = 6"));
        assert!(error(degrees(1 << 12, 1 << 12, 1), &dense).contains("at most 1048576"));
    }
}
