//! Documents made from good ones: the same seed makes the same ones.

use benchwright_base::Stream;

/// What readers have stumbled over, here and elsewhere.
const WORDS: [&[u8]; 30] = [
    b"0",
    b"-1",
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"1e309",
    b"0.1",
    b"null",
    b"true",
    b"\"\"",
    b"[]",
    b"{}",
    b"\\u0000",
    b"\\ud800",
    "\u{202e}é\u{10ffff}".as_bytes(),
    b"\"",
    b"\n",
    b",",
    b"= ",
    b"(((((((((((((((((((((((((((((((((",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"not not not not not not not not ",
    b"9999-12-31T23:59:59Z",
    b"0000-01-01",
    b"2026-02-30",
    b"../..",
    b"\xff\xfe",
];

/// Changes a document a few times. `other` is one from which a piece may be taken.
pub fn changed(good: &[u8], other: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=stream.below(4) {
        change(&mut bytes, other, stream);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], stream: &mut Stream) {
    let at = place(bytes.len(), stream);
    let word = WORDS[stream.below(WORDS.len() as u64) as usize];
    match stream.below(8) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << stream.below(8);
            }
        }
        1 => drop(bytes.splice(at..at, word.iter().copied())),
        // A number becomes another, which keeps the form of most documents.
        2 | 3 => {
            let digit = |byte: &u8| byte.is_ascii_digit();
            let Some(start) = bytes[at..].iter().position(digit).map(|far| at + far) else { return };
            let end = bytes[start..].iter().position(|byte| !digit(byte)).map_or(bytes.len(), |far| start + far);
            let number = WORDS[stream.below(10) as usize];
            drop(bytes.splice(start..end, number.iter().copied()));
        }
        4 => drop(bytes.drain(span(bytes.len(), at, 40, stream))),
        // A piece is there twice.
        5 => {
            let piece = bytes[span(bytes.len(), at, 200, stream)].to_vec();
            let to = place(bytes.len(), stream);
            drop(bytes.splice(to..to, piece));
        }
        6 => {
            let piece = other[span(other.len(), place(other.len(), stream), 200, stream)].to_vec();
            drop(bytes.splice(span(bytes.len(), at, 60, stream), piece));
        }
        _ if stream.below(8) == 0 => bytes.truncate(at),
        _ => {
            let range = span(bytes.len(), at, word.len() as u64 + 4, stream);
            drop(bytes.splice(range, word.iter().copied()));
        }
    }
}

fn place(len: usize, stream: &mut Stream) -> usize {
    stream.below(len as u64 + 1) as usize
}

fn span(len: usize, at: usize, most: u64, stream: &mut Stream) -> std::ops::Range<usize> {
    at..(at + stream.below(most + 1) as usize).min(len)
}
