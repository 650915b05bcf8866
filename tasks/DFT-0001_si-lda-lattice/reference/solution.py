"""Lattice constant of silicon: pseudopotential with ld1.x, total energies with pw.x, Birch-Murnaghan fit."""

import argparse
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np

LATTICE_CONSTANTS = np.linspace(5.24, 5.54, 7)  # angstrom
RYDBERG_PER_CUBIC_ANGSTROM = 2179.8724  # in GPa


def execute(program, text, directory):
    """Runs `program` on `text` serially in `directory`; returns what it prints."""
    quiet = {
        "OMP_NUM_THREADS": "1",
        "OMPI_MCA_plm_rsh_agent": "",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = subprocess.run(
        [program], input=text, capture_output=True, text=True, cwd=directory, env={**os.environ, **quiet}
    )
    if done.returncode != 0 or "Error in routine" in done.stdout:
        raise SystemExit(f"{program} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def make_pseudopotential(inputs, work, functional):
    """Generates Si.UPF for the functional."""
    recipe = (inputs / "si.ld1.in").read_text().replace("'PZ'", f"'{functional}'")
    (work / "ld1.out").write_text(execute("ld1.x", recipe, work))


def scan_energies(inputs, work, grid, cutoff):
    """Total energy (Ry per cell of two atoms) at each lattice constant, as a table."""
    template = (inputs / "si.scf.in").read_text()
    rows = []
    for a in LATTICE_CONSTANTS:
        text = re.sub(r"A\s+= 5\.431", f"A = {a:.4f}", template)
        text = re.sub(r"ecutwfc\s+= 24\.0", f"ecutwfc = {cutoff}", text)
        text = text.replace("4 4 4 1 1 1", f"{grid} {grid} {grid} 1 1 1")
        output = execute("pw.x", text, work)
        (work / f"scf_{a:.3f}.out").write_text(output)
        energy = float(re.findall(r"^!\s+total energy\s+=\s+(\S+) Ry", output, re.M)[-1])
        rows.append(f"{a:.4f} {energy:.8f}")
        print(f"a = {a:.4f} angstrom  E = {energy:.8f} Ry", flush=True)
    (work / "energies.dat").write_text("# a (angstrom)  E (Ry per two atoms)\n" + "\n".join(rows) + "\n")


def fit(work):
    """Third-order Birch-Murnaghan: the energy is a cubic polynomial in V^(-2/3)."""
    a, energy = np.loadtxt(work / "energies.dat", unpack=True)
    x = (a**3 / 4) ** (-2 / 3)
    polynomial = np.polynomial.Polynomial.fit(x, energy, 3)
    roots = polynomial.deriv().roots()
    inside = [
        r.real for r in roots if abs(r.imag) < 1e-12 and x.min() < r.real < x.max() and polynomial.deriv(2)(r.real) > 0
    ]
    if len(inside) != 1:
        raise SystemExit("the energies have no single minimum inside the scanned range")
    volume = inside[0] ** -1.5
    curvature = polynomial.deriv(2)(inside[0]) * (2 / 3 * volume ** (-5 / 3)) ** 2
    return {
        "lattice_constant": {"value": round((4 * volume) ** (1 / 3), 5), "unit": "angstrom"},
        "bulk_modulus": {"value": round(volume * curvature * RYDBERG_PER_CUBIC_ANGSTROM, 2), "unit": "GPa"},
        "fit_rms": {"value": float(np.sqrt(np.mean((polynomial(x) - energy) ** 2))), "unit": "Ry"},
    }


def main():
    """Runs one step, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--step", choices=["pseudopotential", "energies", "fit", "all"], default="all")
    parser.add_argument("--functional", default="PZ", help="exchange and correlation, as ld1.x names it")
    parser.add_argument("--grid", type=int, default=4, help="k-points along each axis, shifted")
    parser.add_argument("--cutoff", type=float, default=24.0, help="plane-wave cut-off in Ry")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    inputs, work = options.inputs.resolve(), options.work.resolve()
    if options.step in ("pseudopotential", "all"):
        make_pseudopotential(inputs, work, options.functional)
    if options.step in ("energies", "all"):
        scan_energies(inputs, work, options.grid, options.cutoff)
    if options.step in ("fit", "all"):
        results = fit(work)
        options.out.write_text(json.dumps(results, indent=2) + "\n")
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
