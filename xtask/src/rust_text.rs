//! Rust source with comments and the insides of literals blanked, so that a search finds code only. Lines keep their
//! numbers and bytes keep their places.

/// Blanks comments and the contents of strings and characters with spaces.
pub(crate) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => block_end(bytes, at),
            b'"' => string_end(bytes, at + 1),
            b'\'' => match character_end(bytes, at) {
                Some(end) => end,
                None => at + 1,
            },
            b'r' if !follows_word(bytes, at) => match raw_end(bytes, at) {
                Some(end) => end,
                None => at + 1,
            },
            _ => at + 1,
        };
        if end > at + 1 {
            for byte in &mut code[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at = end;
    }
    // Whole literals and comments are replaced, so what is left is still UTF-8.
    String::from_utf8_lossy(&code).into_owned()
}

/// Whether a byte can be part of a name.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether the byte before is part of a name; the prefixes of `br"…"` and `cr"…"` do not count.
fn follows_word(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    match before(1) {
        Some(b'b' | b'c') => before(2).is_some_and(is_word),
        Some(byte) => is_word(byte),
        None => false,
    }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
}

/// Block comments nest.
fn block_end(bytes: &[u8], at: usize) -> usize {
    let (mut at, mut depth) = (at, 0usize);
    while at < bytes.len() {
        match &bytes[at..bytes.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a character literal, or nothing if the quote begins a lifetime or a label.
fn character_end(bytes: &[u8], at: usize) -> Option<usize> {
    let first = *bytes.get(at + 1)?;
    if first == b'\\' {
        // The escaped byte may itself be a quote.
        let rest = bytes.get(at + 3..)?;
        return rest.iter().position(|&byte| byte == b'\'').map(|length| at + 3 + length + 1);
    }
    let width = match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    (bytes.get(at + 1 + width) == Some(&b'\'')).then_some(at + width + 2)
}

/// The end of a raw string that begins with this `r`, if one does.
fn raw_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|&&byte| byte == b'#').count();
    let open = at + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let inside = &bytes[open + 1..];
    let length = inside.windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

#[cfg(test)]
mod tests {
    use super::code_only;

    #[track_caller]
    fn check(source: &str, expect: &str) {
        let code = code_only(source);
        assert_eq!(code.len(), source.len(), "bytes keep their places");
        assert_eq!(code.matches('\n').count(), source.matches('\n').count(), "lines keep their numbers");
        assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expect);
    }

    #[test]
    fn comments_and_literals_vanish_and_code_stays() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"f("x \" y", z)"#, "f( , z)");
        check("f(r#\"x \" y\"#, z)", "f( , z)");
        check("f(br\"x\\\", z)", "f(b , z)");
        check("f('\"', '\\'', 'ä', z)", "f( , , , z)");
        check("\"// no comment\" a", "a");
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("r#type + for\"x\"", "r#type + for");
    }
}
