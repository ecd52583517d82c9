//! Checks a JSON document against the part of JSON Schema that tools are described with.

use benchwright_base::Json;
use serde_json::Value as Schema;

/// Whether a document fits a schema; the error says where it does not. A keyword that is not known here is an error too,
/// so that nothing goes unchecked.
pub fn fits(schema: &Schema, json: &Json<'_>, at: &str) -> Result<(), String> {
    let Some(keywords) = schema.as_object() else { return Err(format!("{at}: the schema is not an object")) };
    for (keyword, wanted) in keywords {
        match keyword.as_str() {
            "type" => {
                let one = |name: &Schema| is_type(name.as_str().unwrap_or_default(), json);
                let fits = wanted.as_array().map_or_else(|| one(wanted), |names| names.iter().any(one));
                if !fits {
                    return Err(format!("{at} is {}, not {wanted}", json.kind()));
                }
            }
            "enum" => {
                let same = |word: &Schema| match (word, json) {
                    (Schema::String(a), Json::Text(b)) => *a == **b,
                    (Schema::Null, Json::Null) => true,
                    (Schema::Bool(a), Json::Bool(b)) => a == b,
                    _ => false,
                };
                if !wanted.as_array().is_some_and(|words| words.iter().any(same)) {
                    return Err(format!("{at} is {json:?}, not one of {wanted}"));
                }
            }
            "properties" | "required" | "additionalProperties" => object(keywords, keyword, wanted, json, at)?,
            "items" => {
                if let Json::List(items) = json {
                    items.iter().enumerate().try_for_each(|(n, item)| fits(wanted, item, &format!("{at}[{n}]")))?;
                }
            }
            "minimum" | "maximum" => {
                let number = match json {
                    Json::Int(n) => *n as f64,
                    Json::Decimal(n) => *n,
                    _ => continue,
                };
                let bound = wanted.as_f64().unwrap_or(f64::NAN);
                let within = if keyword == "minimum" { number >= bound } else { number <= bound };
                if !within {
                    return Err(format!("{at} is {number}, {keyword} {bound}"));
                }
            }
            "minLength" | "maxLength" => {
                let Json::Text(text) = json else { continue };
                let (length, bound) = (text.chars().count() as u64, wanted.as_u64().unwrap_or_default());
                let within = if keyword == "minLength" { length >= bound } else { length <= bound };
                if !within {
                    return Err(format!("{at} has {length} characters, {keyword} {bound}"));
                }
            }
            "maxItems" => {
                if let Json::List(items) = json
                    && items.len() as u64 > wanted.as_u64().unwrap_or_default()
                {
                    return Err(format!("{at} has {} items", items.len()));
                }
            }
            "description" | "title" | "default" | "format" | "$schema" | "multipleOf" => {}
            other => return Err(format!("{at}: the schema has a keyword `{other}` that is not checked")),
        }
    }
    Ok(())
}

fn object(
    keywords: &serde_json::Map<String, Schema>,
    keyword: &str,
    wanted: &Schema,
    json: &Json<'_>,
    at: &str,
) -> Result<(), String> {
    let Json::Object(entries) = json else { return Ok(()) };
    match keyword {
        "properties" => entries.iter().try_for_each(|(key, value)| match wanted.get(&**key) {
            Some(schema) => fits(schema, value, &format!("{at}.{key}")),
            None => Ok(()),
        }),
        "required" => {
            let missing = |key: &&Schema| json.get(key.as_str().unwrap_or_default()).is_none();
            match wanted.as_array().and_then(|keys| keys.iter().find(missing)) {
                Some(key) => Err(format!("{at} has no {key}")),
                None => Ok(()),
            }
        }
        _ => {
            let known = |key: &str| keywords.get("properties").is_some_and(|known| known.get(key).is_some());
            match entries.iter().find(|(key, _)| *wanted == Schema::Bool(false) && !known(key)) {
                Some((key, _)) => Err(format!("{at} has a key `{key}` that the schema does not name")),
                None => Ok(()),
            }
        }
    }
}

fn is_type(name: &str, json: &Json<'_>) -> bool {
    matches!(
        (name, json),
        ("null", Json::Null)
            | ("boolean", Json::Bool(_))
            | ("integer", Json::Int(_))
            | ("number", Json::Int(_) | Json::Decimal(_))
            | ("string", Json::Text(_))
            | ("array", Json::List(_))
            | ("object", Json::Object(_))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_does_not_fit_is_said() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {"a": {"type": ["integer", "null"], "minimum": 1}, "b": {"type": "string", "enum": ["x"]}}});
        let fits = |text: &str| fits(&schema, &Json::parse(text).unwrap(), "it");
        assert!(fits(r#"{"a":1,"b":"x"}"#).is_ok());
        assert!(fits(r#"{"a":null}"#).is_ok());
        for wrong in [r#"{}"#, r#"{"a":0}"#, r#"{"a":"1"}"#, r#"{"a":1,"c":2}"#, r#"{"a":1,"b":"y"}"#, "[]"] {
            assert!(fits(wrong).is_err(), "{wrong}");
        }
    }
}
