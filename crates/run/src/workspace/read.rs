//! Reads what was left to be handed in: plain files named after forms. Whoever left it may have left links, devices, pipes that nobody
//! writes to, files without an end, or may still be writing.

use super::Note;
use benchwright_base::Json;
use nix::{
    fcntl::{AT_FDCWD, OFlag, openat},
    sys::stat::Mode,
};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata},
    io::{self, Read as _},
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _},
    },
    path::Path,
};

/// The most entries of a folder, whatever they are.
const MOST_FILES: usize = 20;
/// The most bytes of all its files.
const MOST_BYTES: u64 = 2 << 20;
/// The longest name of a form.
const LONGEST_FORM: usize = 40;
/// How the folders of stages begin.
const STAGE: &str = "stage-";

/// A file that is to be handed in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sheet {
    /// Its name.
    pub file: String,
    /// The form that it is.
    pub form: String,
    /// What it holds.
    pub text: String,
    /// Whether that is rows in JSON; else it is CSV.
    pub is_json: bool,
}

/// What a folder holds that was left to be handed in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Submission {
    /// What can be handed in, in order of names.
    pub sheets: Vec<Sheet>,
    /// What cannot, and why.
    pub refused: Vec<Note>,
}

/// Reads a folder that was left to be handed in. An error is one of the folder itself: it is not there, or is none.
pub fn read_folder(folder: &Path) -> io::Result<Submission> {
    read_opened(&open_path(folder)?)
}

/// Reads a folder with a folder for each stage, `stage-1` and so on; one without them is that of the first stage.
pub fn read_stages(folder: &Path) -> io::Result<Vec<Submission>> {
    let top = open_path(folder)?;
    let Some(names) = names(&top)? else { return Ok(vec![too_many()]) };
    let mut stages: BTreeMap<usize, Submission> = BTreeMap::new();
    let mut others = Vec::new();
    for name in names {
        let stage = name.to_str().and_then(stage_of);
        match stage.map(|stage| (stage, open_folder(top.as_fd(), &name))) {
            Some((stage, Ok(opened))) => {
                let mut read = read_opened(&opened)?;
                let beside = |file: &mut String| *file = format!("{STAGE}{stage}/{file}");
                read.sheets.iter_mut().for_each(|sheet| beside(&mut sheet.file));
                read.refused.iter_mut().for_each(|note| beside(&mut note.file));
                stages.insert(stage, read);
            }
            _ => others.push(name),
        }
    }
    let Some(last) = stages.keys().last().copied() else { return Ok(vec![read_opened(&top)?]) };
    let mut all: Vec<Submission> = (1..=last).map(|stage| stages.remove(&stage).unwrap_or_default()).collect();
    let beside = "it stands beside folders of stages; a file belongs into one of them";
    all[0].refused.extend(others.iter().map(|name| Note::refused(&shown(name), beside)));
    Ok(all)
}

/// The number of a stage by the name of its folder.
fn stage_of(name: &str) -> Option<usize> {
    let number = name.strip_prefix(STAGE)?;
    let is_plain = !number.starts_with('0') && number.bytes().all(|digit| digit.is_ascii_digit());
    number.parse().ok().filter(|number| is_plain && (1..=MOST_FILES).contains(number))
}

/// Reads a folder that a program left. Whatever it made of the folder is told; who could make an error of it would choose which of its trials
/// count.
pub(crate) fn read_left(opened: io::Result<OwnedFd>) -> Submission {
    let read = opened.and_then(|folder| read_opened(&folder));
    let told = |error: io::Error| vec![Note::refused(".", &error.to_string())];
    read.unwrap_or_else(|error| Submission { sheets: Vec::new(), refused: told(error) })
}

/// Reads a folder that was opened, perhaps long before.
fn read_opened(folder: &OwnedFd) -> io::Result<Submission> {
    let Some(names) = names(folder)? else { return Ok(too_many()) };
    let mut read = Submission::default();
    let mut left = MOST_BYTES;
    for name in names {
        match sheet(folder.as_fd(), &name, &mut left) {
            Ok(sheet) => read.sheets.push(sheet),
            Err(why) => read.refused.push(Note::refused(&shown(&name), &why)),
        }
    }
    // Nobody can say which of two files was meant.
    let twice = |form: &str, sheets: &[Sheet]| sheets.iter().filter(|sheet| sheet.form == form).count() > 1;
    let (double, once) = read.sheets.iter().cloned().partition(|sheet| twice(&sheet.form, &read.sheets));
    read.sheets = once;
    let double: Vec<Sheet> = double;
    let why = |sheet: &Sheet| format!("the form `{}` is there twice; leave one of its files", sheet.form);
    read.refused.extend(double.iter().map(|sheet| Note::refused(&sheet.file, &why(sheet))));
    Ok(read)
}

fn too_many() -> Submission {
    let why = format!("there are more than {MOST_FILES} files, so that none was read");
    Submission { sheets: Vec::new(), refused: vec![Note::refused(".", &why)] }
}

fn shown(name: &OsStr) -> String {
    name.to_string_lossy().chars().take(200).collect()
}

/// Opens a folder that is no link, by its path.
pub(crate) fn open_path(folder: &Path) -> io::Result<OwnedFd> {
    open_folder(AT_FDCWD, folder.as_os_str())
}

/// Opens a folder that is no link.
fn open_folder(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

/// The names in a folder, in order; nothing where there are too many.
fn names(folder: &OwnedFd) -> io::Result<Option<Vec<OsString>>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(reopened(folder))? {
        names.push(entry?.file_name());
        if names.len() > MOST_FILES {
            return Ok(None);
        }
    }
    names.sort_unstable();
    Ok(Some(names))
}

/// A path that leads to what is open, and to nothing else.
fn reopened(opened: impl AsFd) -> String {
    format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd())
}

/// Reads one file, or says why it is not to be handed in.
fn sheet(folder: BorrowedFd<'_>, name: &OsStr, left: &mut u64) -> Result<Sheet, String> {
    let said = |error: io::Error| error.to_string();
    // The place alone: a device or a pipe is not opened by that, and a link is itself.
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let found = openat(folder, name, flags, Mode::empty()).map_err(|error| said(error.into()))?;
    let found = File::from(found);
    let about = found.metadata().map_err(said)?;
    if let Some(other) = no_plain_file(&about) {
        return Err(format!("it is {other}; only plain files are read"));
    }
    let form = |end: &str| name.to_str().and_then(|name| name.strip_suffix(end)).filter(|form| is_form(form));
    let (form, is_json) = match (form(".csv"), form(".json")) {
        (Some(form), _) => (form, false),
        (None, Some(form)) => (form, true),
        (None, None) => return Err("its name is not that of a form with .csv or .json".to_owned()),
    };
    let most = *left;
    let too_long = || format!("with it there are more than {MOST_BYTES} bytes");
    if about.len() > most {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    let opened = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(reopened(&found));
    // It may have grown since it was looked at.
    opened.and_then(|file| file.take(most + 1).read_to_end(&mut bytes)).map_err(said)?;
    let length = bytes.len() as u64;
    *left = most.checked_sub(length).ok_or_else(too_long)?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    if is_json && let Err(error) = Json::parse(&text) {
        return Err(format!("it is not JSON: {error}"));
    }
    Ok(Sheet { file: shown(name), form: form.to_owned(), text, is_json })
}

/// What it is, where it is no plain file with one name.
fn no_plain_file(about: &Metadata) -> Option<&'static str> {
    let kind = about.file_type();
    let named = [
        (kind.is_file() && about.nlink() > 1, "a file with another name elsewhere"),
        (kind.is_symlink(), "a link"),
        (kind.is_dir(), "a folder"),
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
        (!kind.is_file(), "a device"),
    ];
    named.into_iter().find_map(|(is_so, what)| is_so.then_some(what))
}

/// Whether something can be the name of a form.
fn is_form(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=LONGEST_FORM).contains(&name.len()) && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::{
        sys::stat::{SFlag, makedev, mknod},
        unistd::{geteuid, mkfifo},
    };
    use std::{
        os::unix::{fs::symlink, net::UnixListener},
        path::PathBuf,
    };

    /// A folder that goes with the test.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let folder = std::env::temp_dir().join(format!("benchwright-submission-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            Place(folder)
        }

        fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// The files that are handed in, and what is told of the others.
    fn told(read: &Submission) -> (Vec<&str>, BTreeMap<&str, &str>) {
        let refused = read.refused.iter().map(|note| (&*note.file, note.refused.as_deref().unwrap_or_default()));
        (read.sheets.iter().map(|sheet| &*sheet.file).collect(), refused.collect())
    }

    #[test]
    fn plain_files_named_after_forms_are_read_in_order_of_names() {
        let place = Place::new("plain");
        place.file("runs.csv", "item,batches\nred,2\n");
        place.file("overtime.json", r#"[{"period":1,"minutes":30}]"#);
        let read = read_folder(&place.0).unwrap();
        let sheet = |file: &str, form: &str, text: &str, is_json| {
            let [file, form, text] = [file, form, text].map(str::to_owned);
            Sheet { file, form, text, is_json }
        };
        assert_eq!(
            read.sheets,
            [
                sheet("overtime.json", "overtime", r#"[{"period":1,"minutes":30}]"#, true),
                sheet("runs.csv", "runs", "item,batches\nred,2\n", false),
            ]
        );
        assert_eq!(read.refused, []);
        assert_eq!(read_folder(&place.0.join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// Whatever is no plain file is told by its name, is never opened and holds nobody up; what is beside it is read.
    #[test]
    fn links_pipes_devices_folders_and_sockets_are_told_and_not_opened() {
        let place = Place::new("kinds");
        place.file("good.csv", "a\n");
        let secret = Place::new("kinds-secret");
        let elsewhere = secret.file("secret.csv", "secret\n");
        symlink(&elsewhere, place.0.join("link.csv")).unwrap();
        symlink("/dev/zero", place.0.join("zero.csv")).unwrap();
        symlink("link2.csv", place.0.join("link2.csv")).unwrap();
        fs::hard_link(&elsewhere, place.0.join("hard.csv")).unwrap();
        mkfifo(&place.0.join("pipe.csv"), Mode::from_bits_truncate(0o666)).unwrap();
        place.file("folder.csv/runs.csv", "x\n");
        let _socket = UnixListener::bind(place.0.join("socket.csv")).unwrap();
        // Only root can make a device; it is one that has no end.
        let has_device = geteuid().is_root();
        if has_device {
            let path = place.0.join("device.csv");
            mknod(&path, SFlag::S_IFCHR, Mode::from_bits_truncate(0o666), makedev(1, 5)).unwrap();
        }
        let read = read_folder(&place.0).unwrap();
        let (sheets, mut refused) = told(&read);
        assert_eq!(sheets, ["good.csv"]);
        assert_eq!(refused.remove("device.csv").map(|why| why.contains("a device")), has_device.then_some(true));
        let words = [
            ("folder.csv", "a folder"),
            ("hard.csv", "another name"),
            ("link.csv", "a link"),
            ("link2.csv", "a link"),
            ("pipe.csv", "a pipe"),
            ("socket.csv", "a socket"),
            ("zero.csv", "a link"),
        ];
        assert_eq!(refused.keys().copied().collect::<Vec<_>>(), words.map(|(name, _)| name));
        for (name, word) in words {
            assert!(refused[name].contains(word), "{name}: {}", refused[name]);
        }
        // The folder itself is no link either.
        let link = secret.0.join("folder");
        symlink(&place.0, &link).unwrap();
        assert!(read_folder(&link).is_err());
    }

    #[test]
    fn no_more_is_read_than_the_limits_allow() {
        let place = Place::new("limits");
        place.file("a.csv", "a\n");
        place.file("large.csv", vec![b'x'; 3 << 20]);
        place.file("most.csv", vec![b'x'; (2 << 20) - 2]);
        place.file("z.csv", "z\n");
        let read = read_folder(&place.0).unwrap();
        let (sheets, refused) = told(&read);
        assert_eq!(sheets, ["a.csv", "most.csv"]);
        assert_eq!(refused.keys().copied().collect::<Vec<_>>(), ["large.csv", "z.csv"]);
        assert!(refused["large.csv"].contains("2097152 bytes"), "{refused:?}");
        // Twenty are read, and of more none.
        let place = Place::new("many");
        for number in 0..20 {
            place.file(&format!("form_{number}.csv"), "");
        }
        assert_eq!(read_folder(&place.0).unwrap().sheets.len(), 20);
        place.file("form_20.csv", "");
        let read = read_folder(&place.0).unwrap();
        let (sheets, refused) = told(&read);
        assert!(sheets.is_empty() && refused["."].contains("more than 20 files"), "{refused:?}");
    }

    #[test]
    fn names_that_are_no_forms_and_texts_that_are_none_are_told() {
        let place = Place::new("names");
        for name in ["notes.txt", "Runs.csv", "a-b.csv", ".csv", ".runs.csv", "runs.csv.bak", "..x.csv"] {
            place.file(name, "x\n");
        }
        place.file(&format!("{}.csv", "x".repeat(41)), "x\n");
        place.file("latin.csv", [b'a', 0xe9]);
        place.file("broken.json", "[1], \"csv\": \"x\"");
        place.file("twice.csv", "x\n");
        place.file("twice.json", "[]");
        let read = read_folder(&place.0).unwrap();
        let (sheets, refused) = told(&read);
        assert_eq!((sheets.len(), refused.len()), (0, 12), "{sheets:?} {refused:?}");
        assert!(refused["latin.csv"].contains("UTF-8") && refused["broken.json"].contains("not JSON"), "{refused:?}");
        assert!(refused["twice.csv"].contains("twice") && refused["twice.json"].contains("twice"), "{refused:?}");
        assert!(refused["Runs.csv"].contains("form"), "{refused:?}");
    }

    #[test]
    fn folders_of_stages_are_read_in_order_and_a_flat_one_is_the_first() {
        let place = Place::new("stages");
        place.file("stage-1/runs.csv", "1\n");
        place.file("stage-3/runs.csv", "3\n");
        place.file("stage-3/notes.txt", "");
        place.file("runs.csv", "beside\n");
        place.file("stage-007/runs.csv", "7\n");
        let secret = Place::new("stages-secret");
        secret.file("runs.csv", "secret\n");
        symlink(&secret.0, place.0.join("stage-2")).unwrap();
        let stages = read_stages(&place.0).unwrap();
        let all: Vec<_> = stages.iter().map(told).collect();
        assert_eq!(
            all.iter().map(|(sheets, _)| sheets.clone()).collect::<Vec<_>>(),
            [vec!["stage-1/runs.csv"], vec![], vec!["stage-3/runs.csv"],]
        );
        assert_eq!(all[0].1.keys().copied().collect::<Vec<_>>(), ["runs.csv", "stage-007", "stage-2"]);
        assert_eq!(all[2].1.keys().copied().collect::<Vec<_>>(), ["stage-3/notes.txt"]);
        let flat = Place::new("flat");
        flat.file("runs.csv", "1\n");
        let stages = read_stages(&flat.0).unwrap();
        assert_eq!((stages.len(), told(&stages[0]).0), (1, vec!["runs.csv"]));
    }
}
