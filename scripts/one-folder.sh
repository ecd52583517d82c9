#!/usr/bin/env bash
# Proves that a domain is one folder: drops one into domains/, plays it, gives it code, and takes it away again. No other file
# is touched by hand. Declarations are found as they are; code is a crate, and `cargo xtask domains` writes what names it.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=domains/probe_kiosk
[ ! -e "$folder" ] || { echo "$folder is there already" >&2; exit 2; }
written=(Cargo.lock crates/catalog/Cargo.toml crates/catalog/src/generated.rs)
kept=$(mktemp -d)
for file in "${written[@]}"; do
    mkdir -p "$kept/$(dirname "$file")"
    cp -p "$file" "$kept/$file"
done
# Whatever happens, the tree is as it was.
restore() {
    rm -rf "$folder" domains/planning/probe_paints
    for file in "${written[@]}"; do
        cmp -s "$kept/$file" "$file" || cp -p "$kept/$file" "$file"
    done
    rm -rf "$kept"
}
trap restore EXIT
mkdir -p "$folder/cases"

cat > "$folder/README.md" <<'EOF'
# probe_kiosk

A kiosk that exists for the length of one check.
EOF
cat > "$folder/domain.toml" <<'EOF'
name  = "probe_kiosk"
title = "A kiosk"
role  = "kiosk keeper"
about = "Papers and how many of them are left."
EOF
cat > "$folder/tables.toml" <<'EOF'
[paper]
name = "text unique"
copies = "int(0..) = 0"
EOF
cat > "$folder/tools.toml" <<'EOF'
add_paper    = "create paper"
list_papers  = "list paper"
sell_out     = "native takes paper: -> paper! gives sold: int reads paper writes paper: sells every copy of a paper"
EOF
cat > "$folder/policy.toml" <<'EOF'
[access]
keeper = ["any on *"]
EOF
cat > "$folder/seed.toml" <<'EOF'
sizes = ["small"]
[[rows]]
table = "paper"
count = 3
name = "text Paper {#}"
copies = "between 5 and 5"
EOF

bin=${CARGO_TARGET_DIR:-target}/debug/benchwright
expect() {
    grep -Eq -- "$1" <<<"$2" || { echo "expected $1 in:" >&2; echo "$2" >&2; exit 1; }
}

# Declarations alone: nothing is built and nothing is written.
# As the tests build it, so that nothing is compiled in two ways.
build=(cargo build --quiet --workspace --features cloud --profile test --lib --bin benchwright)
[ -x "$bin" ] || "${build[@]}" --locked
expect '"tools": ?3' "$("$bin" domains probe_kiosk --json)"
out=$(printf 'add_paper name=Extra copies=2\nlist_papers\n' | "$bin" play probe_kiosk 2>&1)
expect '4 +Extra +2' "$out"
expect 'native tools of probe_kiosk.*' "$("$bin" doctor 2>&1 || true)"

# A planning workflow: a copy with another name, a rule changed and one added. Checking it needs no solver; nothing is built.
workflow=domains/planning/probe_paints
[ ! -e "$workflow" ] || { echo "$workflow is there already" >&2; exit 2; }
cp -r domains/planning/coatings "$workflow"
sed -i 's/^name .*/name = "probe_paints"/' "$workflow/domain.toml"
sed -i 's/t in periods where t >= 3/t in periods where t >= 2/; s/period >= t - 2/period >= t - 1/; s/any three periods/any two periods/; s/Three consecutive/Two consecutive/' "$workflow/plan.toml"
cat >> "$workflow/plan.toml" <<'EOF'

[rules."probe_paints/crews"]
code    = "CREWS"
family  = "capacity"
per     = "t in periods"
require = "(count run(period = t)) <= 3"
says    = ["A period has at most three runs.", "No more than three runs are made in one period."]
EOF
"$bin" check "$workflow"
expect '"planning/probe_paints"' "$("$bin" patterns --json)"
rm -rf "$workflow"

# With code: the folder is a crate, and what names it is written.
mkdir -p "$folder/src"
cat > "$folder/Cargo.toml" <<'EOF'
[package]
name = "benchwright-domain-probe_kiosk"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true

[dependencies]
benchwright-base.workspace = true
benchwright-pack.workspace = true
benchwright-sandbox.workspace = true

[lints]
workspace = true
EOF
cat > "$folder/src/lib.rs" <<'EOF'
//! Native tools of the kiosk.

use benchwright_base::Value;
use benchwright_pack::Refusal;
use benchwright_sandbox::{Gives, NativeCall, Natives, cell, natives};

mod names {
    //! The names that the tools use.
    benchwright_sandbox::names! {
        tables { paper }
        columns { copies of paper; }
        arguments { paper }
    }
}
use names::{NAMES, a, c, t};

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES; ("sell_out", sell_out)];

fn sell_out(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let id = call.reference(a::paper)?;
    let sold = call.row(t::paper, id)?.get(c::copies);
    call.update(t::paper, id, &[cell(c::copies, Value::Int(0))])?;
    Ok(Gives::One(vec![sold]))
}
EOF
cargo xtask domains
"${build[@]}" --offline
out=$(printf 'add_paper name=Extra copies=2\nsell_out paper=4\nlist_papers\n' | "$bin" play probe_kiosk 2>&1)
expect 'sold: *2' "$out"
expect '4 +Extra +0' "$out"

# And away: what was written is as it was.
cargo xtask domains --without probe_kiosk
rm -rf "$folder"
cargo xtask domains --check
for file in "${written[@]}"; do
    cmp "$kept/$file" "$file" || { echo "$file is not as it was" >&2; exit 1; }
done
echo "one folder: probe_kiosk was found and played, without code and with it, a planning workflow was found, and no other file was touched by hand"
