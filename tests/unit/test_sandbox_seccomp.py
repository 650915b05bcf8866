"""The filter of system calls, run by an interpreter of its own kind of program."""

import platform
import struct
from pathlib import Path

import pytest

from matproof.sandbox.seccomp import build_filter, denied_calls, mode_calls

ALLOW, EPERM, ENOSYS = 0x7FFF_0000, 0x0005_0001, 0x0005_0026
ARCHITECTURE = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
MACHINES = sorted(ARCHITECTURE)


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would do with a call."""
    shown = struct.pack("=IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    lines = [struct.unpack("=HBBI", program[place : place + 8]) for place in range(0, len(program), 8)]
    place = held = 0
    while True:
        code, yes, no, value = lines[place]
        place += 1
        match code:
            case 0x20:
                held = struct.unpack_from("=I", shown, value)[0]
            case 0x15:
                place += yes if held == value else no
            case 0x35:
                place += yes if held >= value else no
            case 0x45:
                place += yes if held & value else no
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(code)


@pytest.mark.parametrize("machine", MACHINES)
def test_exactly_the_listed_calls_are_denied(machine: str) -> None:
    program = build_filter(machine)
    assert program is not None
    denied = {number for number in range(500) if verdict(program, ARCHITECTURE[machine], number) == EPERM}
    assert denied == set(denied_calls(machine).values())
    assert verdict(program, ARCHITECTURE[machine], 437) == ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_a_mode_with_the_set_user_id_bit_is_denied(machine: str) -> None:
    program = build_filter(machine)
    assert program is not None
    for call in mode_calls(machine):
        arguments = [0] * 6
        if call.flags is not None:
            arguments[call.flags] = 0o101
        for mode, expected in ((0o755, ALLOW), (0o4755, EPERM), (0o2755, ALLOW), (0o104000, EPERM)):
            arguments[call.mode] = mode
            assert verdict(program, ARCHITECTURE[machine], call.number, *arguments) == expected, call


def test_opening_without_creating_ignores_what_stands_for_the_mode() -> None:
    program = build_filter("x86_64")
    assert program is not None
    assert verdict(program, ARCHITECTURE["x86_64"], 257, 0, 0, 0, 0o4755) == ALLOW
    assert verdict(program, ARCHITECTURE["x86_64"], 257, 0, 0, 0o20200002, 0o4755) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_are_denied(machine: str) -> None:
    program = build_filter(machine)
    assert program is not None
    assert verdict(program, 0x4000_0003, 1) == EPERM


def test_calls_of_the_x32_kind_are_denied() -> None:
    program = build_filter("x86_64")
    assert program is not None
    assert verdict(program, ARCHITECTURE["x86_64"], 0x4000_0001) == EPERM


def test_an_unknown_machine_has_no_filter() -> None:
    assert build_filter("riscv64") is None
    assert denied_calls("riscv64") == {}


def test_the_numbers_are_those_of_the_kernels_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if platform.machine() != "x86_64" or not header.exists():
        pytest.skip("no kernel headers of x86_64 here")
    known = dict(line.split()[1:3] for line in header.read_text().splitlines() if line.startswith("#define __NR_"))
    wrong = {
        name: number for name, number in denied_calls("x86_64").items() if known.get(f"__NR_{name}") != str(number)
    }
    assert wrong == {}
