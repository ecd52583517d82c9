#!/usr/bin/env bash
# Proves that a domain is one folder: drops one with native code into domains/, changes no other file, builds, calls its
# tools, and takes it away again.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=domains/probe_kiosk
[ ! -e "$folder" ] || { echo "$folder is there already" >&2; exit 2; }
trap 'rm -rf "$folder"' EXIT
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
cat > "$folder/native.rs" <<'EOF'
//! Native tools of the kiosk.

use benchwright_base::Value;
use benchwright_pack::Refusal;
use benchwright_sandbox::{Gives, NativeCall, Natives};

pub(crate) const NATIVES: &Natives = &[("sell_out", sell_out)];

fn sell_out(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let id = call.argument("paper").as_ref_id().unwrap_or_default();
    let sold = call.row("paper", id)?.get("copies");
    call.update("paper", id, &[("copies", Value::Int(0))])?;
    Ok(Gives::One(vec![sold]))
}
EOF

cargo build --quiet --locked -p benchwright
bin=${CARGO_TARGET_DIR:-target}/debug/benchwright
expect() {
    grep -Eq -- "$1" <<<"$2" || { echo "expected $1 in:" >&2; echo "$2" >&2; exit 1; }
}
expect '"tools": ?3' "$("$bin" domains probe_kiosk --json)"
out=$(printf 'add_paper name=Extra copies=2\nsell_out paper=4\nlist_papers\n' | "$bin" play probe_kiosk 2>&1)
expect 'sold: *2' "$out"
expect '4 +Extra +0' "$out"
echo "one folder: probe_kiosk was found, built and played, and no other file was touched"
