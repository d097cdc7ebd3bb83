"""Simulates each point of a study as a task of Dask: python dask_points.py STUDY.toml OUT.csv"""

import sys

import pandas
from dask.distributed import Client

import evenkeel


def simulate(study: str, point: int) -> pandas.DataFrame:
    return evenkeel.sweep(study, point=point, jobs=1).table.to_pandas()


if __name__ == "__main__":
    study, out = sys.argv[1:]
    with Client() as client:
        tasks = [client.submit(simulate, study, it["point"]) for it in evenkeel.points(study)]
        pandas.concat(client.gather(tasks)).to_csv(out, index=False)
