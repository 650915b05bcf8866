#!/bin/sh
# Docling in .venv-docling, apart from everything else as it is large (1.4 GB): for the tests, and for
# MATPROOF_DOCLING_PYTHON=.venv-docling/bin/python. Does nothing where nothing changed.
# usage: scripts/docling.sh    (DOCLING_CUDA=yes allows a CUDA build of torch where this machine has no GPU)
set -eu
cd "$(dirname "$0")/.."
constraints=requirements/docling-constraints.txt
stamp=.venv-docling/installed-$(cat "$constraints" "$0" | sha256sum | cut -c1-16)
[ -e "$stamp" ] && exit 0

if [ ! -x .venv-docling/bin/python ]; then
    # CPU builds of torch are made for few versions of Python at one place; 3.11 has them the longest.
    python=$(scripts/find-python.sh python3.11 python3.12 python3.13)
    "$python" -m venv .venv-docling
fi
pip() { .venv-docling/bin/python -m pip --disable-pip-version-check "$@"; }

# What pip would fetch is known before it fetches it.
if [ "${DOCLING_CUDA:-}" != yes ] && ! command -v nvidia-smi >/dev/null; then
    plan=$(pip install -qq --dry-run --no-deps --report - -c "$constraints" torch) || exit 1
    if echo "$plan" | grep -Eq '"(nvidia|cuda|triton)[-_a-z0-9]*[ =<>~!;[]'; then
        echo "pip would install torch for CUDA (several GB), and this machine has no GPU: set pip up to take CPU builds" >&2
        echo "of torch, as its installation guide says, or run: DOCLING_CUDA=yes scripts/docling.sh" >&2
        exit 1
    fi
fi
echo "installing Docling into .venv-docling (about a minute, 1.4 GB)"
pip install -qq --no-compile -c "$constraints" torch
pip install -qq --no-compile -c "$constraints" docling
rm -f .venv-docling/installed-*
touch "$stamp"
