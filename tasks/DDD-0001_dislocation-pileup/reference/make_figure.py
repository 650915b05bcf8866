"""Draws Figure 1 of the note. Needs matplotlib.

python reference/make_figure.py
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from solution import coupling, relax

CLAIM = Path(__file__).resolve().parent.parent


def main():
    parameters = json.loads((CLAIM / "agent_view/inputs/aluminium.json").read_text())
    tau, number = parameters["applied_stress_MPa"], parameters["dislocations"]
    a = coupling(parameters, "edge")
    x = np.append(0.0, relax(number - 1, a, tau)) / 1000
    figure, (row, curve) = plt.subplots(
        2, 1, figsize=(6.2, 4.0), sharex=True, height_ratios=[1, 3], layout="constrained"
    )
    row.plot(x[1:], np.zeros(number - 1), linestyle="", marker="$\\perp$", markersize=9, color="black")
    row.plot(x[:1], [0], linestyle="", marker="$\\perp$", markersize=12, color="tab:red")
    row.annotate("locked", (0, 0), xytext=(0, 14), textcoords="offset points", ha="center", color="tab:red", fontsize=8)
    row.annotate("applied shear stress pushes this way", (7.2, 0.55), xytext=(12.9, 0.55), ha="right", va="center",
                 fontsize=8, arrowprops={"arrowstyle": "->"})  # fmt: skip
    row.set_ylim(-0.7, 1)
    row.axis("off")
    curve.plot(x, np.arange(number), marker="o", markersize=3.5, linewidth=0.7, color="black")
    curve.set_xlabel("distance from the lock, x (µm)")
    curve.set_ylabel("dislocations passed")
    curve.set_xlim(-0.4, 13.6)
    figure.savefig(CLAIM / "agent_view/figures/pileup.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
