#!/bin/sh
# The sample claims through all stations, answered by scripts; ends with the leaderboard and where the report is.
# Where runs are missing, says which, shows the others all the same, and exits with the campaign's status.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
export PATH
status=0
snakemake --profile profiles/local "$@" || status=$?
if [ "$status" -ne 0 ]; then
    snakemake --profile profiles/local leaderboard || exit "$status"
fi
echo
cat results/tables/leaderboard.md
echo
echo "report: $PWD/results/report/index.html"
exit "$status"
