#!/usr/bin/env bash
# examples/outside as a program of somebody else: copied out of the repository, compiled there on the library alone, and run. CI runs
# the same file as an example of the workspace, which shares what is compiled; this compiles all of it once more.
#
#   scripts/outside.sh
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

cp -r examples/outside/. "$copy"
cp Cargo.lock "$copy"
sed -i "s|path = \"../../|path = \"$root/|" "$copy/Cargo.toml"
mkdir "$copy/.cargo"
# The settings of the workspace, of which a package elsewhere knows none; of ours nothing is optimised.
{
    printf '[profile.dev]\ndebug = "line-tables-only"\n[profile.dev.package."*"]\nopt-level = 2\n'
    for name in $(cargo tree --offline -q -p benchwright-workshop --prefix none -e normal | grep -o '^benchwright-[a-z-]*' | sort -u); do
        printf '[profile.dev.package.%s]\nopt-level = 0\n' "$name"
    done
} >"$copy/.cargo/config.toml"
cd "$copy"
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target} cargo run
