//! A scenario: what somebody asks for in a declared world, as an analyst writes it once. [`read`] takes the two files of its folder,
//! `scenario.toml` (the matter) and `words.toml` (how people ask for it), and gives either a [`Scenario`] in which every name is resolved
//! against its domain, or all faults at once.
//!
//! A scenario states cells of records, never calls. The cast says who and what it is about, plants put into the world what the request
//! presumes, clauses say what is asked for, and blocked variants are the same request where one fact makes it impossible.
//!
//! Expressions see the cast by name. The slot of a member is its place in the cast; what clauses make has the slots after it.

mod cast;
mod document;
mod plants;
mod tiers;
mod voices;
mod words;

pub use document::{SCENARIO, WORDS, domain_name, read};
pub use plants::NUMBER;
pub use words::{WordPart, told};

use benchwright_base::{FieldId, TableId, Value};
use benchwright_expr::{Expr, Given, GivenType, Path, Source, Type};
use benchwright_schema::ways::{Said, Wanted};
use std::collections::BTreeMap;

/// A scenario, checked against its domain.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is about, in a line.
    pub title: String,
    /// The domain, or several joined.
    pub domain: String,
    /// The role that the agent plays.
    pub seat: String,
    /// The member of the cast that acts, by place; whoever has the role, if none is named.
    pub person: Option<usize>,
    /// Who asks: a row of the cast, or what is reached from one.
    pub asks: Option<Expr>,
    /// Who and what it is about, in order.
    pub cast: Vec<Member>,
    /// What is put into the world before the request, in order.
    pub plants: Vec<Plant>,
    /// What is asked for, in order.
    pub clauses: Vec<Clause>,
    /// Conditions on the final state that are told.
    pub ensure: Vec<Ensure>,
    /// Sizes by tier, in order.
    pub tiers: Vec<(String, Tier)>,
    /// The tool that a member is found by, where the compiler's choice is not wanted.
    pub via: BTreeMap<String, String>,
    /// The same request where one fact makes it impossible, by name.
    pub blocked: Vec<Blocked>,
    /// How people ask for it, by the name of the voice.
    pub voices: Vec<(String, Vec<WordPart>)>,
    /// Members that nothing speaks of at the tier that this is, by their places.
    pub idle: Vec<usize>,
}

impl Scenario {
    /// The names that clauses and words see, in the order of their slots: the cast, and what clauses make.
    pub fn names(&self) -> Vec<Given<'_>> {
        let cast = self.cast.iter().map(|member| Given { name: &member.name, is: member.is });
        let made = self.clauses.iter().filter_map(|clause| match &clause.act {
            Asked::Make { table, name: Some(name), .. } => Some(Given { name, is: GivenType::Row(*table) }),
            _ => None,
        });
        cast.chain(made).collect()
    }

    /// A member's place by its name.
    pub fn member(&self, name: &str) -> Option<usize> {
        self.cast.iter().position(|member| member.name == name)
    }

    /// A blocked variant by its name.
    pub fn variant(&self, name: &str) -> Option<&Blocked> {
        self.blocked.iter().find(|blocked| blocked.name == name)
    }

    /// The voices' names, in order.
    pub fn voice(&self, name: &str) -> Option<&[WordPart]> {
        self.voices.iter().find(|(known, _)| known == name).map(|(_, parts)| &**parts)
    }
}

/// A member of the cast.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name in expressions.
    pub name: String,
    /// What it stands for.
    pub is: GivenType,
    /// How it is settled.
    pub form: Form,
    /// As it was written.
    pub text: String,
}

impl Member {
    /// Whether the request says it; otherwise the agent finds it, chooses it or works it out.
    pub fn is_drawn(&self) -> bool {
        matches!(self.form, Form::Rows { pick: Pick::Draw(..), .. } | Form::Drawn(..))
    }

    /// The table of its rows.
    pub fn table(&self) -> Option<TableId> {
        match self.is {
            GivenType::Row(table) | GivenType::Rows(table) => Some(table),
            GivenType::Value(_) => None,
        }
    }
}

/// How a member is settled.
#[derive(Clone, Debug)]
pub enum Form {
    /// Rows of a table.
    Rows {
        /// Which of them.
        pick: Pick,
        /// Their table, with the tests that they pass.
        source: Source,
        /// A further condition on `it`.
        condition: Option<Expr>,
        /// The order of `it` that `first` and `last` go by.
        by: Option<Expr>,
        /// What must hold of what was found, which nobody is told.
        given: Option<Expr>,
    },
    /// The first number of a range for which a condition holds; the number is `it`, as a value after the cast.
    Number {
        /// The variable that the condition calls the number by.
        range: (i64, i64),
        /// The condition, in which the number has the slot after the cast so far.
        condition: Expr,
    },
    /// The rows that a reading tool answers in the seat.
    Ask {
        /// The tool's place in the domain.
        tool: usize,
        /// Its arguments.
        with: Vec<(String, Expr)>,
        /// The table of the rows that it answers with.
        table: TableId,
    },
    /// A value that follows from others.
    Is(Expr),
    /// A value that is drawn.
    Drawn(Generator),
}

/// Which rows are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// So many at random, which the request names; a single one if both are `None`.
    Draw(Option<(u32, u32)>),
    /// The only one.
    The,
    /// All of them.
    All,
    /// So many from the front of the order; a single one if none is said.
    First(Option<u32>),
    /// So many from the end of the order.
    Last(Option<u32>),
    /// Whichever; the judge accepts each.
    Any,
}

/// How a value is drawn or a planted cell is made.
#[derive(Clone, PartialEq, Debug)]
pub enum Generator {
    /// Computed.
    Is(Expr),
    /// A text; `#` stands for the number of the row.
    Text(Vec<Said>),
    /// One of some values, by weight.
    OneOf(Vec<(Value, u32)>),
    /// A number of a range, in steps.
    Between(i64, i64, i64),
    /// A date or instant between two, in steps of so many seconds.
    Instant(Expr, Expr, i64),
    /// A random row, or what a path reaches from it.
    Any(Source, Option<Expr>, Path),
    /// The row that `each` is at.
    Parent,
    /// Nothing.
    Null,
}

/// Something that is put into the world before the request.
#[derive(Clone, Debug)]
pub struct Plant {
    /// What is planted.
    pub act: Planted,
    /// The table of the rows that it makes or changes.
    pub table: TableId,
    /// The cells, in order; `it` is the row of `each`, the subject is the row under way.
    pub cells: Vec<(FieldId, Generator)>,
    /// The tiers in which it applies; in all if there are none.
    pub tiers: Vec<String>,
    /// How often.
    pub count: Option<(u32, u32)>,
}

/// What a plant does.
#[derive(Clone, Debug)]
pub enum Planted {
    /// New rows, one for each row of a source if there is one. A row whose key is taken is left out.
    Rows(Option<(Source, Option<Expr>)>),
    /// Changes rows that are there.
    Change(Source, Option<Expr>),
    /// Changes the row of a drawn member, by its place.
    ChangeMember(usize),
    /// A second row like a member's but for these cells and unique texts.
    Double(usize),
}

/// A clause: something that is asked for.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its name.
    pub id: String,
    /// What is asked for.
    pub act: Asked,
    /// In force only where this holds.
    pub when: Option<Expr>,
    /// The tiers in which it is asked for; in all if there are none.
    pub tiers: Vec<String>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Cells of rows.
    Change {
        /// The rows.
        rows: Meant,
        /// Their table.
        table: TableId,
        /// What their cells become; `it` is the row.
        to: Vec<(FieldId, Wanted)>,
    },
    /// A new row, for each row of a set if there is one, which is `it`.
    Make {
        /// Its table.
        table: TableId,
        /// What its cells are; the others are what the system sets.
        with: Vec<(FieldId, Wanted)>,
        /// The set.
        each: Option<Meant>,
        /// The name that later clauses and texts know it by.
        name: Option<String>,
    },
    /// Rows that are to be gone.
    Drop {
        /// The rows.
        rows: Meant,
        /// Their table.
        table: TableId,
    },
    /// A call of a native tool; what it writes is found by making it.
    Call {
        /// The tool's place in the domain.
        tool: usize,
        /// Its arguments: values, or for lists what a set's rows reach.
        with: Vec<(String, Passing)>,
        /// The set of which each row is `it` in one call.
        each: Option<Meant>,
    },
    /// What is to be told at the end.
    Answer {
        /// How it is compared.
        ty: AnswerType,
        /// What it is.
        is: Told,
    },
}

/// What is passed to a tool.
#[derive(Clone, PartialEq, Debug)]
pub enum Passing {
    /// A value.
    Is(Expr),
    /// A text with slots.
    Text(Vec<Said>),
    /// What rows of a set reach, as a list.
    Each(Meant, Path),
}

/// Rows that a clause means: a member, or what a path reaches from its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meant {
    /// The place among the names in scope.
    pub slot: usize,
    /// The way from its rows.
    pub path: Path,
    /// The table of the rows that are meant.
    pub table: TableId,
}

/// What is to be told.
#[derive(Clone, PartialEq, Debug)]
pub enum Told {
    /// A value.
    One(Expr, Type),
    /// What a path reaches from each row of a set.
    Each(Meant, Path, Type),
}

/// How an answer is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerType {
    /// As text.
    Text,
    /// As a whole number.
    Number,
    /// As an amount.
    Money,
    /// As a day.
    Date,
    /// As the name of a record.
    Name,
}

/// A condition on the final state.
#[derive(Clone, Debug)]
pub struct Ensure {
    /// Its name: `ensure1`, `ensure2`, …
    pub id: String,
    /// As it was written.
    pub text: String,
    /// The condition over the names in scope.
    pub holds: Expr,
}

/// What a tier asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tier {
    /// How many rows a member has, by its place.
    pub sizes: Vec<(usize, (u32, u32))>,
}

/// Why a request cannot be carried out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Obstacle {
    /// What is asked for would break a rule that nothing mends.
    Policy,
    /// The seat may not write what is asked for.
    Permission,
    /// No tool does it.
    NoTool,
    /// What the request speaks of is not there.
    NotFound,
    /// The request asks for two things that cannot both be.
    Contradiction,
}

impl Obstacle {
    /// All, in the order of the reply's enumeration.
    pub const ALL: [Obstacle; 5] =
        [Obstacle::Policy, Obstacle::Permission, Obstacle::NoTool, Obstacle::NotFound, Obstacle::Contradiction];

    /// Its word, in documents and in `decline_request`.
    pub fn word(self) -> &'static str {
        match self {
            Obstacle::Policy => "policy",
            Obstacle::Permission => "permission",
            Obstacle::NoTool => "no_tool",
            Obstacle::NotFound => "not_found",
            Obstacle::Contradiction => "contradiction",
        }
    }
}

/// The same request where one fact makes it impossible.
#[derive(Clone, Debug)]
pub struct Blocked {
    /// Its name, which is the objective of its tasks.
    pub name: String,
    /// Why it is impossible.
    pub obstacle: Obstacle,
    /// The rule that stands in the way, by its place; or the lifecycle `table.field`.
    pub rule: Option<BlockingRule>,
    /// What is planted beside the scenario's own plants.
    pub plants: Vec<Plant>,
    /// Another seat.
    pub seat: Option<String>,
    /// Tools that are not offered.
    pub without: Vec<String>,
    /// What the request shows and nobody has, or what a plant has emptied.
    pub lost: Option<Lost>,
    /// Clauses more.
    pub clauses: Vec<Clause>,
    /// Conditions more.
    pub ensure: Vec<Ensure>,
    /// What the request says more.
    pub adds: Vec<WordPart>,
}

/// The rule that blocks a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockingRule {
    /// A rule of the domain, by its place.
    Rule(usize),
    /// A lifecycle.
    Lifecycle(TableId, FieldId),
}

/// What a request speaks of that is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lost {
    /// The member, by its place.
    pub member: usize,
    /// The field that is shown with a value that nobody has; without one a plant has emptied the member's source.
    pub path: Option<Path>,
    /// As it was written.
    pub text: String,
}
