//! Names that native code uses. A domain's tables are declared in TOML and its native tools are written in Rust, so the Rust
//! must name tables, columns and words of enums that another file declares. A crate lists those names once, with
//! [`names!`](crate::names!), and gets a type for each. A name that is not in the list, or a column of another table, does
//! not compile; a name in the list that the domain does not declare is a [`NamesError`] when a world is made. What is left at
//! run time is an index into a table of fields: no text is compared.
//!
//! ```
//! use benchwright_base::{RowId, Value};
//! use benchwright_pack::Refusal;
//! use benchwright_sandbox::{NativeCall, cell};
//!
//! mod names {
//!     benchwright_sandbox::names! {
//!         tables { paper, shelf }
//!         columns { copies of paper; state of paper, shelf; }
//!         words { sold_out of paper.state; }
//!         arguments { paper }
//!     }
//! }
//! use names::{a, c, t, w};
//!
//! fn sell(call: &mut NativeCall<'_, '_>) -> Result<Value, Refusal> {
//!     let paper = call.row(t::paper, call.reference(a::paper)?)?;
//!     let over = call.word(t::paper, c::state, w::sold_out);
//!     call.update(t::paper, paper.id(), &[cell(c::copies, Value::Int(0)), cell(c::state, over)])?;
//!     Ok(paper.get(c::copies))
//! }
//! ```
//!
//! A column that the list does not give the table is no program:
//!
//! ```compile_fail
//! # mod names {
//! #     benchwright_sandbox::names! {
//! #         tables { paper, shelf }
//! #         columns { copies of paper; state of paper, shelf; }
//! #     }
//! # }
//! # use names::{c, t};
//! fn copies(shelf: &benchwright_sandbox::RowView<t::shelf>) -> benchwright_base::Value {
//!     shelf.get(c::copies)
//! }
//! ```

use crate::{compiled::Compiled, verbs::NativeFn};
use benchwright_base::{FieldId, TableId, Value, nearest};
use benchwright_expr::Type;
use benchwright_schema::{self as schema, Domain, Tool, Verb};
use std::{fmt, marker::PhantomData, sync::Arc};

/// The names that a crate uses, as its list says them.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The crate.
    pub of: &'static str,
    /// Tables, by their names in their own domain.
    pub tables: &'static [&'static str],
    /// Columns, each after its table.
    pub columns: &'static [(&'static str, &'static str)],
    /// Words of enums, each after its table and column.
    pub words: &'static [(&'static str, &'static str, &'static str)],
    /// Arguments that at least one of the tools takes.
    pub arguments: &'static [&'static str],
    /// Columns whose places are fixed: table, column, place.
    pub fixed: &'static [(&'static str, &'static str, u16)],
    /// What else the crate wants of the tables.
    pub check: Option<Check>,
}

/// Names what a crate wants of a domain's tables and is not there. Tables are asked for by their names in their own domain.
pub type Check = for<'d> fn(&dyn Fn(&str) -> Option<&'d schema::Table>) -> Vec<NameFault>;

/// A native tool: its name, its code, and the names that the code uses.
#[derive(Clone, Copy)]
pub struct NativeTool {
    /// Its name in its own domain.
    pub name: &'static str,
    /// What it does.
    pub code: NativeFn,
    /// The names of the crate that the code stands in.
    pub names: &'static Names,
}

/// A table that native code names.
pub trait Table: Copy + Default + 'static {
    /// Its place in the crate's list.
    const SLOT: u16;
    /// Its name in its own domain.
    const NAME: &'static str;
}

/// A column of a table: one from the crate's list, or a [`Column`] that was chosen at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not listed as a column of `{T}`",
    note = "columns that native code uses are listed with their tables in the crate's `names!`"
)]
pub trait ColumnOf<T>: Copy {
    /// Its place in the crate's list.
    fn slot(self) -> u16;

    /// The same as a value, so that one of several columns can be chosen.
    fn of(self) -> Column<T> {
        Column { slot: self.slot(), table: PhantomData }
    }
}

/// A word of an enum column: one from the crate's list, or a [`Word`] that was chosen at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not listed as a word of the column `{C}` of `{T}`",
    note = "words that native code uses are listed with their columns in the crate's `names!`"
)]
pub trait WordOf<T, C>: Copy {
    /// Its place in the crate's list.
    fn slot(self) -> u16;

    /// The same as a value, so that one of several words can be chosen.
    fn of(self) -> Word<T, C> {
        Word { slot: self.slot(), column: PhantomData }
    }
}

/// One of the columns of a table.
pub struct Column<T> {
    slot: u16,
    table: PhantomData<fn() -> T>,
}

/// One of the words of a column.
pub struct Word<T, C> {
    slot: u16,
    column: PhantomData<fn() -> (T, C)>,
}

/// An argument of a native tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArgumentName(u16, &'static str);

/// A value for a column of a table.
pub struct Cell<T> {
    pub(crate) slot: u16,
    pub(crate) value: Value,
    table: PhantomData<fn() -> T>,
}

/// A value for a column.
pub fn cell<T, C: ColumnOf<T>>(column: C, value: Value) -> Cell<T> {
    Cell { slot: column.slot(), value, table: PhantomData }
}

impl<T> Clone for Column<T> {
    fn clone(&self) -> Column<T> {
        *self
    }
}
impl<T> Copy for Column<T> {}

impl<T, C> Clone for Word<T, C> {
    fn clone(&self) -> Word<T, C> {
        *self
    }
}
impl<T, C> Copy for Word<T, C> {}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Cell<T> {
        Cell { slot: self.slot, value: self.value.clone(), table: PhantomData }
    }
}

impl<T> Cell<T> {
    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl<T> ColumnOf<T> for Column<T> {
    fn slot(self) -> u16 {
        self.slot
    }
}

impl<T> PartialEq for Column<T> {
    fn eq(&self, other: &Column<T>) -> bool {
        self.slot == other.slot
    }
}

impl<T, C> PartialEq for Word<T, C> {
    fn eq(&self, other: &Word<T, C>) -> bool {
        self.slot == other.slot
    }
}

impl<T, C> WordOf<T, C> for Word<T, C> {
    fn slot(self) -> u16 {
        self.slot
    }
}

impl ArgumentName {
    /// The argument at a place of a crate's list.
    #[doc(hidden)]
    pub const fn new(names: &Names, name: &'static str) -> ArgumentName {
        let mut at = 0;
        while at < names.arguments.len() {
            if same(names.arguments[at], name) {
                return ArgumentName(at as u16, name);
            }
            at += 1;
        }
        panic!("an argument is not in the list that was made of it");
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        plain(self.1)
    }

    pub(crate) fn slot(self) -> usize {
        usize::from(self.0)
    }
}

impl Names {
    /// The same with a check of what else the crate wants of the tables.
    pub const fn with_check(self, check: Check) -> Names {
        Names { check: Some(check), ..self }
    }

    /// The place of a table.
    #[doc(hidden)]
    pub const fn table(&self, table: &str) -> u16 {
        let mut at = 0;
        while at < self.tables.len() {
            if same(self.tables[at], table) {
                return at as u16;
            }
            at += 1;
        }
        panic!("a column is listed with a table that is not");
    }

    /// The place of a column.
    #[doc(hidden)]
    pub const fn column(&self, table: &str, column: &str) -> u16 {
        let mut at = 0;
        while at < self.columns.len() {
            if same(self.columns[at].0, table) && same(self.columns[at].1, column) {
                return at as u16;
            }
            at += 1;
        }
        panic!("a column is not in the list that was made of it");
    }

    /// The place of a word.
    #[doc(hidden)]
    pub const fn word(&self, table: &str, column: &str, word: &str) -> u16 {
        let mut at = 0;
        while at < self.words.len() {
            let known = self.words[at];
            if same(known.0, table) && same(known.1, column) && same(known.2, word) {
                return at as u16;
            }
            at += 1;
        }
        panic!("a word is not in the list that was made of it");
    }
}

/// Whether two texts are the same; the usual comparison is not for constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A name without the mark that Rust wants before its own words.
fn plain(name: &'static str) -> &'static str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Native code that does not fit its domain.
#[derive(Debug, thiserror::Error)]
#[error("the native code of {of} does not fit the domain {domain}:{}", listed(.faults))]
pub struct NamesError {
    /// The crate of the code.
    pub of: &'static str,
    /// The domain.
    pub domain: String,
    /// Everything that the code names and the domain does not have.
    pub faults: Vec<NameFault>,
}

/// A name that a domain does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameFault {
    /// What is not there.
    pub what: String,
    /// The name that was meant, if one is near.
    pub near: Option<String>,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
    }
}

fn listed(faults: &[NameFault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}

/// A column as rows have it.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) field: FieldId,
    pub(crate) secret: bool,
}

/// The names of a crate, found in a domain or a member of a joined one.
pub(crate) struct Resolved {
    pub(crate) tables: Box<[TableId]>,
    pub(crate) columns: Box<[Place]>,
    pub(crate) words: Box<[u16]>,
}

/// The code of a tool, ready to run.
pub(crate) struct Code {
    pub(crate) run: NativeFn,
    pub(crate) names: Arc<Resolved>,
    /// For each argument of the crate's list its place among those that this tool takes.
    pub(crate) arguments: Box<[Option<u8>]>,
}

/// Finds the code of each tool of a domain, and what the code names.
pub(crate) fn resolve(compiled: &Compiled, natives: &[NativeTool]) -> Result<Vec<Option<Code>>, NamesError> {
    let domain = &*compiled.domain;
    for native in natives {
        let is_native = |tool: &Tool| tool.verb == Verb::Native && tool.name == native.name;
        if !domain.tools.iter().any(is_native) {
            let tools = domain.tools.iter().filter(|tool| tool.verb == Verb::Native).map(|tool| &*tool.name);
            let fault = missing(format!("there is no native tool `{}`", native.name), native.name, tools);
            return Err(NamesError { of: native.names.of, domain: domain.name.clone(), faults: vec![fault] });
        }
    }
    // The tools of a crate share what was found; in a joined domain each member has its own tables.
    let mut found: Vec<(usize, &'static Names, Arc<Resolved>)> = Vec::new();
    let mut codes = Vec::with_capacity(domain.tools.len());
    for (at, tool) in domain.tools.iter().enumerate() {
        let native = natives.iter().find(|native| tool.verb == Verb::Native && native.name == tool.name);
        let Some(native) = native else {
            codes.push(None);
            continue;
        };
        let member = compiled.tools[at].member;
        let known = found.iter().find(|(of, names, _)| *of == member && std::ptr::eq(*names, native.names));
        let names = match known {
            Some((_, _, names)) => Arc::clone(names),
            None => {
                let names = Arc::new(of_member(compiled, member, native.names, natives)?);
                found.push((member, native.names, Arc::clone(&names)));
                names
            }
        };
        let takes = tool.native.as_ref().map_or(&[][..], |native| &native.takes[..]);
        let place = |name: &&'static str| takes.iter().position(|argument| argument.cell.name == plain(name));
        let arguments = native.names.arguments.iter().map(|name| place(name).and_then(|at| u8::try_from(at).ok()));
        codes.push(Some(Code { run: native.code, names, arguments: arguments.collect() }));
    }
    Ok(codes)
}

/// Finds the names of a crate in a member of a domain, which is the whole domain where nothing is joined.
fn of_member(
    compiled: &Compiled,
    member: usize,
    names: &'static Names,
    natives: &[NativeTool],
) -> Result<Resolved, NamesError> {
    let domain = &*compiled.domain;
    let mut faults = Vec::new();
    let table_named = |name: &'static str| {
        let id = match domain.members.get(member) {
            None => compiled.table_named(plain(name)),
            Some(member) => compiled.table_named(&format!("{}.{}", member.name, plain(name))),
        };
        id.ok_or_else(|| {
            let tables = domain.tables.iter().map(|table| table.own_name());
            missing(format!("there is no table `{}`", plain(name)), plain(name), tables)
        })
    };
    let column_named = |(table, column): (&'static str, &'static str)| {
        let declared = domain.table(table_named(table)?);
        declared.field_named(plain(column)).map(|id| (id, declared.field(id))).ok_or_else(|| {
            let what = format!("the table `{}` has no column `{}`", plain(table), plain(column));
            missing(what, plain(column), declared.fields.iter().map(|field| &*field.name))
        })
    };
    let word_named = |(table, column, word): (&'static str, &'static str, &'static str)| {
        let (_, field) = column_named((table, column))?;
        let known = words_of(domain, field.ty);
        known.iter().position(|known| known == plain(word)).ok_or_else(|| {
            let what = format!("the column `{}.{}` has no word `{}`", plain(table), plain(column), plain(word));
            missing(what, plain(word), known.iter().map(|word| &**word))
        })
    };
    let mut keep = |fault: NameFault| {
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    };
    let (mut tables, mut columns, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for name in names.tables {
        match table_named(name) {
            Ok(table) => tables.push(table),
            Err(fault) => keep(fault),
        }
    }
    for name in names.columns {
        match column_named(*name) {
            Ok((field, declared)) => columns.push(Place { field, secret: declared.secret }),
            Err(fault) => keep(fault),
        }
    }
    for name in names.words {
        match word_named(*name) {
            Ok(place) => words.push(place as u16),
            Err(fault) => keep(fault),
        }
    }
    for (table, column, place) in names.fixed {
        match column_named((table, column)) {
            Ok((field, _)) if field == FieldId(*place) => {}
            Ok((field, _)) => {
                let (table, column, place) = (plain(table), plain(column), usize::from(*place));
                let what = format!("the column `{table}.{column}` stands at {}, not at {place}", field.index());
                keep(NameFault { what, near: None });
            }
            Err(fault) => keep(fault),
        }
    }
    let own = || domain.tools.iter().filter(|tool| of_crate(tool, names, natives));
    let taken = || own().filter_map(|tool| tool.native.as_ref()).flat_map(|native| &native.takes);
    for name in names.arguments.iter().map(|name| plain(name)) {
        if !taken().any(|argument| argument.cell.name == name) {
            let known = taken().map(|argument| &*argument.cell.name);
            keep(missing(format!("no tool takes an argument `{name}`"), name, known));
        }
    }
    if let Some(check) = names.check {
        let table = |name: &str| {
            let full = domain.members.get(member).map(|member| format!("{}.{name}", member.name));
            compiled.table_named(full.as_deref().unwrap_or(name)).map(|id| domain.table(id))
        };
        check(&table).into_iter().for_each(&mut keep);
    }
    if faults.is_empty() {
        return Ok(Resolved { tables: tables.into(), columns: columns.into(), words: words.into() });
    }
    Err(NamesError { of: names.of, domain: domain.name.clone(), faults })
}

fn of_crate(tool: &Tool, names: &'static Names, natives: &[NativeTool]) -> bool {
    natives.iter().any(|native| native.name == tool.name && std::ptr::eq(native.names, names))
}

fn words_of(domain: &Domain, ty: Type) -> &[String] {
    match ty {
        Type::Enum(id) => &domain.enums[id.index()].words,
        _ => &[],
    }
}

fn missing<'n>(what: String, name: &str, known: impl Iterator<Item = &'n str>) -> NameFault {
    NameFault { what, near: nearest(name, known).map(str::to_owned) }
}

/// Lists the names that the native code of a crate uses, in a module of its own. It makes a module of types for tables (`t`),
/// columns (`c`), words of enums (`w`) and arguments (`a`); one for columns whose places are fixed (`f`); and `NAMES`, which
/// [`natives!`](crate::natives!) takes.
///
/// A column is listed once, with the tables whose column it is; a word once, with the columns that have it.
#[macro_export]
macro_rules! names {
    (
        tables { $($table:ident),* $(,)? }
        $(columns { $($column:ident of $($in_table:ident),+;)* })?
        $(words { $($word:ident of $($of_table:ident . $of_column:ident),+;)* })?
        $(arguments { $($argument:ident),* $(,)? })?
        $(fixed { $($fixed_table:ident { $($fixed:ident = $place:literal),* $(,)? })* })?
    ) => {
        /// The names that the code of this crate uses.
        #[allow(dead_code, reason = "a crate may make its own of the constant")]
        pub static NAMES: $crate::Names = LIST;

        /// The same as a constant.
        pub const LIST: $crate::Names = $crate::Names {
            of: env!("CARGO_PKG_NAME"),
            tables: &[$(stringify!($table)),*],
            columns: &[$($($((stringify!($in_table), stringify!($column)),)+)*)?],
            words: &[$($($((stringify!($of_table), stringify!($of_column), stringify!($word)),)+)*)?],
            arguments: &[$($(stringify!($argument)),*)?],
            fixed: &[$($($((stringify!($fixed_table), stringify!($fixed), $place),)*)*)?],
            check: None,
        };

        /// Tables.
        #[allow(non_camel_case_types, reason = "they are called as the domain calls them")]
        pub mod t {
            $(
                #[doc = concat!("The table `", stringify!($table), "`.")]
                #[derive(Clone, Copy, Default, Debug)]
                pub struct $table;
                impl $crate::Table for $table {
                    const SLOT: u16 = super::LIST.table(stringify!($table));
                    const NAME: &'static str = stringify!($table);
                }
            )*
        }

        /// Columns.
        #[allow(non_camel_case_types, reason = "they are called as the domain calls them")]
        pub mod c {
            $($(
                #[doc = concat!("The column `", stringify!($column), "`.")]
                #[derive(Clone, Copy, Debug)]
                pub struct $column;
                $(
                    impl $crate::ColumnOf<super::t::$in_table> for $column {
                        #[inline]
                        fn slot(self) -> u16 {
                            const { super::LIST.column(stringify!($in_table), stringify!($column)) }
                        }
                    }
                )+
            )*)?
        }

        /// Words of enums.
        #[allow(non_camel_case_types, reason = "they are called as the domain calls them")]
        pub mod w {
            $($(
                #[doc = concat!("The word `", stringify!($word), "`.")]
                #[derive(Clone, Copy, Debug)]
                pub struct $word;
                $(
                    impl $crate::WordOf<super::t::$of_table, super::c::$of_column> for $word {
                        #[inline]
                        fn slot(self) -> u16 {
                            const {
                                let (table, column) = (stringify!($of_table), stringify!($of_column));
                                super::LIST.word(table, column, stringify!($word))
                            }
                        }
                    }
                )+
            )*)?
        }

        /// Arguments of tools.
        #[allow(non_upper_case_globals, reason = "they are called as the domain calls them")]
        pub mod a {
            $($(
                #[doc = concat!("The argument `", stringify!($argument), "`.")]
                pub const $argument: $crate::ArgumentName =
                    $crate::ArgumentName::new(&super::LIST, stringify!($argument));
            )*)?
        }

        /// Columns whose places are fixed.
        #[allow(non_upper_case_globals, reason = "they are called as the domain calls them")]
        pub mod f {
            $($(
                #[doc = concat!("Columns of `", stringify!($fixed_table), "`.")]
                pub mod $fixed_table {
                    $(
                        #[doc = concat!("The column `", stringify!($fixed), "`.")]
                        pub const $fixed: $crate::FieldId = $crate::FieldId($place);
                    )*
                }
            )*)?
        }
    };
}

/// The native tools of a crate, by name, with the names that their code uses: `natives![NAMES; ("sell_out", sell_out)]`.
#[macro_export]
macro_rules! natives {
    ($names:expr; $(($name:expr, $code:expr)),* $(,)?) => {
        &[$($crate::NativeTool { name: $name, code: $code, names: &$names }),*]
    };
}

/// Columns of one table as a list of values: `columns![name, status].map(|column| row.get(column))`.
#[macro_export]
macro_rules! columns {
    ($($column:ident),+ $(,)?) => { [$($crate::ColumnOf::of(c::$column)),+] };
}

/// Words of one column as a list of values.
#[macro_export]
macro_rules! words {
    ($($word:ident),+ $(,)?) => { [$($crate::WordOf::of(w::$word)),+] };
}
