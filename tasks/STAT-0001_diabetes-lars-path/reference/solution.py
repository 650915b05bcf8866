"""Reads entry order, steps and fit from released coefficient tables and redraws the figure of the lasso paths.

Options change one choice each. Writes {name: {"value": x, "unit": u}} and, beside it, `lasso_paths.svg` and
`lasso_paths.csv` (the drawn points).
"""

import argparse
import json
from pathlib import Path

import numpy as np

NAMES = ["age", "sex", "bmi", "map", "tc", "ldl", "hdl", "tch", "ltg", "glu"]
COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"]


def read_data(inputs, scaling):
    """Centred predictors (unit length unless `scaling` is raw) and centred response."""
    table = np.loadtxt(inputs / "diabetes.csv", delimiter=",", skiprows=1)
    x = table[:, :-1] - table[:, :-1].mean(axis=0)
    if scaling == "unit":
        x /= np.linalg.norm(x, axis=0)
    return x, table[:, -1] - table[:, -1].mean()


def paths(inputs, method, source, scaling):
    """Coefficients at the end of each step, step 0 first: one row a step, one column a predictor."""
    if source == "table":
        return np.loadtxt(inputs / f"{method}_path.csv", delimiter=",", skiprows=1)[:, 2:]
    from sklearn.linear_model import lars_path

    x, y = read_data(inputs, scaling)
    return lars_path(x, y, method={"lars": "lar", "lasso": "lasso"}[method])[2].T


def entry_ranks(path, rule):
    """Rank (1 enters first) of each predictor."""
    absent = path == 0
    if rule == "size":
        keys = -np.abs(path[-1])
    elif rule == "last":
        keys = np.array([np.flatnonzero(column)[-1] if column.any() else -1 for column in absent.T])
    else:
        keys = np.argmin(absent, axis=0)
    return np.argsort(np.argsort(keys, kind="stable"), kind="stable") + 1


def r_squared(x, y, beta, adjusted):
    share = np.sum((y - x @ beta) ** 2) / np.sum(y**2)
    return 1 - share * (len(y) - 1) / (len(y) - x.shape[1] - 1) if adjusted else 1 - share


def zero_again(path, norm, name):
    """Sum of |beta| where the coefficient of `name` first returns to zero; 0 if it never does."""
    column = path[:, NAMES.index(name)]
    again = [step for step in range(1, len(column)) if column[step] == 0 and column[step - 1] != 0]
    return norm[again[0]] if again else 0.0


def draw(path, norm, out):
    """The lasso paths against the sum of |beta| as SVG, and the points as CSV."""
    header = ",".join(["sum_abs_beta", *NAMES])
    np.savetxt(
        out / "lasso_paths.csv", np.column_stack([norm, path]), delimiter=",", fmt="%.4f", header=header, comments=""
    )
    low, high = 1.05 * path.min(), 1.05 * path.max()

    def place(horizontal, vertical):
        return f"{60 + 520 * horizontal / norm[-1]:.1f},{20 + 360 * (high - vertical) / (high - low):.1f}"

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="680" height="430" font-family="sans-serif" font-size="11">'
    ]
    parts.append('<rect width="680" height="430" fill="white"/>')
    parts.append(f'<polyline points="{place(0, 0)} {place(norm[-1], 0)}" fill="none" stroke="#999"/>')
    for value in range(0, int(norm[-1]) + 1, 500):
        left, top = place(value, low).split(",")
        parts.append(f'<text x="{left}" y="{float(top) + 16:.1f}" text-anchor="middle">{value}</text>')
    for value in range(-800, 801, 200):
        if low < value < high:
            left, top = place(0, value).split(",")
            parts.append(f'<text x="{float(left) - 6:.1f}" y="{float(top) + 4:.1f}" text-anchor="end">{value}</text>')
    for number, name in enumerate(NAMES):
        points = " ".join(place(n, b) for n, b in zip(norm, path[:, number], strict=True))
        left, top = place(norm[-1], path[-1, number]).split(",")
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[number]}" stroke-width="1.5"/>')
        text = f'<text x="{float(left) + 6:.1f}" y="{float(top) + 4:.1f}" fill="{COLOURS[number]}">'
        parts.append(f"{text}{number + 1} {name}</text>")
    parts.append('<text x="320" y="418" text-anchor="middle">sum of absolute coefficients</text>')
    parts.append('<text x="16" y="200" text-anchor="middle" transform="rotate(-90 16 200)">coefficient</text></svg>')
    (out / "lasso_paths.svg").write_text("\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, default=Path("inputs"))
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--entry", choices=["first", "last", "size"], default="first")
    parser.add_argument(
        "--steps", choices=["all", "entries"], default="all", help="entries: count only variables that enter"
    )
    parser.add_argument("--source", choices=["table", "data"], default="table", help="data: compute the paths again")
    parser.add_argument("--scaling", choices=["unit", "raw"], default="unit")
    parser.add_argument("--adjusted", action="store_true", help="report the adjusted R squared")
    options = parser.parse_args()

    lars = paths(options.inputs, "lars", options.source, options.scaling)
    lasso = paths(options.inputs, "lasso", options.source, options.scaling)
    norm = np.abs(lasso).sum(axis=1)
    x, y = read_data(options.inputs, options.scaling)
    results = {
        f"rank_{name}": {"value": int(rank), "unit": ""}
        for name, rank in zip(NAMES, entry_ranks(lasso, options.entry), strict=True)
    }
    results |= {
        "lars_steps": {"value": len(lars) - 1, "unit": ""},
        "lasso_steps": {
            "value": len(lasso) - 1 if options.steps == "all" else int(np.sum(lasso.any(axis=0))),
            "unit": "",
        },
        "r_squared": {"value": float(r_squared(x, y, lasso[-1], options.adjusted)), "unit": ""},
        "norm_at_end": {"value": float(norm[-1]), "unit": ""},
        "norm_where_hdl_returns_to_zero": {"value": float(zero_again(lasso, norm, "hdl")), "unit": ""},
        "tc_at_end": {"value": float(lasso[-1, NAMES.index("tc")]), "unit": ""},
    }
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    draw(lasso, norm, options.out.resolve().parent)
    print("\n".join(f"{name} = {entry['value']:.6g}" for name, entry in results.items()))


if __name__ == "__main__":
    main()
