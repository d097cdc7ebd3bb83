"""A gate of a project: fails if a policy gets slower than the project allows. Run it by pytest."""

import statistics

import pytest

import evenkeel

LIMITS = {"spray": 1.15, "reps": 1.15, "ethereal": 1.05}


@pytest.mark.parametrize("policy", LIMITS)
def test_slowdown(policy: str) -> None:
    runs = evenkeel.compare("scenario.toml", [policy], seeds=5).runs
    assert statistics.median(run.slowdown for run in runs) <= LIMITS[policy]
