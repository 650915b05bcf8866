#!/bin/sh
# The first of the named Pythons that is 3.11 or newer and can make environments, or python3.
# usage: scripts/find-python.sh python3.12 python3.11
for candidate in "$@" python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        # The program itself, not a link to it from a place that the sandbox does not show.
        exec "$candidate" -c 'import os, sys; print(os.path.realpath(sys.executable))'
    fi
done
echo "please install Python 3.11 or newer with venv: sudo apt-get install python3 python3-venv" >&2
exit 1
