"""Draws Figure 1 of the note: one site-saturated box. Needs matplotlib.

python reference/make_figure.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from solution import FRACTIONS, curve, transformation_times

VIEW = Path(__file__).resolve().parent.parent / "agent_view"


def main():
    times = transformation_times(np.random.default_rng(0), 3, "saturated", 1.0)
    reached, transformed = curve(times), -np.log1p(-FRACTIONS)
    slope, intercept = np.polyfit(np.log(reached), np.log(transformed), 1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.0, 3.0), layout="constrained")
    left.plot(times, (np.arange(len(times)) + 0.5) / len(times), color="black", linewidth=1.4)
    left.set_xlabel("time t")
    left.set_ylabel("transformed fraction X")
    left.set_xlim(0, times[-1])
    left.set_ylim(0, 1)
    right.loglog(reached, transformed, linestyle="", marker="o", markersize=3, color="black")
    right.loglog(reached, np.exp(intercept) * reached**slope, color="tab:red", linewidth=1, label=f"slope {slope:.2f}")
    right.set_xticks([0.02, 0.03, 0.05, 0.08], ["0.02", "0.03", "0.05", "0.08"])
    right.minorticks_off()
    right.set_xlabel("time t")
    right.set_ylabel("−ln(1 − X)")
    right.legend(frameon=False)
    figure.savefig(VIEW / "figures" / "avrami_plot.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
