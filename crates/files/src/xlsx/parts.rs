//! The parts of a workbook: XML files in a zip archive. They are unpacked within a limit and their XML is held to what the reader of
//! workbooks can bear: it reserves memory for as many texts as a file says it has, and counts rows and columns without looking for an
//! overflow. Whatever is no XML is left where it is.

use crate::What;
use quick_xml::{Reader, events::Event};
use std::io::{Cursor, Read as _, Write as _};
use zip::{CompressionMethod, DateTime, System, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions};

/// The most parts that a workbook has.
const PARTS: usize = 1_024;

/// A part: its name and its XML.
pub(super) type Part = (String, Vec<u8>);

fn not_xlsx(why: impl ToString) -> What {
    What::NotXlsx(why.to_string())
}

/// The parts of an archive, if they unpack to so many bytes at most.
pub(super) fn unpack(bytes: &[u8], most: usize) -> Result<Vec<Part>, What> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(not_xlsx)?;
    if archive.len() > PARTS {
        return Err(What::TooMany { of: "parts", most: PARTS });
    }
    let mut parts = Vec::new();
    let mut left = most;
    for at in 0..archive.len() {
        let part = archive.by_index(at).map_err(not_xlsx)?;
        let name = part.name().to_owned();
        let is_xml = [".xml", ".rels"].iter().any(|end| name.to_ascii_lowercase().ends_with(end));
        if !is_xml {
            continue;
        }
        // What the archive says about a size may be wrong, so it is counted while it comes.
        let mut xml = Vec::new();
        part.take(left as u64 + 1).read_to_end(&mut xml).map_err(not_xlsx)?;
        let Some(rest) = left.checked_sub(xml.len()) else {
            return Err(What::TooMany { of: "bytes when it is unpacked", most });
        };
        left = rest;
        examine(&xml).map_err(|why| not_xlsx(format!("{name}: {why}")))?;
        parts.push((name, xml));
    }
    Ok(parts)
}

/// An archive of parts, not packed. The same parts give the same bytes.
pub(super) fn pack(parts: &[Part]) -> Result<Vec<u8>, What> {
    let write = || -> Result<Vec<u8>, ZipError> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .system(System::Unix)
            .unix_permissions(0o644);
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, xml) in parts {
            archive.start_file(name, options)?;
            archive.write_all(xml)?;
        }
        Ok(archive.finish()?.into_inner())
    };
    write().map_err(not_xlsx)
}

/// Looks for what the reader of workbooks must not see.
fn examine(xml: &[u8]) -> Result<(), String> {
    // In every encoding of the web but UTF-16, what is looked for below are the same bytes, and UTF-16 has NULs among them.
    if xml.contains(&0) || std::str::from_utf8(xml).is_err() {
        return Err("it is not UTF-8".to_owned());
    }
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut is_number = false;
    let mut is_value = false;
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(element) => {
                let local = element.local_name();
                let element_name = local.as_ref();
                is_value = element_name == b"v" && is_number;
                if element_name == b"c" {
                    is_number = false;
                }
                // The same key twice is looked at twice; to look for it would take the square of the time.
                for attribute in element.attributes().with_checks(false) {
                    let attribute = attribute.map_err(|error| error.to_string())?;
                    let key = attribute.key.local_name();
                    match (element_name, key.as_ref()) {
                        (_, b"uniqueCount") if !is_count(&attribute.value, xml.len()) => {
                            return Err("it has fewer texts than it says".to_owned());
                        }
                        (b"c" | b"row" | b"dimension", b"r" | b"ref") if !is_place(&attribute.value) => {
                            return Err("a cell is in no place of a sheet".to_owned());
                        }
                        (b"c", b"t") => is_number |= attribute.value.as_ref() == b"n",
                        _ => {}
                    }
                }
            }
            Event::Text(text) if is_value && !is_plain_number(&text) => {
                return Err("a number of a cell is none".to_owned());
            }
            Event::End(_) => is_value = false,
            Event::DocType(_) => return Err("it declares a type of document".to_owned()),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// Whether there can be so many texts in so many bytes.
fn is_count(value: &[u8], most: usize) -> bool {
    std::str::from_utf8(value).ok().and_then(|text| text.parse::<usize>().ok()).is_some_and(|count| count <= most)
}

/// Whether this names cells, rows or a range in a sheet: at most three letters and seven digits, on either side of a colon.
fn is_place(value: &[u8]) -> bool {
    value.split(|byte| *byte == b':').all(|place| {
        let letters = place.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = &place[letters..];
        letters <= 3 && digits.len() <= 7 && digits.iter().all(u8::is_ascii_digit)
    })
}

/// Whether this is a number that every reader of numbers reads.
fn is_plain_number(value: &[u8]) -> bool {
    let is_written = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    value.iter().all(is_written)
        && value.first() != Some(&b'+')
        && std::str::from_utf8(value).is_ok_and(|text| text.is_empty() || text.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_xml_is_told() {
        for (xml, why) in [
            ("<sst uniqueCount='99999999999'></sst>", "it has fewer texts than it says"),
            ("<sst x='1' x='1' uniqueCount = '18446744073709551616'/>", "it has fewer texts than it says"),
            ("<x><c r='ZZZZZZZZZZ1'/></x>", "a cell is in no place of a sheet"),
            ("<x><row r='99999999999'/></x>", "a cell is in no place of a sheet"),
            ("<x><s:dimension ref='A1:A99999999'/></x>", "a cell is in no place of a sheet"),
            ("<x><c r='A1' t='n'><v>seven</v></c></x>", "a number of a cell is none"),
            ("<!DOCTYPE x [<!ENTITY a 'a'>]><x/>", "it declares a type of document"),
            ("<x>\0</x>", "it is not UTF-8"),
        ] {
            assert_eq!(examine(xml.as_bytes()), Err(why.to_owned()), "{xml}");
        }
        assert!(examine(b"<a><b></a>").is_err() && examine(b"<a").is_err());
        assert_eq!(
            examine(b"<x><sst uniqueCount='3'/><c r='XFD1048576' t='n'><v>-1.5e3</v></c><c><v>x</v></c></x>"),
            Ok(())
        );
    }

    #[test]
    fn an_archive_that_unpacks_to_too_much_is_left() {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file("xl/workbook.xml", options).unwrap();
        archive.write_all(&vec![b' '; 10 << 20]).unwrap();
        let bomb = archive.finish().unwrap().into_inner();
        assert!(bomb.len() < 100_000, "{}", bomb.len());
        assert_eq!(unpack(&bomb, 1 << 20), Err(What::TooMany { of: "bytes when it is unpacked", most: 1 << 20 }));
        assert!(unpack(&bomb, 10 << 20).is_ok());
    }

    #[test]
    fn an_archive_has_no_more_parts_than_workbooks_have() {
        let parts: Vec<Part> = (0..=PARTS).map(|at| (format!("{at}.xml"), b"<a/>".to_vec())).collect();
        assert_eq!(unpack(&pack(&parts).unwrap(), 1 << 20), Err(What::TooMany { of: "parts", most: PARTS }));
        assert_eq!(unpack(&pack(&parts[1..]).unwrap(), 1 << 20), Ok(parts[1..].to_vec()));
    }
}
