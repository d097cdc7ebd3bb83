//! Iterations, pass by pass: what every rank of a stage does is the same.

use super::error::TrainingError;
use super::passes::{self, Pass};
use super::program::{Call, Class, MOST_TASKS, Program};
use super::unit::{self, Kind, Unit};
use super::{Sharding, TensorTraffic, Training};
use crate::collective::CollectiveKind;
use crate::units::Bytes;
use crate::workload::Workload;
use crate::workload::graph::Task;

/// The groups of a stage, and what it consists of.
struct Stage {
    ranks: Vec<u32>,
    units: Vec<Unit>,
    tensor: Vec<Vec<u32>>,
    data: Vec<Vec<u32>>,
    expert: Vec<Vec<u32>>,
    expert_data: Vec<Vec<u32>>,
}

/// Gradients that wait to be sent, in parameters; those of replicas and those of experts.
#[derive(Debug, Clone, Copy, Default)]
struct Gathered {
    common: u64,
    experts: u64,
}

/// An iteration in the making.
pub(super) struct Step<'a> {
    training: &'a Training,
    stages: Vec<Stage>,
    program: Program<'a>,
    /// What arrives for each rank's passes, forward and backward, by rank and microbatch.
    forward: Vec<Vec<Option<Task>>>,
    backward: Vec<Vec<Option<Task>>>,
    /// Messages of the forward passes of all stages that have been begun.
    expected: u128,
    /// What each stage's sharded optimizer has updated, in parameters.
    updated: Vec<Vec<Gathered>>,
}

impl<'a> Step<'a> {
    pub fn new(training: &'a Training) -> Result<Self, TrainingError> {
        let degrees = training.degrees;
        let stage = |stage: u32| Stage {
            ranks: degrees.stage(stage).collect(),
            units: unit::of_stage(training, stage),
            tensor: degrees.tensor_groups(stage),
            data: degrees.data_groups(stage),
            expert: degrees.expert_groups(stage),
            expert_data: degrees.expert_data_groups(stage),
        };
        let stages: Vec<Stage> = (0..degrees.pipeline).map(stage).collect();
        // What ranks compute: two parts of each unit, in two passes of each microbatch.
        let passes = u128::from(training.microbatches) * u128::from(training.iterations);
        let units: usize = stages.iter().map(|it| it.units.len() * it.ranks.len()).sum();
        if passes.saturating_mul(4 * units as u128) > MOST_TASKS as u128 {
            return Err(TrainingError::TooManyMessages);
        }
        let arrivals =
            || vec![vec![None; training.microbatches as usize]; degrees.ranks() as usize];
        Ok(Self {
            training,
            stages,
            program: Program::new(training),
            forward: arrivals(),
            backward: arrivals(),
            expected: 0,
            updated: vec![Vec::new(); degrees.pipeline as usize],
        })
    }

    pub fn run(mut self) -> Result<Workload, TrainingError> {
        let stages = std::mem::take(&mut self.stages);
        let order = passes::of_all(self.training.degrees.pipeline, self.training.microbatches);
        for iteration in 0..self.training.iterations {
            for &(number, pass) in &order {
                let stage = &stages[number as usize];
                let before = self.program.messages();
                match pass {
                    Pass::Forward(microbatch) => self.go_forward((number, stage), microbatch)?,
                    Pass::Backward(microbatch) => self.go_backward((number, stage), microbatch)?,
                }
                if iteration == 0 && matches!(pass, Pass::Forward(0)) {
                    self.expect(self.program.messages() - before)?;
                }
            }
            for (number, stage) in stages.iter().enumerate() {
                self.update((number, stage))?;
            }
        }
        self.program.finish()
    }

    /// All forward passes of a stage send as many messages as the first: more than there can be
    /// are refused before they are made.
    fn expect(&mut self, messages: usize) -> Result<(), TrainingError> {
        let times = u128::from(self.training.microbatches) * u128::from(self.training.iterations);
        self.expected += messages as u128 * times;
        match self.expected > MOST_TASKS as u128 {
            true => Err(TrainingError::TooManyMessages),
            false => Ok(()),
        }
    }

    fn go_forward(
        &mut self,
        (number, stage): (u32, &Stage),
        microbatch: u32,
    ) -> Result<(), TrainingError> {
        // Parameters may come before the activations do.
        let mut opened = self.program.front.clone();
        for &rank in &stage.ranks {
            let arrival = self.forward[rank as usize][microbatch as usize].take();
            self.program.meet(rank, arrival);
        }
        for unit in &stage.units {
            self.gather(stage, unit, &mut opened)?;
            self.attention(stage, unit, 1)?;
            self.block(stage, unit, 1)?;
        }
        let next = number + 1 < self.training.degrees.pipeline;
        let stage_size = stage.ranks.len() as u32;
        for &rank in stage.ranks.iter().filter(|_| next) {
            let to = rank + stage_size;
            let task = self.program.send(Class::Forward, (rank, to), self.handed_on());
            self.forward[to as usize][microbatch as usize] = Some(task);
        }
        Ok(())
    }

    fn go_backward(
        &mut self,
        (number, stage): (u32, &Stage),
        microbatch: u32,
    ) -> Result<(), TrainingError> {
        let mut opened = self.program.front.clone();
        for &rank in &stage.ranks {
            let arrival = self.backward[rank as usize][microbatch as usize].take();
            self.program.meet(rank, arrival);
        }
        let last = microbatch + 1 == self.training.microbatches;
        let mut gathered = Gathered::default();
        for unit in stage.units.iter().rev() {
            self.gather(stage, unit, &mut opened)?;
            // Gradients of what came in and of parameters: twice the forward computation.
            self.block(stage, unit, 2)?;
            self.attention(stage, unit, 2)?;
            gathered.common += unit.common;
            gathered.experts += unit.experts;
            if last || self.training.sharding == Sharding::Full {
                self.send_gradients((number, stage), &mut gathered, self.training.bucket)?;
            }
        }
        if last {
            self.send_gradients((number, stage), &mut gathered, Bytes::new(1))?;
        }
        let stage_size = stage.ranks.len() as u32;
        for &rank in stage.ranks.iter().filter(|_| number > 0) {
            let to = rank - stage_size;
            let task = self.program.send(Class::Backward, (rank, to), self.handed_on());
            self.backward[to as usize][microbatch as usize] = Some(task);
        }
        Ok(())
    }

    /// Gets the parameters of a unit, where they are sharded, while the one before it computes.
    fn gather(
        &mut self,
        stage: &Stage,
        unit: &Unit,
        opened: &mut Vec<Option<Task>>,
    ) -> Result<(), TrainingError> {
        if self.training.sharding != Sharding::Full {
            return Ok(());
        }
        self.all_gather(stage, (unit.common, unit.experts), opened)?;
        for &rank in &stage.ranks {
            for class in [Class::Parameters, Class::ExpertParameters] {
                let tail = self.program.tail(class, rank);
                self.program.meet(rank, tail);
            }
        }
        opened.clone_from(&self.program.front);
        Ok(())
    }

    fn all_gather(
        &mut self,
        stage: &Stage,
        (common, experts): (u64, u64),
        begin: &[Option<Task>],
    ) -> Result<(), TrainingError> {
        let width = self.training.widths.parameter.get();
        let kinds = [
            (Class::Parameters, common, &stage.data),
            (Class::ExpertParameters, experts, &stage.expert_data),
        ];
        for (class, parameters, groups) in kinds {
            let bytes = Bytes::new(parameters * width);
            let call = Call { class, operation: CollectiveKind::AllGather, bytes };
            self.program.aside(call, groups, begin)?;
        }
        Ok(())
    }

    /// The attention of a layer, computed `times` over.
    fn attention(&mut self, stage: &Stage, unit: &Unit, times: u128) -> Result<(), TrainingError> {
        if !matches!(unit.kind, Kind::Dense | Kind::Mixture) {
            return Ok(());
        }
        self.among_tensor(stage, (unit.work[0] * times, 1))
    }

    /// What follows the attention, or all of a unit that has none.
    fn block(&mut self, stage: &Stage, unit: &Unit, times: u128) -> Result<(), TrainingError> {
        let operations = unit.work[1] * times;
        match unit.kind {
            Kind::Embedding | Kind::Output => {
                self.program.compute(stage.ranks.iter().copied(), operations);
                Ok(())
            }
            Kind::Dense => self.among_tensor(stage, (operations, 1)),
            Kind::Mixture => {
                let chosen = self.training.model.experts.map_or(1, |it| u64::from(it.top_k));
                let tokens = self.activations() * chosen;
                let bytes = Bytes::new(tokens.div_ceil(self.training.degrees.tensor.into()));
                let call =
                    Call { class: Class::Expert, operation: CollectiveKind::AllToAll, bytes };
                self.program.blocking(call, &stage.expert)?;
                self.among_tensor(stage, (operations, chosen))?;
                self.program.blocking(call, &stage.expert)
            }
        }
    }

    /// Computes on activations, `copies` of each token, that those who share matrices exchange.
    fn among_tensor(
        &mut self,
        stage: &Stage,
        (operations, copies): (u128, u64),
    ) -> Result<(), TrainingError> {
        let bytes = Bytes::new(self.activations() * copies);
        let call = |operation| Call { class: Class::Tensor, operation, bytes };
        // Tokens that went to experts are on one rank of the group each: all have to see them.
        let divided = copies > 1 || self.training.tensor_traffic == TensorTraffic::Sequence;
        if divided {
            self.program.blocking(call(CollectiveKind::AllGather), &stage.tensor)?;
        }
        self.program.compute(stage.ranks.iter().copied(), operations);
        let after = if divided { CollectiveKind::ReduceScatter } else { CollectiveKind::AllReduce };
        self.program.blocking(call(after), &stage.tensor)
    }

    /// Sends gradients of which at least `enough` have gathered.
    fn send_gradients(
        &mut self,
        (number, stage): (u32, &Stage),
        gathered: &mut Gathered,
        enough: Bytes,
    ) -> Result<(), TrainingError> {
        let width = self.training.widths.gradient.get();
        let full = self.training.sharding == Sharding::Full;
        let mut sent = Gathered::default();
        for (waiting, sent) in
            [(&mut gathered.common, &mut sent.common), (&mut gathered.experts, &mut sent.experts)]
        {
            if *waiting > 0 && (full || *waiting * width >= enough.get()) {
                *sent = std::mem::take(waiting);
            }
        }
        let operation = match self.training.sharding {
            Sharding::None => CollectiveKind::AllReduce,
            Sharding::Optimizer | Sharding::Full => CollectiveKind::ReduceScatter,
        };
        let begin = self.program.front.clone();
        let kinds = [
            (Class::Gradients, sent.common, &stage.data),
            (Class::ExpertGradients, sent.experts, &stage.expert_data),
        ];
        for (class, parameters, groups) in kinds {
            let call = Call { class, operation, bytes: Bytes::new(parameters * width) };
            self.program.aside(call, groups, &begin)?;
        }
        if self.training.sharding == Sharding::Optimizer && sent.common + sent.experts > 0 {
            self.updated[number as usize].push(sent);
        }
        Ok(())
    }

    /// The end of an iteration: all gradients are there, and parameters are updated.
    fn update(&mut self, (number, stage): (usize, &Stage)) -> Result<(), TrainingError> {
        for &rank in &stage.ranks {
            for class in [Class::Gradients, Class::ExpertGradients] {
                let tail = self.program.tail(class, rank);
                self.program.meet(rank, tail);
            }
        }
        // The first layers' parameters, which the next pass begins with, were reduced last.
        let begin = self.program.front.clone();
        for bucket in std::mem::take(&mut self.updated[number]).iter().rev() {
            self.all_gather(stage, (bucket.common, bucket.experts), &begin)?;
        }
        for &rank in &stage.ranks {
            for class in [Class::Parameters, Class::ExpertParameters] {
                let tail = self.program.tail(class, rank);
                self.program.meet(rank, tail);
            }
        }
        Ok(())
    }

    /// Bytes of the activations of a microbatch between layers.
    fn activations(&self) -> u64 {
        let training = self.training;
        training.tokens() * u64::from(training.model.hidden) * training.widths.activation.get()
    }

    /// What a rank hands to the next stage: all it has, a part where sequences are divided.
    fn handed_on(&self) -> Bytes {
        let parts = match self.training.tensor_traffic {
            TensorTraffic::AllReduce => 1,
            TensorTraffic::Sequence => self.training.degrees.tensor,
        };
        Bytes::new(self.activations().div_ceil(parts.into()))
    }
}
