"""Simulates each point of a study as a job of Slurm, or as a process without Slurm:
python submitit_points.py STUDY.toml OUT.csv"""

import sys

import pandas
import submitit

import evenkeel


def simulate(study: str, point: int) -> pandas.DataFrame:
    return evenkeel.sweep(study, point=point, jobs=2).table.to_pandas()


if __name__ == "__main__":
    study, out = sys.argv[1:]
    executor = submitit.AutoExecutor(folder="submitit-logs")
    executor.update_parameters(timeout_min=60, cpus_per_task=2)
    numbers = [it["point"] for it in evenkeel.points(study)]
    jobs = executor.map_array(simulate, [study] * len(numbers), numbers)
    pandas.concat([job.result() for job in jobs]).to_csv(out, index=False)
