//! What the checker knows of a part (value, condition, null, or failed), which types can be added and ordered, and how
//! messages name types and suggest remedies.

use super::Checker;
use crate::parse::{Kind, Node};
use crate::{Type, Unit};
use benchwright_base::EnumId;

/// What an expression turned out to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Is {
    /// A condition.
    Truth,
    /// A value of this type.
    Value(Type),
    /// The word `null`, which has no type.
    Null,
    /// It failed; that was reported where it did.
    Unknown,
}

impl Is {
    /// The type, if it is a value.
    pub(super) fn ty(self) -> Option<Type> {
        match self {
            Is::Value(ty) => Some(ty),
            _ => None,
        }
    }
}

/// Whether values of a type have an order.
pub(super) fn is_ordered(ty: Type) -> bool {
    is_number(ty) || matches!(ty, Type::Date | Type::DateTime | Type::Time)
}

/// Whether values of a type can be added up.
pub(super) fn is_number(ty: Type) -> bool {
    matches!(ty, Type::Int | Type::Money | Type::Quantity | Type::Duration)
}

impl Checker<'_, '_> {
    /// A type with its article, for messages.
    pub(super) fn a(&self, ty: Type) -> String {
        let name = match ty {
            Type::Bool => return "true or false".to_owned(),
            Type::Int => return "a whole number".to_owned(),
            Type::Money => return "money".to_owned(),
            Type::Quantity => return "a quantity".to_owned(),
            Type::Text => return "text".to_owned(),
            Type::Date => return "a date".to_owned(),
            Type::DateTime => return "an instant".to_owned(),
            Type::Time => return "a time of day".to_owned(),
            Type::Duration => return "a duration".to_owned(),
            Type::Months => return "a number of months".to_owned(),
            Type::Null => return "null".to_owned(),
            Type::Enum(id) => self.names.enum_name(id),
            Type::Ref(relation) => self.names.relation_name(relation),
        };
        let vowel = name.starts_with(|c: char| "aeioAEIO".contains(c));
        format!("{} {name}", if vowel { "an" } else { "a" })
    }

    /// A word's place in an enumeration.
    pub(super) fn word(&self, id: EnumId, word: &str) -> Option<u16> {
        let at = self.names.enum_words(id).iter().position(|known| *known == word)?;
        u16::try_from(at).ok()
    }

    /// What to do about two types that do not fit.
    pub(super) fn mend(&self, a: Type, b: Type, span: Option<Unit>, right: Option<&Node<'_>>) -> Option<String> {
        let either = |x: Type, y: Type| (a, b) == (x, y) || (a, b) == (y, x);
        if span.is_some() {
            return Some("use days or months, or an instant".to_owned());
        }
        if either(Type::Date, Type::DateTime) {
            return Some("take the day of the instant with `date_of(...)`".to_owned());
        }
        if either(Type::Int, Type::Duration) || either(Type::Int, Type::Date) || either(Type::Int, Type::DateTime) {
            return Some("give the number a unit, such as `3 days`".to_owned());
        }
        if let (Type::Enum(id), Type::Text, Some(Kind::Text(text))) = (a, b, right.map(|node| &node.kind))
            && self.word(id, text).is_some()
        {
            return Some(format!("write the word without quotes: `{text}`"));
        }
        match (a, b) {
            (Type::Enum(id), Type::Text) | (Type::Text, Type::Enum(id)) => {
                Some(format!("its words are {}", self.names.enum_words(id).join(", ")))
            }
            _ => None,
        }
    }
}
