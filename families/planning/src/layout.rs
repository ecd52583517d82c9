//! What the records of a workflow are: tables with columns, each known by a key, by several columns together, or holding one row. From
//! this follow the sorts, sets and facts that rules speak of, so that nothing of it is listed twice.

use benchwright_base::Diagnostic;
use benchwright_expr::Type;
use benchwright_schema::{Domain, Folder, load, plan::PlanText};
use std::{collections::BTreeMap, sync::Arc};

/// The tables of the records, in the order of the declaration.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The declared tables, to draw records in.
    pub(crate) domain: Arc<Domain>,
    pub(crate) tables: Vec<Table>,
}

/// A table of records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) known_by: KnownBy,
}

/// What tells two rows of a table apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum KnownBy {
    /// The column whose values name the rows.
    Key(usize),
    /// Several columns together.
    Columns(Vec<usize>),
    /// There is one row.
    Nothing,
}

/// A column of such a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A whole number.
    Int,
    /// Money in cents, written with two decimals.
    Money,
    /// Thousandths, written with up to three decimals.
    Quantity,
    /// Yes or no.
    Bool,
    /// A text.
    Text,
    /// The key of a row of another table.
    Ref(usize),
}

/// What the columns of a key are, for rules: a sort by its name, or whole numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    Sort(String),
    Int,
}

impl Argument {
    pub(crate) fn name(&self) -> &str {
        match self {
            Argument::Sort(name) => name,
            Argument::Int => "int",
        }
    }
}

/// The files of a folder that declare its records.
pub(crate) const DATA: &str = "data.toml";
pub(crate) const DRAW: &str = "draw.toml";

impl Layout {
    /// Reads what a folder declares; faults name its own files.
    pub(crate) fn read(folder: &Folder) -> Result<Layout, Vec<Diagnostic>> {
        let missing = |file: &str| vec![Diagnostic::at(file, "", 0, "this file is missing", None)];
        let data = folder.get(DATA).ok_or_else(|| missing(DATA))?;
        let draw = folder.get(DRAW).ok_or_else(|| missing(DRAW))?;
        let head = format!(
            "name = '{}'\ntitle = 'Records'\nrole = 'clerk'\nabout = 'What a plan is made from.'\n",
            folder.name
        );
        let files = [
            ("domain.toml", &*head),
            ("tables.toml", data),
            ("tools.toml", ""),
            ("policy.toml", "[access]\nclerk = ['any on *']\n"),
            ("seed.toml", draw),
        ];
        let records = Folder::new(&*folder.name, files.map(|(path, text)| (path.to_owned(), text.to_owned())));
        let domain = load(&records).map_err(|mut faults| {
            for fault in &mut faults {
                match &*fault.file {
                    "tables.toml" => fault.file = DATA.to_owned(),
                    "seed.toml" => fault.file = DRAW.to_owned(),
                    _ => {}
                }
            }
            faults
        })?;
        let mut layout = Layout { tables: Vec::new(), domain: Arc::new(domain) };
        let mut faults = Vec::new();
        for table in &layout.domain.tables {
            let mut columns = Vec::new();
            for field in table.fields.iter().skip(1) {
                let kind = match field.ty {
                    Type::Int => Kind::Int,
                    Type::Money => Kind::Money,
                    Type::Quantity => Kind::Quantity,
                    Type::Bool => Kind::Bool,
                    Type::Text => Kind::Text,
                    Type::Ref(table) => Kind::Ref(table.index()),
                    _ => {
                        let what = "records hold whole numbers, money, quantities, yes or no, texts and references";
                        let message = format!("`{}.{}` is none of what records hold", table.name, field.name);
                        faults.push(Diagnostic::at(DATA, data, 0, message, Some(what.to_owned())));
                        Kind::Text
                    }
                };
                columns.push(Column { name: field.name.clone(), kind, nullable: field.nullable });
            }
            let key = table.keys.iter().map(|key| key.fields.iter().map(|field| field.index() - 1).collect::<Vec<_>>());
            let mut key: Vec<Vec<usize>> = key.collect();
            // A table that is known by one column needs no other key.
            key.sort_by_key(Vec::len);
            let known_by = match key.into_iter().next() {
                Some(columns) if columns.len() == 1 => KnownBy::Key(columns[0]),
                Some(columns) => KnownBy::Columns(columns),
                None => KnownBy::Nothing,
            };
            layout.tables.push(Table { name: table.name.clone(), columns, known_by });
        }
        for table in &layout.tables {
            for column in &table.columns {
                if let Kind::Ref(to) = column.kind
                    && !matches!(layout.tables[to].known_by, KnownBy::Key(_))
                {
                    let message = format!("`{}.{}` refers to a table without a key", table.name, column.name);
                    let help = format!("let one column of `{}` be `unique`", layout.tables[to].name);
                    faults.push(Diagnostic::at(DATA, data, 0, message, Some(help)));
                }
            }
        }
        for (fact, tables) in layout.facts_by_name() {
            if tables.len() > 1 {
                let message = format!("`{fact}` is a column of {}", tables.join(" and of "));
                let help = "rules know a column by its name alone; give each its own";
                faults.push(Diagnostic::at(DATA, data, 0, message, Some(help.to_owned())));
            }
        }
        if faults.is_empty() { Ok(layout) } else { Err(faults) }
    }

    /// The same without its last tables.
    #[must_use]
    pub(crate) fn without(&self, tables: &[String]) -> Layout {
        let mut less = self.clone();
        less.tables.retain(|table| !tables.contains(&table.name));
        less
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// What a column is for rules: the sort of the rows that it names, or numbers.
    pub(crate) fn argument(&self, table: &Table, column: usize) -> Argument {
        match table.columns[column].kind {
            Kind::Ref(to) => match self.tables[to].known_by {
                KnownBy::Key(key) => self.argument(&self.tables[to], key).or_sort(&self.tables[to].name),
                _ => Argument::Int,
            },
            Kind::Text => Argument::Sort(table.name.clone()),
            _ => Argument::Int,
        }
    }

    /// The arguments of the facts of a table.
    pub(crate) fn arguments(&self, table: &Table) -> Vec<(usize, Argument)> {
        let columns = match &table.known_by {
            KnownBy::Key(column) => vec![*column],
            KnownBy::Columns(columns) => columns.clone(),
            KnownBy::Nothing => Vec::new(),
        };
        columns.into_iter().map(|column| (column, self.argument(table, column))).collect()
    }

    /// The columns of a table that are facts: whatever is no key and can be reckoned with.
    pub(crate) fn facts<'t>(&self, table: &'t Table) -> Vec<(usize, &'t Column)> {
        let keys: Vec<usize> = self.arguments(table).into_iter().map(|(column, _)| column).collect();
        let columns = table.columns.iter().enumerate();
        columns.filter(|(at, column)| !keys.contains(at) && column.kind != Kind::Text).collect()
    }

    /// Whether a table only says which of its rows there are, so that it is a fact itself.
    pub(crate) fn is_relation(&self, table: &Table) -> bool {
        matches!(table.known_by, KnownBy::Columns(_)) && self.facts(table).is_empty()
    }

    fn facts_by_name(&self) -> BTreeMap<String, Vec<String>> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for table in &self.tables {
            for (_, column) in self.facts(table) {
                found.entry(column.name.clone()).or_default().push(table.name.clone());
            }
            if self.is_relation(table) {
                found.entry(table.name.clone()).or_default().push(table.name.clone());
            }
        }
        found
    }

    /// Puts the sorts, sets and facts of the records into a plan. `sets` names those whose name is not the table's with an `s`.
    pub(crate) fn declare(&self, sets: &BTreeMap<String, String>, plan: &mut PlanText) {
        for table in &self.tables {
            let arguments = self.arguments(table);
            if let (KnownBy::Key(_), [(_, argument)]) = (&table.known_by, &arguments[..]) {
                if let Argument::Sort(sort) = argument {
                    plan.sorts.insert(sort.clone(), "text".to_owned());
                }
                plan.sets.insert(set_of(sets, &table.name), argument.name().to_owned());
            }
            let taken: Vec<&str> = arguments.iter().map(|(_, argument)| argument.name()).collect();
            let taken = taken.join(", ");
            // Of several columns together not every combination need be there.
            let sparse = if matches!(table.known_by, KnownBy::Columns(_)) { " else 0" } else { "" };
            for (at, column) in self.facts(table) {
                let is = match column.kind {
                    Kind::Ref(_) => self.argument(table, at),
                    _ => Argument::Int,
                };
                let sparse = if is == Argument::Int { sparse } else { "" };
                plan.facts.insert(column.name.clone(), format!("({taken}): {}{sparse}", is.name()));
            }
            if self.is_relation(table) {
                plan.facts.insert(table.name.clone(), format!("({taken}): int else 0"));
            }
        }
    }
}

impl Argument {
    /// The sort of a table, where its key is a text.
    fn or_sort(self, table: &str) -> Argument {
        match self {
            Argument::Sort(_) => Argument::Sort(table.to_owned()),
            Argument::Int => Argument::Int,
        }
    }
}

/// The name of the set of a table's rows.
pub(crate) fn set_of(sets: &BTreeMap<String, String>, table: &str) -> String {
    sets.get(table).cloned().unwrap_or_else(|| format!("{table}s"))
}
