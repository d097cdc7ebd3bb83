//! Builds iterations, pass by pass. All ranks of a stage run the same program.

use super::error::TrainingError;
use super::passes::{self, Pass};
use super::program::{GroupCollective, MAX_TRAINING_TASKS, ProgramBuilder, TrafficClass};
use super::unit::{self, ParameterCount, Unit, UnitKind};
use super::{Sharding, TensorTraffic, Training};
use crate::collective::CollectiveKind;
use crate::units::Bytes;
use crate::workload::graph::GraphTask;
use crate::workload::{Phase, Workload};

/// A pipeline stage: its units and its groups of ranks.
struct Stage {
    index: u32,
    ranks: Vec<u32>,
    units: Vec<Unit>,
    tensor: Vec<Vec<u32>>,
    data: Vec<Vec<u32>>,
    expert: Vec<Vec<u32>>,
    expert_data: Vec<Vec<u32>>,
}

/// Builds the iterations of a training.
pub(super) struct IterationBuilder<'a> {
    training: &'a Training,
    stages: Vec<Stage>,
    program: ProgramBuilder<'a>,
    /// Activations from the previous stage, by rank and microbatch.
    forward: Vec<Vec<Option<GraphTask>>>,
    /// Gradients from the next stage, by rank and microbatch.
    backward: Vec<Vec<Option<GraphTask>>>,
    /// Number of messages of all forward passes, extrapolated from the first pass of each stage.
    forward_messages: u128,
    /// Parameter buckets that the sharded optimizer has updated, by stage.
    updated: Vec<Vec<ParameterCount>>,
}

impl<'a> IterationBuilder<'a> {
    pub(super) fn new(training: &'a Training) -> Result<Self, TrainingError> {
        let degrees = training.degrees;
        let stage = |stage: u32| Stage {
            index: stage,
            ranks: degrees.stage(stage).collect(),
            units: unit::of_stage(training, stage),
            tensor: degrees.tensor_groups(stage),
            data: degrees.data_groups(stage),
            expert: degrees.expert_groups(stage),
            expert_data: degrees.expert_data_groups(stage),
        };
        let stages: Vec<Stage> = (0..degrees.pipeline).map(stage).collect();
        // Delays: two parts per unit, in two passes per microbatch.
        let passes = u128::from(training.microbatches) * u128::from(training.iterations);
        let units: usize = stages.iter().map(|it| it.units.len() * it.ranks.len()).sum();
        if passes.saturating_mul(4 * units as u128) > MAX_TRAINING_TASKS as u128 {
            return Err(TrainingError::TooManyMessages);
        }
        let arrivals =
            || vec![vec![None; training.microbatches as usize]; degrees.ranks() as usize];
        Ok(Self {
            training,
            stages,
            program: ProgramBuilder::new(training),
            forward: arrivals(),
            backward: arrivals(),
            forward_messages: 0,
            updated: vec![Vec::new(); degrees.pipeline as usize],
        })
    }

    pub(super) fn run(mut self) -> Result<Workload, TrainingError> {
        let stages = std::mem::take(&mut self.stages);
        let order = passes::of_all(self.training.degrees.pipeline, self.training.microbatches);
        for iteration in 0..self.training.iterations {
            for &(stage, pass) in &order {
                let stage = &stages[stage as usize];
                let before = self.program.messages();
                match pass {
                    Pass::Forward(microbatch) => self.add_forward(stage, microbatch)?,
                    Pass::Backward(microbatch) => self.add_backward(stage, microbatch)?,
                }
                if iteration == 0 && matches!(pass, Pass::Forward(0)) {
                    self.check_forward_messages(self.program.messages() - before)?;
                }
            }
            for stage in &stages {
                self.add_update(stage)?;
            }
        }
        self.program.finish()
    }

    /// Checks the number of messages of a stage's forward passes, which is known after the first. A
    /// training that is too large is thus rejected before it is built.
    fn check_forward_messages(&mut self, messages: usize) -> Result<(), TrainingError> {
        let times = u128::from(self.training.microbatches) * u128::from(self.training.iterations);
        self.forward_messages += messages as u128 * times;
        match self.forward_messages > MAX_TRAINING_TASKS as u128 {
            true => Err(TrainingError::TooManyMessages),
            false => Ok(()),
        }
    }

    fn add_forward(&mut self, stage: &Stage, microbatch: u32) -> Result<(), TrainingError> {
        self.program.begin_phase(Phase::Forward);
        // Gathering the parameters need not wait for the activations.
        let mut prefetch = self.program.last.clone();
        for &rank in &stage.ranks {
            let arrival = self.forward[rank as usize][microbatch as usize].take();
            self.program.wait_for(rank, arrival);
        }
        for unit in &stage.units {
            self.gather_parameters(stage, unit, &mut prefetch)?;
            self.add_attention(stage, unit, 1)?;
            self.add_block(stage, unit, 1)?;
        }
        let has_next = stage.index + 1 < self.training.degrees.pipeline;
        let stage_size = stage.ranks.len() as u32;
        for &rank in stage.ranks.iter().filter(|_| has_next) {
            let to = rank + stage_size;
            let bytes = self.bytes_between_stages();
            let task = self.program.send(TrafficClass::Forward, rank, to, bytes);
            self.forward[to as usize][microbatch as usize] = Some(task);
        }
        Ok(())
    }

    fn add_backward(&mut self, stage: &Stage, microbatch: u32) -> Result<(), TrainingError> {
        self.program.begin_phase(Phase::Backward);
        let mut prefetch = self.program.last.clone();
        for &rank in &stage.ranks {
            let arrival = self.backward[rank as usize][microbatch as usize].take();
            self.program.wait_for(rank, arrival);
        }
        let last = microbatch + 1 == self.training.microbatches;
        let mut pending = ParameterCount::default();
        for unit in stage.units.iter().rev() {
            self.gather_parameters(stage, unit, &mut prefetch)?;
            // Gradients of both inputs and parameters: twice the forward computation.
            self.add_block(stage, unit, 2)?;
            self.add_attention(stage, unit, 2)?;
            pending.common += unit.parameters.common;
            pending.experts += unit.parameters.experts;
            if last || self.training.sharding == Sharding::Full {
                self.send_gradients(stage, &mut pending, self.training.bucket)?;
            }
        }
        if last {
            self.send_gradients(stage, &mut pending, Bytes::new(1))?;
        }
        let stage_size = stage.ranks.len() as u32;
        for &rank in stage.ranks.iter().filter(|_| stage.index > 0) {
            let to = rank - stage_size;
            let bytes = self.bytes_between_stages();
            let task = self.program.send(TrafficClass::Backward, rank, to, bytes);
            self.backward[to as usize][microbatch as usize] = Some(task);
        }
        Ok(())
    }

    /// Gathers a unit's parameters, if they are sharded, during the computation of the previous
    /// unit: after the tasks in `prefetch`.
    fn gather_parameters(
        &mut self,
        stage: &Stage,
        unit: &Unit,
        prefetch: &mut Vec<Option<GraphTask>>,
    ) -> Result<(), TrainingError> {
        if self.training.sharding != Sharding::Full {
            return Ok(());
        }
        self.all_gather(stage, unit.parameters, prefetch)?;
        self.wait_for_parameters(stage);
        prefetch.clone_from(&self.program.last);
        Ok(())
    }

    fn all_gather(
        &mut self,
        stage: &Stage,
        parameters: ParameterCount,
        start: &[Option<GraphTask>],
    ) -> Result<(), TrainingError> {
        let width = self.training.widths.parameter.get();
        let kinds = [
            (TrafficClass::Parameters, parameters.common, &stage.data),
            (TrafficClass::ExpertParameters, parameters.experts, &stage.expert_data),
        ];
        for (class, parameters, groups) in kinds {
            let bytes = Bytes::new(parameters * width);
            let collective = GroupCollective { class, operation: CollectiveKind::AllGather, bytes };
            self.program.add_background_collective(collective, groups, start)?;
        }
        Ok(())
    }

    fn wait_for_parameters(&mut self, stage: &Stage) {
        for &rank in &stage.ranks {
            self.program.wait_for_background(rank, TrafficClass::Parameters);
            self.program.wait_for_background(rank, TrafficClass::ExpertParameters);
        }
    }

    /// Adds the attention of a layer, with `times` the computation of a forward pass.
    fn add_attention(
        &mut self,
        stage: &Stage,
        unit: &Unit,
        times: u128,
    ) -> Result<(), TrainingError> {
        match unit.kind {
            UnitKind::Embedding | UnitKind::Output => Ok(()),
            UnitKind::Dense | UnitKind::Mixture => {
                self.compute_in_tensor_groups(stage, unit.attention * times, 1)
            }
        }
    }

    /// Adds the part of a unit after its attention, with `times` the computation of a forward pass.
    fn add_block(&mut self, stage: &Stage, unit: &Unit, times: u128) -> Result<(), TrainingError> {
        let operations = unit.block * times;
        match unit.kind {
            UnitKind::Embedding | UnitKind::Output => {
                self.program.compute(stage.ranks.iter().copied(), operations);
                Ok(())
            }
            UnitKind::Dense => self.compute_in_tensor_groups(stage, operations, 1),
            UnitKind::Mixture => {
                let chosen = self.training.model.experts.map_or(1, |it| u64::from(it.top_k));
                let tokens = self.activations() * chosen;
                let bytes = Bytes::new(tokens.div_ceil(self.training.degrees.tensor.into()));
                let (class, operation) = (TrafficClass::Expert, CollectiveKind::AllToAll);
                let exchange = GroupCollective { class, operation, bytes };
                self.program.add_collective(exchange, &stage.expert)?;
                self.compute_in_tensor_groups(stage, operations, chosen)?;
                self.program.add_collective(exchange, &stage.expert)
            }
        }
    }

    /// Adds a computation of the tensor-parallel ranks on `copies` of each token, and the exchange
    /// of its activations.
    fn compute_in_tensor_groups(
        &mut self,
        stage: &Stage,
        operations: u128,
        copies: u64,
    ) -> Result<(), TrainingError> {
        let (class, bytes) = (TrafficClass::Tensor, Bytes::new(self.activations() * copies));
        let collective = |operation| GroupCollective { class, operation, bytes };
        // A token sent to an expert arrives at one rank of the group, but all ranks compute on it.
        let divided = copies > 1 || self.training.tensor_traffic == TensorTraffic::Sequence;
        if divided {
            self.program.add_collective(collective(CollectiveKind::AllGather), &stage.tensor)?;
        }
        self.program.compute(stage.ranks.iter().copied(), operations);
        let after = if divided { CollectiveKind::ReduceScatter } else { CollectiveKind::AllReduce };
        self.program.add_collective(collective(after), &stage.tensor)
    }

    /// Sends the pending gradients once they reach `bucket` bytes.
    fn send_gradients(
        &mut self,
        stage: &Stage,
        pending: &mut ParameterCount,
        bucket: Bytes,
    ) -> Result<(), TrainingError> {
        let width = self.training.widths.gradient.get();
        let full = self.training.sharding == Sharding::Full;
        let mut sent = ParameterCount::default();
        for (pending, sent) in
            [(&mut pending.common, &mut sent.common), (&mut pending.experts, &mut sent.experts)]
        {
            if *pending > 0 && (full || *pending * width >= bucket.get()) {
                *sent = std::mem::take(pending);
            }
        }
        let operation = match self.training.sharding {
            Sharding::None => CollectiveKind::AllReduce,
            Sharding::Optimizer | Sharding::Full => CollectiveKind::ReduceScatter,
        };
        let start = self.program.last.clone();
        let kinds = [
            (TrafficClass::Gradients, sent.common, &stage.data),
            (TrafficClass::ExpertGradients, sent.experts, &stage.expert_data),
        ];
        for (class, parameters, groups) in kinds {
            let bytes = Bytes::new(parameters * width);
            let collective = GroupCollective { class, operation, bytes };
            self.program.add_background_collective(collective, groups, &start)?;
        }
        if self.training.sharding == Sharding::Optimizer && sent != ParameterCount::default() {
            self.updated[stage.index as usize].push(sent);
        }
        Ok(())
    }

    /// Adds the end of an iteration: parameters are updated once all gradients have arrived.
    fn add_update(&mut self, stage: &Stage) -> Result<(), TrainingError> {
        self.program.begin_phase(Phase::Update);
        for &rank in &stage.ranks {
            self.program.wait_for_background(rank, TrafficClass::Gradients);
            self.program.wait_for_background(rank, TrafficClass::ExpertGradients);
        }
        // In reverse order: the next pass starts with the first layers, whose gradients were
        // reduced last.
        let start = self.program.last.clone();
        for bucket in std::mem::take(&mut self.updated[stage.index as usize]).into_iter().rev() {
            self.all_gather(stage, bucket, &start)?;
        }
        self.wait_for_parameters(stage);
        Ok(())
    }

    /// Returns the bytes of a microbatch's activations between layers.
    fn activations(&self) -> u64 {
        let training = self.training;
        training.tokens() * u64::from(training.model.hidden) * training.widths.activation.get()
    }

    /// Returns the bytes that a rank sends to an adjacent stage: all activations, or only its share
    /// if sequences are divided.
    fn bytes_between_stages(&self) -> Bytes {
        let shares = match self.training.tensor_traffic {
            TensorTraffic::AllReduce => 1,
            TensorTraffic::Sequence => self.training.degrees.tensor,
        };
        Bytes::new(self.activations().div_ceil(shares.into()))
    }
}
