//! What `fields_get` of a real Odoo would say of a table: each field's kind, relation and choices in Odoo's words, for
//! domains that are modelled on it.

use crate::model::{DerivedKind, Domain, Table};
use benchwright_base::{TableId, json};
use benchwright_expr::Type;

/// The fields of a table as one JSON object by name, in their order: those that are asked for, each with the attributes
/// that are asked for.
pub fn field_list(
    domain: &Domain,
    table: &Table,
    asked: &dyn Fn(&str) -> bool,
    attribute: &dyn Fn(&str) -> bool,
) -> Vec<u8> {
    let mut list = List { domain, attribute, out: vec![b'{'] };
    for field in table.fields.iter().filter(|field| asked(&field.name)) {
        let (relation, words) = match field.ty {
            Type::Ref(to) if field.name != "id" => (Some(to), &[][..]),
            Type::Enum(id) => (None, &domain.enums[id.index()].words[..]),
            _ => (None, &[][..]),
        };
        let required = !field.nullable && field.default.is_none() && field.stamp.is_none();
        let kind = if field.name == "id" { "integer" } else { kind(field.ty) };
        list.add(&field.name, kind, relation, words, required, field.stamp.is_some());
    }
    for derived in table.derived.iter().filter(|derived| asked(&derived.name)) {
        let (kind, relation, readonly) = match derived.kind {
            DerivedKind::Value(Type::Ref(to)) => ("many2one", Some(to), true),
            DerivedKind::Value(ty) => (kind(ty), None, true),
            DerivedKind::Rows(to) => ("many2many", Some(to), true),
            DerivedKind::Children { table, .. } => ("one2many", Some(table), false),
            DerivedKind::Linked { table, .. } => ("many2many", Some(table), false),
        };
        list.add(&derived.name, kind, relation, &[], false, readonly);
    }
    list.out.push(b'}');
    list.out
}

/// What a type of values is called.
fn kind(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "boolean",
        Type::Int | Type::Months => "integer",
        Type::Money => "monetary",
        Type::Quantity | Type::Duration => "float",
        Type::Text | Type::Time | Type::Null => "char",
        Type::Date => "date",
        Type::DateTime => "datetime",
        Type::Enum(_) => "selection",
        Type::Ref(_) => "many2one",
    }
}

struct List<'l> {
    domain: &'l Domain,
    attribute: &'l dyn Fn(&str) -> bool,
    out: Vec<u8>,
}

impl List<'_> {
    fn add(
        &mut self,
        name: &str,
        kind: &str,
        relation: Option<TableId>,
        words: &[String],
        required: bool,
        readonly: bool,
    ) {
        self.name(name);
        self.out.push(b'{');
        if self.begin("type") {
            json::write_text(&mut self.out, kind);
        }
        if let Some(relation) = relation
            && self.begin("relation")
        {
            let table = self.domain.table(relation);
            json::write_text(&mut self.out, table.odoo.as_deref().unwrap_or(&table.name));
        }
        if !words.is_empty() && self.begin("selection") {
            for (at, word) in words.iter().enumerate() {
                self.out.extend_from_slice(if at > 0 { b",[" } else { b"[[" });
                json::write_text(&mut self.out, word);
                self.out.push(b',');
                json::write_text(&mut self.out, &word.replace('_', " "));
                self.out.push(b']');
            }
            self.out.push(b']');
        }
        for (attribute, is) in [("required", required), ("readonly", readonly)] {
            if self.begin(attribute) {
                self.out.extend_from_slice(is.to_string().as_bytes());
            }
        }
        self.out.push(b'}');
    }

    /// Begins an attribute if it is asked for.
    fn begin(&mut self, attribute: &str) -> bool {
        let asked = (self.attribute)(attribute);
        if asked {
            self.name(attribute);
        }
        asked
    }

    fn name(&mut self, name: &str) {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
        json::write_text(&mut self.out, name);
        self.out.push(b':');
    }
}
