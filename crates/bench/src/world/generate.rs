//! Makes the committed files of the reference world, and holds them to what it makes. `BENCHWRIGHT_UPDATE=1 cargo test
//! -p benchwright bench` writes them anew.

use super::reference::{LAST, STATES, TABLES, parent_of, table_name};

const HEAD: &str = "# Made by apps/cli/src/bench/world/generate.rs; do not edit by hand.\n\n";

fn domain() -> String {
    format!(
        "{HEAD}name  = \"world\"\ntitle = \"The reference world of the benchmark\"\nrole  = \"agent\"\n\
         about = \"{TABLES} tables in a chain, for measuring how fast episodes run.\"\nnow   = \"2026-03-01T00:00:00Z\"\n"
    )
}

fn tables() -> String {
    let words = STATES.map(|word| format!("\"{word}\"")).join(", ");
    let mut text = format!("{HEAD}[enums]\nStatus = [{words}]\n");
    for table in 0..TABLES {
        let (name, parent) = (table_name(table), table_name(parent_of(table)));
        text.push_str(&format!(
            "\n[{name}]\n\
             parent_id = \"-> {parent}\"\n\
             owner_id = \"-> t000\"\n\
             status = \"Status = new\"\n\
             name = \"text(..80) unique\"\n\
             descr = \"text(..400)?\"\n\
             amount = \"money(0..1000000)?\"\n\
             qty = \"int(0..10000000)?\"\n\
             created = \"datetime?\"\n\
             updated = \"datetime?\"\n\
             flag = \"bool = false\"\n\
             assigned_to = \"-> t001?\"\n\
             lifecycle.status = [\"start -> new\", \"new -> open | closed\", \"open -> hold | closed\", \
             \"hold -> open | closed\"]\n"
        ));
    }
    text
}

fn tools() -> String {
    let mut text = HEAD.to_owned();
    for table in (0..TABLES).map(table_name) {
        text.push_str(&format!(
            "{table}_get = \"get {table}\"\n\
             {table}_find = \"find {table} by parent_id\"\n\
             {table}_create = \"create {table}\"\n\
             {table}_update = \"update {table} set status, qty, updated\"\n"
        ));
    }
    text
}

fn policy() -> String {
    let last = table_name(LAST);
    let mut text = format!("{HEAD}[access]\nagent = [\"any on *\"]\n");
    for table in (0..TABLES).map(table_name) {
        text.push_str(&format!(
            "\n[rules.assignee-of-owner-{table}]\n\
             on      = \"{table}\"\n\
             require = \"assigned_to = null or exists {last}(owner_id = owner_id, assigned_to = assigned_to)\"\n\
             says    = \"A record is assigned only to somebody who is assigned to its owner.\"\n\
             by      = \"tool\"\n"
        ));
    }
    text
}

/// For every table to begin at: twelve reads, five updates, three new rows, ten checks.
fn calls() -> String {
    let mut text = "[\n".to_owned();
    for start in 0..TABLES {
        let table = |step: usize| table_name((start + step) % TABLES);
        let mut lines: Vec<String> = Vec::new();
        let mut call = |tool: String, arguments: String| {
            lines.push(format!("{{\"tool\": \"{tool}\", \"arguments\": {{{arguments}}}}}"));
        };
        for k in 0..12 {
            match k % 2 {
                0 => call(
                    format!("{}_find", table(k)),
                    format!("\"parent_id\": {}, \"sort\": \"id\", \"limit\": 10", k + 1),
                ),
                _ => call(format!("{}_get", table(k)), format!("\"id\": {}", k + 1)),
            }
        }
        for k in 0..5 {
            let set = "\"id\": 7, \"status\": \"closed\", \"qty\": 33, \"updated\": \"2026-03-01T00:00:00Z\"";
            call(format!("{}_update", table(k * 3)), set.to_owned());
        }
        for k in 0..3 {
            let (parent, person, qty) = (k + 6, k + 6, k + 5);
            let set = format!(
                "\"parent_id\": {parent}, \"owner_id\": {person}, \"status\": \"new\", \"name\": \"fresh\", \
                 \"descr\": \"a fresh record made by a tool\", \"amount\": 1.5, \"qty\": {qty}, \
                 \"created\": \"2026-03-01T00:00:00Z\", \"assigned_to\": {person}"
            );
            call(format!("{}_create", table(k * 4)), set);
        }
        let checks: Vec<String> =
            (0..10).map(|k| format!("{{\"table\": \"{}\", \"id\": 7, \"qty\": 33}}", table(k))).collect();
        let comma = if start + 1 < TABLES { "," } else { "" };
        let (lines, checks) = (lines.join(",\n"), checks.join(",\n"));
        text.push_str(&format!("{{\"calls\": [\n{lines}],\n\"checks\": [\n{checks}]}}{comma}\n"));
    }
    text + "]\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_world_and_calls_are_what_the_generator_makes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        let files = [
            ("world/domain.toml", domain()),
            ("world/tables.toml", tables()),
            ("world/tools.toml", tools()),
            ("world/policy.toml", policy()),
            ("calls.json", calls()),
        ];
        for (path, made) in files {
            let file = folder.join(path);
            if std::env::var_os("BENCHWRIGHT_UPDATE").is_some() {
                std::fs::write(&file, made).unwrap();
                continue;
            }
            let committed = std::fs::read_to_string(&file).unwrap();
            assert!(committed == made, "{} differs; BENCHWRIGHT_UPDATE=1 rewrites it", file.display());
        }
    }
}
