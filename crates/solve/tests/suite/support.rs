//! What every test of the engines needs: the library.

use benchwright_solve::Library;

/// The library. Without it a test fails and says how to get it; with `BENCHWRIGHT_NO_SOLVER=1` it says that it is skipped.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn library() -> Option<Library> {
    match Library::find() {
        Ok(library) => Some(library),
        Err(error) if std::env::var("BENCHWRIGHT_NO_SOLVER").is_ok_and(|value| value == "1") => {
            println!("skipped, because BENCHWRIGHT_NO_SOLVER is 1: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
