//! From records to what rules are bound to: members, sets and facts, and facts that follow from others.

use crate::{
    layout::{Argument, Kind, KnownBy, Layout, set_of},
    reckon::{Per, value},
    records::{Cell, Records},
    stages::{LAST, LAST_SET, Stages, lift},
    told::Told,
};
use benchwright_base::Value;
use benchwright_expr::Type;
use benchwright_schema::plan::{Binding, Bindings, Bound, Plan, PlanText, ViewRows};

/// Day 0; records count periods, not days.
const ANCHOR: &str = "2032-01-05";

fn binding(cell: &Cell) -> Option<Binding> {
    match cell {
        Cell::Number(number) => Some(Binding::Number(*number)),
        Cell::Text(text) => Some(Binding::Key(text.clone())),
        Cell::None => None,
    }
}

/// What records bind.
pub(crate) fn bindings(
    layout: &Layout,
    told: &Told,
    stages: Option<&Stages>,
    records: &Records,
) -> Result<Bindings, String> {
    let mut bound = Bindings { anchor: ANCHOR.to_owned(), ..Bindings::default() };
    for table in &layout.tables {
        let rows = records.rows(&table.name);
        let arguments = layout.arguments(table);
        if let (KnownBy::Key(_), [(column, argument)]) = (&table.known_by, &arguments[..]) {
            let keys: Vec<Binding> = rows.iter().filter_map(|row| binding(&row[*column])).collect();
            if let Argument::Sort(sort) = argument {
                bound.members.insert(sort.clone(), rows.iter().map(|row| row[*column].key()).collect());
            }
            bound.sets.insert(set_of(&told.sets, &table.name), keys);
        }
        for row in rows {
            let at: Vec<String> = arguments.iter().map(|(column, _)| row[*column].key()).collect();
            for (column, declared) in layout.facts(table) {
                let Some(mut is) = binding(&row[column]) else { continue };
                // A reference to a row that is known by a number is that number.
                if let (Kind::Ref(_), Binding::Key(key), Argument::Int) =
                    (declared.kind, &is, layout.argument(table, column))
                {
                    is = Binding::Number(key.parse().map_err(|_| format!("`{key}` is no number"))?);
                }
                bound.facts.entry(declared.name.clone()).or_default().insert(at.join("|"), is);
            }
            if layout.is_relation(table) {
                bound.facts.entry(table.name.clone()).or_default().insert(at.join("|"), Binding::Number(1));
            }
        }
    }
    match stages {
        None => compute(layout, told, &mut bound)?,
        Some(stages) => by_stage(layout, told, stages, &mut bound)?,
    }
    Ok(bound)
}

/// The numbers of the stages that records tell, in order.
pub(crate) fn stages(layout: &Layout, records: &Records) -> Vec<i64> {
    let Some(table) = layout.table(lift::FIELD) else { return Vec::new() };
    let KnownBy::Key(column) = table.known_by else { return Vec::new() };
    let number = |row: &Vec<Cell>| match row[column] {
        Cell::Number(number) => Some(number),
        _ => None,
    };
    records.rows(&table.name).iter().filter_map(number).collect()
}

/// Computes the facts of every stage: those that change as they are told, and those that follow from the facts as they are then.
fn by_stage(layout: &Layout, told: &Told, stages: &Stages, bound: &mut Bindings) -> Result<(), String> {
    let told_so: Vec<i64> = bound.sets.get(lift::SET).into_iter().flatten().filter_map(as_number).collect();
    let first = bound.clone();
    for (name, changed) in &stages.text.changed {
        let per = match &changed.per {
            Some(per) => format!("{} in {}, {per}", lift::VARIABLE, lift::SET),
            None => format!("{} in {}", lift::VARIABLE, lift::SET),
        };
        let values = values_of(layout, told, 0, &first, (name, Some(&per), &changed.is))?;
        bound.facts.entry(stages.by[name].clone()).or_default().extend(values);
    }
    for stage in &told_so {
        let ahead = format!("{stage}|");
        let mut now = first.clone();
        for name in stages.text.changed.keys() {
            let all = bound.facts.get(&stages.by[name]).into_iter().flatten();
            let here = all.filter_map(|(at, is)| {
                let alone = *at == stage.to_string();
                at.strip_prefix(&ahead).or(alone.then_some("")).map(|at| (at.to_owned(), is.clone()))
            });
            let here: Vec<(String, Binding)> = here.collect();
            now.facts.insert(name.clone(), here.into_iter().collect());
        }
        compute(layout, told, &mut now)?;
        for fact in &told.computed {
            let values = now.facts.remove(&fact.name).unwrap_or_default();
            match stages.by.get(&fact.name) {
                None => _ = bound.facts.insert(fact.name.clone(), values),
                Some(by) => {
                    let at = |at: String| if at.is_empty() { stage.to_string() } else { format!("{ahead}{at}") };
                    let values = values.into_iter().map(|(arguments, is)| (at(arguments), is));
                    bound.facts.entry(by.clone()).or_default().extend(values);
                }
            }
        }
    }
    let last = told_so.iter().max().ok_or("there is no stage")?;
    bound.fact(LAST, &[], *last);
    bound.numbers(LAST_SET, [*last]);
    Ok(())
}

fn as_number(binding: &Binding) -> Option<i64> {
    match binding {
        Binding::Number(number) => Some(*number),
        Binding::Key(_) => None,
    }
}

/// The plan in which only facts and sets are known, of records and of what was computed so far.
fn facts_only(layout: &Layout, told: &Told, computed: usize) -> Result<(PlanText, Plan), String> {
    let mut text = PlanText::default();
    layout.declare(&told.sets, &mut text);
    let mut plan = Plan::compile(&text, &layout.domain).map_err(|faults| faults.to_string())?;
    for fact in told.computed.iter().take(computed) {
        let signature = signature(fact.per.as_deref(), &plan)?;
        text.facts.insert(fact.name.clone(), signature);
        plan = Plan::compile(&text, &layout.domain).map_err(|faults| faults.to_string())?;
    }
    Ok((text, plan))
}

/// `(item, int): int`, from the variables that a fact has for arguments.
fn signature(per: Option<&str>, plan: &Plan) -> Result<String, String> {
    let per = Per::read(per, plan)?;
    let name = |ty: &Type| match ty {
        Type::Ref(sort) => plan.sorts[sort.index()].0.clone(),
        _ => "int".to_owned(),
    };
    let arguments: Vec<String> = per.types.iter().map(name).collect();
    // What is asked for beyond what was computed is nothing.
    let otherwise = if arguments.is_empty() { "" } else { " else 0" };
    Ok(format!("({}): int{otherwise}", arguments.join(", ")))
}

/// Declares what is computed.
pub(crate) fn declare(layout: &Layout, told: &Told, plan: &mut PlanText) -> Result<(), String> {
    let (text, _) = facts_only(layout, told, told.computed.len())?;
    plan.facts.extend(text.facts);
    Ok(())
}

/// Computes facts from facts, each from those before it.
fn compute(layout: &Layout, told: &Told, bindings: &mut Bindings) -> Result<(), String> {
    for (at, fact) in told.computed.iter().enumerate() {
        let values = values_of(layout, told, at, bindings, (&fact.name, fact.per.as_deref(), &fact.is))?;
        bindings.facts.entry(fact.name.clone()).or_default().extend(values);
    }
    Ok(())
}

/// The values of a fact, by its name, arguments and value, where some that are computed are known.
fn values_of(
    layout: &Layout,
    told: &Told,
    computed: usize,
    bindings: &Bindings,
    (name, per, is): (&str, Option<&str>, &str),
) -> Result<Vec<(String, Binding)>, String> {
    let (text, plan) = facts_only(layout, told, computed)?;
    let bound = Bound::new(&plan, bindings).map_err(|faults| faults.to_string())?;
    let per = Per::read(per, &plan)?;
    let expr = per.expr(is, &plan, &text)?;
    let none = ViewRows::empty(&plan);
    let mut values = Vec::new();
    for choice in per.all(&bound, &none) {
        let keys: Vec<String> = choice.iter().zip(&per.types).map(|(value, ty)| key(value, *ty, &bound)).collect();
        let is = value(&expr, &choice, &bound, &none);
        let is = is.ok_or_else(|| format!("`{name}` has no value at {}", keys.join(", ")))?;
        values.push((keys.join("|"), Binding::Number(is)));
    }
    Ok(values)
}

fn key(value: &Value, ty: Type, bound: &Bound) -> String {
    match (ty, value) {
        (Type::Ref(sort), Value::Ref(member)) => bound.key_of(sort.index(), *member),
        (_, value) => value.as_number().unwrap_or_default().to_string(),
    }
}
