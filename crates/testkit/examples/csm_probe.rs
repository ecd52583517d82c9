//! Throw-away probe.
#![allow(clippy::all, clippy::print_stdout)]
use benchwright_catalog::Catalog;
use benchwright_sandbox::{Conditions, Sandbox};
use benchwright_schema::codec;
use std::{io::Write, sync::Arc, time::Instant};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let found = match Catalog::from_folder("domains").find("csm") { Ok(f) => f, Err(e) => { println!("{e}"); std::process::exit(1) } };
    let d = &found.domain;
    let fields: usize = d.tables.iter().map(|t| t.fields.len() - 1).sum();
    println!("{} tables {} fields {} tools {} rules {} roles", d.tables.len(), fields, d.tools.len(), d.rules.len(), d.roles.len());
    let (a, b): (u64, u64) = (args[2].parse().unwrap(), args[3].parse().unwrap());
    for size in args[1].split(',') {
        for seed in a..=b {
            let t = Instant::now();
            match Sandbox::seeded(Arc::clone(d), found.natives, size, seed) {
                Err(e) => println!("{size} {seed}: {e}"),
                Ok(s) => {
                    let took = t.elapsed();
                    let s = Arc::new(s);
                    let e = s.begin(&benchwright_world::Seat { role: "admin".into(), actor: None }, Conditions::default()).unwrap();
                    let mut total = 0;
                    let mut counts = String::new();
                    for (at, tb) in d.tables.iter().enumerate() {
                        let n = e.rows(benchwright_base::RelationId(at as u16)).count();
                        total += n; counts += &format!(" {}={n}", tb.name);
                    }
                    println!("{size} {seed}: {total} rows in {took:?}{}", if a == b { counts } else { String::new() });
                    if let Some(path) = args.get(4) {
                        let mut f = std::fs::File::create(format!("{path}.{size}.{seed}.jsonl")).unwrap();
                        for (at, tb) in d.tables.iter().enumerate() {
                            for row in e.rows(benchwright_base::RelationId(at as u16)) {
                                let mut out = format!("{{\"_t\":\"{}\"", tb.name).into_bytes();
                                for (fd, v) in tb.fields.iter().zip(row.cells()) {
                                    out.extend_from_slice(format!(",\"{}\":", fd.name).as_bytes());
                                    codec::write_value(&mut out, d, fd.ty, v);
                                }
                                out.extend_from_slice(b"}\n");
                                f.write_all(&out).unwrap();
                            }
                        }
                    }
                }
            }
        }
    }
}
