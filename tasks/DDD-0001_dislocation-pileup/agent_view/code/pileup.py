"""Overdamped relaxation of a dislocation pile-up against a lock.

Units inside: nanometre and megapascal, so that forces per unit length divided by the Burgers vector are stresses in
megapascal. x = 0 is the lock; the applied stress pushes towards it.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np


def coupling(parameters):
    """A = mu b / (2 pi (1 - nu)) in MPa nm: stress of an edge dislocation at unit distance on its slip plane."""
    mu = 1000 * parameters["shear_modulus_GPa"]
    return mu * parameters["burgers_vector_nm"] / (2 * np.pi * (1 - parameters["poisson_ratio"]))


def stresses(x, a, tau):
    """Total shear stress (MPa) on each dislocation at `x`, positive away from the lock, and its derivatives."""
    distance = x[:, None] - x[None, :]
    np.fill_diagonal(distance, np.inf)
    total = a * np.sum(1 / distance, axis=1) - tau
    slope = a / distance**2
    np.fill_diagonal(slope, -np.sum(slope, axis=1))
    return total, slope


def relax(free, a, tau, steps=2000, tolerance=1e-9):
    """Positions (nm) of the `free` dislocations in equilibrium, by implicit overdamped steps of growing length."""
    x = np.linspace(0.05, 1.6, free) * free * a / tau
    step = 1e-3 * a / tau**2
    for _ in range(steps):
        total, slope = stresses(x, a, tau)
        if np.max(np.abs(total)) < tolerance * tau:
            return x
        move = np.linalg.solve(np.eye(free) / step - slope, total)
        room = np.diff(x, prepend=0.0)
        move *= min(1.0, 0.3 / np.max(np.abs(move) / np.minimum(room, np.append(room[1:], np.inf))))
        x = x + move
        step *= 1.3
    sys.exit(f"pileup.py: no equilibrium after {steps} steps: largest remaining stress {np.max(np.abs(total)):.4g} MPa")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parameters", type=Path)
    parser.add_argument("--out", type=Path, default=Path("pileup.json"))
    arguments = parser.parse_args()
    parameters = json.loads(arguments.parameters.read_text())
    a, tau = coupling(parameters), parameters["applied_stress_MPa"]
    x = relax(parameters["dislocations"] - 1, a, tau)
    lock = a * np.sum(1 / x) + tau
    arguments.out.write_text(json.dumps({"x_nm": [0.0, *x.tolist()], "lock_stress_MPa": lock}, indent=1) + "\n")
    print(f"{parameters['dislocations']} dislocations: lock stress {lock:.3f} MPa, first free one at {x[0]:.4f} nm")


if __name__ == "__main__":
    main()
