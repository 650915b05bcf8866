"""Makes the released inputs (data table, two coefficient tables) and Figure 1. Needs scikit-learn and matplotlib.

python reference/make_inputs.py
"""

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path

VIEW = Path(__file__).resolve().parent.parent / "agent_view"
NAMES = ["age", "sex", "bmi", "map", "tc", "ldl", "hdl", "tch", "ltg", "glu"]


def write(name, head, rows):
    with (VIEW / "inputs" / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def draw(coefficients):
    norm = np.abs(coefficients).sum(axis=0)
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for number, (name, path) in enumerate(zip(NAMES, coefficients, strict=True), start=1):
        (line,) = axes.plot(norm, path, linewidth=1.3, color=plt.get_cmap("tab10")(number - 1))
        shift = {3: 4, 6: -4, 8: 4, 7: 2, 10: -4, 1: -6}.get(number, 0)
        axes.annotate(f"{number} {name}", (norm[-1], path[-1]), xytext=(4, shift), textcoords="offset points",
                      va="center", fontsize=7.5, color=line.get_color())  # fmt: skip
    for value in norm:
        axes.axvline(value, color="0.85", linewidth=0.6, zorder=0)
    axes.axhline(0, color="0.5", linewidth=0.6, zorder=0)
    axes.set_xlim(0, norm[-1] * 1.1)
    axes.set_xlabel(r"$\sum_j |\hat\beta_j|$")
    axes.set_ylabel(r"coefficient $\hat\beta_j$")
    figure.savefig(VIEW / "figures" / "lasso_paths.png", dpi=150, metadata={"Software": None})


def main():
    data = load_diabetes(scaled=False)
    write("diabetes.csv", [*NAMES, "progression"],
          [[*(f"{v:g}" for v in row), f"{y:g}"] for row, y in zip(data.data, data.target, strict=True)])  # fmt: skip
    x = data.data - data.data.mean(axis=0)
    x /= np.sqrt((x**2).sum(axis=0))
    for method in ("lar", "lasso"):
        alphas, _, coefficients = lars_path(x, data.target - data.target.mean(), method=method)
        rows = [[step, f"{alpha * len(x):.4f}", *(f"{value:.4f}" if value else "0" for value in column)]
                for step, (alpha, column) in enumerate(zip(alphas, coefficients.T, strict=True))]  # fmt: skip
        name = {"lar": "lars", "lasso": "lasso"}[method]
        write(f"{name}_path.csv", ["step", "max_correlation", *(f"beta_{j}" for j in range(1, 11))], rows)
    draw(coefficients)


if __name__ == "__main__":
    main()
