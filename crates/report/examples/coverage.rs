//! Prints how often the 95 % interval of a report holds the truth: `cargo run --release -p benchwright-report --example
//! coverage [REPLICATIONS]`.

#![expect(clippy::unwrap_used, reason = "a simulation stops at the first surprise")]

use std::io::Write;

#[path = "../tests/report/draw.rs"]
mod draw;
#[path = "../tests/report/simulate.rs"]
mod simulate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let replications = std::env::args().nth(1).map_or(Ok(20_000), |count| count.parse())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{replications} replications; coverage of the 95 % interval, in percent")?;
    writeln!(out, "layout   tasks patterns  icc     p  covered  warned  mean width  without clusters")?;
    for (name, sizes) in simulate::LAYOUTS {
        for icc in [0.2, 0.4] {
            for p in [0.5, 0.1, 0.03] {
                let found = simulate::coverage(sizes, icc, p, replications, 1);
                let (tasks, patterns) = (sizes.iter().sum::<usize>(), sizes.len());
                let [covered, warned, naive] = [found.covered, found.warned, found.naive].map(|share| share * 100.0);
                let width = found.width;
                writeln!(
                    out,
                    "{name:8} {tasks:5} {patterns:8} {icc:4} {p:5} {covered:8.1} {warned:7.1} {width:11.3} {naive:17.1}"
                )?;
            }
        }
    }
    Ok(())
}
