"""What the tests of generate, judge and attack share: a handful of real battery problems, and scripts that answer."""

import csv
from pathlib import Path

import click
from click.testing import CliRunner, Result

from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS, ROW_COLUMNS, SOLUTION_COLUMNS

Row = dict[str, str]

PROBLEMS: tuple[tuple[str, ...], ...] = (
    (
        "si-anode",
        "Silicon anodes in lithium-ion cells lose capacity within tens of cycles because particles expand by about 300 "
        "percent on full lithiation, fracture, and expose fresh surface to the electrolyte in every cycle.",
        "Repeated volume change breaks particles and the passivating film on them.",
        "Silicon lithium-ion",
        "anode particle",
        "particle fracture and continuous growth of the solid electrolyte interphase",
        "Degradation",
        "mechanical degradation of anode particles",
    ),
    (
        "lnmo",
        "High-voltage spinel cathodes oxidise carbonate electrolytes above 4.5 V, and manganese "
        "that dissolves from them "
        "migrates to graphite, where it poisons the passivating film and consumes lithium.",
        "Electrolyte oxidation and manganese dissolution at high potential.",
        "LNMO / graphite lithium-ion",
        "cathode electrolyte interface",
        "manganese dissolution and electrolyte oxidation",
        "Interfacial instability",
        "interfacial instability of high-voltage cathodes",
    ),
    (
        "li-metal",
        "Lithium metal anodes plate unevenly at current densities above 1 mA/cm2, so that dendrites grow through the "
        "separator, short the cell and leave electrically isolated lithium behind after stripping.",
        "Uneven lithium flux lets dendrites grow.",
        "Lithium metal",
        "anode interface and separator",
        "dendrite growth and dead lithium",
        "Safety",
        "safety hazards from lithium plating",
    ),
    (
        "ncm811",
        "Nickel-rich layered cathodes crack along grain boundaries when the c axis collapses near 4.2 V, which lets "
        "electrolyte into secondary particles and turns their surfaces into rocksalt.",
        "Anisotropic lattice collapse opens grain boundaries.",
        "NMC811 lithium-ion",
        "cathode grain boundary",
        "intergranular cracking and surface reconstruction",
        "Degradation",
        "mechanical degradation of layered cathodes",
    ),
    (
        "llzo",
        "Garnet solid electrolytes form carbonate layers in air, so that lithium wets them badly, contact is lost on "
        "stripping and the interfacial resistance exceeds hundreds of ohm square centimetres.",
        "A carbonate layer keeps lithium from wetting the garnet.",
        "Solid-state garnet",
        "electrolyte interface",
        "poor wetting and high interfacial resistance",
        "Transport limitation",
        "interfacial transport limitation in solid cells",
    ),
    (
        "lfp-cold",
        "Lithium iron phosphate cells deliver less than half of their capacity at minus 20 degrees "
        "Celsius since charge "
        "transfer and diffusion in the graphite and the phosphate slow down together.",
        "Charge transfer and solid diffusion are too slow in the cold.",
        "LFP / graphite",
        "electrode and electrolyte",
        "sluggish charge transfer at low temperature",
        "Transport limitation",
        "low-temperature transport limitation",
    ),
)
SOLUTIONS: tuple[tuple[str, ...], ...] = (
    (
        "Embedding 5 nm silicon domains in a porous carbon scaffold keeps strain below the fracture "
        "limit, thereby holding "
        "the solid electrolyte interphase on the outer carbon shell and leading to 80 % capacity retention after 500 "
        "cycles.",
        "Chemical vapour infiltration of silane into mesoporous carbon with 40 % free volume and a 10 nm carbon shell.",
        "Domains below the critical size of about 150 nm deform plastically instead of cracking. The void takes up the "
        "volume expansion inside the scaffold, so the outer surface hardly moves and the film on it is formed once. "
        "Electron paths stay closed through the carbon, and impedance spectroscopy shows a constant charge transfer "
        "resistance; operando TEM and XRD follow the lithiation of the domains.",
        "capacity retention",
        "80 % after 500 cycles at 1 mA/cm2",
    ),
    (
        "A 2 nm lithium niobate film on the spinel blocks hole transfer to carbonates while passing lithium, thereby "
        "halving manganese dissolution and resulting in 90 % retention after 300 cycles at 55 °C.",
        "Atomic layer deposition of LiNbO3 on LNMO powder, annealed at 450 °C for 2 h.",
        "The film is an electronic insulator with an ionic conductivity of 1e-6 S/cm, so its ohmic "
        "drop at C/2 is below "
        "1 mV, but its band offset of 1.8 eV stops oxidation of the solvent. Without acidic "
        "products of that oxidation, "
        "the Jahn-Teller active Mn3+ at the surface is not leached; XPS and ICP on graphite show "
        "the missing manganese, "
        "and cyclic voltammetry the unchanged redox couples.",
        "cycle life",
        "90 % after 300 cycles at 55 °C",
    ),
    (
        "A host of copper nanowires with lithiophilic zinc tips lowers the nucleation overpotential "
        "to 10 mV and spreads "
        "the current, which enables dense plating at 3 mA/cm2 by reducing the local current density.",
        "Electrodeposition of 200 nm copper nanowires on foil, tipped with 20 nm zinc by sputtering.",
        "Zinc alloys with lithium before bulk metal is deposited, so nuclei form at the tips at a "
        "low overpotential. The "
        "area of the wires divides the local current by thirty, and Sand's time grows with its inverse square, beyond "
        "the length of one charge. Symmetric cells, SEM of the section and titration of isolated lithium tell whether "
        "the dendrite mode is gone.",
        "Coulombic efficiency",
        "99.2 % over 400 cycles at 3 mA/cm2",
    ),
    (
        "Infusing 1 % of lithium phosphate into the grain boundary network of secondary particles "
        "binds grains and keeps "
        "electrolyte out, thereby reducing intergranular cracking and leading to 88 % retention after 200 cycles.",
        "Coating NMC811 with ammonium phosphate and annealing at 600 °C so that lithium phosphate wets the boundaries.",
        "The phosphate melts along boundaries and takes up residual lithium there. It raises the "
        "cohesive energy of the "
        "boundary above the elastic energy that the collapse of the c axis releases, so cracks do not open; where none "
        "opens, no surface turns to rocksalt. Cross sections in SEM, XRD of the lattice parameter "
        "and EIS at 4.3 V test "
        "each step of this.",
        "capacity retention",
        "88 % after 200 cycles to 4.4 V",
    ),
    (
        "A 30 s acid dip followed by a 15 nm tin oxide film turns the garnet surface lithiophilic, resulting in an "
        "interfacial resistance below 10 ohm cm2 and stable stripping at 1 mA/cm2.",
        "Dip in 1 mol/L HCl in ethanol for 30 s, then atomic layer deposition of 15 nm SnO2.",
        "The acid removes the carbonate without attacking the garnet for longer than a minute. Tin oxide is reduced by "
        "lithium to an alloy of high lithium diffusivity, about 1e-8 cm2/s, which refills voids as fast as stripping "
        "makes them at that current. XPS shows the carbonate gone, EIS the resistance and neutron diffraction the bulk "
        "untouched.",
        "interfacial resistance",
        "8 ohm cm2 at 25 °C and 1 mA/cm2",
    ),
    (
        "Replacing ethylene carbonate by a weakly solvating ether with 1 mol LiFSI lowers the "
        "desolvation barrier to 35 "
        "kJ/mol, thereby improving charge transfer so that 75 % of the capacity is kept at -20 °C.",
        "Electrolyte of 1 mol/L LiFSI in cyclopentyl methyl ether with 2 % vinylene carbonate.",
        "Desolvation, not diffusion, limits graphite in the cold: its activation energy of 60 "
        "kJ/mol in carbonates makes "
        "the exchange current density fall thirtyfold by -20 °C. A weakly coordinating ether leaves "
        "anions in the first "
        "shell, which decompose to a thin inorganic film. EIS between 20 °C and -40 °C separates both barriers; Raman "
        "gives the coordination.",
        "capacity at low temperature",
        "75 % at -20 °C and C/5",
    ),
)


def rows(system: str = "Reference") -> list[Row]:
    """Six rows with their literature-like solutions."""
    found = []
    for problem, solution in zip(PROBLEMS, SOLUTIONS, strict=True):
        hypothesis, intervention, mechanism, target, outcome = solution
        sentences = [part.strip() for part in mechanism.replace(";", ".").split(". ") if part.strip()]
        reasoning = "\n".join(
            f"[Begin Step {number}] {problem[5]}: {sentence}. {outcome} [End Step {number}]"
            for number, sentence in enumerate([*sentences, hypothesis], start=1)
        )
        cells = (
            hypothesis,
            intervention,
            mechanism,
            target,
            outcome,
            reasoning,
            "strong",
            "interface",
            "battery",
            "2021",
        )
        found.append(
            dict(zip(PROBLEM_COLUMNS, problem, strict=True))
            | dict(zip(SOLUTION_COLUMNS, cells, strict=True))
            | {"system": system}
        )
    return found


def write_csv(path: Path, table: list[Row]) -> Path:
    """A rows file of `table`."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [name for name in ROW_COLUMNS if name in table[0]], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    return path


def tagged(hypothesis: str) -> str:
    """A reply of the form that is asked for."""
    return (
        f"[HYPOTHESIS]\n{hypothesis}\n[INTERVENTION]\ncoat the particles with 2 nm alumina at 150 C\n[MECHANISM]\n"
        "the coat keeps electrolyte away\n[REASONING]\n[Begin Step 1]\nlook\n[End Step 1]\n[TARGET_PROPERTY]\n"
        "cycle life\n[CLAIMED_OUTCOME]\n80 % after 500 cycles\n"
    )


def script(path: Path, sessions: dict[str, list[dict[str, object]]]) -> Path:
    """A script of those sessions."""
    import yaml

    path.write_text(yaml.safe_dump({"version": 1, "sessions": sessions}, allow_unicode=True))
    return path


def run_command(command: click.Command, *arguments: object) -> Result:
    """A command in this process, its errors raised."""
    result = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
