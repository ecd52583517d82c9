//! Edges: rows that fail one told condition of what is to be found and keep all others, so that every condition matters. Without them
//! most conditions do nothing in a drawn world, and whoever does not look at them passes.

use crate::{
    draw::{Drawn, Lot, like, rows_of},
    eval::{Eye, id_of},
    throw,
};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{Expr, Path, Source, TestOp, Type};
use benchwright_project::Discard;
use benchwright_sandbox::Scratch;
use benchwright_schema::{Domain, Stamp};
use benchwright_spec::scenario::{Form, Member, Scenario};

/// Rows of a table that are tried as another reference.
const MOST_REFERENCES: usize = 300;
/// Values that are tried for keys beside the condition.
const MOST_TRIES: usize = 400;

/// One condition of a source.
type Test = (Path, TestOp, Vec<Expr>);

/// Plants an edge for every told condition that does nothing in the world as it is.
pub(crate) fn plant(scenario: &Scenario, drawn: &mut Drawn, lot: &Lot<'_>) -> Result<(), Discard> {
    for (at, member) in scenario.cast.iter().enumerate() {
        if member.is_drawn() || scenario.idle.contains(&at) {
            continue;
        }
        let Form::Rows { source: Source::Rows { relation, tests }, condition, .. } = &member.form else { continue };
        let asked = Asked { table: *relation, tests, condition: condition.as_ref() };
        for (nth, _) in tests.iter().enumerate().filter(|(_, test)| is_told(test)) {
            edge(member, at, &asked, nth, drawn, lot)?;
        }
    }
    Ok(())
}

/// What is asked of rows.
struct Asked<'a> {
    table: TableId,
    tests: &'a [Test],
    condition: Option<&'a Expr>,
}

impl Asked<'_> {
    /// The rows that are so.
    fn rows(&self, eye: &Eye<'_>) -> Vec<RowId> {
        let source = Source::Rows { relation: self.table, tests: self.tests.to_vec() };
        eye.rows(&source, self.condition, None).into_iter().map(id_of).collect()
    }

    /// The rows that are so but for one test, which they may fail.
    fn rows_without(&self, nth: usize, eye: &Eye<'_>) -> Vec<RowId> {
        let rest = self.tests.iter().enumerate().filter(|(other, _)| *other != nth).map(|(_, test)| test.clone());
        let source = Source::Rows { relation: self.table, tests: rest.collect() };
        eye.rows(&source, self.condition, None).into_iter().map(id_of).collect()
    }
}

/// Whether a condition compares with constants, so that the request tells it.
fn is_told((path, _, values): &Test) -> bool {
    let constant = |expr: &Expr| {
        let mut constant = true;
        expr.visit(&mut |part| {
            constant &= !matches!(part, Expr::Field(..) | Expr::Var(_) | Expr::Lookup { .. } | Expr::Fold(_));
        });
        constant
    };
    path.last().is_some_and(|(_, field)| *field != FieldId::ID) && values.iter().all(constant)
}

fn edge(
    member: &Member,
    at: usize,
    asked: &Asked<'_>,
    nth: usize,
    drawn: &mut Drawn,
    lot: &Lot<'_>,
) -> Result<(), Discard> {
    let table = asked.table;
    let does_something = {
        let eye = Eye::of(&drawn.scratch, &drawn.bound[..at]);
        asked.rows_without(nth, &eye).len() > asked.rows(&eye).len()
    };
    if does_something {
        return Ok(());
    }
    let Some(model) = rows_of(&drawn.bound[at]).first().copied() else { return Ok(()) };
    let Some(made) = try_rows(&drawn.scratch, &drawn.bound[..at], asked, model, nth, lot, &member.name) else {
        let (field_table, field) = asked.tests[nth].0.last().copied().unwrap_or((table, FieldId::ID));
        let name = &drawn.scratch.domain().table(field_table).field(field).name;
        return Err(throw(format!("no edge for {}.{name}", member.name)));
    };
    let (scratch, row) = made;
    drawn.scratch = scratch;
    drawn.edges.push((table, row));
    Ok(())
}

/// The state with a row that fails one condition alone, if one can be made.
fn try_rows(
    scratch: &Scratch,
    bound: &[benchwright_world::seen::Known],
    asked: &Asked<'_>,
    model: RowId,
    nth: usize,
    lot: &Lot<'_>,
    name: &str,
) -> Option<(Scratch, RowId)> {
    let domain = std::sync::Arc::clone(scratch.domain());
    let (table, tests) = (asked.table, asked.tests);
    let first = tests[nth].0.first()?.1;
    let place = nth.to_string();
    let mut stream = lot.stream(&["edge", name, &place]);
    let mut values = others(scratch, &domain, table, model, first);
    stream.shuffle(&mut values);
    // Fields that keys bind and that no condition does may have to differ too.
    let bound_fields: Vec<FieldId> =
        tests.iter().filter_map(|(path, _, _)| path.first().map(|(_, field)| *field)).collect();
    let declared = domain.table(table);
    let loose: Vec<FieldId> = declared
        .keys
        .iter()
        .filter(|key| key.fields.len() > 1)
        .flat_map(|key| key.fields.iter().copied())
        .filter(|field| !bound_fields.contains(field))
        .collect();
    let mut tries = 0;
    for value in values {
        let mut variants: Vec<Vec<(FieldId, Value)>> = vec![Vec::new()];
        for field in &loose {
            let mut more = others(scratch, &domain, table, model, *field);
            stream.shuffle(&mut more);
            variants.extend(more.into_iter().take(40).map(|value| vec![(*field, value)]));
        }
        for variant in variants {
            tries += 1;
            if tries > MOST_TRIES {
                return None;
            }
            let mut cells = like(scratch, table, model);
            for (field, value) in variant.iter().cloned().chain([(first, value.clone())]) {
                cells.retain(|(known, _)| *known != field);
                cells.push((field, value));
            }
            let mut changed = scratch.clone();
            let Ok(row) = changed.make(table, cells) else { continue };
            if changed.row_breaks(table, row).is_some() {
                continue;
            }
            let eye = Eye::of(&changed, bound);
            if !asked.rows(&eye).contains(&row) && asked.rows_without(nth, &eye).contains(&row) {
                return Some((changed, row));
            }
        }
    }
    None
}

/// Other values that a cell could have.
fn others(scratch: &Scratch, domain: &Domain, table: TableId, model: RowId, field: FieldId) -> Vec<Value> {
    let declared = domain.table(table).field(field);
    if matches!(declared.stamp, Some(Stamp::Computed(_) | Stamp::Number { .. } | Stamp::When(_))) {
        return Vec::new();
    }
    let now = scratch.row(table, model).map(|cells| cells[field.index()].clone()).unwrap_or_default();
    let mut values: Vec<Value> = match declared.ty {
        Type::Bool => vec![Value::Bool(true), Value::Bool(false)],
        Type::Enum(id) => (0..domain.enums[id.index()].words.len()).map(|word| Value::Enum(word as u16)).collect(),
        Type::Ref(to) => scratch.rows(to).take(MOST_REFERENCES).map(|row| Value::Ref(id_of(row))).collect(),
        Type::Date => match &now {
            Value::Date(date) => {
                [-400, -40, 40, 400].iter().filter_map(|days| date.add_days(*days)).map(Value::Date).collect()
            }
            _ => Vec::new(),
        },
        Type::DateTime => match &now {
            Value::DateTime(instant) => [-400, -40, -2, 2, 40, 400]
                .iter()
                .filter_map(|days: &i64| instant.add_seconds(days * 86_400))
                .map(Value::DateTime)
                .collect(),
            _ => Vec::new(),
        },
        Type::Int => match &now {
            Value::Int(number) => [-50, -5, -1, 1, 5, 50].iter().map(|more| Value::Int(number + more)).collect(),
            _ => vec![Value::Int(0), Value::Int(1)],
        },
        Type::Money => match &now {
            Value::Money(amount) => {
                vec![Value::Money(amount / 2), Value::Money(amount * 2), Value::Money(amount + 100)]
            }
            _ => Vec::new(),
        },
        Type::Text => {
            let column: std::collections::BTreeSet<Value> =
                scratch.rows(table).map(|row| row[field.index()].clone()).filter(|value| !value.is_null()).collect();
            column.into_iter().take(MOST_REFERENCES).collect()
        }
        _ => Vec::new(),
    };
    if declared.nullable {
        values.push(Value::Null);
    }
    values.retain(|value| *value != now);
    values
}
