"""Draws agent_view/figures/energy.png from the reference solution's energies."""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
VIEW = HERE.parent / "agent_view"

with tempfile.TemporaryDirectory() as scratch:
    arguments = ["--inputs", str(VIEW / "inputs"), "--work", scratch, "--out", str(Path(scratch) / "results.json")]
    subprocess.run([sys.executable, str(HERE / "solution.py"), *arguments], check=True)
    a, energy = np.loadtxt(Path(scratch) / "energies.dat", unpack=True)
curve = np.polynomial.Polynomial.fit((a**3 / 4) ** (-2 / 3), energy, 3)
grid = np.linspace(a[0], a[-1], 400)
smooth = curve((grid**3 / 4) ** (-2 / 3))
figure, axes = plt.subplots(figsize=(4.6, 3.0))
axes.plot(grid, (smooth - smooth.min()) * 13605.693 / 2, "k-", lw=1)
axes.plot(a, (energy - smooth.min()) * 13605.693 / 2, "o", mfc="white", mec="C3", ms=6)
axes.axvline(5.431, color="0.5", ls=":", lw=1)
axes.text(5.435, 45, "measured", color="0.4", fontsize=8)
axes.set(xlabel="lattice constant (Å)", ylabel="energy above the minimum (meV/atom)")
figure.tight_layout()
figure.savefig(VIEW / "figures" / "energy.png", dpi=150, metadata={"Software": None})
