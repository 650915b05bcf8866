#!/bin/sh
# Everything that `make demo`, `make demo-slurm` or `make test` needs, from nothing; does nothing where nothing changed.
# usage: scripts/setup.sh demo|demo-slurm|test
set -eu
cd "$(dirname "$0")/.."
kind=$1
case $kind in
    demo | demo-slurm) lock=requirements/demo.lock ;;
    test) lock=requirements/dev.lock ;;
    *) echo "usage: scripts/setup.sh demo|demo-slurm|test" >&2; exit 2 ;;
esac

# System packages: the sandbox needs the first two; sample claims are skipped by name without the others.
missing='' optional=''
command -v bwrap >/dev/null || missing="$missing bubblewrap"
command -v socat >/dev/null || missing="$missing socat"
command -v prlimit >/dev/null || missing="$missing util-linux"
command -v pw.x >/dev/null || optional="$optional quantum-espresso"
command -v lmp >/dev/null || optional="$optional lammps"
# A real Slurm: the demo on a cluster is one, and tests are skipped by name without it; accounting is for tests only, as are
# the browser that opens the report and npm, which brings the codex client.
PATH="$PATH:/usr/sbin:/sbin"
slurm=''
command -v slurmctld >/dev/null || slurm="$slurm slurmctld"
command -v slurmd >/dev/null || slurm="$slurm slurmd"
command -v sbatch >/dev/null || slurm="$slurm slurm-client"
command -v munged >/dev/null || slurm="$slurm munge"
case $kind in
    demo-slurm) missing="$missing$slurm" ;;
    test)
        optional="$optional$slurm"
        command -v slurmdbd >/dev/null || optional="$optional slurmdbd"
        command -v mariadbd >/dev/null || optional="$optional mariadb-server"
        command -v chromium >/dev/null || command -v chromium-browser >/dev/null || optional="$optional chromium"
        command -v npm >/dev/null || optional="$optional npm"
        command -v strace >/dev/null || optional="$optional strace"
        ;;
esac
if [ -n "$missing$optional" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing system packages:$missing$optional"
        export DEBIAN_FRONTEND=noninteractive
        # Nothing that comes along (munge, MariaDB) is started: the tests start their own.
        policy=/usr/sbin/policy-rc.d
        if [ ! -e "$policy" ]; then
            printf '#!/bin/sh\nexit 101\n' >"$policy"
            chmod 755 "$policy"
            trap 'rm -f "$policy"' EXIT
        fi
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing $optional; } >/tmp/matproof-apt.$$ 2>&1 ||
            { cat /tmp/matproof-apt.$$ >&2; rm -f /tmp/matproof-apt.$$; exit 1; }
        rm -f /tmp/matproof-apt.$$
    elif [ -n "$missing" ]; then
        echo "please run first: sudo apt-get install --no-install-recommends$missing$optional" >&2
        exit 1
    else
        echo "optional, for the claims and tests that need them: sudo apt-get install --no-install-recommends$optional"
    fi
fi

# Docling has a place of its own; without it its tests are skipped by name.
if [ "$kind" = test ]; then
    scripts/docling.sh || echo "tests of Docling will be skipped"
fi

# The client of the codex agent: its tests are skipped by name without it.
if [ "$kind" = test ] && command -v npm >/dev/null; then
    scripts/agents.sh
fi

# Python packages: exact versions with hashes.
stamp=.venv/installed-${kind%-slurm}-$(cat "$lock" pyproject.toml | sha256sum | cut -c1-16)
[ -e "$stamp" ] && exit 0
if [ ! -x .venv/bin/python ]; then
    python=$(scripts/find-python.sh python3.13 python3.12 python3.11)
    echo "creating .venv with $("$python" --version)"
    "$python" -m venv .venv
fi
echo "installing $(grep -c == "$lock") Python packages from $lock (half a minute to some minutes the first time)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r "$lock"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation --editable .
rm -f .venv/installed-"${kind%-slurm}"-*
touch "$stamp"
