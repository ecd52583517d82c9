//! Text in columns and paragraphs.

/// The longest cell of a table of answers, in characters.
pub const WIDEST_CELL: usize = 20;

/// Rows in aligned columns, two blanks between, without blanks at the end of a line. The columns of `right` are numbers.
pub fn columns(rows: &[Vec<String>], right: &[usize], indent: usize) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| length(cell)).max().unwrap_or_default();
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (at, cell) in row.iter().enumerate() {
            let room = " ".repeat(widths[at] - length(cell));
            if at > 0 {
                line.push_str("  ");
            }
            if right.contains(&at) {
                line.push_str(&room);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&room);
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A text in lines of at most `width` characters; the first begins after `first`, the others are indented as far as it.
pub fn paragraph(first: &str, text: &str, width: usize) -> String {
    let indent = length(first);
    let mut out = first.to_owned();
    let mut used = indent;
    let mut is_fresh = true;
    for word in text.split_whitespace() {
        let long = length(word);
        if !is_fresh && used + 1 + long > width.max(indent + 20) {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if !is_fresh {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += long;
        is_fresh = false;
    }
    let mut out = out.trim_end().to_owned();
    out.push('\n');
    out
}

/// A text on one line of at most so many characters, with nothing in it that a terminal would obey.
pub fn cut(text: &str, most: usize) -> String {
    let clean = clean(text);
    if length(&clean) <= most {
        return clean;
    }
    let mut short: String = clean.chars().take(most.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// A text on one line, with nothing in it that a terminal would obey.
pub fn clean(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// How many characters a text has.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// A count with its noun: `1 row`, `3 rows`.
pub fn counted(count: usize, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters_and_end_without_blanks() {
        let rows = [["é", "10", "x"], ["abc", "7", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows, &[1], 2), "  é    10  x\n  abc   7\n");
    }

    #[test]
    fn paragraphs_hang_under_their_first_word() {
        assert_eq!(paragraph("ab  ", "one two three four five six", 14), "ab  one two three four\n    five six\n");
        assert_eq!(paragraph("ab  ", "", 14), "ab\n");
    }

    #[test]
    fn what_a_terminal_would_obey_is_taken_out() {
        assert_eq!(cut("a\x1b[31mb\nc", 40), "a [31mb c");
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
