//! The pass order of a pipeline stage: 1F1B without interleaving.
//!
//! Source: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
//! Megatron-LM" (2021), section 2.2.1, figure 4. A stage runs one forward pass for each later
//! stage, then alternates one forward and one backward pass, then runs the remaining backward
//! passes.

/// A pass of a microbatch, given by index, through a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Forward(u32),
    Backward(u32),
}

/// Returns the passes of stage `stage` of `stages`, in order.
pub(super) fn of_stage(stage: u32, stages: u32, microbatches: u32) -> Vec<Pass> {
    let ahead = (stages - stage - 1).min(microbatches);
    let mut passes: Vec<Pass> = (0..ahead).map(Pass::Forward).collect();
    for microbatch in ahead..microbatches {
        passes.push(Pass::Forward(microbatch));
        passes.push(Pass::Backward(microbatch - ahead));
    }
    passes.extend((microbatches - ahead..microbatches).map(Pass::Backward));
    passes
}

/// Returns the passes of all stages, each with its stage and after its dependencies.
pub(super) fn of_all(stages: u32, microbatches: u32) -> Vec<(u32, Pass)> {
    let orders: Vec<Vec<Pass>> =
        (0..stages).map(|stage| of_stage(stage, stages, microbatches)).collect();
    let total = orders.iter().map(Vec::len).sum();
    let mut done = vec![0; orders.len()];
    // Completed forward and backward passes of each stage.
    let mut counts = vec![(0u32, 0u32); orders.len()];
    let mut all = Vec::with_capacity(total);
    while all.len() < total {
        for stage in 0..orders.len() {
            while let Some(&pass) = orders[stage].get(done[stage]) {
                let ready = match pass {
                    Pass::Forward(index) => stage == 0 || counts[stage - 1].0 > index,
                    Pass::Backward(index) => counts.get(stage + 1).is_none_or(|it| it.1 > index),
                };
                if !ready {
                    break;
                }
                match pass {
                    Pass::Forward(_) => counts[stage].0 += 1,
                    Pass::Backward(_) => counts[stage].1 += 1,
                }
                done[stage] += 1;
                all.push((stage as u32, pass));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::Pass::{Backward as B, Forward as F};
    use super::*;

    #[test]
    fn the_order_matches_the_figure_of_the_paper() {
        assert_eq!(of_stage(3, 4, 3), [F(0), B(0), F(1), B(1), F(2), B(2)]);
        assert_eq!(of_stage(2, 4, 3), [F(0), F(1), B(0), F(2), B(1), B(2)]);
        assert_eq!(of_stage(0, 4, 3), [F(0), F(1), F(2), B(0), B(1), B(2)]);
        assert_eq!(of_stage(0, 2, 4), [F(0), F(1), B(0), F(2), B(1), F(3), B(2), B(3)]);
    }

    #[test]
    fn every_pass_follows_its_dependencies() {
        for (stages, microbatches) in [(1, 1), (1, 5), (4, 2), (4, 8), (3, 7), (8, 1)] {
            let all = of_all(stages, microbatches);
            assert_eq!(all.len() as u32, 2 * stages * microbatches);
            let index_of = |wanted| all.iter().position(|it| *it == wanted).unwrap();
            for (index, &(stage, pass)) in all.iter().enumerate() {
                let before = match pass {
                    F(_) if stage == 0 => continue,
                    F(_) => (stage - 1, pass),
                    B(number) if stage == stages - 1 => (stage, F(number)),
                    B(_) => (stage + 1, pass),
                };
                assert!(index_of(before) < index, "{stages} stages: {pass:?} of {stage}");
            }
        }
    }
}
