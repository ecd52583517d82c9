//! Finds the names of native code in a domain, once for each world: every fault is told, and the rest becomes indexes.

use super::{NameFault, Names, NamesError, NativeTool, plain};
use crate::{compiled::Compiled, verbs::NativeFn};
use benchwright_base::{FieldId, TableId, nearest};
use benchwright_expr::Type;
use benchwright_schema::{Domain, Tool, Verb};
use std::sync::Arc;

/// A column as rows have it.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) field: FieldId,
    pub(crate) secret: bool,
}

/// The names of a crate, found in a domain or a member of a joined one.
pub(crate) struct Resolved {
    pub(crate) tables: Box<[TableId]>,
    pub(crate) columns: Box<[Place]>,
    pub(crate) words: Box<[u16]>,
}

/// The code of a tool, ready to run.
pub(crate) struct Code {
    pub(crate) run: NativeFn,
    pub(crate) names: Arc<Resolved>,
    /// For each argument of the crate's list its place among those that this tool takes.
    pub(crate) arguments: Box<[Option<u8>]>,
}

/// Finds the code of each tool of a domain, and what the code names.
pub(crate) fn resolve(compiled: &Compiled, natives: &[NativeTool]) -> Result<Vec<Option<Code>>, NamesError> {
    let domain = &*compiled.domain;
    for native in natives {
        let is_native = |tool: &Tool| tool.verb == Verb::Native && tool.name == native.name;
        if !domain.tools.iter().any(is_native) {
            let tools = domain.tools.iter().filter(|tool| tool.verb == Verb::Native).map(|tool| &*tool.name);
            let fault = missing(format!("there is no native tool `{}`", native.name), native.name, tools);
            return Err(NamesError { of: native.names.of, domain: domain.name.clone(), faults: vec![fault] });
        }
    }
    // The tools of a crate share what was found; in a joined domain each member has its own tables.
    let mut found: Vec<(usize, &'static Names, Arc<Resolved>)> = Vec::new();
    let mut codes = Vec::with_capacity(domain.tools.len());
    for (at, tool) in domain.tools.iter().enumerate() {
        let native = natives.iter().find(|native| tool.verb == Verb::Native && native.name == tool.name);
        let Some(native) = native else {
            codes.push(None);
            continue;
        };
        let member = compiled.tools[at].member;
        let known = found.iter().find(|(of, names, _)| *of == member && std::ptr::eq(*names, native.names));
        let names = match known {
            Some((_, _, names)) => Arc::clone(names),
            None => {
                let names = Arc::new(of_member(compiled, member, native.names, natives)?);
                found.push((member, native.names, Arc::clone(&names)));
                names
            }
        };
        let takes = tool.native.as_ref().map_or(&[][..], |native| &native.takes[..]);
        let place = |name: &&'static str| takes.iter().position(|argument| argument.cell.name == plain(name));
        let arguments = native.names.arguments.iter().map(|name| place(name).and_then(|at| u8::try_from(at).ok()));
        codes.push(Some(Code { run: native.code, names, arguments: arguments.collect() }));
    }
    Ok(codes)
}

/// Finds the names of a crate in a member of a domain, which is the whole domain where nothing is joined.
fn of_member(
    compiled: &Compiled,
    member: usize,
    names: &'static Names,
    natives: &[NativeTool],
) -> Result<Resolved, NamesError> {
    let domain = &*compiled.domain;
    let mut faults = Vec::new();
    let table_named = |name: &'static str| {
        let id = match domain.members.get(member) {
            None => compiled.table_named(plain(name)),
            Some(member) => compiled.table_named(&format!("{}.{}", member.name, plain(name))),
        };
        id.ok_or_else(|| {
            let tables = domain.tables.iter().map(|table| table.own_name());
            missing(format!("there is no table `{}`", plain(name)), plain(name), tables)
        })
    };
    let column_named = |(table, column): (&'static str, &'static str)| {
        let declared = domain.table(table_named(table)?);
        declared.field_named(plain(column)).map(|id| (id, declared.field(id))).ok_or_else(|| {
            let what = format!("the table `{}` has no column `{}`", plain(table), plain(column));
            missing(what, plain(column), declared.fields.iter().map(|field| &*field.name))
        })
    };
    let word_named = |(table, column, word): (&'static str, &'static str, &'static str)| {
        let (_, field) = column_named((table, column))?;
        let known = words_of(domain, field.ty);
        known.iter().position(|known| known == plain(word)).ok_or_else(|| {
            let what = format!("the column `{}.{}` has no word `{}`", plain(table), plain(column), plain(word));
            missing(what, plain(word), known.iter().map(|word| &**word))
        })
    };
    let mut keep = |fault: NameFault| {
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    };
    let (mut tables, mut columns, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for name in names.tables {
        match table_named(name) {
            Ok(table) => tables.push(table),
            Err(fault) => keep(fault),
        }
    }
    for name in names.columns {
        match column_named(*name) {
            Ok((field, declared)) => columns.push(Place { field, secret: declared.secret }),
            Err(fault) => keep(fault),
        }
    }
    for name in names.words {
        match word_named(*name) {
            Ok(place) => words.push(place as u16),
            Err(fault) => keep(fault),
        }
    }
    for (table, column, place) in names.fixed {
        match column_named((table, column)) {
            Ok((field, _)) if field == FieldId(*place) => {}
            Ok((field, _)) => {
                let (table, column, place) = (plain(table), plain(column), usize::from(*place));
                let what = format!("the column `{table}.{column}` stands at {}, not at {place}", field.index());
                keep(NameFault { what, near: None });
            }
            Err(fault) => keep(fault),
        }
    }
    let own = || domain.tools.iter().filter(|tool| of_crate(tool, names, natives));
    let taken = || own().filter_map(|tool| tool.native.as_ref()).flat_map(|native| &native.takes);
    for name in names.arguments.iter().map(|name| plain(name)) {
        if !taken().any(|argument| argument.cell.name == name) {
            let known = taken().map(|argument| &*argument.cell.name);
            keep(missing(format!("no tool takes an argument `{name}`"), name, known));
        }
    }
    if let Some(check) = names.check {
        let table = |name: &str| {
            let full = domain.members.get(member).map(|member| format!("{}.{name}", member.name));
            compiled.table_named(full.as_deref().unwrap_or(name)).map(|id| domain.table(id))
        };
        check(&table).into_iter().for_each(&mut keep);
    }
    if faults.is_empty() {
        return Ok(Resolved { tables: tables.into(), columns: columns.into(), words: words.into() });
    }
    Err(NamesError { of: names.of, domain: domain.name.clone(), faults })
}

fn of_crate(tool: &Tool, names: &'static Names, natives: &[NativeTool]) -> bool {
    natives.iter().any(|native| native.name == tool.name && std::ptr::eq(native.names, names))
}

fn words_of(domain: &Domain, ty: Type) -> &[String] {
    match ty {
        Type::Enum(id) => &domain.enums[id.index()].words,
        _ => &[],
    }
}

fn missing<'n>(what: String, name: &str, known: impl Iterator<Item = &'n str>) -> NameFault {
    NameFault { what, near: nearest(name, known).map(str::to_owned) }
}
