//! How a field of a seeded row is made: the notation of the strings in a step of `seed.toml`.

use super::draft::Draft;
use crate::model::{Field, SeedField, TextPart};
use crate::text::{Cursor, Faults, File, Kind, Node, Piece, open_characters, word};
use benchwright_base::{FieldId, TableId, Value};
use benchwright_expr::{Expr, Path, Source, Type};

const FORMS: [&str; 9] = ["text", "one", "between", "from", "any", "distinct", "parent", "null", "maybe"];

/// What the fields of a step can see.
pub(super) struct Step<'d> {
    /// The table whose rows it makes.
    pub(super) table: TableId,
    /// What `each` goes over, if it could be read.
    pub(super) each: Option<&'d Source>,
    /// Whether there is an `each`.
    pub(super) has_each: bool,
    /// The pools.
    pub(super) pools: &'d [(String, Vec<String>)],
    /// The fields that are not made yet, this one among them.
    pub(super) coming: Vec<FieldId>,
    /// The domain.
    pub(super) draft: &'d Draft,
    /// Where faults go.
    pub(super) faults: &'d Faults,
}

/// Reads the string, or the list of cases, of a field.
pub(super) fn read_field(file: &File<'_>, value: &Node<'_>, id: FieldId, step: &Step<'_>) -> Option<SeedField> {
    let field = step.draft.domain.table(step.table).field(id);
    if let Some(text) = value.text(file) {
        return step.notation(text, field);
    }
    let Kind::List(items) = &value.kind else {
        let mend = "write how it is made in quotes, such as \"one of a 70, b 30\"";
        step.faults.with_help(value.piece(file), format!("`{}` is not a string", field.name), mend);
        return None;
    };
    let mut cases = Vec::new();
    let mut whole = true;
    for (nth, item) in items.iter().enumerate() {
        let is_last = nth + 1 == items.len();
        match item.text(file).map(|text| step.case(text, field, is_last)) {
            Some(Some(case)) => cases.push(case),
            Some(None) => whole = false,
            None => {
                step.faults.at(item.piece(file), "expected a case in quotes");
                whole = false;
            }
        }
    }
    if whole && !field.nullable && cases.last().is_none_or(|(condition, _)| condition.is_some()) {
        let message = format!("`{}` cannot be null, so its last case is `else: …`", field.name);
        step.faults.at(value.piece(file), message);
        return None;
    }
    whole.then_some(SeedField::Cases(cases))
}

impl Step<'_> {
    fn case(&self, text: Piece<'_>, field: &Field, is_last: bool) -> Option<(Option<Expr>, SeedField)> {
        let colon = open_characters(text.text).find(|(_, c)| *c == ':').map(|(at, _)| at);
        let mut cursor = Cursor::new(text);
        match (colon, cursor.word().map(|word| word.text)) {
            (Some(colon), Some("when")) => {
                let condition = self.draft.truth(text.sub(4, colon), self.table, self.faults);
                let made = self.notation(text.from(colon + 1), field);
                Some((Some(condition?), made?))
            }
            (Some(colon), Some("else")) if text.sub(4, colon).text.is_empty() => {
                if !is_last {
                    self.faults.at(text, "`else` is not the last case");
                    return None;
                }
                Some((None, self.notation(text.from(colon + 1), field)?))
            }
            _ => {
                let mend = "write `when <predicate>: …` or `else: …`";
                self.faults.with_help(text, "expected a case", mend);
                None
            }
        }
    }

    fn notation(&self, text: Piece<'_>, field: &Field) -> Option<SeedField> {
        let mut cursor = Cursor::new(text);
        if cursor.eat("=") {
            let expr = self.draft.computed(cursor.rest(), self.table, field.ty, self.faults)?;
            return Some(SeedField::Computed(expr));
        }
        let here = cursor.here();
        let form = cursor.word().map_or("", |word| word.text);
        match form {
            "text" => self.needs(field, &[Type::Text], here).and_then(|()| self.template(cursor.rest())),
            "one" if cursor.eat_word("of") => self.one_of(cursor.rest(), field),
            "between" => self.between(cursor.rest(), field, here),
            "from" => self.instant(cursor.rest(), field, here),
            "any" => self.drawn(cursor.rest(), field, here).map(|(source, path)| SeedField::Any(source, path)),
            "distinct" => {
                self.drawn(cursor.rest(), field, here).map(|(source, path)| SeedField::Distinct(source, path))
            }
            "parent" if cursor.is_done() => self.parent(field, here),
            "null" if cursor.is_done() => self.null(field, here).map(|()| SeedField::Null),
            "maybe" => {
                let share = cursor.word();
                let percent = share.and_then(|share| share.text.parse::<u32>().ok()).filter(|share| *share <= 100);
                let (Some(percent), true) = (percent, cursor.eat(":")) else {
                    let mend = "write `maybe 30: …` for null in thirty of a hundred rows";
                    self.faults.with_help(share.unwrap_or(here), "expected a share of a hundred and `:`", mend);
                    return None;
                };
                let rest = cursor.rest();
                if Cursor::new(rest).eat_word("maybe") {
                    self.faults.at(rest, "`maybe` within `maybe`");
                    return None;
                }
                let inner = self.notation(rest, field);
                self.null(field, here)?;
                Some(SeedField::Maybe(percent, Box::new(inner?)))
            }
            _ => {
                let message = format!("unknown way to make a value: {}", word(here.text));
                self.faults.unknown(here, message, FORMS);
                None
            }
        }
    }

    fn null(&self, field: &Field, here: Piece<'_>) -> Option<()> {
        if !field.nullable {
            self.faults.at(here, format!("`{}` cannot be null", field.name));
        }
        field.nullable.then_some(())
    }

    fn needs(&self, field: &Field, types: &[Type], here: Piece<'_>) -> Option<()> {
        let fits = types.contains(&field.ty);
        if !fits {
            let ty = self.draft.type_name(field.ty);
            self.faults.at(here, format!("{} does not make {ty}, which `{}` is", word(here.text), field.name));
        }
        fits.then_some(())
    }

    fn parent(&self, field: &Field, here: Piece<'_>) -> Option<SeedField> {
        if !self.has_each {
            self.faults.with_help(here, "there is no parent", "add `each = \"…\"` to this step");
            return None;
        }
        let Some(Source::Rows { relation, .. }) = self.each else { return None };
        if field.ty != Type::Ref(*relation) {
            let message =
                format!("the parent is {}, and `{}` is not", self.draft.type_name(Type::Ref(*relation)), field.name);
            self.faults.at(here, message);
            return None;
        }
        Some(SeedField::Parent)
    }

    /// A source of rows, or `rows(…).path` with what is wanted of each.
    fn drawn(&self, text: Piece<'_>, field: &Field, here: Piece<'_>) -> Option<(Source, Path)> {
        let has_path = text.text.rfind(')').is_some_and(|at| text.text[at + 1..].starts_with('.'));
        if !has_path {
            return self.rows(text, field, here).map(|source| (source, Path::default()));
        }
        match self.draft.computed(text, self.table, field.ty, self.faults)? {
            Expr::Lookup { source, path } => Some((*source, path)),
            _ => {
                let mend = "write such as `any user(active = true).email`";
                self.faults.with_help(text, "expected rows of a table and a path from them", mend);
                None
            }
        }
    }

    fn rows(&self, text: Piece<'_>, field: &Field, here: Piece<'_>) -> Option<Source> {
        let Type::Ref(wanted) = field.ty else {
            self.needs(field, &[], here)?;
            return None;
        };
        let source = self.draft.source(text, Some(self.table), self.faults)?;
        match source {
            Source::Rows { relation, .. } if relation == wanted => Some(source),
            _ => {
                let wanted = self.draft.type_name(Type::Ref(wanted));
                self.faults.at(text, format!("`{}` is {wanted}, and this is not", field.name));
                None
            }
        }
    }

    fn one_of(&self, text: Piece<'_>, field: &Field) -> Option<SeedField> {
        let mut values: Vec<(Value, u32)> = Vec::new();
        let mut whole = true;
        for item in text.commas() {
            let split = item.text.rfind(char::is_whitespace).filter(|at| {
                let last = &item.text[*at..];
                last.trim().bytes().all(|b| b.is_ascii_digit()) && !item.text.ends_with('\'')
            });
            let weight = match split {
                Some(at) => item.text[at..].trim().parse::<u32>().ok().filter(|weight| *weight <= 1_000_000),
                None => Some(1),
            };
            let Some(weight) = weight else {
                self.faults.at(item, "a weight is a whole number up to a million");
                whole = false;
                continue;
            };
            let shown = item.sub(0, split.unwrap_or(item.text.len()));
            if shown.text.is_empty() {
                self.faults.at(item, "expected a value");
                whole = false;
                continue;
            }
            match self.draft.value(&field.name, field.ty, field.nullable, field.bounds, shown, self.faults) {
                Some(value) => values.push((value, weight)),
                None => whole = false,
            }
        }
        if whole && values.iter().all(|(_, weight)| *weight == 0) {
            self.faults.at(text, "all weights are zero");
            return None;
        }
        whole.then_some(SeedField::OneOf(values))
    }

    fn between(&self, text: Piece<'_>, field: &Field, here: Piece<'_>) -> Option<SeedField> {
        self.needs(field, &[Type::Int, Type::Money, Type::Quantity, Type::Duration], here)?;
        let Some(&(and, after)) = text.words_at(&["and"]).first() else {
            self.faults.with_help(text, "expected two ends", "write `between 1 and 40 step 5`");
            return None;
        };
        let step = text.words_at(&["step"]).first().copied();
        let end = step.map_or(text.text.len(), |(at, _)| at);
        let number = |piece: Piece<'_>, bounds| {
            let value = self.draft.value(&field.name, field.ty, false, bounds, piece, self.faults)?;
            value.as_number()
        };
        let low = number(text.sub(0, and), field.bounds);
        let high = number(text.sub(after, end.max(after)), field.bounds);
        let one = match field.ty {
            Type::Money => 100,
            Type::Quantity => 1000,
            _ => 1,
        };
        let step = match step {
            Some((_, after)) => number(text.from(after), None),
            None => Some(one),
        };
        let (low, high, step) = (low?, high?, step?);
        if low > high || step < 1 {
            self.faults.at(text, "the low end is above the high one, or the step is not above zero");
            return None;
        }
        Some(SeedField::Between { low, high, step })
    }

    fn instant(&self, text: Piece<'_>, field: &Field, here: Piece<'_>) -> Option<SeedField> {
        self.needs(field, &[Type::Date, Type::DateTime], here)?;
        let Some(&(to, after)) = text.words_at(&["to"]).first() else {
            self.faults.with_help(text, "expected two ends", "write `from now - 30 days to now step 15 minutes`");
            return None;
        };
        let step = text.words_at(&["step"]).last().copied();
        let end = step.map_or(text.text.len(), |(at, _)| at);
        let from = self.draft.computed(text.sub(0, to), self.table, field.ty, self.faults);
        let to = self.draft.computed(text.sub(after, end.max(after)), self.table, field.ty, self.faults);
        let is_date = field.ty == Type::Date;
        let step = match step {
            Some((_, after)) => self.grain(text.from(after), is_date),
            None => Some(if is_date { 86_400 } else { 60 }),
        };
        Some(SeedField::Instant { from: from?, to: to?, step: step? })
    }

    fn grain(&self, text: Piece<'_>, is_date: bool) -> Option<i64> {
        const UNITS: [(&str, i64); 4] = [("second", 1), ("minute", 60), ("hour", 3600), ("day", 86_400)];
        let mut cursor = Cursor::new(text);
        let number = cursor.word().and_then(|word| word.text.parse::<i64>().ok()).filter(|n| (1..=100_000).contains(n));
        let unit = cursor.word().and_then(|word| {
            let singular = word.text.strip_suffix('s').unwrap_or(word.text);
            UNITS.iter().find(|(unit, _)| *unit == singular)
        });
        match (number, unit, cursor.is_done()) {
            (Some(number), Some((_, seconds)), true) if !is_date || *seconds == 86_400 => Some(number * seconds),
            _ => {
                let mend = if is_date { "write `step 7 days`" } else { "write `step 15 minutes`" };
                self.faults.with_help(text, "expected a step of time", mend);
                None
            }
        }
    }

    fn template(&self, text: Piece<'_>) -> Option<SeedField> {
        let mut parts: Vec<TextPart> = Vec::new();
        let mut plain = String::new();
        let mut whole = true;
        let mut at = 0;
        while let Some(c) = text.text[at..].chars().next() {
            let after = at + c.len_utf8();
            let next = text.text[after..].chars().next();
            if (c == '{' || c == '}') && next == Some(c) {
                plain.push(c);
                at = after + 1;
                continue;
            }
            if c != '{' {
                plain.push(c);
                at = after;
                continue;
            }
            let Some(length) = text.text[after..].find('}') else {
                self.faults.with_help(
                    text.from(at),
                    "this `{` is not closed",
                    "a brace that is meant is written twice",
                );
                return None;
            };
            if !plain.is_empty() {
                parts.push(TextPart::Plain(std::mem::take(&mut plain)));
            }
            match self.hole(text.sub(after, after + length)) {
                Some(part) => parts.push(part),
                None => whole = false,
            }
            at = after + length + 1;
        }
        if !plain.is_empty() {
            parts.push(TextPart::Plain(plain));
        }
        whole.then_some(SeedField::Text(parts))
    }

    /// What stands in braces.
    fn hole(&self, text: Piece<'_>) -> Option<TextPart> {
        if let Some(digits) = text.text.strip_prefix('#') {
            let digits = if digits.is_empty() { Some(1) } else { digits.parse().ok() };
            let digits = digits.filter(|digits| (1..=18).contains(digits));
            if digits.is_none() {
                self.faults.at(text, "expected `{#}`, or `{#5}` for at least five digits");
            }
            return digits.map(TextPart::Number);
        }
        let colon = text.text.find(':');
        let name = text.sub(0, colon.unwrap_or(text.text.len()));
        let how = colon.map(|at| text.from(at + 1));
        if let Some(how) = how.filter(|how| how.text != "slug") {
            self.faults.unknown(how, format!("unknown form {}", word(how.text)), ["slug"]);
            return None;
        }
        let table = self.draft.domain.table(self.table);
        let pool = self.pools.iter().position(|(pool, _)| pool == name.text);
        match (pool, table.field_named(name.text)) {
            (Some(_), Some(_)) => {
                self.faults.at(name, format!("{} is a pool and a field: rename the pool", word(name.text)));
                None
            }
            (Some(_), None) if how.is_some() => {
                self.faults.at(name, "only a field can be a slug");
                None
            }
            (Some(pool), None) => Some(TextPart::Pool(pool)),
            (None, None) if !name.text.contains('.') && !self.draft.broken_tables.contains(&self.table) => {
                let names = self.pools.iter().map(|(pool, _)| &**pool).chain(table.fields.iter().map(|f| &*f.name));
                self.faults.unknown(name, format!("unknown pool or field {}", word(name.text)), names);
                None
            }
            (None, _) => Some(TextPart::Field { path: self.path(name)?, slug: how.is_some() }),
        }
    }

    fn path(&self, text: Piece<'_>) -> Option<Path> {
        let mut path: Path = Vec::new();
        let mut ty = Type::Ref(self.table);
        let mut at = 0;
        for part in text.text.split('.') {
            let name = text.sub(at, at + part.len());
            at += part.len() + 1;
            let Type::Ref(table) = ty else {
                self.faults.at(
                    name,
                    format!("there is no {}: what it is asked of is {}", word(name.text), self.draft.type_name(ty)),
                );
                return None;
            };
            let id = self.draft.field(table, name, self.faults)?;
            if path.is_empty() && self.coming.contains(&id) {
                let message = format!("{} is not made yet", word(name.text));
                self.faults.with_help(name, message, "fields are made in the order of the file");
                return None;
            }
            ty = self.draft.domain.table(table).field(id).ty;
            path.push((table, id));
        }
        Some(path)
    }
}
