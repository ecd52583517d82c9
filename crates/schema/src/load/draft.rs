//! A domain in the making: what is known so far, and which of its names are broken. A broken name is known, so that what
//! uses it is not a second fault, but nothing is said of it any more.

use crate::model::{Access, Domain};
use crate::text::{Faults, Piece, word};
use benchwright_base::{Date, DateTime, Time, number};
use benchwright_base::{EnumId, FieldId, RelationId, TableId, Value};
use benchwright_expr::{Expr, FieldInfo, Names, Scope, Source, Type, check_source, check_truth, check_value};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The longest expression that is read, in bytes.
const LONGEST_EXPRESSION: usize = 4096;

/// A domain in the making.
pub(super) struct Draft {
    /// What is known so far.
    pub(super) domain: Domain,
    /// Tables whose text could not be read whole: they may have fields that are not known.
    pub(super) broken_tables: BTreeSet<TableId>,
    /// Fields with a fault of their own.
    pub(super) broken_fields: BTreeSet<(TableId, FieldId)>,
    /// Enumerations with a fault of their own.
    pub(super) broken_enums: BTreeSet<EnumId>,
    /// Whether an enumeration may have been lost in text that is not TOML.
    pub(super) lost_enums: bool,
    /// Whether `actor` in `domain.toml` names no table.
    pub(super) broken_actor: bool,
    /// What every role may do, by table.
    pub(super) everyone: Vec<Access>,
    /// Whether the last expression touched something broken.
    tainted: Cell<bool>,
}

impl Draft {
    /// A draft of a domain.
    pub(super) fn new(domain: Domain) -> Draft {
        Draft {
            domain,
            broken_tables: BTreeSet::new(),
            broken_fields: BTreeSet::new(),
            broken_enums: BTreeSet::new(),
            lost_enums: false,
            broken_actor: false,
            everyone: Vec::new(),
            tainted: Cell::new(false),
        }
    }

    /// A table by its name, or a fault.
    pub(super) fn table(&self, name: Piece<'_>, faults: &Faults) -> Option<TableId> {
        let found = self.domain.table_named(name.text);
        if found.is_none() {
            faults.unknown(name, format!("unknown table {}", word(name.text)), self.domain.relation_names());
        }
        found
    }

    /// A field by its name, or a fault; nothing at all if it is broken.
    pub(super) fn field(&self, table: TableId, name: Piece<'_>, faults: &Faults) -> Option<FieldId> {
        let found = self.domain.table(table).field_named(name.text);
        match found {
            None if !self.broken_tables.contains(&table) => {
                let message = format!("unknown field {} of `{}`", word(name.text), self.domain.table(table).name);
                faults.unknown(name, message, self.domain.field_names(table));
            }
            Some(field) if self.broken_fields.contains(&(table, field)) => return None,
            _ => {}
        }
        found
    }

    /// A value of a type as written, if it is one.
    pub(super) fn literal(&self, ty: Type, text: &str) -> Option<Value> {
        let unquoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
        Some(match ty {
            Type::Bool => Value::Bool(match text {
                "true" => true,
                "false" => false,
                _ => return None,
            }),
            Type::Int if !text.starts_with('+') => Value::Int(text.parse().ok()?),
            Type::Money => Value::Money(number::parse_decimal(text, number::MONEY_DECIMALS)?),
            Type::Quantity => Value::Quantity(number::parse_decimal(text, number::QUANTITY_DECIMALS)?),
            Type::Text => Value::text(unquoted),
            Type::Date => Value::Date(Date::parse(unquoted)?),
            Type::DateTime => Value::DateTime(DateTime::parse(unquoted)?),
            Type::Time => Value::Time(Time::parse(unquoted)?),
            Type::Duration => Value::Duration(number::parse_duration(unquoted)?),
            Type::Enum(id) => {
                let at = self.domain.enums[id.index()].words.iter().position(|word| word == text)?;
                Value::Enum(at as u16)
            }
            Type::Int | Type::Ref(_) | Type::Months | Type::Null => return None,
        })
    }

    /// A value for a field, or a fault.
    pub(super) fn value_for(&self, table: TableId, field: FieldId, text: Piece<'_>, faults: &Faults) -> Option<Value> {
        let field = self.domain.table(table).field(field);
        self.value(&field.name, field.ty, field.nullable, field.bounds, text, faults)
    }

    /// A value of a type within bounds, or a fault.
    pub(super) fn value(
        &self,
        name: &str,
        ty: Type,
        nullable: bool,
        bounds: Option<(i64, i64)>,
        text: Piece<'_>,
        faults: &Faults,
    ) -> Option<Value> {
        if text.text == "null" {
            if !nullable {
                faults.with_help(text, format!("`{name}` cannot be null"), "put `?` after its type");
            }
            return nullable.then_some(Value::Null);
        }
        let Some(value) = self.literal(ty, text.text) else {
            let message = format!("{} is not {}", word(text.text), self.type_name(ty));
            match ty {
                Type::Enum(id) => faults.unknown(text, message, self.domain.enum_words(id)),
                _ => faults.at(text, message),
            }
            return None;
        };
        let size = match &value {
            Value::Text(text) => Some(text.chars().count() as i64),
            other => other.as_number(),
        };
        if let (Some(size), Some((low, high))) = (size, bounds)
            && !(low..=high).contains(&size)
        {
            faults.at(text, format!("{} is out of the bounds of `{name}`", word(text.text)));
            return None;
        }
        Some(value)
    }

    /// A type as it stands in a sentence, with its article.
    pub(super) fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Bool => "a bool".to_owned(),
            Type::Int => "an int".to_owned(),
            Type::Money => "money".to_owned(),
            Type::Quantity => "a quantity".to_owned(),
            Type::Text => "text".to_owned(),
            Type::Date => "a date".to_owned(),
            Type::DateTime => "a datetime".to_owned(),
            Type::Time => "a time".to_owned(),
            Type::Duration => "a duration".to_owned(),
            Type::Months => "a number of months".to_owned(),
            Type::Enum(id) => format!("a word of {}", self.domain.enum_name(id)),
            Type::Ref(table) => format!("a row of {}", self.domain.table(table).name),
            Type::Null => "null".to_owned(),
        }
    }

    /// Reads a part of a way, whose faults are told like those of an expression.
    pub(super) fn way<T>(
        &self,
        text: Piece<'_>,
        faults: &Faults,
        read: impl FnOnce(&str) -> Result<T, Vec<benchwright_expr::Fault>>,
    ) -> Option<T> {
        self.checked(text, faults, read)
    }

    /// Checks an expression; its faults are told unless it touches something broken.
    fn checked<T>(
        &self,
        text: Piece<'_>,
        faults: &Faults,
        check: impl FnOnce(&str) -> Result<T, Vec<benchwright_expr::Fault>>,
    ) -> Option<T> {
        if text.text.len() > LONGEST_EXPRESSION {
            faults.at(text, format!("this expression has more than {LONGEST_EXPRESSION} bytes"));
            return None;
        }
        self.tainted.set(false);
        let result = check(text.text);
        match result {
            Ok(found) => Some(found),
            Err(list) => {
                if !self.tainted.get() {
                    faults.expression(text, list);
                }
                None
            }
        }
    }

    /// A predicate on rows of a table.
    pub(super) fn truth(&self, text: Piece<'_>, table: TableId, faults: &Faults) -> Option<Expr> {
        let scope = Scope::on(table);
        self.checked(text, faults, |text| check_truth(text, self, scope))
    }

    /// A value on rows of a table, of a given type.
    pub(super) fn computed(&self, text: Piece<'_>, table: TableId, ty: Type, faults: &Faults) -> Option<Expr> {
        let scope = Scope::on(table);
        let (expr, found) = self.checked(text, faults, |text| check_value(text, self, scope, Some(ty)))?;
        if found != ty && found != Type::Null {
            if !self.tainted.get() {
                faults.at(text, format!("this is {}, not {}", self.type_name(found), self.type_name(ty)));
            }
            return None;
        }
        Some(expr)
    }

    /// What a binder ranges over.
    pub(super) fn source(&self, text: Piece<'_>, subject: Option<TableId>, faults: &Faults) -> Option<Source> {
        self.checked(text, faults, |text| check_source(text, self, Scope { subject, ..Scope::default() }))
    }
}

impl Names for Draft {
    fn relation(&self, name: &str) -> Option<RelationId> {
        self.domain.relation(name)
    }
    fn relation_name(&self, relation: RelationId) -> &str {
        self.domain.relation_name(relation)
    }
    fn relation_names(&self) -> Vec<&str> {
        self.domain.relation_names()
    }
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo> {
        let found = Names::field(&self.domain, relation, name);
        let broken = match found {
            Some(info) => self.broken_fields.contains(&(relation, info.id)),
            None => self.broken_tables.contains(&relation),
        };
        if broken {
            self.tainted.set(true);
        }
        found
    }
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str {
        self.domain.field_name(relation, field)
    }
    fn field_names(&self, relation: RelationId) -> Vec<&str> {
        self.domain.field_names(relation)
    }
    fn enum_name(&self, id: EnumId) -> &str {
        self.domain.enum_name(id)
    }
    fn enum_words(&self, id: EnumId) -> Vec<&str> {
        if self.broken_enums.contains(&id) {
            self.tainted.set(true);
        }
        self.domain.enum_words(id)
    }
    fn actor(&self) -> Option<RelationId> {
        if self.broken_actor {
            self.tainted.set(true);
        }
        self.domain.actor
    }
}
