//! Other ways to do what was asked: the writes in other orders, texts in other words, updates field by field, a work note and reads on
//! the side. Whatever of it the world lets stand must earn everything.

use super::{
    RequestSubject, blocked,
    done::Done,
    finding, na, prose,
    state::{is_same, put, row},
};
use crate::{Finding, ground::Here, trials::reading::read_all, values::shown};
use benchwright_base::{Stream, Value};
use benchwright_calls::offered::Maker;
use benchwright_expr::{Compare, Expr, Source, TestOp, Type};
use benchwright_grade::FULL;
use benchwright_pack::{Ending, Script, Step, Verdict};
use benchwright_sandbox::Episode;
use benchwright_schema::{Verb, arguments_schema};
use benchwright_world::seen;
use serde_json::Value as Json;

/// Orders that are looked for, and how often one is drawn.
const ORDERS: (usize, usize) = (8, 48);
/// Draws of a note.
const DRAWS: usize = 20;

/// Other ways to do what was asked earn everything too.
pub(crate) fn run(subject: &RequestSubject<'_>) -> Finding {
    finding(match subject.is_blocked() {
        true => declined(subject),
        false => all(subject),
    })
}

struct Others {
    faults: Vec<String>,
    tried: usize,
}

impl Others {
    fn hold(&mut self, what: &str, verdict: &Verdict) {
        self.tried += 1;
        if verdict.ending != Ending::Pass || verdict.reward != FULL {
            self.faults.push(format!("{what}: reward {}, failed {:?}", verdict.reward, verdict.failed()));
        }
    }
}

fn all(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let done = subject.done()?;
    let mut others = Others { faults: Vec::new(), tried: 0 };
    let mut hold = |what: String, episode: &Episode| {
        others.hold(&what, &subject.judged(episode)?);
        Ok(())
    };
    let orders = other_orders(subject, &done, &mut hold)?;
    let splits = split_updates(subject, &done, &mut hold)?;
    let wordings = wordings(subject, &done, &mut others)?;
    let notes = note(subject, &done, &mut others)?;
    let again = again(subject, &done, &mut others)?;
    let mut episode = subject.begin()?;
    read_all(&mut episode);
    seen::play(&subject.task.sealed.oracle, &mut episode).map_err(|error| error.to_string())?;
    read_all(&mut episode);
    others.hold("everything read", &subject.judged(&episode)?);
    if orders + wordings + splits + notes + again == 0 {
        let why = "its writes have one order and none can be made again, it has no text of somebody's own, and no update can be split";
        return Ok(na(why));
    }
    let finding = Finding::of(&others.faults).count("orders", orders).count("wordings", wordings);
    Ok(finding.count("splits", splits).count("notes", notes).count("again", again).count("tried", others.tried))
}

/// Each reason that is accepted, with a note in somebody's own words.
fn declined(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let mut others = Others { faults: Vec::new(), tried: 0 };
    let Some(refusal) = &subject.effects.refusal else { return Err("it can be carried out".to_owned()) };
    let rules = refusal.rules.iter().map(|rule| (Some(&**rule), None));
    let policy = refusal.obstacle == "policy";
    let records = refusal.records.iter().filter(|_| !policy).map(|record| (None, Some(&**record)));
    for (rule, record) in rules.chain(records) {
        let mut episode = subject.begin()?;
        read_all(&mut episode);
        if !blocked::decline(&mut episode, &refusal.obstacle, rule, record) {
            continue;
        }
        others.hold(&format!("declined for {rule:?} {record:?}"), &subject.judged(&episode)?);
    }
    Ok(Finding::of(&others.faults).count("reasons", others.tried))
}

/// What is done for each of several in the other order, and a call made twice, where that leaves the same.
fn again(subject: &RequestSubject<'_>, done: &Done, others: &mut Others) -> Result<usize, String> {
    let mut calls: Vec<(usize, String, String)> = Vec::new();
    let mut episode = subject.begin()?;
    let each = &mut |at: usize, tool: &str, arguments: &Json| {
        calls.push((at, tool.to_owned(), arguments.to_string()));
    };
    seen::play_with(&subject.task.sealed.oracle, &mut episode, each).map_err(|error| error.to_string())?;
    let is_like = |episode: &Episode| is_same(&subject.domain, &subject.first, &episode.snapshot(), &done.state);
    let mut stood = 0;
    let mut turned = subject.begin()?;
    let groups: Vec<&[(usize, String, String)]> = calls.chunk_by(|one, other| one.0 == other.0).collect();
    let is_several = groups.iter().any(|group| group.len() > 1 && done.steps[group[0].0].writes());
    let mut order = groups.iter().flat_map(|group| group.iter().rev());
    if is_several && order.all(|(_, tool, arguments)| turned.call(tool, arguments).is_ok()) && is_like(&turned) {
        stood += 1;
        others.hold("what is done for each, in the other order", &subject.judged(&turned)?);
    }
    for (at, tool, arguments) in calls.iter().filter(|(at, _, _)| done.steps[*at].writes()) {
        let mut twice = done.episode.fork();
        if twice.call(tool, arguments).is_ok() && is_like(&twice) {
            stood += 1;
            others.hold(&format!("step {} made again", at + 1), &subject.judged(&twice)?);
        }
    }
    Ok(stood)
}

/// What is told of each other way that the world lets stand.
pub(super) type Each<'e> = dyn FnMut(String, &Episode) -> Result<(), String> + 'e;

/// Other orders of the writes that the world lets stand. How many there were.
pub(super) fn other_orders(subject: &RequestSubject<'_>, done: &Done, each: &mut Each<'_>) -> Result<usize, String> {
    let oracle = &subject.task.sealed.oracle;
    let writes = |at: usize| done.steps[at].writes();
    // All reads first, where that comes to the same; else only neighbours change places.
    let reads = (0..oracle.steps.len()).filter(|at| !writes(*at));
    let hoisted: Vec<usize> = reads.chain((0..oracle.steps.len()).filter(|at| writes(*at))).collect();
    let script = |order: &[usize]| -> Script {
        Script { steps: order.iter().map(|at| oracle.steps[*at].clone()).collect(), ..oracle.clone() }
    };
    let (episode, ended) = subject.play(&script(&hoisted))?;
    let is_free = ended.is_ok() && is_same(&subject.domain, &subject.first, &episode.snapshot(), &done.state);
    let base: Vec<usize> = if is_free { hoisted } else { (0..oracle.steps.len()).collect() };
    let mut stream = Stream::new(0, &["orders", &subject.task.open.id]);
    let mut known: Vec<Vec<usize>> = vec![base.clone()];
    let mut stood = 0;
    for _ in 0..ORDERS.1 {
        let mut order = base.clone();
        let mut from = 0;
        while from < order.len() {
            let to = (from..order.len()).find(|at| !writes(order[*at])).unwrap_or(order.len());
            stream.shuffle(&mut order[from..to]);
            from = to.max(from + 1);
        }
        if known.contains(&order) {
            continue;
        }
        known.push(order.clone());
        let (episode, ended) = subject.play(&script(&order))?;
        if ended.is_err() {
            continue;
        }
        stood += 1;
        let told: Vec<String> = order.iter().filter(|at| writes(**at)).map(|at| (at + 1).to_string()).collect();
        each(format!("writes in the order {}", told.join(" ")), &episode)?;
        if stood >= ORDERS.0 {
            break;
        }
    }
    Ok(stood)
}

/// Each text in other words, with every fact that it must mention.
fn wordings(subject: &RequestSubject<'_>, done: &Done, others: &mut Others) -> Result<usize, String> {
    let mut tried = 0;
    for (wanted, key) in subject.effects.expected.iter().zip(&done.rows) {
        let Some(key) = key else { continue };
        for (field, prose) in prose::wanted(subject, wanted, *key) {
            let Some(facts) = prose::facts(subject, done, prose) else { continue };
            let texts = [
                format!("As agreed: {}.", facts.join(", ")),
                facts.join("\n"),
                format!(
                    "{} - and that is all there is to say.",
                    facts.iter().rev().cloned().collect::<Vec<_>>().join(" / ")
                ),
                format!("please note ({})", facts.join("); (")).to_uppercase(),
                format!("This concerns \"{}\"; thank you.", facts.join("\" and \"")),
            ];
            for text in texts.into_iter().filter(|text| !text.trim().is_empty()) {
                let mut state = done.state.clone();
                put(&mut state, *key, field, Value::text(&*text));
                let Some(verdict) = subject.graded(&state)? else { continue };
                tried += 1;
                others.hold(&format!("{} of {} as `{text}`", wanted.at, wanted.of), &verdict);
            }
        }
    }
    Ok(tried)
}

/// Each update of several fields as updates of one field each, in both orders. How many stood.
pub(super) fn split_updates(subject: &RequestSubject<'_>, done: &Done, each: &mut Each<'_>) -> Result<usize, String> {
    let oracle = &subject.task.sealed.oracle;
    let domain = &subject.domain;
    let mut stood = 0;
    for (at, step) in oracle.steps.iter().enumerate().filter(|(at, _)| done.steps[*at].writes()) {
        let Some(tool) = domain.tool_named(&step.tool()).map(|tool| &domain.tools[tool]) else { continue };
        let (Verb::Update, Some(table), Some(args)) = (tool.verb, tool.table, step.args.as_object()) else { continue };
        let names_row = |name: &str| {
            name == "id" || tool.by.iter().any(|filter| domain.table(table).field(filter.field).name == name)
        };
        let fields: Vec<&String> = args.keys().filter(|name| !names_row(name)).collect();
        if fields.len() < 2 {
            continue;
        }
        let mut parts: Vec<Step> = Vec::new();
        for field in &fields {
            let mut part = step.clone();
            if let Json::Object(map) = &mut part.args {
                map.retain(|name, _| names_row(name) || name == *field);
            }
            parts.push(part);
        }
        for turned in [false, true] {
            let mut parts = parts.clone();
            if turned {
                parts.reverse();
            }
            let mut script = oracle.clone();
            script.steps.splice(at..=at, parts);
            let (episode, ended) = subject.play(&script)?;
            if ended.is_ok() {
                stood += 1;
                each(format!("step {} field by field", at + 1), &episode)?;
            }
        }
    }
    Ok(stood)
}

/// A work note on a record of the job, where the domain lets notes through.
fn note(subject: &RequestSubject<'_>, done: &Done, others: &mut Others) -> Result<usize, String> {
    let domain = &subject.domain;
    let mut made = 0;
    for note in &domain.notes {
        let Source::Rows { relation, tests } = note else { continue };
        let declared = domain.table(*relation);
        let makes = |tool: &&benchwright_schema::Tool| {
            tool.table == Some(*relation) && matches!(tool.verb, Verb::Create | Verb::Link | Verb::Send)
        };
        let Some(tool) = domain.tools.iter().find(makes).filter(|tool| subject.offers(&tool.name)) else { continue };
        let schema = arguments_schema(domain, tool);
        let leads = done.rows.iter().flatten().filter_map(|key| {
            let field = declared.fields.iter().find(|field| field.ty == Type::Ref(key.0))?;
            row(&done.state, *key).map(|_| (field.name.clone(), key.1))
        });
        let Some((field, target)) = leads.into_iter().next() else { continue };
        let mut maker = Maker::new(&["note", &subject.task.open.id]);
        for _ in 0..DRAWS {
            let mut episode = done.episode.fork();
            let mut args = maker.arguments(&schema, &Here(&episode));
            args[&field] = target.into();
            for (path, op, values) in tests {
                let ([(_, cell)], TestOp::Compare(Compare::Eq), [Expr::Literal(value, _)]) =
                    (&path[..], op, &values[..])
                else {
                    continue;
                };
                let cell = declared.field(*cell);
                let is_taken =
                    tool.set.iter().any(|set| declared.field(set.field).name == cell.name && set.fixed.is_none());
                if is_taken {
                    args[&cell.name] = shown(domain, cell.ty, value);
                }
            }
            if episode.call(&tool.name, &args.to_string()).is_ok() {
                made += 1;
                others.hold(&format!("a note by {}", tool.name), &subject.judged(&episode)?);
                break;
            }
        }
    }
    Ok(made)
}
