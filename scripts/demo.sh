#!/bin/sh
# The sample claims through all stations, answered by scripts; ends with the leaderboard and where the report is.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
export PATH
snakemake --profile profiles/local "$@"
echo
cat results/tables/leaderboard.md
echo
echo "report: $PWD/results/report/index.html"
