//! Native tools: they see only what the role may see, touch only what they declare, and are taken back whole when refused.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{Json, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{ArgumentName, Conditions, Episode, Gives, NativeCall, Natives, Sandbox, cell, natives};
use benchwright_schema::{Domain, Folder, load};
use benchwright_world::Seat;
use std::{fs, path::Path, sync::Arc};

const TOOLS: &str = r#"
peek        = "native takes job: -> job! gives note: text? reads job: what is noted about a job"
by_note     = "native takes note: text! gives many job: -> job reads job: jobs with a note"
meddle      = "native takes job: -> job! gives done: bool reads job: writes what it does not declare"
wander      = "native gives many tag: -> tag reads job: reads what it does not declare"
half        = "native takes job: -> job!, helper: -> person! gives done: bool reads job writes job, tag: makes a tag, then sets a helper"
lie         = "native gives one: int, two: int reads job: gives less than it says"
raw         = "native takes rows: list of new of tag!, context: json gives json reads tag writes tag: makes tags from raw JSON"
raw_one     = "native takes tag: -> tag! gives json reads tag, job: gives one value where it declares JSON"
whole       = "native takes job: -> job! gives json reads job: reads whole rows of a table with secrets"
stray       = "native takes job: -> job! gives done: bool reads job: asks for an argument that it does not take"
"#;

mod names {
    benchwright_sandbox::names! {
        tables { job, tag }
        columns { helper of job; price of job; secret_note of job; word of tag; }
        arguments { helper, job, note, rows }
    }
}
use names::{NAMES, a, c, t};

const NATIVES: &Natives = natives![NAMES;
    ("peek", peek),
    ("by_note", by_note),
    ("meddle", meddle),
    ("wander", wander),
    ("half", half),
    ("lie", lie),
    ("raw", raw),
    ("raw_one", raw_one),
    ("whole", whole),
    ("stray", stray),
];

fn id(call: &NativeCall<'_, '_>, argument: ArgumentName) -> u32 {
    call.argument(argument).unwrap().as_ref_id().unwrap_or_default()
}

fn peek(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    Ok(Gives::One(vec![call.row(t::job, id(call, a::job))?.get(c::secret_note)]))
}

fn by_note(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let jobs = call.rows(t::job, &[cell(c::secret_note, call.argument(a::note)?)])?;
    Ok(Gives::Many(jobs.iter().map(|job| vec![Value::Ref(job.id())]).collect()))
}

fn meddle(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    call.update(t::job, id(call, a::job), &[cell(c::price, Value::Null)])?;
    Ok(Gives::One(vec![Value::Bool(true)]))
}

fn wander(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    Ok(Gives::Many(call.rows(t::tag, &[])?.iter().map(|tag| vec![Value::Ref(tag.id())]).collect()))
}

fn half(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    call.create(t::tag, &[cell(c::word, Value::text("half done"))])?;
    let changed = call.update(t::job, id(call, a::job), &[cell(c::helper, call.argument(a::helper)?)])?;
    Ok(Gives::One(vec![Value::Bool(changed)]))
}

fn lie(_: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    Ok(Gives::One(vec![Value::Int(1)]))
}

/// Makes a tag of each object, by ids of table and field; moves the clock for each; refuses a word that is no text.
fn raw(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    assert_eq!(call.tool_name(), "raw");
    let table = call.subject()?;
    let word = call.field(t::tag, c::word);
    let Some(Json::List(rows)) = call.raw(a::rows) else { return Err(Refusal::argument("rows", "wants a list")) };
    let mut made = Vec::new();
    for row in rows {
        call.advance(1);
        let Some(Json::Text(text)) = row.get("word") else { return Err(Refusal::argument("rows", "wants words")) };
        made.push(call.insert(table, vec![(word, Value::text(&**text))])?);
    }
    if let Some(first) = made.first() {
        call.change(table, *first, vec![(word, Value::text("changed"))])?;
        assert!(call.find(table, *first)?.is_some_and(|row| row.get(word) == &Value::text("changed")));
    }
    if let [_, second, ..] = made[..] {
        call.remove(table, second)?;
    }
    let count = call.every(table)?.count();
    Ok(Gives::Json(format!("[{count},{}]", call.domain().tables.len()).into_bytes()))
}

fn raw_one(_: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    Ok(Gives::One(Vec::new()))
}

fn whole(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    call.find(call.subject()?, id(call, a::job))?;
    Ok(Gives::Json(b"{}".to_vec()))
}

fn stray(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    Ok(Gives::One(vec![Value::Bool(call.argument(a::helper)?.is_null())]))
}

fn workshop() -> Arc<Domain> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("domains/workshop");
    let files = fs::read_dir(source).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut text = fs::read_to_string(&path).unwrap();
        if name == "tools.toml" {
            text.push_str(TOOLS);
        }
        (name, text)
    });
    Arc::new(load(&Folder::new("workshop", files)).unwrap())
}

fn episode(role: &str) -> Episode {
    let sandbox = Arc::new(Sandbox::seeded(workshop(), NATIVES, "small", 1).unwrap());
    sandbox.begin(&Seat { role: role.into(), actor: None }, Conditions::default()).unwrap()
}

/// A job with a note, and the note.
fn noted(episode: &Episode) -> (u32, String) {
    let domain = episode.domain();
    let table = domain.table_named("job").unwrap();
    let field = domain.table(table).field_named("secret_note").unwrap();
    let row = episode.rows(table).find(|row| !row.get(field).is_null()).unwrap();
    (row.id(), row.get(field).as_text().unwrap().to_owned())
}

#[test]
fn a_native_tool_sees_secrets_only_for_those_who_may() {
    let (job, note) = noted(&episode("owner"));
    let peek = |role| episode(role).call("peek", &format!("{{\"job\":{job}}}")).unwrap();
    assert_eq!(peek("owner"), format!("{{\"note\":\"{note}\"}}"));
    assert_eq!(peek("clerk"), "{\"note\":null}");
    let by_note = |role| episode(role).call("by_note", &format!("{{\"note\":\"{note}\"}}")).unwrap();
    assert_eq!(by_note("owner"), format!("{{\"rows\":[{{\"job\":{job}}}]}}"));
    assert_eq!(by_note("clerk"), "{\"rows\":[]}", "not even by asking for it");
}

#[test]
fn a_native_tool_touches_only_the_tables_it_declares_and_gives_what_it_says() {
    for (tool, arguments) in [
        ("meddle", "{\"job\":1}"),
        ("wander", "{}"),
        ("lie", "{}"),
        ("raw_one", "{\"tag\":1}"),
        ("whole", "{\"job\":1}"),
        ("stray", "{\"job\":1}"),
    ] {
        let mut episode = episode("owner");
        let refusal = episode.call(tool, arguments).unwrap_err();
        assert!(refusal.message.contains("at fault"), "{tool}: {refusal}");
        assert!(episode.diff().is_empty(), "{tool}");
    }
}

#[test]
fn a_native_tool_that_breaks_a_rule_late_leaves_nothing_behind() {
    let mut episode = episode("owner");
    let domain = episode.domain();
    let table = domain.table_named("job").unwrap();
    let client = domain.table(table).field_named("client").unwrap();
    let client = episode.rows(table).next().unwrap().get(client).as_ref_id().unwrap();
    let hash = episode.state_hash();
    let refusal = episode.call("half", &format!("{{\"job\":1,\"helper\":{client}}}")).unwrap_err();
    assert_eq!((refusal.code, refusal.rule.as_deref()), (RefusalCode::RuleViolated, Some("helper-is-active")));
    assert_eq!(episode.state_hash(), hash);
    assert!(episode.diff().is_empty());
}

#[test]
fn a_native_tool_takes_raw_json_writes_by_ids_and_moves_the_clock() {
    let mut episode = episode("owner");
    let table = episode.domain().table_named("tag").unwrap();
    let (rows, now) = (episode.table_len(table), episode.now());
    let answer = episode.call("raw", r#"{"rows":[{"word":"one"},{"word":"two"}],"context":{"any":[1]}}"#).unwrap();
    assert_eq!(answer, format!("[{},{}]", rows + 1, episode.domain().tables.len()));
    assert_eq!(episode.now().0, now.0 + 2);
    assert_eq!(episode.table_len(table), rows + 1);
}

#[test]
fn a_refused_call_moves_neither_rows_nor_the_clock_and_raw_arguments_have_their_shape() {
    let mut episode = episode("owner");
    let hash = episode.state_hash();
    let wrong = [
        r#"{"rows":[{"word":"one"},{"word":7}]}"#,
        r#"{"rows":{"word":"one"}}"#,
        r#"{"rows":[],"context":null}"#,
        r#"{}"#,
    ];
    for arguments in wrong {
        let refusal = episode.call("raw", arguments).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{arguments}");
    }
    assert_eq!(episode.state_hash(), hash);
}

mod misspelt {
    //! Names that the domain has almost.
    benchwright_sandbox::names! {
        tables { job, tagg }
        columns { secret_noet of job; word of tagg; state of job; price of job; }
        words { doen of job.state; free of job.price; }
        arguments { jbo }
        fixed { tag { word = 2 } }
    }
}

#[test]
fn names_that_a_domain_does_not_have_are_told_when_a_world_is_made() {
    let natives: &Natives = natives![misspelt::NAMES; ("peek", peek)];
    let error = Sandbox::empty(workshop(), natives).err().unwrap();
    let expected = "\
the native code of benchwright-testkit does not fit the domain workshop:
  there is no table `tagg`; did you mean `tag`?
  the table `job` has no column `secret_noet`; did you mean `secret_note`?
  the column `job.state` has no word `doen`; did you mean `done`?
  the column `job.price` has no word `free`
  the column `tag.word` stands at 1, not at 2
  no tool takes an argument `jbo`; did you mean `job`?";
    assert_eq!(error.to_string(), expected);
    let seeded = Sandbox::seeded(workshop(), natives, "small", 1).err().unwrap();
    assert_eq!(seeded.to_string(), expected, "and however it is made");
    let unknown: &Natives = natives![NAMES; ("peeek", peek)];
    let error = Sandbox::empty(workshop(), unknown).err().unwrap();
    assert!(error.to_string().ends_with("there is no native tool `peeek`; did you mean `peek`?"), "{error}");
}
