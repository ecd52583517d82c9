//! The files of a domain's folder as text by path, wherever they came from: a disk, or the program itself. This is what
//! [`crate::load`] reads, so that loading needs no file system.

use std::collections::BTreeMap;

/// The files of one folder by their path in it, with `/` between parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Folder {
    /// The folder's own name, which must be the domain's.
    pub name: String,
    /// The text of each file by its path in the folder, such as `tables.toml` or `cases/close.case`.
    pub files: BTreeMap<String, String>,
    /// The parts that it includes, with paths that begin at the folder of all domains.
    pub parts: Vec<Folder>,
    /// The names of all parts that there are, for those who misspell one.
    pub known_parts: Vec<String>,
}

impl Folder {
    /// The largest file that is read, in bytes.
    pub const LARGEST_FILE: usize = 1 << 20;
    /// The folder, beside those of domains, in which parts stand.
    pub const PARTS: &str = "_parts";
    /// The most that all files of a folder may hold, in bytes.
    pub const LARGEST_FOLDER: usize = 8 << 20;

    /// A folder of these files.
    pub fn new(name: impl Into<String>, files: impl IntoIterator<Item = (String, String)>) -> Folder {
        Folder { name: name.into(), files: files.into_iter().collect(), ..Folder::default() }
    }

    /// The same folder with a part that it includes. In the part's declarations `{domain}` stands for the domain's name, and `{tables}`
    /// for the names of the domain's own tables with commas between them.
    #[must_use]
    pub fn with_part(mut self, part: &str, files: impl IntoIterator<Item = (String, String)>) -> Folder {
        let tables = self.own_tables().join(", ");
        let filled = |text: String| {
            // Where there are none, a list goes without them.
            let text = if tables.is_empty() { text.replace(", {tables}", "") } else { text };
            text.replace("{domain}", &self.name).replace("{tables}", &tables)
        };
        let own = |(path, text): (String, String)| {
            let text = if path.ends_with(".toml") { filled(text) } else { text };
            (format!("{}/{part}/{path}", Folder::PARTS), text)
        };
        let files = files.into_iter().map(own).collect();
        self.parts.push(Folder { name: part.to_owned(), files, ..Folder::default() });
        self
    }

    /// The names of the parts that its `domain.toml` includes, as far as that can be read; faults are told when it is loaded.
    pub fn includes(&self) -> Vec<String> {
        let table: Option<toml::Table> = self.get("domain.toml").and_then(|text| text.parse().ok());
        let list = table.as_ref().and_then(|table| table.get("include")).and_then(toml::Value::as_array);
        list.into_iter().flatten().filter_map(|part| part.as_str().map(str::to_owned)).collect()
    }

    /// The names of the tables that its own `tables.toml` declares, in order, as far as that can be read; faults are told when it is
    /// loaded.
    pub fn own_tables(&self) -> Vec<String> {
        let tables: Option<toml::Table> = self.get("tables.toml").and_then(|text| text.parse().ok());
        tables.into_iter().flatten().map(|(name, _)| name).filter(|name| name != "enums").collect()
    }

    /// The names of its tools and of those of its parts, as far as they can be read; faults are told when it is loaded.
    pub fn tool_names(&self) -> Vec<String> {
        let own = self.get("tools.toml");
        let path = |part: &Folder| format!("{}/{}/tools.toml", Folder::PARTS, part.name);
        let parts = self.parts.iter().filter_map(|part| part.get(&path(part)));
        let tables = own.into_iter().chain(parts).filter_map(|text| text.parse::<toml::Table>().ok());
        tables.flat_map(|table| table.keys().cloned().collect::<Vec<_>>()).collect()
    }

    /// The text of a file by its path in the folder.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|text| &**text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_speaks_of_the_domain_and_of_its_own_tables() {
        let part = || [("tools.toml".to_owned(), "{domain}_show = \"native reads stage, {tables}: x\"".to_owned())];
        let told = |tables: &str| {
            let folder = Folder::new("shop", [("tables.toml".to_owned(), tables.to_owned())]).with_part("desk", part());
            folder.parts[0].get("_parts/desk/tools.toml").unwrap_or_default().to_owned()
        };
        let tables = "[enums]\nA = [\"a\"]\n[runs]\nitem = \"text\"\n[overtime]\nminutes = \"int\"\n";
        assert_eq!(told(tables), "shop_show = \"native reads stage, overtime, runs: x\"");
        assert_eq!(told("[enums]\nA = [\"a\"]\n"), "shop_show = \"native reads stage: x\"");
        assert_eq!(told("not = toml = "), "shop_show = \"native reads stage: x\"");
    }
}
