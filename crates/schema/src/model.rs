//! The types of a loaded domain: tables, fields, tools, roles, rules, seed data. They are what [`crate::load`] returns and
//! what engines run. Every name in them is resolved to an id; they hold no text that still has to be parsed.

use crate::injection::Injection;
use crate::ways::Way;
use benchwright_base::{DateTime, Digest, EnumId, FieldId, RelationId, TableId, Value};
use benchwright_expr::{Expr, FieldInfo, Names, Path, Source, Type};
use std::ops::Range;

/// A domain: what a world of this kind has, and what may be done in it.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name, which is also its folder's.
    pub name: String,
    /// Its title for people.
    pub title: String,
    /// The job the agent holds in it.
    pub role: String,
    /// One sentence on what it is about.
    pub about: String,
    /// The instant at which its worlds stand when nothing else is said.
    pub now: DateTime,
    /// The table of the people who act, if it has one.
    pub actor: Option<TableId>,
    /// Enumerations; an [`EnumId`] is a place in this list.
    pub enums: Vec<EnumType>,
    /// Tables; a [`TableId`] is a place in this list.
    pub tables: Vec<Table>,
    /// Tools, in the order of the file.
    pub tools: Vec<Tool>,
    /// Roles with what each may do.
    pub roles: Vec<Role>,
    /// Rules, those that tools enforce and those that only a judge checks.
    pub rules: Vec<Rule>,
    /// Rows that may be added to records that somebody works on, without being asked for.
    pub notes: Vec<Source>,
    /// How a world is filled, if the folder says.
    pub seed: Option<Seed>,
    /// Hostile text that records can carry, in the order of the names. It is in no digest: worlds do not depend on it.
    pub injections: Vec<Injection>,
    /// The digest of the folder's declarations.
    pub digest: Digest,
    /// The domains it is made of, if it is a joined one.
    pub members: Vec<Member>,
    /// In a joined domain: what everybody may do on the tables that are there once.
    pub shared: Vec<Access>,
}

/// One of the domains that a joined one is made of.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name of the domain, which stands before those of its tables: `csm` in `csm.user`.
    pub name: String,
    /// The places of its tables.
    pub tables: Range<usize>,
    /// The places of its tools.
    pub tools: Range<usize>,
    /// The names that its tools have where it stands alone, in order.
    pub tool_names: Vec<String>,
    /// The table of its people, if it has one.
    pub actor: Option<TableId>,
    /// The field of that table that holds a person's address, the same in every member.
    pub address: Option<FieldId>,
    /// Its roles, with what each may do on its own tables, in their order.
    pub roles: Vec<Role>,
}

/// An enumeration: a closed list of words, such as `Priority` with `low`, `medium` and `high`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnumType {
    /// The name by which types of fields refer to it.
    pub name: String,
    /// Its words, in order.
    pub words: Vec<String>,
}

/// A table: its fields, what is unique in it, and how its enum fields may change.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name that tools, rules and references know it by; in a joined domain `member.table`.
    pub name: String,
    /// The name that record calls of Odoo know it by, such as `sale.order`.
    pub odoo: Option<String>,
    /// Its fields; the first is `id`.
    pub fields: Vec<Field>,
    /// What is unique: sets of fields, no two rows alike in all of them (rows with a null in one are exempt).
    pub keys: Vec<Key>,
    /// Lifecycles of enum fields.
    pub lifecycles: Vec<Lifecycle>,
    /// The fields of other tables (or of this one) that refer to it.
    pub incoming: Vec<Incoming>,
    /// What is no cell of a row but can be read of it by record calls, in the order of the file.
    pub derived: Vec<Derived>,
    /// `log`: bookkeeping of the world, which nobody is asked to write and no judge compares.
    pub log: bool,
    /// `once`: of all domains that are joined together one copy is kept, under its own name. Such tables stand before all others.
    pub once: bool,
}

/// Something that can be read of a row though it is no cell of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Derived {
    /// The name that record calls ask for it by.
    pub name: String,
    /// Where its value comes from: code, or rows that refer to this one.
    pub kind: DerivedKind,
}

/// What a derived field is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DerivedKind {
    /// A value that the domain's code makes.
    Value(Type),
    /// Rows of a table that the domain's code finds.
    Rows(TableId),
    /// The rows of a table that refer to this one; they can be written with it.
    Children {
        /// The table of the rows that refer.
        table: TableId,
        /// The field by which they refer.
        field: FieldId,
    },
    /// Rows joined to this one by rows of a third table; the joints can be written with it.
    Linked {
        /// The table of the rows.
        table: TableId,
        /// The table of the joints.
        link: TableId,
        /// The field of a joint that refers to this row.
        from: FieldId,
        /// The field of a joint that refers to the other.
        to: FieldId,
    },
}

impl DerivedKind {
    /// The table of the rows it lists; `None` for a value.
    pub fn rows(self) -> Option<TableId> {
        match self {
            DerivedKind::Value(_) => None,
            DerivedKind::Rows(table) | DerivedKind::Children { table, .. } | DerivedKind::Linked { table, .. } => {
                Some(table)
            }
        }
    }
}

/// A set of fields no two rows may share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The fields; never empty.
    pub fields: Vec<FieldId>,
}

/// A reference to a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Incoming {
    /// The table that refers.
    pub table: TableId,
    /// The field of that table that holds the reference.
    pub field: FieldId,
    /// Whether the referring row dies with the one it refers to.
    pub owned: bool,
}

/// A field of a table: its type, and what the world holds of its values.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name in arguments, answers and expressions.
    pub name: String,
    /// Its type; never `Months` or `Null`.
    pub ty: Type,
    /// Whether it can be null.
    pub nullable: bool,
    /// Smallest and largest value of a number, or length of a text in characters.
    pub bounds: Option<(i64, i64)>,
    /// What a new row gets when nothing is said.
    pub default: Option<Value>,
    /// Set by the world, never by an argument.
    pub stamp: Option<Stamp>,
    /// For a reference: the row dies with the one it refers to.
    pub owned: bool,
    /// Not shown to roles that may not see it.
    pub secret: bool,
    /// For a boolean: at most one row is true among those with the same value here; setting one clears the other.
    pub sole_in: Option<FieldId>,
    /// Composed by whoever writes: free on rows that somebody is asked to make or change, unless they are told what it says.
    pub prose: bool,
    /// Bookkeeping of the world, which no judge compares.
    pub log: bool,
}

/// How the world sets a field.
#[derive(Clone, Debug)]
pub enum Stamp {
    /// The default when the row is created, and nothing after (a native tool may write it).
    Keep,
    /// A number by a template such as `CS#######`, counted up.
    Number {
        /// Text before the digits.
        prefix: String,
        /// How many digits at least.
        digits: usize,
        /// Text after the digits.
        suffix: String,
    },
    /// The clock (date or instant) when the row is created.
    OnCreate,
    /// The clock whenever the row is created or changed.
    OnWrite,
    /// The clock when a condition on the row turns true.
    When(Expr),
    /// The person who acts, when the row is created.
    Actor,
    /// A value computed from the row whenever it is created or changed.
    Computed(Expr),
}

/// The states an enum field may go through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lifecycle {
    /// The enum field whose words are the states.
    pub field: FieldId,
    /// The words a new row may begin with.
    pub start: Vec<u16>,
    /// For each word, the words that may follow.
    pub next: Vec<Vec<u16>>,
}

/// What a tool does. The set is closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verb {
    /// The rows that pass some filters, sorted, in pages.
    Find,
    /// One row by its id or a key.
    Get,
    /// All rows, sorted, in pages.
    List,
    /// One new row, with its child rows where the tool takes them.
    Create,
    /// Changed fields of one row.
    Update,
    /// One row gone, with what it owns.
    Delete,
    /// A new row of an association; a second identical pair is refused.
    Link,
    /// A new row that goes out: a message.
    Send,
    /// How many rows there are, in all or per value of a field.
    Count,
    /// The sum of a field.
    Sum,
    /// The mean of a field.
    Avg,
    /// Whatever code of the domain does, within the tables that the tool declares.
    Native,
}

impl Verb {
    /// All verbs, in the order of the reference.
    pub const ALL: [Verb; 12] = [
        Verb::Find,
        Verb::Get,
        Verb::List,
        Verb::Create,
        Verb::Update,
        Verb::Delete,
        Verb::Link,
        Verb::Send,
        Verb::Count,
        Verb::Sum,
        Verb::Avg,
        Verb::Native,
    ];

    /// Its word in `tools.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Find => "find",
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Delete => "delete",
            Verb::Link => "link",
            Verb::Send => "send",
            Verb::Count => "count",
            Verb::Sum => "sum",
            Verb::Avg => "avg",
            Verb::Native => "native",
        }
    }

    /// Whether a tool of this verb never writes (a native tool says so by its `writes`).
    pub fn reads_only(self) -> bool {
        matches!(self, Verb::Find | Verb::Get | Verb::List | Verb::Count | Verb::Sum | Verb::Avg)
    }
}

/// A tool: one verb on one table, or hand-written code.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name that agents call it by, unique in the domain.
    pub name: String,
    /// What it does to its table.
    pub verb: Verb,
    /// On which table; `None` only for native tools.
    pub table: Option<TableId>,
    /// `by`: filters of a read, or the key that names the row of `get`, `update` and `delete` (its id if there are none).
    pub by: Vec<Filter>,
    /// What it may write: for `create`, `link` and `send` every field an argument may give, for `update` those after
    /// `set`; always resolved, in the order of the arguments.
    pub set: Vec<Setting>,
    /// `with`: child rows given as lists.
    pub with: Vec<Child>,
    /// `show`: further values in each row of the answer.
    pub show: Vec<Shown>,
    /// `of`: the field that is summed or averaged.
    pub of: Option<FieldId>,
    /// `per`: the field that groups.
    pub per: Option<FieldId>,
    /// What a native tool declares.
    pub native: Option<Native>,
    /// One line for the agent.
    pub description: String,
}

impl Tool {
    /// Whether no call of it can change the world.
    pub fn reads_only(&self) -> bool {
        self.native.as_ref().map_or(self.verb.reads_only(), |native| native.writes.is_empty())
    }
}

/// A filter of a read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    /// The field whose value is compared with the argument.
    pub field: FieldId,
    /// How it is compared.
    pub kind: FilterKind,
    /// Whether the argument must be given.
    pub required: bool,
}

/// How a filter compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterKind {
    /// `f`: equal to the argument.
    Is,
    /// `f~`: contains, without regard to case.
    Contains,
    /// `f..`: two arguments `f_from` and `f_to`, both ends included.
    Range,
}

/// A field that a tool writes.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// The field that gets the value.
    pub field: FieldId,
    /// Whether the argument must be given.
    pub required: bool,
    /// A fixed value: there is no argument.
    pub fixed: Option<Value>,
}

/// Child rows given as a list with the row they belong to.
#[derive(Clone, PartialEq, Debug)]
pub struct Child {
    /// The table of the child rows.
    pub table: TableId,
    /// The field by which they refer to the row.
    pub parent: FieldId,
    /// What each item of the list may give.
    pub set: Vec<Setting>,
}

/// A value of a referenced row in an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The key in the answer, such as `user.name`.
    pub name: String,
    /// The path from the row.
    pub path: Path,
    /// The type of the value.
    pub ty: Type,
    /// Whether it can be null.
    pub nullable: bool,
}

/// What a native tool declares.
#[derive(Clone, Debug)]
pub struct Native {
    /// `takes`: its arguments, in the order in which they are shown.
    pub takes: Vec<Argument>,
    /// `gives`: the values of its answer.
    pub gives: Vec<Cell>,
    /// `gives many`: whether it answers with a list of rows of them.
    pub many: bool,
    /// `gives json`: whether it answers with JSON of its own instead.
    pub json: bool,
    /// The tables it may read.
    pub reads: Vec<TableId>,
    /// The tables it may write.
    pub writes: Vec<TableId>,
    /// What it does, in a clause.
    pub clause: String,
}

/// An argument of a native tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Its name, type and bounds.
    pub cell: Cell,
    /// Whether it must be given.
    pub required: bool,
    /// Whether it is a list of such values.
    pub list: bool,
    /// What it is, if not a value of the cell's type.
    pub shape: Shape,
}

/// What an argument of a native tool is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A value of its type.
    Value,
    /// `new of t`: an object of the fields of a new row.
    New(TableId),
    /// `vals of t`: an object of some fields of a row.
    Vals(TableId),
    /// `domain of t`: conditions on rows, in prefix notation.
    Domain(TableId),
    /// `fields of t`: a list of names of fields, derived ones too.
    Fields(TableId),
    /// `json`: an object of any kind.
    Json,
    /// `scalar`: a whole number or a text.
    Scalar,
}

impl Native {
    /// The table that the first argument speaks of: the one that a record call is about.
    pub fn subject(&self) -> Option<TableId> {
        let first = self.takes.first()?;
        match (first.shape, first.cell.ty) {
            (Shape::New(table) | Shape::Vals(table) | Shape::Domain(table) | Shape::Fields(table), _)
            | (Shape::Value, Type::Ref(table)) => Some(table),
            _ => None,
        }
    }
}

/// A named value outside a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The key of the argument or of the value in the answer.
    pub name: String,
    /// The type, in the notation of fields.
    pub ty: Type,
    /// Whether it can be null.
    pub nullable: bool,
    /// Smallest and largest value of a number, or length of a text.
    pub bounds: Option<(i64, i64)>,
}

/// A role: what somebody who acts in it may do, table by table.
#[derive(Clone, Debug)]
pub struct Role {
    /// The name by which episodes and tasks choose it.
    pub name: String,
    /// What it may do, by table; what it inherits with `like` is already here.
    pub access: Vec<Access>,
}

impl Role {
    /// The grants of an action on a table; none means it is forbidden.
    pub fn grants(&self, table: TableId, action: Action) -> impl Iterator<Item = &Grant> {
        self.access[table.index()].grants.iter().filter(move |grant| grant.action == action)
    }
}

/// What a role may do on one table.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// What is allowed; an action that no grant names is forbidden.
    pub grants: Vec<Grant>,
}

/// One thing a role may do on a table.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The action that is allowed.
    pub action: Action,
    /// On rows for which this holds; on all if there is none.
    pub condition: Option<Expr>,
}

/// What can be granted. In `policy.toml`, `write` is create, update and delete; `any` is everything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Action {
    /// See rows, without their secret fields.
    Read,
    /// Make new rows.
    Create,
    /// Change rows that are there.
    Update,
    /// Delete rows, and with them what they own.
    Delete,
    /// See the secret fields of rows.
    Reveal,
}

/// A rule of a domain: a condition that every row of some tables has to meet.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its id within the domain.
    pub id: String,
    /// The tables whose rows it judges, each with the predicate resolved for it.
    pub on: Vec<(TableId, Expr)>,
    /// The predicate as written.
    pub require: String,
    /// The rule in a sentence, as refusals and reference pages tell it.
    pub says: String,
    /// Whether tools refuse what breaks it, or only a judge counts it.
    pub by: By,
    /// Whether it speaks of writing a row, and not of what has to hold as long as the row is there: then a change of another row
    /// that it reads does not wake it.
    pub at_write: bool,
    /// What is put right where something that is asked for would break it; the first whose condition holds.
    pub ways: Vec<Way>,
}

/// Who holds a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The world refuses what breaks it.
    Tool,
    /// It is told, not enforced, and checked at the end.
    Verifier,
}

/// How a world is filled.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The names of the sizes, smallest first.
    pub sizes: Vec<String>,
    /// Named lists of text to draw from.
    pub pools: Vec<(String, Vec<String>)>,
    /// The steps, in order.
    pub rows: Vec<SeedRows>,
}

/// Rows of one table made by one step.
#[derive(Clone, Debug)]
pub struct SeedRows {
    /// The domain that declares the step.
    pub domain: String,
    /// Its place among that domain's steps: what is drawn depends on both, not on what the domain is joined with.
    pub place: usize,
    /// The table that gets the rows.
    pub table: TableId,
    /// Where in `seed.toml` the step begins, for messages.
    pub line: u32,
    /// How many rows for each size; with `each`, how many for each row it names (smallest and largest).
    pub count: Vec<(u32, u32)>,
    /// One batch for each row that this yields, bound as `parent` in the fields.
    pub each: Option<Source>,
    /// How each field is made, in order; a field that is not here gets its default or null.
    pub fields: Vec<(FieldId, SeedField)>,
    /// In a joined domain: which people it makes rows for, if they are those of the pool that all members share.
    pub people: Option<People>,
}

/// Which people of the shared pool a step makes rows for: every member has the first of them, in an order of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct People {
    /// Whether they are those who have left.
    pub gone: bool,
    /// The pools of words that are drawn for the person rather than for the row.
    pub pools: Vec<usize>,
}

impl People {
    /// What the number of the first person in an address is.
    pub fn first(&self) -> u32 {
        if self.gone { 5001 } else { 1 }
    }
}

/// How a field of a seeded row is made. Expressions see the row as made so far; `parent` reads go through the field that
/// refers to it.
#[derive(Clone, Debug)]
pub enum SeedField {
    /// Text with `{pool}` draws, `{field}` values already made and `{#}` for the row's number.
    Text(Vec<TextPart>),
    /// One of some values, by weight.
    OneOf(Vec<(Value, u32)>),
    /// A number of an inclusive range in the smallest unit, a multiple of `step` above the low end.
    Between {
        /// The smallest value that can be drawn.
        low: i64,
        /// The largest value that can be drawn.
        high: i64,
        /// The distance between two values that can be drawn, such as 500 for whole multiples of five dollars.
        step: i64,
    },
    /// A date or instant between two expressions, in whole steps of so many seconds.
    Instant {
        /// The earliest value that can be drawn.
        from: Expr,
        /// The latest value that can be drawn.
        to: Expr,
        /// The distance between two values that can be drawn, in seconds.
        step: i64,
    },
    /// A random row of those a source yields, or what a path reaches from it; null if there is none.
    Any(Source, Path),
    /// A different row for every row of the batch, in random order, or what a path reaches from it.
    Distinct(Source, Path),
    /// The row that `each` is at.
    Parent,
    /// A value computed from the row so far.
    Computed(Expr),
    /// The first case whose condition holds.
    Cases(Vec<(Option<Expr>, SeedField)>),
    /// Null in so many of a hundred rows, else the other.
    Maybe(u32, Box<SeedField>),
    /// Nothing, in every row.
    Null,
}

/// A piece of seeded text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextPart {
    /// Text that is the same in every row.
    Plain(String),
    /// A draw from a pool (by its place in [`Seed::pools`]).
    Pool(usize),
    /// A field of the row, or what a path reaches from it, as text; `slug` makes it fit for an address.
    Field {
        /// The path from the row.
        path: Path,
        /// Lower case, with dots for spaces and nothing but letters and digits.
        slug: bool,
    },
    /// The row's number in its table, with at least so many digits.
    Number(usize),
    /// In a joined domain, the number of the person that the row is for.
    Person,
}

impl Domain {
    /// A domain that has nothing yet.
    pub(crate) fn empty(name: String, digest: Digest) -> Domain {
        Domain {
            name,
            title: String::new(),
            role: String::new(),
            about: String::new(),
            now: DateTime(0),
            actor: None,
            enums: Vec::new(),
            tables: Vec::new(),
            tools: Vec::new(),
            roles: Vec::new(),
            rules: Vec::new(),
            notes: Vec::new(),
            seed: None,
            injections: Vec::new(),
            digest,
            members: Vec::new(),
            shared: Vec::new(),
        }
    }

    /// A table by its id.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.index()]
    }

    /// A table by its name.
    pub fn table_named(&self, name: &str) -> Option<TableId> {
        self.tables.iter().position(|table| table.name == name).map(|at| RelationId(at as u16))
    }

    /// A tool's place by its name.
    pub fn tool_named(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.name == name)
    }

    /// The member that a table belongs to, by its place; 0 where nothing is joined.
    pub fn member_of(&self, table: TableId) -> usize {
        self.members.iter().position(|member| member.tables.contains(&table.index())).unwrap_or_default()
    }

    /// A role by its name.
    pub fn role_named(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name == name)
    }

    /// How many tables and enumerations of it there are only once where it is joined with others.
    pub(crate) fn once(&self) -> (usize, usize) {
        let tables = self.tables.iter().take_while(|table| table.once);
        let enums = tables.clone().flat_map(|table| &table.fields).filter_map(|field| match field.ty {
            Type::Enum(id) => Some(id.index() + 1),
            _ => None,
        });
        (tables.count(), enums.max().unwrap_or_default())
    }

    /// The number of fields, without the ids.
    pub fn field_count(&self) -> usize {
        self.tables.iter().map(|table| table.fields.len() - 1).sum()
    }

    /// The number of fields that refer to a table.
    pub fn reference_count(&self) -> usize {
        let references = |table: &Table| table.fields[1..].iter().filter(|f| matches!(f.ty, Type::Ref(_))).count();
        self.tables.iter().map(references).sum()
    }
}

impl Table {
    /// Its name in its own domain: without the member's name before it.
    pub fn own_name(&self) -> &str {
        self.name.rsplit_once('.').map_or(&*self.name, |(_, own)| own)
    }

    /// A field by its id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// A field by its name.
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        self.fields.iter().position(|field| field.name == name).map(|at| FieldId(at as u16))
    }

    /// A derived field by its name.
    pub fn derived_named(&self, name: &str) -> Option<&Derived> {
        self.derived.iter().find(|derived| derived.name == name)
    }

    /// The names of all fields, those of rows first, then derived ones.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| &*field.name).chain(self.derived.iter().map(|derived| &*derived.name))
    }

    /// The lifecycle of a field, if it has one.
    pub fn lifecycle(&self, field: FieldId) -> Option<&Lifecycle> {
        self.lifecycles.iter().find(|lifecycle| lifecycle.field == field)
    }
}

impl Names for Domain {
    fn relation(&self, name: &str) -> Option<RelationId> {
        self.table_named(name)
    }
    fn relation_name(&self, relation: RelationId) -> &str {
        &self.table(relation).name
    }
    fn relation_names(&self) -> Vec<&str> {
        self.tables.iter().map(|table| &*table.name).collect()
    }
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo> {
        let table = self.table(relation);
        let id = table.field_named(name)?;
        let field = table.field(id);
        Some(FieldInfo { id, ty: field.ty, nullable: field.nullable })
    }
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str {
        &self.table(relation).field(field).name
    }
    fn field_names(&self, relation: RelationId) -> Vec<&str> {
        self.table(relation).fields.iter().map(|field| &*field.name).collect()
    }
    fn enum_name(&self, id: EnumId) -> &str {
        &self.enums[id.index()].name
    }
    fn enum_words(&self, id: EnumId) -> Vec<&str> {
        self.enums[id.index()].words.iter().map(|word| &**word).collect()
    }
    fn actor(&self) -> Option<RelationId> {
        self.actor
    }
}
