"""Draws Figure 1 of the note. Needs matplotlib.

python reference/make_figure.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from solution import BURGERS, HEIGHT, MU, NU, pair_stress

VIEW = Path(__file__).resolve().parent.parent / "agent_view"


def main():
    a = MU * BURGERS / (2 * np.pi * (1 - NU))
    u = np.linspace(-4, 4, 801)
    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    for sign, colour, label in ((-1, "tab:red", "opposite signs"), (1, "tab:blue", "equal signs")):
        axes.plot(u * HEIGHT, pair_stress(u, sign, "edge") * a / HEIGHT, color=colour, label=label)
    for level in (-1, 1):
        axes.axhline(level * a / (4 * HEIGHT), color="0.4", linestyle=":", linewidth=0.8)
    axes.axhline(0, color="0.4", linewidth=0.6)
    axes.plot([-HEIGHT, HEIGHT], [0, 0], "o", color="tab:red", markersize=6)
    axes.plot([0], [0], "o", color="tab:blue", markersize=6)
    axes.plot([-HEIGHT, HEIGHT], [0, 0], "o", markersize=11, markerfacecolor="none", color="tab:blue")
    axes.plot([0], [0], "o", markersize=11, markerfacecolor="none", color="tab:red")
    axes.set_xlabel("distance along the slip plane, x (nm)")
    axes.set_ylabel("shear stress (MPa)")
    axes.set_xlim(-80, 80)
    axes.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.savefig(VIEW / "figures" / "pair_stress.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
