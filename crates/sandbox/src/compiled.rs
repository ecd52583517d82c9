//! A domain compiled for running: which fields are indexed, what each role may do, which arguments each tool takes, which
//! rules look at which table. It is made once per domain and shared by all episodes, so that a call looks nothing up by
//! name twice.

use benchwright_base::{FieldId, Json, RelationId, TableId, digest, json};
use benchwright_expr::{Expr, Read, Type, reads, untouched};
use benchwright_schema::{Action, By, Domain, FilterKind, Role, Table, Verb};
use smallvec::SmallVec;
use std::sync::Arc;

/// The compiled domain.
pub(crate) struct Compiled {
    pub(crate) domain: Arc<Domain>,
    pub(crate) tables: Vec<CompiledTable>,
    pub(crate) tools: Vec<CompiledTool>,
    tool_slots: Vec<u16>,
    table_slots: Vec<u16>,
    pub(crate) roles: Vec<CompiledRole>,
    /// For each table the member that it belongs to; 0 where nothing is joined.
    pub(crate) member_of: Vec<usize>,
    /// For each member the table of its people.
    pub(crate) actors: Vec<Option<TableId>>,
    /// The rules that a row must keep although nobody writes it, because they read others.
    pub(crate) standing: Vec<Standing>,
    /// For each table where these rules read it.
    pub(crate) wakes: Vec<Vec<Wake>>,
}

/// A rule on a table, for a row that nobody has written.
pub(crate) struct Standing {
    /// Its place in the domain.
    pub(crate) rule: usize,
    /// The table of the rows that it judges.
    pub(crate) table: TableId,
    pub(crate) by: By,
    /// The predicate of a row that is as it was.
    pub(crate) require: Expr,
}

/// A place where a rule on a table reads another row.
pub(crate) struct Wake {
    /// The rule's place in `standing`.
    pub(crate) standing: usize,
    pub(crate) read: Read,
}

/// What is derived from a table.
pub(crate) struct CompiledTable {
    /// For each field the text before its value in a row's JSON: `{"id":`, `,"name":`.
    pub(crate) labels: Vec<Box<[u8]>>,
    /// The indexed fields.
    pub(crate) indexes: Vec<IndexedField>,
    /// For each field its place in `indexes`.
    pub(crate) index_of: Vec<Option<usize>>,
    /// Whether a field is secret.
    pub(crate) has_secrets: bool,
    /// Whether a stamp must be computed from the finished row.
    pub(crate) restamps: bool,
    /// The fields that every write stamps with the clock.
    pub(crate) stamped_on_write: Vec<usize>,
    /// The fields that are true of one row only, and the field within whose value that is so.
    pub(crate) soles: Vec<(usize, FieldId)>,
    /// The rules with `by = tool`: their place in the domain, and the predicate for this table.
    pub(crate) tool_rules: Vec<(usize, Expr)>,
    /// Whether one of them speaks of what was before.
    pub(crate) tool_rules_look_back: bool,
    /// All rules.
    pub(crate) rules: Vec<(usize, Expr)>,
}

/// One indexed field.
pub(crate) struct IndexedField {
    pub(crate) field: FieldId,
    /// References are keyed by the row they name, everything else by a hash.
    pub(crate) direct: bool,
}

/// What a role may do on a table.
#[derive(Clone)]
pub(crate) enum Permit {
    No,
    Yes,
    /// On rows for which one of these holds.
    If(Vec<Expr>),
}

/// What a role may do, by table and action.
pub(crate) struct CompiledRole {
    pub(crate) permits: Vec<[Permit; 5]>,
}

/// The arguments of a tool.
pub(crate) struct CompiledTool {
    /// The member that it belongs to; 0 where nothing is joined.
    pub(crate) member: usize,
    /// Its name in its own domain.
    pub(crate) own_name: Box<str>,
    pub(crate) arguments: Vec<CompiledArgument>,
    /// For each field to write the place of its argument; none for fixed ones.
    pub(crate) set_arguments: Vec<Option<usize>>,
    /// For each filter or key the path that its test reads.
    pub(crate) paths: Vec<Vec<(TableId, FieldId)>>,
}

/// One argument.
pub(crate) struct CompiledArgument {
    pub(crate) name: Box<str>,
    pub(crate) part: Part,
    pub(crate) required: bool,
}

/// What an argument is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The id of the row that is read, changed or deleted.
    Id,
    /// A filter or key, by its place in `by`.
    Filter(usize),
    /// The low end of a range filter.
    From(usize),
    /// The high end of a range filter.
    To(usize),
    /// A field to write, by its place in `set`.
    Set(usize),
    /// Child rows, by their place in `with`.
    Child(usize),
    /// An argument of a native tool, by its place in `takes`.
    Native(usize),
    Sort,
    Limit,
    Cursor,
}

/// Arguments as given, one place for each that the tool takes.
pub(crate) struct Given<'a> {
    pub(crate) values: SmallVec<[Option<&'a Json<'a>>; 8]>,
}

impl Compiled {
    pub(crate) fn new(domain: Arc<Domain>) -> Compiled {
        let tables = (0..domain.tables.len()).map(|at| compiled_table(&domain, RelationId(at as u16))).collect();
        let tools: Vec<CompiledTool> = (0..domain.tools.len()).map(|at| compiled_tool(&domain, at)).collect();
        let tool_slots = slots(domain.tools.iter().map(|tool| &*tool.name));
        let table_slots = slots(domain.tables.iter().map(|table| &*table.name));
        let roles = domain.roles.iter().map(CompiledRole::new).collect();
        let member_of = (0..domain.tables.len()).map(|at| domain.member_of(RelationId(at as u16))).collect();
        let actors = match &domain.members[..] {
            [] => vec![domain.actor],
            members => members.iter().map(|member| member.actor).collect(),
        };
        let mut compiled = Compiled {
            tables,
            tools,
            tool_slots,
            table_slots,
            roles,
            member_of,
            actors,
            standing: Vec::new(),
            wakes: Vec::new(),
            domain,
        };
        compiled.find_wakes();
        compiled
    }

    /// Finds for each table the rules on rows elsewhere that read it.
    fn find_wakes(&mut self) {
        let domain = Arc::clone(&self.domain);
        let mut wakes: Vec<Vec<Wake>> = domain.tables.iter().map(|_| Vec::new()).collect();
        let mut standing = Vec::new();
        let cost = |table: TableId, field: FieldId| self.cost_of_finding(table, field);
        for (at, rule) in domain.rules.iter().enumerate().filter(|(_, rule)| !rule.at_write) {
            for (table, require) in &rule.on {
                let require = untouched(require);
                let reads = reads(&require, *table, &cost);
                for read in reads {
                    wakes[read.relation.index()].push(Wake { standing: standing.len(), read });
                }
                standing.push(Standing { rule: at, table: *table, by: rule.by, require });
            }
        }
        (self.standing, self.wakes) = (standing, wakes);
    }

    /// How dear it is to find the rows of a table that have a value in a field: by id, by an index, or by looking at all of them.
    fn cost_of_finding(&self, table: TableId, field: FieldId) -> u32 {
        let compiled = &self.tables[table.index()];
        match compiled.index_of[field.index()] {
            _ if field == FieldId::ID => 1,
            Some(at) if compiled.indexes[at].direct => 10,
            Some(_) => 12,
            None => 1000,
        }
    }

    /// The place of a tool by its name.
    pub(crate) fn tool_named(&self, name: &str) -> Option<usize> {
        look_up(&self.tool_slots, name, |at| &self.domain.tools[at].name)
    }

    /// A table by its name.
    pub(crate) fn table_named(&self, name: &str) -> Option<TableId> {
        look_up(&self.table_slots, name, |at| &self.domain.tables[at].name).map(|at| RelationId(at as u16))
    }
}

/// The places of names by their hashes; `u16::MAX` where there is none. At least half are free.
fn slots<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> Vec<u16> {
    let mut slots = vec![u16::MAX; (names.len() * 2 + 1).next_power_of_two()];
    let mask = slots.len() - 1;
    for (at, name) in names.enumerate() {
        let mut slot = digest::hash_text(name.as_bytes()) as usize & mask;
        while slots[slot] != u16::MAX {
            slot = (slot + 1) & mask;
        }
        slots[slot] = at as u16;
    }
    slots
}

/// The place that has a name.
fn look_up<'n>(slots: &[u16], name: &str, name_at: impl Fn(usize) -> &'n String) -> Option<usize> {
    let mask = slots.len() - 1;
    let mut slot = digest::hash_text(name.as_bytes()) as usize & mask;
    while slots[slot] != u16::MAX {
        let at = slots[slot] as usize;
        if name_at(at) == name {
            return Some(at);
        }
        slot = (slot + 1) & mask;
    }
    None
}

impl CompiledRole {
    /// What a role may do, table by table.
    pub(crate) fn new(role: &Role) -> CompiledRole {
        let permit = |table: TableId, action: Action| {
            let grants: Vec<_> = role.grants(table, action).collect();
            if grants.is_empty() {
                Permit::No
            } else if grants.iter().any(|grant| grant.condition.is_none()) {
                Permit::Yes
            } else {
                Permit::If(grants.iter().filter_map(|grant| grant.condition.clone()).collect())
            }
        };
        let actions = [Action::Read, Action::Create, Action::Update, Action::Delete, Action::Reveal];
        let tables = (0..role.access.len()).map(|at| RelationId(at as u16));
        CompiledRole { permits: tables.map(|table| actions.map(|action| permit(table, action))).collect() }
    }

    pub(crate) fn permit(&self, table: TableId, action: Action) -> &Permit {
        &self.permits[table.index()][action as usize]
    }

    /// Whether it depends on the row.
    pub(crate) fn is_conditional(&self, table: TableId, action: Action) -> bool {
        matches!(self.permit(table, action), Permit::If(_))
    }
}

fn compiled_table(domain: &Domain, id: TableId) -> CompiledTable {
    let table: &Table = domain.table(id);
    let labels = table
        .fields
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let mut label = vec![if at == 0 { b'{' } else { b',' }];
            json::write_text(&mut label, &field.name);
            label.push(b':');
            label.into_boxed_slice()
        })
        .collect();
    // References are indexed for the way back; a key is looked up through a reference in it, or through its first field.
    let mut indexes: Vec<IndexedField> = (1..table.fields.len())
        .filter(|at| matches!(table.fields[*at].ty, Type::Ref(_)))
        .map(|at| IndexedField { field: FieldId(at as u16), direct: true })
        .collect();
    for key in &table.keys {
        if !key.fields.iter().any(|field| indexes.iter().any(|index| index.field == *field)) {
            indexes.push(IndexedField { field: key.fields[0], direct: false });
        }
    }
    let mut index_of = vec![None; table.fields.len()];
    for (at, index) in indexes.iter().enumerate() {
        index_of[index.field.index()] = Some(at);
    }
    let rules = |tool_only: bool| -> Vec<(usize, Expr)> {
        let rules = domain.rules.iter().enumerate().filter(|(_, rule)| !tool_only || rule.by == By::Tool);
        rules
            .flat_map(|(at, rule)| rule.on.iter().filter(|(on, _)| *on == id).map(move |(_, expr)| (at, expr.clone())))
            .collect()
    };
    let tool_rules = rules(true);
    CompiledTable {
        labels,
        indexes,
        index_of,
        has_secrets: table.fields.iter().any(|field| field.secret),
        restamps: table.fields.iter().any(|field| {
            matches!(field.stamp, Some(benchwright_schema::Stamp::Computed(_) | benchwright_schema::Stamp::When(_)))
        }),
        stamped_on_write: (0..table.fields.len())
            .filter(|at| matches!(table.fields[*at].stamp, Some(benchwright_schema::Stamp::OnWrite)))
            .collect(),
        soles: (0..table.fields.len()).filter_map(|at| Some((at, table.fields[at].sole_in?))).collect(),
        tool_rules_look_back: tool_rules.iter().any(|(_, require)| require.is_about_change()),
        tool_rules,
        rules: rules(false),
    }
}

fn compiled_tool(domain: &Domain, at: usize) -> CompiledTool {
    let tool = &domain.tools[at];
    let member = domain.members.iter().position(|member| member.tools.contains(&at)).unwrap_or_default();
    // A tool that is there once belongs to no member.
    let own = |member: &benchwright_schema::Member| at.checked_sub(member.tools.start);
    let of_member = domain.members.get(member).and_then(|member| member.tool_names.get(own(member)?));
    let own_name = of_member.unwrap_or(&tool.name).as_str().into();
    let mut arguments = Vec::new();
    let mut add = |name: &str, part, required| arguments.push(CompiledArgument { name: name.into(), part, required });
    if let Some(native) = &tool.native {
        for (at, argument) in native.takes.iter().enumerate() {
            add(&argument.cell.name, Part::Native(at), argument.required);
        }
    }
    let mut paths = Vec::new();
    if let Some(id) = tool.table {
        let table = domain.table(id);
        if matches!(tool.verb, Verb::Get | Verb::Update | Verb::Delete) && tool.by.is_empty() {
            add("id", Part::Id, true);
        }
        for (at, filter) in tool.by.iter().enumerate() {
            let name = &table.field(filter.field).name;
            paths.push(vec![(id, filter.field)]);
            match filter.kind {
                FilterKind::Is | FilterKind::Contains => add(name, Part::Filter(at), filter.required),
                FilterKind::Range => {
                    add(&format!("{name}_from"), Part::From(at), filter.required);
                    add(&format!("{name}_to"), Part::To(at), filter.required);
                }
            }
        }
        for (at, setting) in tool.set.iter().enumerate().filter(|(_, setting)| setting.fixed.is_none()) {
            add(&table.field(setting.field).name, Part::Set(at), setting.required);
        }
        for (at, child) in tool.with.iter().enumerate() {
            add(domain.table(child.table).own_name(), Part::Child(at), false);
        }
        if matches!(tool.verb, Verb::Find | Verb::List) {
            add("sort", Part::Sort, false);
            add("limit", Part::Limit, false);
            add("cursor", Part::Cursor, false);
        }
    }
    let set_arguments = (0..tool.set.len())
        .map(|at| arguments.iter().position(|argument: &CompiledArgument| argument.part == Part::Set(at)))
        .collect();
    CompiledTool { member, own_name, arguments, set_arguments, paths }
}
