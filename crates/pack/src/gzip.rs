//! Packed files: what is kept of a trial is packed by gzip, which everybody can unpack. What comes out has a limit, because a small file
//! can hold any number of equal bytes.

use crate::{StoreError, store::read_file};
use flate2::{Crc, read::GzDecoder};
use miniz_oxide::{
    DataFormat, MZFlush, MZStatus, StreamResult,
    deflate::{core::CompressorOxide, stream::deflate},
};
use std::{
    io::{self, Read as _},
    path::Path,
};

/// The most bytes that a file is unpacked to where nothing else says how many there are: as many as a first state may have.
pub const LARGEST_UNPACKED: usize = 256 << 20;

/// What begins a packed file: gzip, deflated, with nothing about the file, quickly, from no system in particular.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// How hard a packed file is packed.
const QUICK: u8 = 1;

/// Packs bytes. The same bytes give the same file.
pub fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut crc = Crc::new();
    crc.update(bytes);
    let mut packed = HEAD.to_vec();
    packed.append(&mut deflated(bytes, QUICK)?);
    packed.extend(crc.sum().to_le_bytes());
    packed.extend(crc.amount().to_le_bytes());
    Ok(packed)
}

/// Bytes deflated at a level from 0 to 10. The same bytes give the same bytes: `flate2` would deflate by whatever crate any other of the
/// program has chosen for it, so the one is called that it has by itself, in steps of the same size.
pub fn deflated(bytes: &[u8], level: u8) -> io::Result<Vec<u8>> {
    let mut compressor = Box::<CompressorOxide>::default();
    compressor.set_format_and_level(DataFormat::Raw, level);
    let mut deflated = Vec::new();
    let mut room = vec![0; 32 << 10];
    let mut left = bytes;
    loop {
        let flush = if left.is_empty() { MZFlush::Finish } else { MZFlush::None };
        let StreamResult { bytes_consumed, bytes_written, status } = deflate(&mut compressor, left, &mut room, flush);
        left = &left[bytes_consumed..];
        deflated.extend_from_slice(&room[..bytes_written]);
        match status {
            Ok(MZStatus::StreamEnd) => return Ok(deflated),
            Ok(_) => {}
            Err(error) => return Err(io::Error::other(format!("bytes cannot be deflated: {error:?}"))),
        }
    }
}

/// What a packed file holds, if that is no more than `most` bytes. A link is refused.
pub fn read_packed(path: &Path, most: usize) -> Result<Vec<u8>, StoreError> {
    // What is packed is smaller, or hardly larger, than what it holds.
    let packed = read_file(path, most.saturating_add(most / 8 + 1_024))?;
    let unpacked = || GzDecoder::new(&*packed).take(most as u64 + 1);
    let failed =
        |why: io::Error| StoreError::Malformed { path: path.to_owned(), why: format!("it cannot be unpacked: {why}") };
    // It is counted first, so that what is too large takes no memory.
    let count = io::copy(&mut unpacked(), &mut io::sink()).map_err(failed)?;
    if count > most as u64 {
        return Err(StoreError::Unpacked { path: path.to_owned(), most });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(most));
    unpacked().read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_base::{Digest, Stream};
    use std::fs;

    /// Trials and tasks are known by digests of what is packed here, so it must stay as it is, whatever else is built beside it.
    #[test]
    fn what_is_packed_has_the_bytes_that_it_always_had() {
        let mut stream = Stream::new(7, &["gzip"]);
        let mut rows = String::new();
        for row in 0..40_000 {
            let (table, value) = (stream.below(40), stream.below(1_000_000));
            rows.push_str(&format!("{{\"table\":{table},\"row\":{row},\"value\":\"{value} of {table}\"}}\n"));
        }
        let noise: Vec<u8> = (0..300_000).map(|_| stream.below(256) as u8).collect();
        let blanks = vec![b' '; 1 << 20];
        let mixed = [rows.as_bytes(), &noise, &blanks, rows.as_bytes()].concat();
        let digests = [&b""[..], b"a", rows.as_bytes(), &noise, &blanks, &mixed]
            .map(|bytes| Digest::of(&packed(bytes).unwrap()).to_string());
        let always = [
            "458c5a203299dd326aa747fee1bbc7709bfbd560507d1603459d9f7d9eb6be76",
            "f4530a2c79dcfc4b133f0fd6f0cdbdb7ef9ef4fb3ca22ffc8b160b0239fb92d1",
            "d0259db2852e1df53648242741f2ce5ab0b8c2990b47e115deefbd07738b6056",
            "05a752920ed1b69347732f712e85db094721e22a9fd64b00140977603d25b3a5",
            "3c7e262f9225dd93481404ace73d6e3cf0cf880b84cb7806f17cfdbce37785e5",
            "623d4932601575ea0848c9926d62a9c7250d00d02b9e5af72271df999a7dd94f",
        ];
        assert_eq!(digests, always);
    }

    #[test]
    fn a_file_is_unpacked_up_to_its_limit_and_no_further() {
        let path = std::env::temp_dir().join(format!("benchwright-gzip-{}.gz", std::process::id()));
        fs::write(&path, packed(&vec![b' '; 1 << 20]).unwrap()).unwrap();
        assert_eq!(read_packed(&path, 1 << 20).unwrap().len(), 1 << 20);
        let told = read_packed(&path, (1 << 20) - 1).unwrap_err().to_string();
        assert!(
            told.contains("gzip-") && told.ends_with("unpacks to more than 1048575 bytes, which is its limit"),
            "{told}"
        );
        fs::write(&path, b"no gzip").unwrap();
        let told = read_packed(&path, 100).unwrap_err().to_string();
        assert!(told.contains("gzip-") && told.contains("it cannot be unpacked"), "{told}");
        fs::remove_file(&path).unwrap();
    }
}
