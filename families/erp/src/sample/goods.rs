//! The word lists of `goods.toml`.

use benchwright_base::Stream;
use serde::Deserialize;
use std::sync::LazyLock;

/// All words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Goods {
    line: Vec<Line>,
    names: Names,
}

/// A product line.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    /// Its name.
    pub(crate) name: String,
    /// How its codes begin.
    pub(crate) prefix: String,
    /// The range of list prices, in dollars.
    pub(crate) price: (i64, i64),
    /// Finished products.
    pub(crate) finished: Vec<String>,
    /// Modules built in house.
    pub(crate) modules: Vec<String>,
    /// Bought parts.
    pub(crate) parts: Vec<String>,
    /// Work centres.
    pub(crate) centres: Vec<String>,
}

/// Names of companies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    /// Suppliers.
    pub(crate) vendors: Vec<String>,
    /// Customers.
    pub(crate) customers: Vec<String>,
}

static GOODS: LazyLock<Result<Goods, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../goods.toml")).map_err(|error| format!("goods.toml: {error}")));

/// The names of the product lines.
pub(crate) fn lines() -> Vec<&'static str> {
    GOODS.as_ref().map_or_else(|_| Vec::new(), |goods| goods.line.iter().map(|line| &*line.name).collect())
}

/// A product line by its name, and the names of companies.
pub(crate) fn line(name: &str) -> Result<(&'static Line, &'static Names), String> {
    let goods = GOODS.as_ref().map_err(Clone::clone)?;
    let line = goods.line.iter().find(|line| line.name == name);
    line.map(|line| (line, &goods.names)).ok_or_else(|| format!("goods.toml has no line `{name}`"))
}

/// The words of a list in a random order.
pub(crate) fn shuffled<'a>(stream: &mut Stream, words: &'a [String]) -> Vec<&'a str> {
    let mut words: Vec<&str> = words.iter().map(|word| &**word).collect();
    stream.shuffle(&mut words);
    words
}

/// The numbers from `first` to `last` in a random order.
pub(crate) fn numbers(stream: &mut Stream, first: i64, last: i64) -> Vec<i64> {
    let mut numbers: Vec<i64> = (first..=last).collect();
    stream.shuffle(&mut numbers);
    numbers
}
