#!/bin/sh
# The long proof of the laws: 2,000,000 random calls over all worlds, or as many as are given. Prints a line for each world.
#   scripts/laws.sh [CALLS]
set -eu
cd "$(dirname "$0")/.."
BENCHWRIGHT_LAW_CALLS="${1:-2000000}"
export BENCHWRIGHT_LAW_CALLS
exec cargo test --package benchwright-testkit --test laws -- --nocapture
