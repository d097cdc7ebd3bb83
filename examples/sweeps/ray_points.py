"""Simulates each point of a study as a task of Ray: python ray_points.py STUDY.toml OUT.csv"""

import sys

import pandas
import ray

import evenkeel

study, out = sys.argv[1:]


@ray.remote
def simulate(point: int) -> pandas.DataFrame:
    return evenkeel.sweep(study, point=point, jobs=1).table.to_pandas()


tasks = [simulate.remote(it["point"]) for it in evenkeel.points(study)]
pandas.concat(ray.get(tasks)).to_csv(out, index=False)
