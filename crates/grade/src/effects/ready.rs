//! A judgement made ready: every name of the sealed document is resolved and every value read, so that whatever does not fit the world is
//! an error before anything is scored.

use super::{
    EffectsError, Key,
    answers::{Canonical, LONGEST_LIST, Reasons, canonical},
    cells::{WantedCell, Where},
    differences::Compared,
    prose::{Allowed, Fact, ReadyProse, Slot},
    verdict::instance,
};
use benchwright_base::{Date, DateTime, FieldId, Json, RowId, TableId, Time, Value};
use benchwright_expr::{Expr, Given, GivenType, Scope, Type, check_truth, eval::Records as _};
use benchwright_pack::{
    Instance,
    effects::{
        AnswerType, AnswerValue, CastValue, CheckKind, Effects, Ensured, ExpectedAnswer, ExpectedCell, ExpectedRefusal,
        ExpectedRow, Prose, SlotFact, Target,
    },
};
use benchwright_sandbox::Live;
use benchwright_schema::{Domain, Table, codec};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The most combinations of choices that are tried.
pub(super) const MOST_COMBINATIONS: usize = 20;

/// A judgement with every name resolved.
pub(super) struct Ready {
    pub(super) expected: Vec<Wanted>,
    /// The tables of the choices.
    pub(super) choices: Vec<TableId>,
    /// Every way to choose: a row for each choice.
    pub(super) combinations: Vec<Vec<RowId>>,
    pub(super) ensure: Vec<ReadyEnsure>,
    pub(super) answer: Option<ReadyAnswer>,
    pub(super) refusal: Option<Reasons>,
    /// The rules that are listed in any case.
    pub(super) rules: Vec<(usize, Arc<Instance>)>,
    pub(super) replies: Option<Replies>,
    pub(super) compared: Compared,
    /// The rows that are expected to be gone.
    pub(super) gone: BTreeSet<Key>,
}

/// An expected row.
pub(super) struct Wanted {
    pub(super) of: Arc<Instance>,
    pub(super) table: TableId,
    pub(super) target: WantedTarget,
    pub(super) cells: Vec<(FieldId, WantedCell)>,
    /// The new rows that must be bound before it can be.
    pub(super) needs: BTreeSet<usize>,
    /// The new rows that its texts speak of.
    pub(super) likes: BTreeSet<usize>,
}

/// Which row is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WantedTarget {
    Id(RowId),
    Choice(usize),
    New,
    Gone(RowId),
}

impl WantedTarget {
    pub(super) fn is_new(self) -> bool {
        self == WantedTarget::New
    }
}

/// A condition on the final state.
pub(super) struct ReadyEnsure {
    pub(super) of: Arc<Instance>,
    pub(super) holds: Expr,
    pub(super) cast: Vec<Member>,
}

/// What a name in a condition stands for.
pub(super) enum Member {
    Rows(TableId, Vec<RowId>),
    Row(TableId, RowId),
    Made(usize),
    Chosen(usize),
    Value(Value),
}

/// What must be answered.
pub(super) struct ReadyAnswer {
    pub(super) of: Arc<Instance>,
    pub(super) ty: AnswerType,
    pub(super) list: bool,
    pub(super) is: Vec<ReadyValue>,
}

/// A value that is wanted.
pub(super) enum ReadyValue {
    Known(BTreeSet<Canonical>),
    Made(usize, FieldId),
}

/// Where replies stand.
#[derive(Clone, Copy)]
pub(super) struct Replies {
    pub(super) reply: TableId,
    pub(super) kind: FieldId,
    pub(super) rule: FieldId,
    pub(super) record: FieldId,
    pub(super) value_table: TableId,
    pub(super) value_reply: FieldId,
    pub(super) value_name: FieldId,
    pub(super) value: FieldId,
}

impl Replies {
    /// The tables of replies, if the domain has them.
    fn of(domain: &Domain) -> Option<Replies> {
        let table = |name: &str| domain.table_named(name).filter(|table| domain.table(*table).once);
        let (reply, value_table) = (table("request_reply")?, table("reply_value")?);
        let of_reply = |name: &str| domain.table(reply).field_named(name);
        let of_value = |name: &str| domain.table(value_table).field_named(name);
        Some(Replies {
            reply,
            kind: of_reply("kind")?,
            rule: of_reply("rule")?,
            record: of_reply("record")?,
            value_table,
            value_reply: of_value("reply")?,
            value_name: of_value("name")?,
            value: of_value("value")?,
        })
    }

    /// The obstacle that a reply names, if it declines.
    pub(super) fn obstacle(&self, domain: &Domain, reply: &[Value]) -> Option<String> {
        let value = reply.get(self.kind.index()).filter(|value| !value.is_null())?;
        Some(codec::show_value(domain, domain.table(self.reply).field(self.kind).ty, value))
    }
}

impl Ready {
    /// Reads a judgement of a world that begins with these records. Where calls that take a list have replaced rows by rows like them, the
    /// document has both; as that is no difference, neither is expected.
    pub(super) fn new(effects: &Effects, domain: &Domain, first: Live<'_>) -> Result<Ready, EffectsError> {
        let ready = Ready::read(effects, domain, first)?;
        let replaced = ready.replaced(first)?;
        if replaced.is_empty() {
            return Ok(ready);
        }
        let kept = effects.expected.iter().enumerate().filter(|(at, _)| !replaced.contains(at));
        let expected = kept.map(|(_, row)| row.clone()).collect();
        Ready::read(&Effects { expected, ..effects.clone() }, domain, first)
    }

    /// The expected rows that replace each other: one that is to be gone, and a new one that is like it.
    fn replaced(&self, first: Live<'_>) -> Result<BTreeSet<usize>, EffectsError> {
        let mut replaced = BTreeSet::new();
        for (at, gone) in self.expected.iter().enumerate() {
            let WantedTarget::Gone(row) = gone.target else { continue };
            let Some(old) = first.row(gone.table, row) else { continue };
            let is_as_before = |(field, cell): &(FieldId, WantedCell)| match cell {
                WantedCell::Is(values) => values.contains(&old[field.index()]),
                cell => !cell.counts(),
            };
            let alike = |(at, new): &(usize, &Wanted)| {
                let is_new = new.target.is_new() && new.table == gone.table && !replaced.contains(at);
                is_new && new.cells.iter().all(is_as_before)
            };
            let Some((new, _)) = self.expected.iter().enumerate().find(alike) else { continue };
            if self.is_spoken_of(new) {
                let why = "it replaces a row by one like it, of which something else speaks";
                return Err(EffectsError::Clause { of: self.expected[new].of.rule.clone(), why });
            }
            replaced.extend([at, new]);
        }
        Ok(replaced)
    }

    /// Whether anything else refers to a new row.
    fn is_spoken_of(&self, new: usize) -> bool {
        let of_row = |row: &Wanted| row.needs.contains(&new) || row.likes.contains(&new);
        let of_member = |member: &Member| matches!(member, Member::Made(at) if *at == new);
        let of_value = |value: &ReadyValue| matches!(value, ReadyValue::Made(at, _) if *at == new);
        self.expected.iter().any(of_row)
            || self.ensure.iter().flat_map(|ensured| &ensured.cast).any(of_member)
            || self.answer.iter().flat_map(|answer| &answer.is).any(of_value)
    }

    fn read(effects: &Effects, domain: &Domain, first: Live<'_>) -> Result<Ready, EffectsError> {
        let replies = Replies::of(domain);
        let compared = Compared::new(domain);
        let mut maker = Maker {
            domain,
            first,
            compared: &compared,
            made: BTreeMap::new(),
            choices: BTreeMap::new(),
            tables: Vec::new(),
            facts: Allowed::default(),
        };
        effects.facts.iter().for_each(|fact| maker.facts.text(fact));
        let combinations = maker.choices(effects)?;
        let expected = maker.expected(effects)?;
        let ensure = effects.ensure.iter().map(|one| maker.ensured(one)).collect::<Result<Vec<_>, _>>()?;
        let answer = effects.answer.as_ref().map(|answer| maker.answer(answer)).transpose()?;
        let refusal = match (&effects.refusal, &replies) {
            (Some(refusal), Some(replies)) => Some(maker.refusal(refusal, replies)?),
            _ => None,
        };
        if replies.is_none() && (effects.answer.is_some() || effects.refusal.is_some()) {
            return Err(EffectsError::Replies(domain.name.clone()));
        }
        let asks = !expected.is_empty() || !ensure.is_empty() || answer.is_some();
        if asks == refusal.is_some() {
            return Err(EffectsError::Asks);
        }
        let rules = rules(effects, domain)?;
        let choices = std::mem::take(&mut maker.tables);
        let gone = expected.iter().filter_map(|wanted| match wanted.target {
            WantedTarget::Gone(row) => Some((wanted.table, row)),
            _ => None,
        });
        let gone = gone.collect();
        Ok(Ready { expected, choices, combinations, ensure, answer, refusal, rules, replies, compared, gone })
    }
}

/// The rules that are checks in any case, each once.
fn rules(effects: &Effects, domain: &Domain) -> Result<Vec<(usize, Arc<Instance>)>, EffectsError> {
    let mut rules: Vec<(usize, Arc<Instance>)> = Vec::new();
    for id in &effects.rules {
        let known = domain.rules.iter().position(|rule| rule.id == *id);
        let known = known.ok_or_else(|| EffectsError::Rule(id.clone()))?;
        if !rules.iter().any(|(rule, _)| *rule == known) {
            rules.push((known, instance(id, CheckKind::Compliance, Vec::new())));
        }
    }
    Ok(rules)
}

struct Maker<'d> {
    domain: &'d Domain,
    first: Live<'d>,
    compared: &'d Compared,
    /// The places of expected new rows that have names, with their tables.
    made: BTreeMap<String, (usize, TableId)>,
    /// The places of choices.
    choices: BTreeMap<String, usize>,
    /// The tables of choices.
    tables: Vec<TableId>,
    /// What is foreign to no text.
    facts: Allowed,
}

impl Maker<'_> {
    fn table(&self, name: &str) -> Result<TableId, EffectsError> {
        self.domain.table_named(name).ok_or_else(|| EffectsError::Table(name.to_owned()))
    }

    fn declared(&self, table: TableId) -> &Table {
        self.domain.table(table)
    }

    fn field(&self, table: TableId, name: &str) -> Result<FieldId, EffectsError> {
        let declared = self.declared(table);
        let missing = || EffectsError::Field { table: declared.name.clone(), field: name.to_owned() };
        declared.field_named(name).ok_or_else(missing)
    }

    /// A row of the first state.
    fn row(&self, table: TableId, row: RowId) -> Result<RowId, EffectsError> {
        let missing = || EffectsError::Row { table: self.declared(table).name.clone(), row };
        self.first.row(table, row).map(|_| row).ok_or_else(missing)
    }

    fn made(&self, name: &str) -> Result<(usize, TableId), EffectsError> {
        self.made.get(name).copied().ok_or_else(|| EffectsError::Name(name.to_owned()))
    }

    fn choice(&self, name: &str) -> Result<(usize, TableId), EffectsError> {
        let place = self.choices.get(name).ok_or_else(|| EffectsError::Name(name.to_owned()))?;
        Ok((*place, self.tables[*place]))
    }

    /// Reads the choices, and returns every way to choose.
    fn choices(&mut self, effects: &Effects) -> Result<Vec<Vec<RowId>>, EffectsError> {
        let mut combinations = vec![Vec::new()];
        for (at, choice) in effects.choices.iter().enumerate() {
            let table = self.table(&choice.table)?;
            if self.choices.insert(choice.name.clone(), at).is_some() {
                return Err(EffectsError::Twice(choice.name.clone()));
            }
            self.tables.push(table);
            for row in &choice.rows {
                self.row(table, *row)?;
            }
            let ways = combinations.len() * choice.rows.len();
            if ways == 0 || ways > MOST_COMBINATIONS {
                return Err(EffectsError::Combinations(ways));
            }
            let with = |known: Vec<RowId>| choice.rows.iter().map(move |row| [&known[..], &[*row]].concat());
            combinations = combinations.into_iter().flat_map(with).collect();
        }
        Ok(combinations)
    }

    fn expected(&mut self, effects: &Effects) -> Result<Vec<Wanted>, EffectsError> {
        for (at, row) in effects.expected.iter().enumerate() {
            let (Some(name), Target::New) = (&row.name, &row.row) else { continue };
            let table = self.table(&row.table)?;
            if self.made.insert(name.clone(), (at, table)).is_some() {
                return Err(EffectsError::Twice(name.clone()));
            }
        }
        let wanted = effects.expected.iter().map(|row| self.wanted(row)).collect::<Result<Vec<_>, _>>()?;
        // New rows are bound after those that they need; so none may need itself in the end.
        let mut open: BTreeSet<usize> = (0..wanted.len()).collect();
        loop {
            let done: Vec<usize> = open.iter().copied().filter(|at| wanted[*at].needs.is_disjoint(&open)).collect();
            if done.is_empty() {
                break;
            }
            done.iter().for_each(|at| _ = open.remove(at));
        }
        match open.first() {
            Some(at) => Err(EffectsError::Circle(effects.expected[*at].of.clone())),
            None => Ok(wanted),
        }
    }

    fn wanted(&self, row: &ExpectedRow) -> Result<Wanted, EffectsError> {
        let table = self.table(&row.table)?;
        let declared = self.declared(table);
        let clause = |why: &'static str| EffectsError::Clause { of: row.of.clone(), why };
        let target = match &row.row {
            Target::Id(id) => WantedTarget::Id(self.row(table, *id)?),
            Target::Gone(id) => WantedTarget::Gone(self.row(table, *id)?),
            Target::New => WantedTarget::New,
            Target::Choice(name) => match self.choice(name)? {
                (choice, known) if known == table => WantedTarget::Choice(choice),
                _ => return Err(clause("its choice is of another table")),
            },
        };
        if !self.compared.has_table(table) {
            return Err(clause("nothing of its table is compared"));
        }
        match target {
            WantedTarget::Gone(_) if !row.cells.is_empty() => return Err(clause("a row that is gone has no cells")),
            WantedTarget::Id(_) | WantedTarget::Choice(_) if row.cells.is_empty() => {
                return Err(clause("nothing is asked of the row"));
            }
            _ => {}
        }
        let mut cells = Vec::new();
        for (name, cell) in &row.cells {
            let field = self.field(table, name)?;
            if !self.compared.has(table, field.index()) && *cell != ExpectedCell::Any {
                return Err(EffectsError::NotCompared { table: declared.name.clone(), field: name.clone() });
            }
            cells.push((field, self.cell(table, field, cell)?));
        }
        if target.is_new() {
            self.add_defaults(table, &mut cells)?;
        }
        cells.sort_by_key(|(field, _)| *field);
        let of = instance(&row.of, row.kind, vec![row.at.clone()]);
        let needs = cells.iter().filter_map(|(_, cell)| cell.needs()).collect();
        let likes = cells.iter().flat_map(|(_, cell)| cell.likes()).collect();
        Ok(Wanted { of, table, target, cells, needs, likes })
    }

    /// What nobody names of a new row keeps its default. Texts are free.
    fn add_defaults(&self, table: TableId, cells: &mut Vec<(FieldId, WantedCell)>) -> Result<(), EffectsError> {
        let declared = self.declared(table);
        for (at, field) in declared.fields.iter().enumerate() {
            let id = FieldId(at as u16);
            if !self.compared.has(table, at) || field.prose || cells.iter().any(|(known, _)| *known == id) {
                continue;
            }
            let default = match &field.default {
                Some(value) => value.clone(),
                None if field.nullable => Value::Null,
                None => {
                    return Err(EffectsError::Unnamed { table: declared.name.clone(), field: field.name.clone() });
                }
            };
            cells.push((id, WantedCell::Is(vec![default])));
        }
        Ok(())
    }

    fn wrong(&self, table: TableId, field: FieldId, why: impl Into<String>) -> EffectsError {
        let declared = self.declared(table);
        EffectsError::Value { table: declared.name.clone(), field: declared.field(field).name.clone(), why: why.into() }
    }

    /// Reads a value as it stands in snapshots.
    fn value(&self, table: TableId, id: FieldId, json: &serde_json::Value) -> Result<Value, EffectsError> {
        let field = self.declared(table).field(id);
        let text = json.to_string();
        let json = Json::parse(&text).map_err(|error| self.wrong(table, id, error))?;
        let value = codec::read_value(self.domain, field.ty, &json).map_err(|error| self.wrong(table, id, error))?;
        codec::check_bounds(&value, field.bounds).map_err(|error| self.wrong(table, id, error))?;
        match (field.ty, &value) {
            (_, Value::Null) if !field.nullable => Err(self.wrong(table, id, "is never null")),
            (Type::Ref(to), Value::Ref(row)) if self.row(to, *row).is_err() => {
                Err(self.wrong(table, id, format!("refers to {} {row}, which is not there", self.declared(to).name)))
            }
            _ => Ok(value),
        }
    }

    fn cell(&self, table: TableId, field: FieldId, cell: &ExpectedCell) -> Result<WantedCell, EffectsError> {
        let ty = self.declared(table).field(field).ty;
        let fits = |is: Type| if is == ty { Ok(()) } else { Err(self.wrong(table, field, "is of another type")) };
        Ok(match cell {
            ExpectedCell::Is(value) => WantedCell::Is(vec![self.value(table, field, value)?]),
            ExpectedCell::OneOf(values) => {
                let values =
                    values.iter().map(|value| self.value(table, field, value)).collect::<Result<Vec<_>, _>>()?;
                if values.is_empty() {
                    return Err(self.wrong(table, field, "has nothing that it may be"));
                }
                WantedCell::Is(values)
            }
            ExpectedCell::Made(name) => {
                let (made, of) = self.made(name)?;
                fits(Type::Ref(of))?;
                WantedCell::Made(made)
            }
            ExpectedCell::MadeField(name, of) => {
                let (made, from) = self.made(name)?;
                let of = self.field(from, of)?;
                fits(self.declared(from).field(of).ty)?;
                WantedCell::MadeField(made, of)
            }
            ExpectedCell::Chosen(name) => {
                let (choice, of) = self.choice(name)?;
                fits(Type::Ref(of))?;
                WantedCell::Chosen(choice)
            }
            ExpectedCell::ChosenField(name, of) => {
                let (choice, from) = self.choice(name)?;
                let of = self.field(from, of)?;
                fits(self.declared(from).field(of).ty)?;
                WantedCell::ChosenField(choice, of)
            }
            ExpectedCell::Prose(prose) => {
                fits(Type::Text)?;
                WantedCell::Prose(self.prose(prose)?)
            }
            ExpectedCell::Any => WantedCell::Any,
        })
    }

    fn prose(&self, prose: &Prose) -> Result<ReadyProse<Where>, EffectsError> {
        let mut allowed = self.facts.clone();
        let mut slots = Vec::new();
        for slot in &prose.slots {
            let is = self.slot(&slot.name, &slot.is)?;
            if let Where::Known(fact) = &is {
                allowed.fact(fact);
            }
            slots.push(Slot { name: slot.name.clone(), is, optional: slot.optional });
        }
        let never = prose.never.iter().filter(|never| !never.trim().is_empty()).cloned().collect();
        Ok(ReadyProse { slots, never, allowed })
    }

    fn slot(&self, name: &str, fact: &SlotFact) -> Result<Where, EffectsError> {
        let wrong = || EffectsError::Slot(name.to_owned());
        let held = |table: TableId, field: &str| {
            let field = self.field(table, field)?;
            if Fact::can_be(self.declared(table).field(field).ty) { Ok(field) } else { Err(wrong()) }
        };
        let fact = match fact {
            SlotFact::Text(text) => Some(Fact::Phrase(text.clone())).filter(|_| !text.trim().is_empty()),
            SlotFact::Word(word) => Some(Fact::Word(word.clone())).filter(|_| !word.trim().is_empty()),
            SlotFact::Date(date) => Date::parse(date).map(Fact::Day),
            SlotFact::Instant(instant) => DateTime::parse(instant).map(Fact::Instant),
            SlotFact::Time(time) => Time::parse(time).map(Fact::Time),
            SlotFact::Money(minor) => Fact::money(*minor),
            SlotFact::Number(number) => Some(Fact::Number(*number)),
            SlotFact::MadeField(made, field) => {
                let (made, table) = self.made(made)?;
                return Ok(Where::Made(made, held(table, field)?));
            }
            SlotFact::ChosenField(choice, field) => {
                let (choice, table) = self.choice(choice)?;
                return Ok(Where::Chosen(choice, held(table, field)?));
            }
        };
        fact.map(Where::Known).ok_or_else(wrong)
    }

    fn ensured(&self, ensured: &Ensured) -> Result<ReadyEnsure, EffectsError> {
        let wrong = |why: &str| EffectsError::Condition { id: ensured.id.clone(), why: why.to_owned() };
        let mut given: Vec<Given<'_>> = Vec::new();
        let mut cast = Vec::new();
        for name in &ensured.cast {
            if given.iter().any(|known| known.name == name.name) {
                return Err(EffectsError::Twice(name.name.clone()));
            }
            let of_table = |(place, known): (usize, TableId), table: &str| {
                if self.table(table)? == known { Ok((place, known)) } else { Err(wrong("a name is of another table")) }
            };
            let (is, member) = match &name.is {
                CastValue::Row(table, row) => {
                    let table = self.table(table)?;
                    (GivenType::Row(table), Member::Row(table, self.row(table, *row)?))
                }
                CastValue::Rows(table, rows) => {
                    let table = self.table(table)?;
                    let rows = rows.iter().map(|row| self.row(table, *row)).collect::<Result<Vec<_>, _>>()?;
                    (GivenType::Rows(table), Member::Rows(table, rows))
                }
                CastValue::Made(table, made) => {
                    let (made, table) = of_table(self.made(made)?, table)?;
                    (GivenType::Row(table), Member::Made(made))
                }
                CastValue::Chosen(table, choice) => {
                    let (choice, table) = of_table(self.choice(choice)?, table)?;
                    (GivenType::Row(table), Member::Chosen(choice))
                }
                CastValue::Instant(text) => {
                    let instant = DateTime::parse(text).ok_or_else(|| wrong("a name is no instant"))?;
                    (GivenType::Value(Type::DateTime), Member::Value(Value::DateTime(instant)))
                }
                CastValue::Date(text) => {
                    let date = Date::parse(text).ok_or_else(|| wrong("a name is no day"))?;
                    (GivenType::Value(Type::Date), Member::Value(Value::Date(date)))
                }
                CastValue::Number(number) => (GivenType::Value(Type::Int), Member::Value(Value::Int(*number))),
                CastValue::Money(minor) => (GivenType::Value(Type::Money), Member::Value(Value::Money(*minor))),
                CastValue::Text(text) => (GivenType::Value(Type::Text), Member::Value(Value::text(&**text))),
            };
            given.push(Given { name: &name.name, is });
            cast.push(member);
        }
        let scope = Scope { given: &given, ..Scope::default() };
        let holds = check_truth(&ensured.holds, self.domain, scope).map_err(|faults| {
            let faults: Vec<&str> = faults.iter().map(|fault| &*fault.message).collect();
            wrong(&faults.join("; "))
        })?;
        Ok(ReadyEnsure { of: instance(&ensured.id, CheckKind::Completion, Vec::new()), holds, cast })
    }

    fn answer(&self, answer: &ExpectedAnswer) -> Result<ReadyAnswer, EffectsError> {
        let clause = |why: &'static str| EffectsError::Clause { of: answer.of.clone(), why };
        let most = if answer.list { LONGEST_LIST } else { 1 };
        if !(1..=most).contains(&answer.is.len()) {
            return Err(clause("an answer is one value, or a list of a few"));
        }
        let mut is = Vec::new();
        for value in &answer.is {
            is.push(match value {
                AnswerValue::Known(forms) => {
                    let forms: Option<BTreeSet<Canonical>> =
                        forms.iter().map(|form| canonical(answer.ty, form)).collect();
                    let forms = forms.filter(|forms| !forms.is_empty());
                    ReadyValue::Known(forms.ok_or_else(|| clause("a value of the answer is not of its type"))?)
                }
                AnswerValue::MadeField(made, field) => {
                    let (made, table) = self.made(made)?;
                    ReadyValue::Made(made, self.field(table, field)?)
                }
            });
        }
        let of = instance(&answer.of, CheckKind::Completion, Vec::new());
        Ok(ReadyAnswer { of, ty: answer.ty, list: answer.list, is })
    }

    fn refusal(&self, refusal: &ExpectedRefusal, replies: &Replies) -> Result<Reasons, EffectsError> {
        let words = match self.declared(replies.reply).field(replies.kind).ty {
            Type::Enum(id) => &self.domain.enums[id.index()].words[..],
            _ => &[],
        };
        let given = |list: &[String]| list.iter().filter(|text| !text.trim().is_empty()).cloned().collect();
        let reasons = Reasons {
            obstacle: refusal.obstacle.clone(),
            rules: given(&refusal.rules),
            records: given(&refusal.records),
            domain: self.domain.name.clone(),
        };
        if !words.contains(&refusal.obstacle) || !reasons.can_be_given() {
            return Err(EffectsError::Reason(refusal.obstacle.clone()));
        }
        Ok(reasons)
    }
}
