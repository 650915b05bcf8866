"""Band gap of silicon from the printed output of pw.x along L-Gamma-X."""

import argparse
import json
import re
from pathlib import Path

import numpy as np

BLOCK = re.compile(r"k =\s*(-?\d+\.\d+)\s*(-?\d+\.\d+)\s*(-?\d+\.\d+) \([^)]*\)\s+bands \(ev\):\n\n((?:[ \d.+-]+\n)+)")
X = np.array([1.0, 0.0, 0.0])  # in units of 2 pi / a
L = np.array([0.5, 0.5, 0.5])


def read_bands(path):
    """k-points (n, 3) in units of 2 pi / a and eigenvalues (n, bands) in eV. Raises SystemExit if none are there."""
    found = BLOCK.findall(path.read_text())
    if not found:
        raise SystemExit(f"{path}: no eigenvalues found")
    return np.array([list(map(float, k[:3])) for k in found]), np.array([list(map(float, k[3].split())) for k in found])


def at(points, k):
    """Index of k among the points."""
    return int(np.flatnonzero(np.all(np.abs(points - k) < 1e-4, axis=1))[0])


def along_x(points):
    """Indices of the points from Gamma to X and their distance from Gamma as a fraction of Gamma-X."""
    line = np.flatnonzero((np.abs(points[:, 1:]) < 1e-4).all(axis=1))
    line = line[np.argsort(points[line, 0])]
    return line, points[line, 0]


def refine(t, energy):
    """Minimum of a cubic through the lowest point and its neighbours: position and energy."""
    low = int(np.argmin(energy))
    if low in (0, len(t) - 1):
        return float(t[low]), float(energy[low])
    near = slice(max(low - 3, 0), low + 4)
    curve = np.polynomial.Polynomial.fit(t[near], energy[near], 3)
    fine = np.linspace(t[low - 1], t[low + 1], 4001)
    best = int(np.argmin(curve(fine)))
    return float(fine[best]), float(curve(fine)[best])


def gaps(points, bands, occupied):
    """The named gaps and the places of the band edges."""
    gamma = at(points, np.zeros(3))
    top = int(np.argmax(bands[:, occupied - 1]))
    vbm = float(bands[top, occupied - 1])
    line, t = along_x(points)
    position, cbm = refine(t, bands[line, occupied])
    direct = float(bands[gamma, occupied] - bands[gamma, occupied - 1])
    to_l = float(bands[at(points, L), occupied] - vbm)
    to_x = float(bands[at(points, X), occupied] - vbm)
    fundamental = min(cbm - vbm, to_l)
    return {
        "fundamental_gap": (fundamental, "eV"),
        "cbm_fraction": (position, ""),
        "vbm_fraction": (float(np.linalg.norm(points[top])), ""),
        "direct_gap_gamma": (direct, "eV"),
        "gap_gamma_to_l": (to_l, "eV"),
        "gap_gamma_to_x": (to_x, "eV"),
        "direct_minus_fundamental": (direct - fundamental, "eV"),
    }


def main():
    """Writes the gaps. The last three options change what is read, to see what depends on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--source", choices=["bands", "scf"], default="bands")
    parser.add_argument("--occupied", type=int, help="occupied bands; by default half the electrons")
    parser.add_argument("--vertical", action="store_true", help="look for the gap at Gamma alone")
    options = parser.parse_args()
    text = (options.inputs / "si.bands.out").read_text()
    electrons = float(re.search(r"number of electrons\s+=\s+(\S+)", text)[1])
    occupied = options.occupied or round(electrons / 2)
    path = options.inputs / f"si.{options.source}.out"
    if options.source == "scf":
        highest, lowest = map(
            float, re.search(r"lowest unoccupied level \(ev\):\s+(\S+)\s+(\S+)", path.read_text()).groups()
        )
        found = {"fundamental_gap": (lowest - highest, "eV"), "cbm_fraction": (1.0, ""), "vbm_fraction": (0.0, "")}
    else:
        found = gaps(*read_bands(path), occupied)
    if options.vertical:
        found |= {"fundamental_gap": found["direct_gap_gamma"], "cbm_fraction": (0.0, "")}
    results = {name: {"value": round(value, 4), "unit": unit} for name, (value, unit) in found.items()}
    options.out.write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
