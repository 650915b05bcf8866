"""Properties of an embedded-atom potential of copper: repairs the supplied LAMMPS decks, runs and collects them."""

import argparse
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

DECKS = ("lattice", "elastic", "vacancy", "fault")
UNITS = {"angstrom": "angstrom", "eV": "eV", "GPa": "GPa", "mJ/m^2": "mJ/m**2"}
RESULT = re.compile(r"^RESULT (\w+) (\S+) (\S+)$", re.M)


def repair(inputs, work, potential, as_supplied):
    """Copies the decks; points them at the installed potential and puts the elastic deck at its lattice constant."""
    for path in inputs.iterdir():
        shutil.copyfile(path, work / path.name)
    text = (work / "potential.mod").read_text()
    (work / "potential.mod").write_text(re.sub(r"\S+Cu_mishin1\.eam\.alloy", str(potential), text))
    if not as_supplied:
        deck = (work / "in.elastic").read_text()
        (work / "in.elastic").write_text(deck.replace("variable a equal 3.597", "variable a equal 3.615"))


def run_deck(work, name):
    """Runs one deck serially."""
    quiet = {
        "OMP_NUM_THREADS": "1",
        "OMPI_MCA_plm_rsh_agent": "",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    command = ["lmp", "-in", f"in.{name}", "-log", f"log.{name}", "-screen", "none"]
    done = subprocess.run(command, cwd=work, env={**os.environ, **quiet}, capture_output=True, text=True)
    log = work / f"log.{name}"
    if done.returncode != 0:
        raise SystemExit(f"in.{name} failed: {log.read_text()[-600:] if log.exists() else done.stderr[-600:]}")
    for quantity, value, unit in RESULT.findall(log.read_text()):
        print(quantity, value, unit)


def collect(work):
    """The RESULT lines of all logs."""
    results = {}
    for name in DECKS:
        found = RESULT.findall((work / f"log.{name}").read_text())
        if not found:
            raise SystemExit(f"log.{name} holds no result")
        results |= {quantity: {"value": float(value), "unit": UNITS[unit]} for quantity, value, unit in found}
    return results


def main():
    """Runs one step, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--step", choices=["repair", *DECKS, "collect", "all"], default="all")
    parser.add_argument("--potentials", type=Path, default=Path("/usr/share/lammps/potentials"))
    parser.add_argument("--potential", default="Cu_mishin1.eam.alloy")
    parser.add_argument(
        "--as-supplied", action="store_true", help="leave the lattice constant of in.elastic as it came"
    )
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.step in ("repair", "all"):
        repair(options.inputs, options.work, options.potentials / options.potential, options.as_supplied)
    for name in DECKS:
        if options.step in (name, "all"):
            run_deck(options.work, name)
    if options.step in ("collect", "all"):
        results = collect(options.work)
        options.out.write_text(json.dumps(results, indent=2) + "\n")
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
