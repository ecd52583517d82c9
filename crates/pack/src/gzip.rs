//! Packed files: what is kept of a trial is packed by gzip, which everybody can unpack. What comes out has a limit, because a small file
//! can hold any number of equal bytes.

use crate::{StoreError, store::read_file};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use std::{
    io::{self, Read as _, Write as _},
    path::Path,
};

/// The most bytes that a file is unpacked to where nothing else says how many there are: as many as a first state may have.
pub const LARGEST_UNPACKED: usize = 256 << 20;

/// Packs bytes. The same bytes give the same file.
pub fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes)?;
    packed.finish()
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
    use std::fs;

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
