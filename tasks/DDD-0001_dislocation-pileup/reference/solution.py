"""A pile-up of edge dislocations against a lock, relaxed and compared with Laguerre zeros.

Units inside: nanometre and megapascal. Options change one choice each. Writes {name: {"value": x, "unit": u}}.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy.special import roots_genlaguerre

SIZES = (10, 20, 40)


def coupling(parameters, character):
    """A in MPa nm; only an edge dislocation has the factor 1/(1 - nu)."""
    nu = parameters["poisson_ratio"] if character == "edge" else 0.0
    return 1000 * parameters["shear_modulus_GPa"] * parameters["burgers_vector_nm"] / (2 * np.pi * (1 - nu))


def relax(free, a, tau, steps=2000, tolerance=1e-10):
    """Equilibrium positions (nm) of `free` dislocations pressed by `tau` against a locked one at x = 0."""
    x = np.linspace(0.05, 1.6, free) * free * a / tau
    step = 1e-3 * a / tau**2
    for _ in range(steps):
        distance = x[:, None] - x[None, :]
        np.fill_diagonal(distance, np.inf)
        total = a * (np.sum(1 / distance, axis=1) + 1 / x) - tau
        if np.max(np.abs(total)) < tolerance * tau:
            return x
        slope = a / distance**2
        np.fill_diagonal(slope, -np.sum(slope, axis=1) - a / x**2)
        move = np.linalg.solve(np.eye(free) / step - slope, total)
        room = np.diff(x, prepend=0.0)
        move *= min(1.0, 0.3 / np.max(np.abs(move) / np.minimum(room, np.append(room[1:], np.inf))))
        x = x + move
        step *= 1.3
    sys.exit(f"no equilibrium after {steps} steps")


def pile_up(number, a, tau, options):
    """Free positions (nm, from the lock) and the stress on the lock (MPa) of `number` dislocations in all."""
    x = relax(number if options.count == "free" else number - 1, a, tau)
    return x, a * np.sum(1 / x) + (tau if options.lock_stress == "whole" else 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, default=Path("inputs"))
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--character", choices=["edge", "screw"], default="edge")
    parser.add_argument("--count", choices=["with-lock", "free"], default="with-lock")
    parser.add_argument("--lock-stress", choices=["whole", "neighbours"], default="whole")
    parser.add_argument("--dislocations", type=int, help="instead of the number in the input file")
    parser.add_argument("--zeros", choices=["2x", "x"], default="2x", help="argument of the polynomial in A/tau")
    options = parser.parse_args()
    parameters = json.loads((options.inputs / "aluminium.json").read_text())
    a, tau = coupling(parameters, options.character), parameters["applied_stress_MPa"]
    number = options.dislocations or parameters["dislocations"]

    x, lock = pile_up(number, a, tau, options)
    if options.zeros == "x":
        x = roots_genlaguerre(number - 1, 1)[0] * a / tau
    zeros = roots_genlaguerre(number - 1, 1)[0] * a / (2 * tau)
    deviation = np.max(np.abs(x[: len(zeros)] / zeros - 1))
    locks = [pile_up(size, a, tau, options)[1] for size in SIZES]
    exponent = np.polyfit(np.log(SIZES), np.log(locks), 1)[0]
    results = {
        "lock_stress": {"value": float(lock), "unit": "MPa"},
        "first_distance": {"value": float(x[0]), "unit": "nm"},
        "first_distance_reduced": {"value": float(x[0] * number * tau / a), "unit": ""},
        "pileup_length": {"value": float(x[-1] / 1000), "unit": "um"},
        "lock_stress_exponent": {"value": float(exponent), "unit": ""},
        "largest_deviation_from_zeros": {"value": float(deviation), "unit": ""},
    }
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    print("\n".join(f"{name} = {entry['value']:.6g} {entry['unit']}" for name, entry in results.items()))


if __name__ == "__main__":
    main()
