"""Draws agent_view/figures/bands.png from the supplied output."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from solution import along_x, at, read_bands

VIEW = Path(__file__).resolve().parent.parent / "agent_view"

points, bands = read_bands(VIEW / "inputs" / "si.bands.out")
distance = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
bands -= bands[:, 3].max()
line, _ = along_x(points)
minimum = line[np.argmin(bands[line, 4])]
gamma = at(points, np.zeros(3))
figure, axes = plt.subplots(figsize=(4.4, 3.6))
axes.plot(distance, bands[:, :4], "C0", lw=1)
axes.plot(distance, bands[:, 4:], "C3", lw=1)
axes.plot(distance[[gamma, minimum]], [0, bands[minimum, 4]], "ko", ms=4)
ticks = [0, distance[gamma], distance[-1]]
axes.vlines(ticks[1:2], -13, 6, color="0.6", lw=0.6)
axes.axhline(0, color="0.6", lw=0.6, ls=":")
axes.set_xticks(ticks, ["L", "Γ", "X"])
axes.set(xlim=(0, ticks[-1]), ylim=(-13, 6), ylabel="energy above the valence-band maximum (eV)")
figure.tight_layout()
figure.savefig(VIEW / "figures" / "bands.png", dpi=150, metadata={"Software": None})
