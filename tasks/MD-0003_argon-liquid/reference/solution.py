"""Liquid argon: simulation with LAMMPS, pair distribution and diffusion with numpy."""

import argparse
import json
import os
import subprocess
from pathlib import Path

import numpy as np

ATOMS, SIGMA = 864, 3.4  # angstrom
BOX = (ATOMS * 39.95 * 1.66054 / 1.374) ** (1 / 3)  # angstrom, for 1.374 g/cm3
FRAME_FS = 100.0  # time between stored positions
VELOCITY_FS = 50.0  # time between stored velocities
DECK = """\
units real
atom_style atomic
lattice fcc {cell}
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 39.95
pair_style lj/cut {cutoff}
pair_coeff 1 1 {epsilon} 3.4
neighbor 1.0 bin
neigh_modify every 5 delay 5 check yes
timestep 5.0
thermo 1000
thermo_style custom step temp pe etotal press density
velocity all create 300 {seed} mom yes dist gaussian
fix move all nve
# melt, then bring to the temperature, then leave alone
fix heat all temp/rescale 10 300 {temperature} 1 1
run 2000
unfix heat
fix heat all temp/rescale 10 {temperature} {temperature} 0.5 1
run 2000
unfix heat
reset_timestep 0
compute t all temp
fix t all ave/time 10 800 8000 c_t file temperature.dat
dump v all custom 10 velocities.dump id vx vy vz
dump_modify v sort id format line "%d %.5f %.5f %.5f"
dump x all custom 20 positions.dump id xu yu zu
dump_modify x sort id format line "%d %.3f %.3f %.3f"
run 2000
undump v
run 6000
"""


def simulate(work, temperature, seed):
    """40 ps at constant energy after melting and 20 ps of equilibration."""
    epsilon = 120 * 0.0019872041  # 120 K in kcal/mol
    deck = DECK.format(cell=BOX / 6, cutoff=2.25 * SIGMA, epsilon=epsilon, temperature=temperature, seed=seed)
    (work / "in.argon").write_text(deck)
    quiet = {
        "OMP_NUM_THREADS": "1",
        "OMPI_MCA_plm_rsh_agent": "",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    subprocess.run(
        ["lmp", "-in", "in.argon", "-log", "log.argon", "-screen", "none"],
        cwd=work,
        env={**os.environ, **quiet},
        check=True,
    )


def read_dump(path):
    """Frames of a sorted dump, shape (frames, atoms, 3)."""
    lines = path.read_text().splitlines()
    size = ATOMS + 9
    frames = [np.loadtxt(lines[start + 9 : start + size])[:, 1:] for start in range(0, len(lines) - size + 1, size)]
    return np.array(frames)


def mean_temperature(work):
    """Mean temperature of the production run, in kelvin."""
    return float(np.loadtxt(work / "temperature.dat", ndmin=2)[-1, 1])


def pair_distribution(work):
    """g(r) to half the box from every eighth frame; peaks from a local parabola."""
    frames = read_dump(work / "positions.dump")[::8]
    edges = np.arange(0, BOX / 2, 0.05)
    counts = np.zeros(len(edges) - 1)
    upper = np.triu_indices(ATOMS, 1)
    for frame in frames:
        apart = frame[upper[0]] - frame[upper[1]]
        apart -= BOX * np.round(apart / BOX)
        counts += np.histogram(np.sqrt((apart**2).sum(axis=1)), edges)[0]
    r = (edges[1:] + edges[:-1]) / 2
    ideal = ATOMS * (ATOMS - 1) / 2 / BOX**3 * 4 / 3 * np.pi * np.diff(edges**3)
    g = counts / len(frames) / ideal
    np.savetxt(work / "rdf.dat", np.column_stack([r, g]), fmt="%.4f", header="r (angstrom)  g")
    results = {}
    for name, low, high, width in (("1", 3.0, 4.8, 0.2), ("2", 6.0, 8.2, 0.6), ("3", 9.2, 11.6, 0.7)):
        window = (r > low) & (r < high)
        top = r[window][np.argmax(g[window])]
        near = np.abs(r - top) < width
        curve = np.polynomial.Polynomial.fit(r[near], g[near], 3)
        fine = np.linspace(top - width, top + width, 2001)
        best = int(np.argmax(curve(fine)))
        results[f"g_peak_{name}"] = {"value": round(float(fine[best]), 3), "unit": "angstrom"}
        if name == "1":
            results["g_peak_1_height"] = {"value": round(float(curve(fine)[best]), 3), "unit": ""}
    return results


def displacement(positions):
    """Mean square displacement over all time origins, in square angstrom, per lag."""
    positions = positions - positions.mean(axis=1, keepdims=True)
    lags = range(len(positions) // 3)
    return np.array([((positions[lag:] - positions[: len(positions) - lag]) ** 2).sum(-1).mean() for lag in lags])


def diffusion(work, wrapped, directions):
    """Diffusion coefficient (Einstein relation, 2 to 10 ps) and the velocity autocorrelation's minimum."""
    positions = read_dump(work / "positions.dump")
    if wrapped:
        positions = positions % BOX
    square = displacement(positions)
    lag = np.arange(len(square)) * FRAME_FS / 1000
    np.savetxt(work / "msd.dat", np.column_stack([lag, square]), fmt="%.4f", header="t (ps)  msd (angstrom^2)")
    fit = (lag >= 2) & (lag <= 10)
    slope = np.polyfit(lag[fit], square[fit], 1)[0]  # angstrom^2 / ps = 1e-4 cm^2 / s
    velocities = read_dump(work / "velocities.dump")
    steps = len(velocities) // 4
    vacf = np.array([(velocities[n:] * velocities[: len(velocities) - n]).sum(-1).mean() for n in range(steps)])
    vacf /= vacf[0]
    times = np.arange(steps) * VELOCITY_FS / 1000
    np.savetxt(work / "vacf.dat", np.column_stack([times, vacf]), fmt="%.4f", header="t (ps)  normalised vacf")
    return {
        "diffusion_coefficient": {"value": float(f"{slope / (2 * directions) * 1e-4:.4g}"), "unit": "cm**2/s"},
        "vacf_minimum": {"value": round(float(vacf.min()), 4), "unit": ""},
        "vacf_minimum_time": {"value": round(float(times[np.argmin(vacf)]), 3), "unit": "ps"},
    }


def main():
    """Runs one step, or all. The last three options change the state or the analysis, to see what depends on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, help="unused: the claim has no input files")
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--step", choices=["simulate", "structure", "diffusion", "collect", "all"], default="all")
    parser.add_argument("--seed", type=int, default=1964)
    parser.add_argument("--temperature", type=float, default=94.4, help="in kelvin")
    parser.add_argument("--wrapped", action="store_true", help="fold positions back into the box")
    parser.add_argument("--directions", type=int, default=3, help="dimensions in the Einstein relation")
    options = parser.parse_args()
    work = options.work
    work.mkdir(parents=True, exist_ok=True)
    if options.step in ("simulate", "all"):
        simulate(work, options.temperature, options.seed)
    if options.step in ("structure", "all"):
        (work / "structure.json").write_text(json.dumps(pair_distribution(work), indent=2))
    if options.step in ("diffusion", "all"):
        found = diffusion(work, options.wrapped, options.directions)
        (work / "diffusion.json").write_text(json.dumps(found, indent=2))
    if options.step in ("collect", "all"):
        results = {"temperature": {"value": round(mean_temperature(work), 2), "unit": "K"}}
        for name in ("structure", "diffusion"):
            results |= json.loads((work / f"{name}.json").read_text())
        options.out.write_text(json.dumps(results, indent=2) + "\n")
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
