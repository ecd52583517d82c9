//! Calls into the kernel that a program in a sandbox is refused: those by which it could leave something for others where no namespace
//! keeps them apart, and those that reach far into the kernel and that no agent needs. Keys are the first kind: a session's keyring comes with
//! every process that is started in it, so that one trial could write there what the next one reads.

use super::isolation::{Broken, random_name};
use std::{
    fs::{self, File},
    io::Write as _,
    os::{fd::AsRawFd as _, unix::fs::OpenOptionsExt as _},
};

/// What is refused, for the record.
pub(super) const REFUSED: &str = "keys,bpf,perf,userfaultfd,io_uring,sockets";

/// What differs from machine to machine.
struct Machine {
    /// Its kind, as the kernel tells it to a filter.
    kind: u32,
    /// The numbers of add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd and io_uring_setup.
    refused: [u32; 7],
    /// The number of socket.
    socket: u32,
}

#[cfg(target_arch = "x86_64")]
const MACHINE: Machine = Machine { kind: 0xC000_003E, refused: [248, 249, 250, 321, 298, 323, 425], socket: 41 };
#[cfg(target_arch = "aarch64")]
const MACHINE: Machine = Machine { kind: 0xC000_00B7, refused: [217, 218, 219, 280, 241, 282, 425], socket: 198 };

/// The families of sockets that namespaces keep apart: local ones, both internets, and the kernel's own messages. Others, such as the one
/// between a virtual machine and its host, reach out of every network.
const FAMILIES: [u32; 4] = [1, 2, 10, 16];

/// Where the number of a call, the kind of machine and the first argument stand in what a filter sees.
const NUMBER: u32 = 0;
const KIND: u32 = 4;
const FIRST: u32 = 16;
/// Numbers from here on are those of another way to call, which has the same calls once more.
const OTHER_WAY: u32 = 0x4000_0000;
/// Instructions of the kernel's filters: load a word, jump if equal, jump if not less, answer.
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const NOT_LESS: u16 = 0x35;
const ANSWER: u16 = 0x06;
/// Answers, as they stand at the end: go on; refuse as not permitted; there is no such call; there is no such family.
const ALLOW: u32 = 0x7FFF_0000;
const NOT_PERMITTED: u32 = 0x0005_0001;
const NO_SUCH_CALL: u32 = 0x0005_0026;
const NO_SUCH_FAMILY: u32 = 0x0005_0061;
const ANSWERS: [u32; 4] = [ALLOW, NOT_PERMITTED, NO_SUCH_CALL, NO_SUCH_FAMILY];

/// A filter as the kernel reads it, in a file without a name.
#[derive(Debug)]
pub(super) struct Filter(File);

impl Filter {
    pub(super) fn new() -> Result<Filter, Broken> {
        let failed = |why: std::io::Error| Broken::Sandbox(format!("no filter of calls: {why}"));
        // A file of the kernel's memory would be shorter; the C library that wheels are made for does not know the call.
        let path = std::env::temp_dir().join(format!("benchwright-filter-{}", random_name()?));
        let mut file =
            File::options().read(true).write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        fs::remove_file(&path).map_err(failed)?;
        file.write_all(&program()).map_err(failed)?;
        Ok(Filter(file))
    }

    /// Where whoever is started by this process finds it. Each opens it anew: who shared one would share how far it was read.
    pub(super) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// The instructions: code, two jumps, a value.
fn program() -> Vec<u8> {
    let Machine { kind, refused, socket } = MACHINE;
    // Code, value, and the answer that is jumped to where it is so and where it is not; without one it goes on.
    let mut steps: Vec<(u16, u32, Option<u32>, Option<u32>)> = vec![
        (LOAD, KIND, None, None),
        // Another kind of machine has other numbers: all its calls are refused.
        (EQUAL, kind, None, Some(NO_SUCH_CALL)),
        (LOAD, NUMBER, None, None),
        (NOT_LESS, OTHER_WAY, Some(NO_SUCH_CALL), None),
    ];
    steps.extend(refused.map(|call| (EQUAL, call, Some(NOT_PERMITTED), None)));
    steps.extend([(EQUAL, socket, None, Some(ALLOW)), (LOAD, FIRST, None, None)]);
    steps.extend(FAMILIES.map(|family| (EQUAL, family, Some(ALLOW), None)));
    steps.push((ANSWER, NO_SUCH_FAMILY, None, None));
    let end = steps.len();
    steps.extend(ANSWERS.map(|answer| (ANSWER, answer, None, None)));
    let bytes = |(at, (code, value, yes, no)): (usize, (u16, u32, Option<u32>, Option<u32>))| {
        let jump = |to: Option<u32>| {
            let place = to.and_then(|to| ANSWERS.iter().position(|answer| *answer == to));
            place.map_or(0, |place| (end + place - at - 1) as u8)
        };
        let [a, b] = code.to_ne_bytes();
        let [c, d, e, f] = value.to_ne_bytes();
        [a, b, jump(yes), jump(no), c, d, e, f]
    };
    steps.into_iter().enumerate().flat_map(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a filter answers, as the kernel would.
    fn answer(kind: u32, number: u32, first: u32) -> u32 {
        let (program, mut at, mut held) = (program(), 0, 0);
        loop {
            let step = &program[at * 8..at * 8 + 8];
            let code = u16::from_ne_bytes([step[0], step[1]]);
            let value = u32::from_ne_bytes([step[4], step[5], step[6], step[7]]);
            let is_so = match code {
                LOAD => {
                    held = [(KIND, kind), (NUMBER, number), (FIRST, first)]
                        .into_iter()
                        .find(|(at, _)| *at == value)
                        .unwrap()
                        .1;
                    at += 1;
                    continue;
                }
                ANSWER => return value,
                EQUAL => held == value,
                _ => held >= value,
            };
            at += 1 + usize::from(if is_so { step[2] } else { step[3] });
        }
    }

    #[test]
    fn what_is_listed_is_refused_and_nothing_else() {
        let Machine { kind, refused, socket } = MACHINE;
        for number in (0..600).filter(|number| *number != socket) {
            let expected = if refused.contains(&number) { NOT_PERMITTED } else { ALLOW };
            assert_eq!(answer(kind, number, 40), expected, "{number}");
        }
        for family in 0..60 {
            let expected = if FAMILIES.contains(&family) { ALLOW } else { NO_SUCH_FAMILY };
            assert_eq!(answer(kind, socket, family), expected, "family {family}");
        }
        assert_eq!(answer(kind, OTHER_WAY + 250, 0), NO_SUCH_CALL);
        assert_eq!(answer(0x4000_0003, 288, 0), NO_SUCH_CALL, "a call of another kind of machine");
    }
}
