#!/bin/sh
#SBATCH --array=0-3 --cpus-per-task=2
evenkeel sweep examples/sweeps/sizes.toml --out "results/sizes-$SLURM_ARRAY_TASK_ID"
