//! The messages that are written by hand have the names, numbers and types of the library's own descriptors.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support;
use benchwright_solve::Library;
use prost::Message as _;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto,
    field_descriptor_proto::{Label, Type},
};
use std::{collections::BTreeMap, fs};

const SOURCE: &str = include_str!("../../src/proto.rs");

/// Reads the descriptor that is a bytes literal in a generated Python file.
fn descriptor(library: &Library, file: &str) -> FileDescriptorProto {
    let text = fs::read_to_string(library.path().join("ortools/sat").join(file)).unwrap();
    let literal = text.split_once("AddSerializedFile(b'").unwrap().1.split_once("')\n").unwrap().0;
    FileDescriptorProto::decode(&*unescaped(literal)).unwrap()
}

/// The bytes of a Python bytes literal.
fn unescaped(literal: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = literal.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next().unwrap() {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            plain @ (b'\\' | b'\'' | b'"') => plain,
            other => panic!("unknown escape {}", char::from(other)),
        });
    }
    bytes
}

/// A field as our source has it: message, name, number, type, label.
struct Field {
    message: String,
    name: String,
    number: i32,
    kind: Type,
    is_repeated: bool,
    /// The name of the message or enumeration that it holds, where our type shows it.
    holds: Option<String>,
}

/// The values of enumerations, with their numbers.
type Values = BTreeMap<String, Vec<(String, i32)>>;

/// The fields of our messages and the values of our enumerations.
fn ours() -> (Vec<Field>, Values) {
    let (mut fields, mut values) = (Vec::new(), Values::new());
    let (mut owner, mut attribute) = (String::new(), None);
    for line in SOURCE.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("pub(crate) struct ").or(line.strip_prefix("pub(crate) enum ")) {
            owner = rest.split_whitespace().next().unwrap().to_owned();
        } else if let Some(inner) = line.strip_prefix("#[prost(").and_then(|rest| rest.strip_suffix(")]")) {
            attribute = (!inner.starts_with("oneof")).then(|| inner.to_owned());
        } else if let Some(inner) = attribute.take() {
            let (name, holds) = match line.strip_prefix("pub(crate) ") {
                Some(field) => field.split_once(": ").unwrap(),
                None => line.split_once('(').unwrap(),
            };
            let holds = holds.trim_end_matches([',', ')', '>']).rsplit('<').next().unwrap().to_owned();
            let quoted =
                |key: &str| inner.split_once(&format!("{key} = \"")).map(|(_, rest)| rest.split_once('"').unwrap().0);
            let kind = match inner.split([',', ' ']).next().unwrap() {
                "int32" => Type::Int32,
                "int64" => Type::Int64,
                "double" => Type::Double,
                "bool" => Type::Bool,
                "string" => Type::String,
                "message" => Type::Message,
                "enumeration" => Type::Enum,
                other => panic!("{other} is not known here"),
            };
            fields.push(Field {
                message: if owner == "ConstraintKind" { "ConstraintProto".to_owned() } else { owner.clone() },
                name: snake(name),
                number: quoted("tag").unwrap().parse().unwrap(),
                kind,
                is_repeated: inner.contains("repeated"),
                holds: match kind {
                    Type::Message => Some(holds),
                    Type::Enum => quoted("enumeration").map(str::to_owned),
                    _ => None,
                },
            });
        } else if let Some((name, number)) = line.trim_end_matches(',').split_once(" = ")
            && let Ok(number) = number.parse()
        {
            values.entry(owner.clone()).or_default().push((snake(name).to_uppercase(), number));
        }
    }
    (fields, values)
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

#[test]
fn our_messages_are_those_of_the_library() {
    let Some(library) = support::library() else { return };
    let files = ["cp_model_pb2.py", "sat_parameters_pb2.py"].map(|file| descriptor(&library, file));
    let messages: BTreeMap<&str, &DescriptorProto> =
        files.iter().flat_map(|file| &file.message_type).map(|message| (message.name(), message)).collect();
    let enums: BTreeMap<&str, &EnumDescriptorProto> = files
        .iter()
        .flat_map(|file| file.enum_type.iter().chain(file.message_type.iter().flat_map(|message| &message.enum_type)))
        .map(|one| (one.name(), one))
        .collect();
    let (fields, values) = ours();
    for field in &fields {
        let who = format!("{}.{}", field.message, field.name);
        let theirs = messages[&*field.message].field.iter().find(|theirs| theirs.name() == field.name);
        let theirs = theirs.unwrap_or_else(|| panic!("{who} is not theirs"));
        assert_eq!((theirs.number(), theirs.r#type()), (field.number, field.kind), "{who}");
        assert_eq!(theirs.label() == Label::Repeated, field.is_repeated, "{who}");
        if let Some(holds) = &field.holds {
            assert_eq!(theirs.type_name().rsplit('.').next(), Some(&**holds), "{who}");
        }
    }
    for (name, ours) in &values {
        for (value, number) in ours {
            let theirs = enums[&**name].value.iter().find(|theirs| theirs.name() == value);
            assert_eq!(theirs.map(|theirs| theirs.number()), Some(*number), "{name}.{value}");
        }
    }
    // Every attribute of the source was read.
    let attributes =
        SOURCE.lines().filter(|line| line.trim().starts_with("#[prost(") && !line.contains("oneof")).count();
    assert_eq!((fields.len(), values.len()), (attributes, 2));
}
