#!/bin/sh
# The long proof of the laws: 2,000,000 random calls over the worlds of single domains, or as many as are given, and a fifth as many
# over the joined ones. Prints a line for each world and what no call has shown.
#   scripts/laws.sh [CALLS]
set -eu
cd "$(dirname "$0")/.."
BENCHWRIGHT_LAW_CALLS="${1:-2000000}"
export BENCHWRIGHT_LAW_CALLS
exec cargo test --release --package benchwright-testkit --test suite -- --nocapture --test-threads 1 \
    laws:: joined::every_composition_loads_and_keeps_the_laws
