//! The line of a call: `tool key=value key="text with blanks" key=[…]` or `tool {json}`, as the JSON that the tool takes.

use serde_json::{Map, Value as Json};

/// The arguments as JSON text. `schema` is that of the tool's arguments; values without quotes are read by it.
pub(super) fn arguments(text: &str, schema: &Json) -> Result<String, String> {
    let mut rest = text.trim();
    if rest.starts_with('{') {
        // The world itself says what is wrong with it, if anything is.
        return Ok(rest.to_owned());
    }
    let mut given = Map::new();
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter == '=' || letter.is_whitespace()).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        let Some(after) = after.strip_prefix('=') else {
            return Err(format!("`{key}` has no value; arguments are given as name=value, or all as {{…}}"));
        };
        if key.is_empty() {
            return Err("a `=` has no name before it; arguments are given as name=value".to_owned());
        }
        let (value, after) = read_value(key, after, &schema["properties"][key])?;
        if given.insert(key.to_owned(), value).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
        rest = after.trim_start();
    }
    Ok(Json::Object(given).to_string())
}

/// One value and what follows it.
fn read_value<'t>(key: &str, text: &'t str, schema: &Json) -> Result<(Json, &'t str), String> {
    let (value, rest) = match text.chars().next() {
        Some('"' | '[' | '{') => {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
            match values.next() {
                Some(Ok(value)) => (value, &text[values.byte_offset()..]),
                Some(Err(error)) => return Err(format!("the value of `{key}` is not JSON: {error}")),
                None => return Err(format!("`{key}` has no value")),
            }
        }
        Some('\'') => match text[1..].split_once('\'') {
            Some((value, rest)) => (Json::from(value), rest),
            None => return Err(format!("the quote in the value of `{key}` is not closed")),
        },
        _ => {
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            (plain(&text[..end], schema), &text[end..])
        }
    };
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return Err(format!("there must be a blank after the value of `{key}`"));
    }
    Ok((value, rest))
}

/// A value without quotes, as its schema wants it. What does not fit goes as text, for the tool to refuse.
fn plain(text: &str, schema: &Json) -> Json {
    let takes = |kind: &str| match &schema["type"] {
        Json::String(only) => only == kind,
        Json::Array(kinds) => kinds.iter().any(|known| known == kind),
        // An argument that the tool does not know: it is refused anyway.
        _ => true,
    };
    match text {
        "null" if takes("null") => Json::Null,
        "true" if takes("boolean") => Json::Bool(true),
        "false" if takes("boolean") => Json::Bool(false),
        _ if takes("integer") || takes("number") => {
            let number = serde_json::from_str::<Json>(text).ok().filter(Json::is_number);
            number.unwrap_or_else(|| Json::from(text))
        }
        _ if schema["type"] == "array" => {
            let items = text.split(',').filter(|item| !item.is_empty());
            items.map(|item| plain(item, &schema["items"])).collect()
        }
        _ => Json::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Result<Json, String> {
        let schema = json!({ "properties": {
            "name": { "type": "string" },
            "note": { "type": ["string", "null"] },
            "id": { "type": "integer" },
            "price": { "type": ["number", "null"] },
            "active": { "type": "boolean" },
            "ids": { "type": "array", "items": { "type": "integer" } },
        } });
        arguments(text, &schema).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn plain_values_become_what_the_tool_wants() {
        assert_eq!(read("").unwrap(), json!({}));
        let line = "id=3 price=19.99 active=true name=12 note=null ids=1,2";
        assert_eq!(
            read(line).unwrap(),
            json!({ "id": 3, "price": 19.99, "active": true, "name": "12", "note": null, "ids": [1, 2] })
        );
        assert_eq!(
            read("name=null active=yes id=x price=null").unwrap(),
            json!({
                "name": "null", "active": "yes", "id": "x", "price": null
            })
        );
        assert_eq!(read("name=").unwrap(), json!({ "name": "" }));
    }

    #[test]
    fn quotes_lists_and_objects_are_taken_whole() {
        let line = r#"name="a \"b\" c=d é"   note='it is "so"' ids=[1, 2]"#;
        assert_eq!(read(line).unwrap(), json!({ "name": "a \"b\" c=d é", "note": "it is \"so\"", "ids": [1, 2] }));
        assert_eq!(read(r#" {"id": 3} "#).unwrap(), json!({ "id": 3 }));
        assert_eq!(read(r#"id="3""#).unwrap(), json!({ "id": "3" }));
    }

    #[test]
    fn a_broken_line_is_told_and_not_guessed() {
        for (line, told) in [
            ("id", "has no value"),
            ("=3", "has no name"),
            ("id=3 id=4", "given twice"),
            ("name=\"open", "not JSON"),
            ("name='open", "not closed"),
            ("ids=[1,2]x", "must be a blank"),
        ] {
            assert!(read(line).unwrap_err().contains(told), "{line}");
        }
    }
}
