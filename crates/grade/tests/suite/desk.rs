//! A small desk with tickets, on which judgements of effects are tried: every kind of field and table that a judge treats in its own way.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{RelationId, RowId, Value};
use benchwright_grade::{EffectsError, EffectsGrader};
use benchwright_pack::{CheckStatus, Snapshot, Verdict, effects::Effects};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Folder, load};
use benchwright_world::Seat;
use serde_json::{Value as Json, json};
use std::sync::Arc;

const TABLES: &str = r#"
[enums]
Obstacle = ["policy", "permission", "no_tool", "not_found", "contradiction"]
State    = ["open", "pending", "done"]
Priority = ["low", "high"]
NoteKind = ["work_note", "comment"]
Answer   = ["yes", "no"]

[request_reply]
once   = true
kind   = "Obstacle?"
rule   = "text(..200)?"
record = "text(..200)?"
note   = "text(..2000)?"

[reply_value]
once  = true
reply = "-> request_reply owned"
name  = "text(1..80)"
value = "text(..4000)"

[user]
name  = "text unique"
email = "text?"

[ticket]
number   = "text unique server 'TK#######'"
title    = "text"
state    = "State = open"
priority = "Priority = low"
owner    = "-> user?"
due      = "date?"
amount   = "money?"
locked   = "bool server = false"
opened   = "datetime server on create"
touched  = "datetime server on write"
closed   = "datetime? server when state = done"
opener   = "-> user? server actor"
double   = "money? server = amount + amount"
views    = "int log = 0"
summary  = "text? prose"

[note]
ticket = "-> ticket"
kind   = "NoteKind = work_note"
text   = "text prose"

[history]
log    = true
ticket = "-> ticket"

[attendee]
ticket = "-> ticket owned"
user   = "-> user"
answer = "Answer?"

[message]
ticket  = "-> ticket?"
to      = "-> user"
subject = "text"
copy    = "text?"
body    = "text? prose"
urgent  = "bool = false"
"#;

const TOOLS: &str = r#"
decline_request = "create request_reply set kind!, rule, record, note"
submit_answer   = "create request_reply set note with reply_value"
list_tickets    = "list ticket"
add_user        = "create user"
add_ticket      = "create ticket with attendee"
set_ticket      = "update ticket set title, state, priority, owner, due, amount, views, summary with attendee"
drop_ticket     = "delete ticket"
add_note        = "create note"
set_note        = "update note set kind, text"
add_history     = "create history"
add_attendee    = "create attendee"
set_attendee    = "update attendee set user, answer"
drop_attendee   = "delete attendee"
add_message     = "create message"
"#;

const POLICY: &str = r#"
[access]
clerk = ["any on *"]

[rules.high-has-owner]
on      = "ticket"
require = "priority != high or owner != null"
says    = "A ticket of high priority has an owner."
by      = "verifier"

[rules.pending-has-due]
on      = "ticket"
require = "state != pending or due != null"
says    = "A pending ticket has a day."
by      = "tool"

[rules.week-at-most]
on      = "ticket"
require = "created or not changed(due) or old.due = null or due <= old.due + 7 days"
says    = "A ticket is put off by a week at most."
by      = "tool"
"#;

/// Places of tables.
pub(crate) const TICKET: usize = 3;
/// Places of fields of a ticket.
pub(crate) const STATE: usize = 3;
pub(crate) const LOCKED: usize = 8;

pub(crate) struct Desk {
    pub(crate) sandbox: Arc<Sandbox>,
}

/// Somebody who acts: Ann.
pub(crate) fn clerk() -> Seat {
    Seat { role: "clerk".to_owned(), actor: Some(1) }
}

pub(crate) type Call<'c> = (&'c str, Json);

impl Desk {
    /// Three people, three tickets, those who come to the first two (Cy is written down twice), and a note on the third.
    pub(crate) fn new() -> Desk {
        Desk::with("Screen")
    }

    /// The same with another third ticket.
    pub(crate) fn with(third: &str) -> Desk {
        let files = [
            (
                "domain.toml",
                "name = 'desk'\ntitle = 'Desk'\nrole = 'clerk'\nabout = 'Tickets.'\nnow = '2026-03-02T09:00:00Z'\n\
                 notes = ['note(kind = work_note)']",
            ),
            ("tables.toml", TABLES),
            ("tools.toml", TOOLS),
            ("policy.toml", POLICY),
        ];
        let folder = Folder::new("desk", files.map(|(path, text)| (path.to_owned(), text.to_owned())));
        let domain = Arc::new(load(&folder).unwrap_or_else(|faults| panic!("{faults:?}")));
        let empty = Arc::new(Sandbox::empty(Arc::clone(&domain), &[]).unwrap());
        let nobody = Seat { role: "clerk".to_owned(), actor: None };
        let mut episode = empty.begin(&nobody, Conditions::default()).unwrap();
        for name in ["Ann", "Bob", "Cy"] {
            let email = format!("{}@desk.example", name.to_lowercase());
            call(&mut episode, "add_user", &json!({ "name": name, "email": email }));
        }
        let both = json!([{ "user": 1 }, { "user": 2 }]);
        call(&mut episode, "add_ticket", &json!({ "title": "Printer", "attendee": both, "due": "2026-03-10" }));
        let twice = json!([{ "user": 3 }, { "user": 3 }]);
        call(&mut episode, "add_ticket", &json!({ "title": "Phone", "summary": "It is dead.", "attendee": twice }));
        call(&mut episode, "add_ticket", &json!({ "title": third }));
        call(&mut episode, "add_note", &json!({ "ticket": 3, "text": "Seen." }));
        let first = Snapshot { first: None, ..episode.snapshot() };
        Desk { sandbox: Arc::new(Sandbox::from_snapshot(domain, &[], &first).unwrap()) }
    }

    /// A judgement of this world, with what is not told left empty.
    pub(crate) fn effects(&self, told: &Json) -> Effects {
        let mut whole = json!({ "kind": "effects", "version": 1, "world": self.sandbox.origin().to_string() });
        for (key, value) in told.as_object().unwrap() {
            whole[key] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    pub(crate) fn grader(&self, told: &Json) -> Result<EffectsGrader, EffectsError> {
        EffectsGrader::new(Arc::clone(&self.sandbox), &self.effects(told), &clerk())
    }

    /// An episode after these calls.
    pub(crate) fn play(&self, calls: &[Call<'_>]) -> Episode {
        let mut episode = self.sandbox.begin(&clerk(), Conditions::default()).unwrap();
        calls.iter().for_each(|(tool, arguments)| call(&mut episode, tool, arguments));
        episode
    }

    /// The verdict on these calls, which is the same live and by snapshot.
    pub(crate) fn verdict(&self, told: &Json, calls: &[Call<'_>]) -> Verdict {
        let grader = self.grader(told).unwrap();
        let episode = self.play(calls);
        let live = grader.grade_live(&episode).unwrap();
        assert_eq!(grader.grade(&episode.snapshot()).unwrap(), live, "the snapshot is judged otherwise: {calls:?}");
        live
    }

    /// The verdict on a state that no calls have led to.
    pub(crate) fn forged(&self, told: &Json, calls: &[Call<'_>], forge: impl Fn(&mut Snapshot)) -> Verdict {
        let mut snapshot = self.play(calls).snapshot();
        forge(&mut snapshot);
        snapshot.first = Some(self.sandbox.origin());
        self.grader(told).unwrap().grade(&snapshot).unwrap()
    }
}

/// Sets a cell of a snapshot.
pub(crate) fn set(snapshot: &mut Snapshot, table: usize, row: RowId, field: usize, value: Value) {
    let rows = &mut snapshot.tables[RelationId(table as u16).index()].rows;
    rows.iter_mut().find(|cells| cells[0] == Value::Ref(row)).unwrap()[field] = value;
}

fn call(episode: &mut Episode, tool: &str, arguments: &Json) {
    episode.call(tool, &arguments.to_string()).unwrap_or_else(|refusal| panic!("{tool} {arguments}: {refusal}"));
}

/// An expected row of a clause.
pub(crate) fn row(of: &str, table: &str, row: Json, cells: Json) -> Json {
    json!({ "of": of, "kind": "completion", "at": format!("the {table}"), "table": table, "row": row, "cells": cells })
}

/// A new row with a name.
pub(crate) fn made(of: &str, name: &str, table: &str, cells: Json) -> Json {
    let mut made = row(of, table, json!("new"), cells);
    made["name"] = json!(name);
    made
}

/// A value that is wanted.
pub(crate) fn is(value: impl Into<Json>) -> Json {
    json!({ "is": value.into() })
}

/// The rules whose checks failed.
pub(crate) fn failed(verdict: &Verdict) -> Vec<&str> {
    verdict.failed()
}

/// Why the check of a rule failed.
pub(crate) fn why<'v>(verdict: &'v Verdict, rule: &str) -> &'v str {
    let found = verdict.checks.iter().find(|check| check.rule == rule && check.status == CheckStatus::Fail);
    found.and_then(|check| check.why.as_deref()).unwrap_or("it did not fail")
}
