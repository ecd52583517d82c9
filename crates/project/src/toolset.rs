//! Which tools an agent is offered when it is not offered all: those it needs, and others that look as if it needed them.

use benchwright_base::Stream;
use std::collections::BTreeSet;

/// What a tool of the table of a needed one is worth, in shared words.
const SAME_TABLE: usize = 1_000;

/// A tool to choose from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offered<'t> {
    /// The name that it is chosen and called by.
    pub name: &'t str,
    /// The table it is about, if it is about one.
    pub table: Option<&'t str>,
    /// What it does, as an agent is told; its words decide what looks alike.
    pub description: &'t str,
}

/// The tools that are used and so many distractors, in the order of the list.
///
/// A distractor is the nearer, first, if it is about a table that a used tool is about; then by the largest share of words that
/// its name and description have in common with those of one used tool. Ties are broken by the stream of the seed and key, so
/// the same seed gives the same tools. Where the list has fewer others, all of them are taken.
pub fn toolset(
    tools: &[Offered<'_>],
    used: &BTreeSet<String>,
    distractors: usize,
    seed: u64,
    key: &[&str],
) -> Vec<String> {
    let is_used = |tool: &Offered<'_>| used.contains(tool.name);
    let tables: BTreeSet<&str> = tools.iter().filter(|tool| is_used(tool)).filter_map(|tool| tool.table).collect();
    let needed: Vec<BTreeSet<String>> = tools.iter().filter(|tool| is_used(tool)).map(words).collect();
    let mut others: Vec<&Offered<'_>> = tools.iter().filter(|tool| !is_used(tool)).collect();
    // A shuffle before a stable sort decides ties; by name first, so that the order of the list does not.
    others.sort_by_key(|tool| tool.name);
    Stream::new(seed, key).shuffle(&mut others);
    others.sort_by_cached_key(|tool| {
        let own = words(tool);
        let likeness = needed.iter().map(|other| likeness(&own, other)).max().unwrap_or_default();
        let shares = tool.table.is_some_and(|table| tables.contains(table));
        std::cmp::Reverse(likeness + if shares { SAME_TABLE } else { 0 })
    });
    let chosen: BTreeSet<&str> = others.iter().take(distractors).map(|tool| tool.name).collect();
    let kept = tools.iter().filter(|tool| is_used(tool) || chosen.contains(tool.name));
    kept.map(|tool| tool.name.to_owned()).collect()
}

/// The words of a tool: runs of letters and digits of three or more, in small letters.
fn words(tool: &Offered<'_>) -> BTreeSet<String> {
    let text = format!("{} {}", tool.name, tool.description).to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3).map(str::to_owned).collect()
}

/// Shared words in thousandths of all words of both; below [`SAME_TABLE`] but for the same words.
fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> usize {
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    (shared * 1_000).checked_div(all).unwrap_or_default().min(SAME_TABLE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [(&str, &str, &str); 7] = [
        ("order_create", "order", "Makes an order of a customer."),
        ("order_cancel", "order", "Cancels an order."),
        ("order_note", "order", "Puts a note on it."),
        ("invoice_create", "invoice", "Makes an invoice of a customer."),
        ("colour_list", "colour", "Lists colours."),
        ("shape_list", "shape", "Lists shapes."),
        ("weather", "", "Tells the weather."),
    ];

    fn chosen(distractors: usize, seed: u64) -> Vec<String> {
        let offered = TOOLS.map(|(name, table, description)| Offered {
            name,
            table: (!table.is_empty()).then_some(table),
            description,
        });
        let used = BTreeSet::from(["order_create".to_owned()]);
        toolset(&offered, &used, distractors, seed, &["tools"])
    }

    #[test]
    fn the_nearest_come_first_and_the_order_of_the_list_stays() {
        assert_eq!(chosen(0, 1), ["order_create"]);
        assert_eq!(chosen(1, 1), ["order_create", "order_cancel"], "the same table, and more words in common");
        assert_eq!(chosen(2, 1), ["order_create", "order_cancel", "order_note"], "a table counts more than words");
        assert_eq!(chosen(3, 1), ["order_create", "order_cancel", "order_note", "invoice_create"]);
        assert_eq!(chosen(99, 1).len(), TOOLS.len());
    }

    #[test]
    fn a_larger_set_holds_the_smaller_and_the_seed_breaks_ties_only() {
        let mut last: BTreeSet<String> = BTreeSet::new();
        for n in 0..=6 {
            let set: BTreeSet<String> = chosen(n, 7).into_iter().collect();
            assert!(last.is_subset(&set) && set.len() == n + 1);
            assert_eq!(chosen(n, 7), chosen(n, 7));
            last = set;
        }
        let fifth: BTreeSet<Vec<String>> = (0..20).map(|seed| chosen(4, seed)).collect();
        assert!(fifth.len() > 1, "what is equally far is drawn");
        assert!(fifth.iter().all(|set| set.contains(&"invoice_create".to_owned())));
    }

    #[test]
    fn the_order_of_the_list_decides_nothing() {
        let mut offered = TOOLS.map(|(name, table, description)| Offered { name, table: Some(table), description });
        let used = BTreeSet::from(["colour_list".to_owned(), "not_there".to_owned()]);
        let mut once = toolset(&offered, &used, 3, 3, &[]);
        offered.reverse();
        let mut again = toolset(&offered, &used, 3, 3, &[]);
        once.sort();
        again.sort();
        assert_eq!(once, again);
    }
}
