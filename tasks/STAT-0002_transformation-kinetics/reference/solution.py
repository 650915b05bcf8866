"""Avrami exponents from simulated nucleation and growth, by a fit and by a regression.

A point of the periodic unit box is transformed when the first growing sphere reaches it: min over nuclei of
t_i + distance / G with G = 1. Nuclei that appear inside transformed matter never come first, so they need not be
sorted out. Options change one choice each. Writes {name: {"value": x, "unit": u}}; `--inputs` is accepted for a
uniform call and not read.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np

FRACTIONS = np.linspace(0.05, 0.95, 46)
REPLICAS, POINTS, NUCLEI = 8, 2500, 3000
FEATURES = np.array([0.6, 0.75, 0.9, 1.1, 1.25, 1.4])
"""Times, in units of the half time, at which the learned estimator sees the transformed fraction."""


def transformation_times(rng, dimensions, mode, window):
    """Sorted times at which random points transform, for one box."""
    number = rng.poisson(NUCLEI)
    nuclei = rng.random((number, dimensions), dtype=np.float32)
    if mode == "saturated":
        births = np.zeros(number, dtype=np.float32)
    else:
        # long enough for the last point: extended fraction 9 at the end leaves a share of e^-9
        sphere = {1: 2.0, 2: math.pi, 3: 4 * math.pi / 3}[dimensions]
        end = (9 * (dimensions + 1) / (sphere * NUCLEI)) ** (1 / dimensions)
        births = (rng.random(number, dtype=np.float32) * end * window).astype(np.float32)
    times = []
    for block in np.array_split(rng.random((POINTS, dimensions), dtype=np.float32), 10):
        squared = np.zeros((len(block), number), dtype=np.float32)
        for axis in range(dimensions):
            distance = np.abs(block[:, axis, None] - nuclei[None, :, axis])
            np.minimum(distance, 1 - distance, out=distance)
            squared += distance * distance
        times.append(np.min(births + np.sqrt(squared), axis=1))
    return np.sort(np.concatenate(times)).astype(float)


def curve(times):
    """Times at which the fractions FRACTIONS are reached."""
    return np.interp(FRACTIONS, (np.arange(len(times)) + 0.5) / len(times), times)


def exponent(times, clock):
    """Slope of ln(-ln(1 - X)) against ln(t)."""
    reached = curve(times)
    if clock == "onset":
        reached = reached - np.interp(0.01, (np.arange(len(times)) + 0.5) / len(times), times)
    return np.polyfit(np.log(reached), np.log(-np.log1p(-FRACTIONS)), 1)[0]


def features(times):
    """Fraction transformed at FEATURES times the half time."""
    return np.searchsorted(times, FEATURES * np.median(times)) / len(times)


def learned_estimator(rng):
    """Gaussian-process regression from the shape of a curve to its exponent, trained on noisy synthetic curves."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    known = rng.uniform(1, 5.5, 250)
    shapes = 1 - 0.5 ** (FEATURES[None, :] ** known[:, None])
    shapes = np.clip(shapes + rng.normal(0, 0.01, shapes.shape), 0, 1)
    model = GaussianProcessRegressor(1.0 * RBF(np.ones(len(FEATURES))) + WhiteKernel(0.01), normalize_y=True)
    return model.fit(shapes, known)


def mean_and_error(values):
    """Mean and half width of its 95 % confidence interval (Student's t)."""
    from scipy.stats import t

    values = np.asarray(values)
    return float(values.mean()), float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--dimensions", type=int, choices=[1, 2, 3], default=3)
    parser.add_argument("--window", type=float, default=1.0, help="share of the time during which nuclei form")
    parser.add_argument("--clock", choices=["start", "onset"], default="start", help="onset: from 1 % transformed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    model = learned_estimator(rng)
    results = {}
    for mode, name in (("saturated", "n_site_saturated"), ("constant", "n_constant_rate")):
        boxes = [transformation_times(rng, options.dimensions, mode, options.window) for _ in range(REPLICAS)]
        value, error = mean_and_error([exponent(times, options.clock) for times in boxes])
        results[name] = {"value": value, "unit": ""}
        results[f"{name}_error"] = {"value": error, "unit": ""}
        value, error = mean_and_error(model.predict(np.array([features(times) for times in boxes])))
        results[f"{name}_learned"] = {"value": value, "unit": ""}
        results[f"{name}_learned_error"] = {"value": error, "unit": ""}
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    print("\n".join(f"{name} = {entry['value']:.4f}" for name, entry in results.items()))


if __name__ == "__main__":
    main()
