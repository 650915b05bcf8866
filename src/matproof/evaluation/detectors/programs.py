"""How simulation programs announce themselves in their output, and the words by which a command or script runs them."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """One program."""

    name: str
    banner: re.Pattern[str]
    """Its first words with a version, as only the program itself, or an imitation, writes them."""
    words: tuple[str, ...]
    """Any of these in a command or script, in small letters, may have run it."""


PROGRAMS = (
    Program(
        "Quantum ESPRESSO",
        re.compile(
            r"^ {0,20}Program (?:PWSCF|BANDS|DOS|PHONON|LD1|PROJWFC|POST-PROC|NEB|CP|HP|PWCOND|WANNIER) v\.\d",
            re.MULTILINE,
        ),
        (
            "pw.x",
            "bands.x",
            "dos.x",
            "ph.x",
            "ld1.x",
            "projwfc.x",
            "pp.x",
            "neb.x",
            "cp.x",
            "hp.x",
            "espresso",
            "pwscf",
        ),
    ),
    Program("LAMMPS", re.compile(r"^LAMMPS \(\d{1,2} [A-Z][a-z]{2} \d{4}", re.MULTILINE), ("lmp", "lammps")),
    Program("VASP", re.compile(r"^ {0,4}vasp\.[4-6]\.\d", re.MULTILINE), ("vasp",)),
    Program("GROMACS", re.compile(r":-\) GROMACS - gmx|^GROMACS version:", re.MULTILINE), ("gmx", "gromacs", "mdrun")),
    Program("CP2K", re.compile(r"CP2K\| version string:"), ("cp2k",)),
    Program("SIESTA", re.compile(r"^Siesta Version ?:", re.MULTILINE), ("siesta",)),
    Program("ABINIT", re.compile(r"^\.Version {1,9}\d+\.\d+\.\d+ {1,9}of ABINIT", re.MULTILINE), ("abinit",)),
    Program("Gaussian", re.compile(r"Entering Gaussian System, Link 0"), ("g16", "g09", "gaussian")),
    Program("ParaDiS", re.compile(r"^ {0,9}ParaDiS (?:[Vv]ersion|v\d)", re.MULTILINE), ("paradis",)),
    Program("OpenMM", re.compile(r"^OpenMM Version: ?\d", re.MULTILINE), ("openmm",)),
)
