//! Translates the value of one cell between a domain's types and the JSON of Odoo's record calls, where `false` is nothing
//! and instants are `2026-03-02 09:00:00`.

use benchwright_base::{Date, DateTime, Time, Value};
use benchwright_expr::Type;
use benchwright_schema::{Domain, Field};
use serde_json::{Number, Value as Json};

/// Reads a cell. References keep Odoo's ids; a word that the enumeration has not stays a text. `None` for what is no value.
pub(crate) fn read(domain: &Domain, field: &Field, html: bool, json: &Json) -> Option<Value> {
    let empty = matches!(json, Json::Null | Json::Bool(false));
    Some(match field.ty {
        Type::Bool => Value::Bool(json.as_bool().unwrap_or(false)),
        Type::Int | Type::Months => Value::Int(json.as_f64().unwrap_or(0.0).round() as i64),
        Type::Money => Value::Money(scaled(json, 100.0)),
        Type::Quantity => Value::Quantity(scaled(json, 1000.0)),
        _ if empty && matches!(field.ty, Type::Text) && !field.nullable => Value::text(""),
        _ if empty => Value::Null,
        Type::Text => {
            let text = json.as_str().unwrap_or_default();
            let text = if html { plain(text) } else { text.to_owned() };
            if text.is_empty() && field.nullable { Value::Null } else { Value::text(text) }
        }
        Type::Enum(id) => {
            let word = json.as_str()?;
            match domain.enums[id.index()].words.iter().position(|known| known == word) {
                Some(place) => Value::Enum(u16::try_from(place).ok()?),
                None => Value::text(word),
            }
        }
        Type::Date => Value::Date(Date::parse(json.as_str()?)?),
        Type::DateTime => Value::DateTime(instant(json.as_str()?)?),
        Type::Ref(_) => Value::Ref(reference(json)?),
        Type::Time | Type::Duration | Type::Null => Value::Null,
    })
}

/// The id in `[id, "name"]`, or the id itself.
pub(crate) fn reference(json: &Json) -> Option<u32> {
    let id = match json {
        Json::Array(parts) => parts.first()?.as_u64()?,
        other => other.as_u64()?,
    };
    u32::try_from(id).ok()
}

fn scaled(json: &Json, by: f64) -> i64 {
    (json.as_f64().unwrap_or(0.0) * by).round() as i64
}

fn instant(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    Some(DateTime(Date::parse(date)?.midnight().0 + i64::from(Time::parse(time)?.0)))
}

/// The text of a piece of HTML: paragraphs and breaks are line breaks.
fn plain(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        out.push_str(before);
        let Some((tag, after)) = tag.split_once('>') else { break };
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if matches!(name, "br") || (tag.starts_with('/') && matches!(name, "p" | "div" | "li")) {
            out.push('\n');
        }
        rest = after;
    }
    out.push_str(rest);
    for (entity, letter) in
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    {
        out = out.replace(entity, letter);
    }
    out.trim().to_owned()
}

/// Text as HTML.
fn rich(text: &str) -> String {
    let safe = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<p>{}</p>", safe.replace('\n', "<br>"))
}

/// Writes a cell that is no reference.
pub(crate) fn write(domain: &Domain, field: &Field, html: bool, value: &Value) -> Json {
    match (value, field.ty) {
        (Value::Null, _) => Json::Bool(false),
        (Value::Bool(yes), _) => Json::Bool(*yes),
        (Value::Int(n), _) => Json::from(*n),
        (Value::Money(n), _) => decimal(*n, 100.0),
        (Value::Quantity(n), _) => decimal(*n, 1000.0),
        (Value::Text(text), _) => Json::from(if html { rich(text) } else { text.to_string() }),
        (Value::Enum(word), Type::Enum(id)) => {
            Json::from(domain.enums[id.index()].words.get(usize::from(*word)).map_or("", |word| word))
        }
        (Value::Date(date), _) => Json::from(date.to_string()),
        (Value::DateTime(instant), _) => Json::from(instant.to_string().replace('T', " ").replace('Z', "")),
        (Value::Ref(id), _) => Json::from(*id),
        (Value::Time(_) | Value::Duration(_) | Value::Enum(_), _) => Json::Bool(false),
    }
}

fn decimal(n: i64, by: f64) -> Json {
    Number::from_f64(n as f64 / by).map_or(Json::Null, Json::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_8_text_survives_html() {
        for text in ["Holds at most 40 units of A & B <each>.", "two\nlines"] {
            assert_eq!(plain(&rich(text)), text);
        }
        assert_eq!(plain("<p data-x=\"1\">one<br/>two</p><p>three</p>"), "one\ntwo\nthree");
    }

    #[test]
    fn cents_do_not_drift() {
        for n in [1, 29, 105, 1_999, 4_200, 123_456_789] {
            assert_eq!(scaled(&decimal(n, 100.0), 100.0), n);
        }
    }
}
