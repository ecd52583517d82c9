//! Where the code that runs here lies: in the program, or in a library that another program has loaded, such as the module for Python.

use std::{fs, path::PathBuf};

/// The file that this code was loaded from.
pub fn file() -> Option<PathBuf> {
    holding(&fs::read_to_string("/proc/self/maps").ok()?, file as *const () as u64)
}

/// The file of the mapping that an address lies in: `559a-55ab r-xp 00000000 08:02 173521    /usr/bin/name`.
fn holding(maps: &str, address: u64) -> Option<PathBuf> {
    let begins = |word: &str| u64::from_str_radix(word, 16).ok();
    let line = maps.lines().find(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let ends = range.and_then(|(from, to)| Some((begins(from)?, begins(to)?)));
        ends.is_some_and(|(from, to)| (from..to).contains(&address))
    })?;
    let path = &line[line.find('/')?..];
    // What was replaced while it ran is another build's by now.
    (!path.ends_with(" (deleted)")).then(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_this_program_here() {
        assert_eq!(file(), std::env::current_exe().ok());
    }

    #[test]
    fn a_mapping_is_found_by_its_address() {
        let maps = "1000-2000 r--p 0 08:02 1    /bin/a\n2000-3000 r-xp 0 08:02 2    /lib/with a blank.so\n3000-4000 rw-p 0 00:00 0 \n4000-5000 r-xp 0 08:02 3    /lib/b (deleted)\n";
        assert_eq!(holding(maps, 0x1fff), Some("/bin/a".into()));
        assert_eq!(holding(maps, 0x2000), Some("/lib/with a blank.so".into()));
        for nowhere in [0x0fff, 0x3500, 0x4000, 0x5000] {
            assert_eq!(holding(maps, nowhere), None, "{nowhere:x}");
        }
    }
}
