"""Searches the best numbers of subflows, where completion time and queue pairs are both costs:
python optuna_subflows.py SCENARIO.toml"""

import statistics
import sys

import optuna

import evenkeel


def completion(trial: optuna.Trial) -> tuple[float, int]:
    k = trial.suggest_int("k", 1, 16, log=True)
    runs = evenkeel.compare(sys.argv[1], [evenkeel.Policy("subflow-k", k=k)], seeds=3).runs
    return statistics.median(run.cct_ns for run in runs), k


search = optuna.create_study(
    directions=["minimize", "minimize"], sampler=optuna.samplers.TPESampler(seed=1)
)
search.optimize(completion, n_trials=12)
for best in search.best_trials:
    print(f"k = {best.params['k']}: {best.values[0] / 1e3:.1f} us")
