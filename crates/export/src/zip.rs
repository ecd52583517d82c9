//! Zip archives, deflated and without a time of day, so that the same entries give the same bytes. Only what logs need: entries one after
//! the other, and a list of them at the end.

use benchwright_pack::deflated;
use flate2::Crc;
use std::io::{self, Write};

/// What begins an entry, its line in the list, and the end of the list.
const ENTRY: u32 = 0x0403_4b50;
const LINE: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// The version that deflated entries need, and the flag of names in UTF-8.
const VERSION: u16 = 20;
const UTF8: u16 = 1 << 11;
const DEFLATED: u16 = 8;
/// The first day that the format knows: 1980-01-01.
const FIRST_DAY: u16 = 0x21;
/// How hard entries are packed.
const LEVEL: u8 = 6;

/// An archive that is being written.
pub(crate) struct Zip<W: Write> {
    out: W,
    written: u64,
    list: Vec<u8>,
    entries: u16,
}

fn too_large() -> io::Error {
    io::Error::other("an archive holds at most 65,535 entries and 4 GiB")
}

fn small(size: u64) -> io::Result<u32> {
    u32::try_from(size).map_err(|_| too_large())
}

impl<W: Write> Zip<W> {
    /// An empty archive.
    pub(crate) fn new(out: W) -> Zip<W> {
        Zip { out, written: 0, list: Vec::new(), entries: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut crc = Crc::new();
        crc.update(bytes);
        let packed = deflated(bytes, LEVEL)?;
        let at = small(self.written)?;
        let name_length = u16::try_from(name.len()).map_err(|_| too_large())?;
        let mut about = Vec::new();
        for word in [VERSION, UTF8, DEFLATED, 0, FIRST_DAY] {
            about.extend(word.to_le_bytes());
        }
        for number in [crc.sum(), small(packed.len() as u64)?, small(bytes.len() as u64)?] {
            about.extend(number.to_le_bytes());
        }
        about.extend(name_length.to_le_bytes());
        about.extend([0; 2]);
        self.write(&ENTRY.to_le_bytes())?;
        self.write(&about)?;
        self.write(name.as_bytes())?;
        self.write(&packed)?;
        self.list.extend(LINE.to_le_bytes());
        self.list.extend(VERSION.to_le_bytes());
        self.list.extend(about);
        // No comment, the first disk, no attributes.
        self.list.extend([0; 10]);
        self.list.extend(at.to_le_bytes());
        self.list.extend(name.as_bytes());
        self.entries = self.entries.checked_add(1).ok_or_else(too_large)?;
        Ok(())
    }

    /// Ends it with the list of its entries.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let (at, list) = (small(self.written)?, std::mem::take(&mut self.list));
        let length = small(list.len() as u64)?;
        self.write(&list)?;
        self.write(&END.to_le_bytes())?;
        self.write(&[0; 4])?;
        for count in [self.entries, self.entries] {
            self.write(&count.to_le_bytes())?;
        }
        self.write(&length.to_le_bytes())?;
        self.write(&at.to_le_bytes())?;
        self.write(&[0; 2])?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_base::{Digest, Stream};

    /// A log is known by its bytes, whatever else is built beside this crate.
    #[test]
    fn an_archive_has_the_bytes_that_it_always_had() {
        let mut stream = Stream::new(7, &["zip"]);
        let mut rows = String::new();
        for row in 0..40_000 {
            let (role, tokens) = (stream.below(3), stream.below(4_000));
            rows.push_str(&format!("{{\"role\":{role},\"event\":{row},\"tokens\":{tokens}}}\n"));
        }
        let noise: Vec<u8> = (0..300_000).map(|_| stream.below(256) as u8).collect();
        let mut zip = Zip::new(Vec::new());
        zip.add("nothing", b"").unwrap();
        zip.add("rows.json", rows.as_bytes()).unwrap();
        zip.add("noise", &noise).unwrap();
        zip.add("both", &[&noise, rows.as_bytes()].concat()).unwrap();
        assert_eq!(
            Digest::of(&zip.finish().unwrap()).to_string(),
            "a17f81cf4f83d5690fba17dc2c731733718948c8255b09e057c786994b1610ef"
        );
    }

    #[test]
    fn an_archive_has_its_parts_where_the_format_wants_them_and_is_the_same_again() {
        let make = || {
            let mut zip = Zip::new(Vec::new());
            zip.add("a.json", b"{}").unwrap();
            zip.add("b/ü.json", &b"x".repeat(5_000)).unwrap();
            zip.finish().unwrap()
        };
        let bytes = make();
        assert_eq!(bytes, make());
        let end = &bytes[bytes.len() - 22..];
        assert_eq!(&end[..4], b"PK\x05\x06");
        assert_eq!(end[10], 2, "two entries");
        let list = u32::from_le_bytes(end[16..20].try_into().unwrap()) as usize;
        assert_eq!(&bytes[list..list + 4], b"PK\x01\x02");
        assert_eq!(list + u32::from_le_bytes(end[12..16].try_into().unwrap()) as usize + 22, bytes.len());
        assert!(bytes.len() < 400, "it is deflated");
    }
}
