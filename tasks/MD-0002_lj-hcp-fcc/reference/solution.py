"""Energy of fcc and hcp crystals of Lennard-Jones atoms by lattice sums, at zero temperature and pressure.

With d the nearest-neighbour distance and S_n the sum of (d / r)^n over all other atoms, the energy per atom is
2 epsilon [S_12 (sigma/d)^12 - S_6 (sigma/d)^6]; its minimum over d is -epsilon S_6^2 / (2 S_12).
"""

import argparse
import json
from pathlib import Path

import numpy as np

ROOT3, ROOT23 = np.sqrt(3), np.sqrt(2 / 3)


def shells(stacking, reach):
    """Squared distances (in d^2) from an atom and how many atoms are there, up to `reach`.

    Close-packed layers of spacing sqrt(2/3) at lateral shifts 0 (A), 1 (B) or 2 (C) times a third of the long
    diagonal: "abc" is fcc, "ab" is hcp. In both, all atoms are equivalent.
    """
    span = int(reach) + 2
    i, j = np.meshgrid(np.arange(-2 * span, 2 * span + 1), np.arange(-2 * span, 2 * span + 1))
    counts = {}
    for layer in range(-int(reach / ROOT23) - 1, int(reach / ROOT23) + 2):
        shift = "abc".index(stacking[layer % len(stacking)]) / 3
        x = i + 0.5 * j + shift * 1.5
        y = (ROOT3 / 2) * j + shift * ROOT3 / 2
        r2 = x**2 + y**2 + 2 / 3 * layer**2
        twelfths, numbers = np.unique(np.rint(12 * r2[r2 < reach**2 + 1e-9]).astype(int), return_counts=True)
        for key, number in zip(twelfths.tolist(), numbers.tolist(), strict=True):
            counts[key] = counts.get(key, 0) + number
    counts.pop(0)
    keys = sorted(counts)
    return np.array(keys) / 12, np.array([counts[key] for key in keys])


def lattice_sums(stacking, reach):
    """S_6 and S_12 of the infinite crystal: direct to `reach`, then the integral over a uniform density.

    The result is averaged over ten outer radii, which removes most of what is left of the shell structure.
    """
    r2, number = shells(stacking, reach)
    sums = []
    for outer in np.linspace(0.8 * reach, reach, 10):
        inside = r2 < outer**2
        count = number[inside].sum() + 1
        radius = (3 * count / (4 * np.pi * np.sqrt(2))) ** (1 / 3)  # of the sphere that holds as many atoms
        sums.append(
            [
                (number[inside] * r2[inside] ** (-n / 2)).sum() + 4 * np.pi * np.sqrt(2) * radius ** (3 - n) / (n - 3)
                for n in (6, 12)
            ]
        )
    return np.mean(sums, axis=0)


def full(stacking, reach):
    """Energy per atom (epsilon) and nearest-neighbour distance (sigma) of the untruncated potential."""
    s6, s12 = lattice_sums(stacking, reach)
    return -(s6**2) / (2 * s12), (2 * s12 / s6) ** (1 / 6)


def truncated(stacking, cutoff):
    """The same with a bare cut-off in sigma: no shift, no tail."""
    r2, number = shells(stacking, cutoff / 0.9)
    distances = np.linspace(1.06, 1.13, 7001)
    r6 = (distances[:, None] ** 2 * r2) ** -3
    pair = np.where(distances[:, None] ** 2 * r2 < cutoff**2, 4 * (r6**2 - r6), 0)
    energy = pair @ number / 2
    best = int(np.argmin(energy))
    return float(energy[best]), float(distances[best])


def main():
    """Computes one crystal, or both, or compares them. `--cutoff` truncates the potential."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, help="unused: the claim has no input files")
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--step", choices=["fcc", "hcp", "compare", "all"], default="all")
    parser.add_argument("--cutoff", type=float, help="bare cut-off in sigma; by default none")
    parser.add_argument(
        "--reach", type=float, default=40.0, help="radius of the direct sum in nearest-neighbour distances"
    )
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    for name, stacking in (("fcc", "abc"), ("hcp", "ab")):
        if options.step in (name, "all"):
            energy, distance = truncated(stacking, options.cutoff) if options.cutoff else full(stacking, options.reach)
            found = {"energy": float(energy), "nearest_neighbour": float(distance)}
            (options.work / f"{name}.json").write_text(json.dumps(found) + "\n")
            print(name, found)
    if options.step in ("compare", "all"):
        fcc, hcp = (json.loads((options.work / f"{name}.json").read_text()) for name in ("fcc", "hcp"))
        results = {
            "energy_fcc": {"value": round(fcc["energy"], 6), "unit": ""},
            "energy_hcp": {"value": round(hcp["energy"], 6), "unit": ""},
            "energy_hcp_minus_fcc": {"value": round(hcp["energy"] - fcc["energy"], 6), "unit": ""},
            "nearest_neighbour_fcc": {"value": round(fcc["nearest_neighbour"], 6), "unit": ""},
        }
        options.out.write_text(json.dumps(results, indent=2) + "\n")
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
