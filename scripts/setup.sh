#!/bin/sh
# Everything that `make demo` or `make test` needs, from nothing; does nothing where nothing changed.
# usage: scripts/setup.sh demo|test
set -eu
cd "$(dirname "$0")/.."
kind=$1
case $kind in
    demo) lock=requirements/demo.lock ;;
    test) lock=requirements/dev.lock ;;
    *) echo "usage: scripts/setup.sh demo|test" >&2; exit 2 ;;
esac

# System packages: the sandbox needs the first two; sample claims are skipped by name without the others.
missing='' optional=''
command -v bwrap >/dev/null || missing="$missing bubblewrap"
command -v socat >/dev/null || missing="$missing socat"
command -v prlimit >/dev/null || missing="$missing util-linux"
command -v pw.x >/dev/null || optional="$optional quantum-espresso"
command -v lmp >/dev/null || optional="$optional lammps"
if [ -n "$missing$optional" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing system packages:$missing$optional"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing $optional; } >/tmp/matproof-apt.$$ 2>&1 ||
            { cat /tmp/matproof-apt.$$ >&2; rm -f /tmp/matproof-apt.$$; exit 1; }
        rm -f /tmp/matproof-apt.$$
    elif [ -n "$missing" ]; then
        echo "please run first: sudo apt-get install --no-install-recommends$missing$optional" >&2
        exit 1
    else
        echo "optional, for the claims that need them: sudo apt-get install --no-install-recommends$optional"
    fi
fi

# Python packages: exact versions with hashes.
stamp=.venv/installed-$kind-$(cat "$lock" pyproject.toml | sha256sum | cut -c1-16)
[ -e "$stamp" ] && exit 0
python=''
for candidate in python3.13 python3.12 python3.11 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        # The program itself, not a link to it from a place that the sandbox does not show.
        python=$("$candidate" -c 'import os, sys; print(os.path.realpath(sys.executable))')
        break
    fi
done
if [ -z "$python" ]; then
    echo "please install Python 3.11 or newer with venv: sudo apt-get install python3 python3-venv" >&2
    exit 1
fi
if [ ! -x .venv/bin/python ]; then
    echo "creating .venv with $("$python" --version)"
    "$python" -m venv .venv
fi
echo "installing $(grep -c == "$lock") Python packages from $lock (half a minute to some minutes the first time)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r "$lock"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation --editable .
rm -f .venv/installed-"$kind"-*
touch "$stamp"
