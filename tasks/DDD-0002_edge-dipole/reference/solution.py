"""Two parallel edge dislocations on neighbouring slip planes: where they rest, and the stress that parts them.

One dislocation is fixed at the origin, the other glides on a plane at height h, overdamped: dx/dt is proportional to
the shear stress on it. Positions are integrated in time from many starts; stability is not assumed. Units inside:
nanometre and megapascal; time in units of h^2 / (mobility A). Options change one choice each. Writes
{name: {"value": x, "unit": u}}; `--inputs` is accepted for a uniform call and not read.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

MU, NU, BURGERS, HEIGHT = 48000.0, 0.34, 0.256, 20.0
"""Copper: MPa, 1, nm; height of the planes over each other in nm."""


def pair_stress(u, sign, law):
    """Shear stress in units of A / h on the gliding dislocation at u = x / h; sign +1 for like, -1 for unlike ones."""
    if law == "radial":
        return sign * u / (u**2 + 1)
    return sign * u * (u**2 - 1) / (u**2 + 1) ** 2


def settle(start, sign, law, applied=0.0, duration=2000.0):
    """Where the dislocation is in the end, in units of h; it is out of reach beyond 50 h."""

    def out_of_reach(_, u):
        return abs(u[0]) - 50

    out_of_reach.terminal = True
    run = solve_ivp(
        lambda _, u: pair_stress(u, sign, law) + applied,
        (0, duration),
        [start],
        method="LSODA",
        rtol=1e-8,
        atol=1e-10,
        events=out_of_reach,
    )
    return float(run.y[0, -1])


def stiffness(u, sign, law):
    """Restoring stress per displacement in units of A / h^2: positive where a small shift is driven back."""
    step = 1e-5
    return -(pair_stress(u + step, sign, law) - pair_stress(u - step, sign, law)) / (2 * step)


def passing_stress(rest, sign, law):
    """Smallest applied stress, in units of A / h, that carries the dislocation away from `rest`, by bisection."""
    low, high = 0.0, 2.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if abs(settle(rest, sign, law, middle)) > 49 else (middle, high)
    return (low + high) / 2


def angle(u):
    """Angle between the slip plane and the line that joins the two, in degrees from 0 to 90."""
    return float(np.degrees(np.arctan2(1, abs(u))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--pair", choices=["unlike", "like"], default="unlike", help="pair that is called the dipole")
    parser.add_argument("--law", choices=["edge", "radial"], default="edge", help="radial: A x / r^2, that of screws")
    parser.add_argument("--poisson", type=float, default=NU)
    options = parser.parse_args()
    a = MU * BURGERS / (2 * np.pi * (1 - options.poisson))
    dipole = -1 if options.pair == "unlike" else 1
    starts = [u for u in np.linspace(-2.9, 2.9, 30) if abs(u) > 0.05]
    ends = [settle(u, dipole, options.law) for u in starts]
    bound = [u for u in ends if abs(u) < 49]
    rest = float(np.median(np.abs(bound))) if bound else 0.0
    walls = [settle(u, -dipole, options.law) for u in starts if abs(u) < 0.95]
    wall = float(np.median(np.abs(walls)))
    results = {
        "dipole_angle": {"value": angle(rest), "unit": "degree"},
        "share_at_45_degree": {"value": float(np.mean([abs(angle(u) - 45) < 0.1 for u in ends])), "unit": ""},
        "wall_angle": {"value": angle(wall), "unit": "degree"},
        "dipole_stiffness_abreast": {"value": stiffness(0, dipole, options.law) * a / HEIGHT**2, "unit": "MPa/nm"},
        "dipole_stiffness_at_45_degree": {"value": stiffness(1, dipole, options.law) * a / HEIGHT**2, "unit": "MPa/nm"},
        "wall_stiffness_abreast": {"value": stiffness(0, -dipole, options.law) * a / HEIGHT**2, "unit": "MPa/nm"},
        "passing_stress": {"value": passing_stress(rest, dipole, options.law) * a / HEIGHT, "unit": "MPa"},
    }
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    print("\n".join(f"{name} = {entry['value']:.5g} {entry['unit']}" for name, entry in results.items()))


if __name__ == "__main__":
    main()
