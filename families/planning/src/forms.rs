//! The forms of a workflow: the tables that somebody hands in.

use benchwright_expr::Type;
use benchwright_schema::Domain;

/// The tables of a domain that are handed in, up to a stage; who plans once is at the first.
pub(crate) fn form_tables(domain: &Domain, until: i64) -> impl Iterator<Item = &benchwright_schema::Table> {
    let forms = domain.tables.iter().filter(|table| !["file", "stage", "handed"].contains(&&*table.name));
    forms.filter(move |table| from_stage(table) <= until)
}

/// The stage from which on a form is there: the lowest that its column of stages takes.
pub(crate) fn from_stage(table: &benchwright_schema::Table) -> i64 {
    let column = table.fields.iter().find(|field| field.name == STAGE && field.ty == Type::Int);
    column.and_then(|column| column.bounds).map_or(1, |(least, _)| least.max(1))
}

/// The column of a form that the desk fills in.
const STAGE: &str = "stage";

/// The columns of a form that somebody fills in.
pub(crate) fn form_columns(table: &benchwright_schema::Table) -> impl Iterator<Item = &benchwright_schema::Field> {
    table.fields.iter().skip(1).filter(|field| field.name != STAGE)
}

/// The type of a form's column in words.
pub(crate) fn in_words(field: &benchwright_schema::Field) -> String {
    let range = |unit: &str| match field.bounds {
        Some((low, high)) if low > i64::MIN && high < i64::MAX => format!("{unit} from {low} to {high}"),
        Some((low, _)) if low > i64::MIN => format!("{unit} from {low} on"),
        Some((_, high)) if high < i64::MAX => format!("{unit} up to {high}"),
        _ => unit.to_owned(),
    };
    match field.ty {
        Type::Int => range("whole number"),
        Type::Money => "amount with two decimals".to_owned(),
        Type::Quantity => "number with up to three decimals".to_owned(),
        Type::Bool => "true or false".to_owned(),
        Type::Date => "date, as 2032-01-05".to_owned(),
        _ => "text".to_owned(),
    }
}
