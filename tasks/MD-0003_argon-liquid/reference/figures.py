"""Draws agent_view/figures/rdf.png and motion.png from the reference solution's data."""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent / "agent_view" / "figures"

with tempfile.TemporaryDirectory() as name:
    work = Path(name)
    subprocess.run(
        [sys.executable, str(HERE / "solution.py"), "--work", name, "--out", str(work / "results.json")], check=True
    )
    r, g = np.loadtxt(work / "rdf.dat", unpack=True)
    t, square = np.loadtxt(work / "msd.dat", unpack=True)
    lag, vacf = np.loadtxt(work / "vacf.dat", unpack=True)

figure, axes = plt.subplots(figsize=(5.0, 2.9))
axes.plot(r, g, "k-", lw=1.1)
axes.axhline(1, color="0.6", lw=0.6, ls=":")
axes.set(xlabel="r (Å)", ylabel="g(r)", xlim=(2, 17), ylim=(0, 3.1))
figure.tight_layout()
figure.savefig(FIGURES / "rdf.png", dpi=150, metadata={"Software": None})

figure, (left, right) = plt.subplots(1, 2, figsize=(6.6, 2.7))
left.plot(t, square, "k-", lw=1.1)
left.set(xlabel="t (ps)", ylabel="mean square displacement (Å²)", xlim=(0, 10), ylim=(0, None))
right.plot(lag, vacf, "k-", lw=1.1)
right.axhline(0, color="0.6", lw=0.6, ls=":")
right.set(xlabel="t (ps)", ylabel="normalised velocity autocorrelation", xlim=(0, 2))
right.yaxis.label.set_size(8)
figure.tight_layout()
figure.savefig(FIGURES / "motion.png", dpi=150, metadata={"Software": None})
