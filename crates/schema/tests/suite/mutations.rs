//! Whatever bytes the files hold, the loader answers.

use crate::common;
use benchwright_base::Stream;
use benchwright_schema::load;

const SCRAPS: [&str; 24] = [
    "\"",
    "'",
    "[",
    "]",
    "[[",
    "=",
    "->",
    "(",
    ")",
    "{",
    "}",
    ",",
    "..",
    "~",
    "!",
    "?",
    "\n",
    "\\",
    "é",
    "\u{0}",
    "99999999999999999999",
    "null",
    "of",
    "\"\"\"",
];

#[test]
fn no_mutation_of_the_good_domain_makes_the_loader_panic() {
    let good = common::shop();
    let names: Vec<&String> = good.files.keys().collect();
    let mut stream = Stream::new(13, &["schema", "mutations"]);
    let mut accepted = 0;
    for _ in 0..4_000 {
        let mut folder = good.clone();
        for _ in 0..=stream.below(3) {
            let name = *stream.pick(&names).unwrap();
            let text = folder.files.get_mut(name).unwrap();
            let at = |stream: &mut Stream, text: &str| {
                let mut at = stream.below(text.len() as u64 + 1) as usize;
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let (a, b) = (at(&mut stream, text), at(&mut stream, text));
            match stream.below(5) {
                0 => text.insert_str(a, stream.pick(&SCRAPS).unwrap()),
                1 => {
                    let end =
                        text[a..].char_indices().nth(1 + stream.below(4) as usize).map_or(text.len(), |(n, _)| a + n);
                    text.replace_range(a..end, "");
                }
                2 => {
                    let line =
                        text.lines().nth(stream.below(text.lines().count() as u64) as usize).unwrap_or("").to_owned();
                    text.insert_str(a, &line);
                }
                3 => text.truncate(a),
                _ => {
                    let moved: String = text[a.min(b)..a.max(b)].chars().take(40).collect();
                    text.insert_str(b, &moved);
                }
            }
        }
        match load(&folder) {
            Ok(_) => accepted += 1,
            Err(faults) => assert!(!faults.is_empty()),
        }
    }
    // Most changes are faults; some only touch a sentence or a remark.
    assert!(accepted > 0 && accepted < 2_000, "{accepted}");
}
