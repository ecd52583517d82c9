//! Who may do what with a file: permissions on the file, on every folder above it and on its shared drive.

use super::above;
use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, RowView};
use std::collections::BTreeSet;

/// The place of `owner` among the roles, which stand from the strongest to the weakest.
const OWNER: u16 = 0;
/// The place of `writer`.
pub(crate) const WRITER: u16 = 3;

/// For whom a permission is looked for.
pub(crate) struct Person {
    id: Option<RowId>,
    domain: String,
    groups: BTreeSet<RowId>,
}

/// What a person may do, and why.
pub(crate) struct Access {
    pub(crate) role: u16,
    through: &'static str,
    from: Option<RowId>,
}

impl Person {
    pub(crate) fn of(call: &NativeCall<'_, '_>, user: RowId) -> Result<Person, Refusal> {
        let domain = call.row("user", user)?.get("tenant").as_text().unwrap_or_default().to_owned();
        let member = call.rows("group_member", &[("user", Value::Ref(user))])?;
        let groups = member.iter().filter_map(|member| member.get("group").as_ref_id()).collect();
        Ok(Person { id: Some(user), domain, groups })
    }

    /// How a permission reaches the person, if it does.
    fn reached_by(&self, permission: &RowView) -> Option<&'static str> {
        if permission.is("type", "anyone") {
            return Some("anyone");
        }
        if permission.is("type", "domain") && permission.get("domain").as_text() == Some(&*self.domain) {
            return Some("domain");
        }
        match (permission.get("group").as_ref_id(), permission.get("user").as_ref_id()) {
            (Some(group), _) if self.groups.contains(&group) => Some("group"),
            (_, Some(user)) if self.id == Some(user) => Some("user"),
            _ => None,
        }
    }
}

/// The strongest access of a person to a file.
pub(crate) fn access(call: &NativeCall<'_, '_>, file: RowId, person: &Person) -> Result<Option<Access>, Refusal> {
    let row = call.row("file", file)?;
    if person.id.is_some() && row.get("owner").as_ref_id() == person.id {
        return Ok(Some(Access { role: OWNER, through: "owner", from: Some(file) }));
    }
    let today = Value::Date(call.now().date());
    let mut best: Option<Access> = None;
    let mut look = |permissions: Vec<RowView>, from: Option<RowId>| {
        for permission in permissions {
            let over = match (permission.get("expires_on"), &today) {
                (Value::Date(until), Value::Date(today)) => until < *today,
                _ => false,
            };
            let (Value::Enum(role), Some(through), false) =
                (permission.get("role"), person.reached_by(&permission), over)
            else {
                continue;
            };
            if best.as_ref().is_none_or(|best| role < best.role) {
                best = Some(Access { role, through, from });
            }
        }
    };
    for at in above(call, file)? {
        look(call.rows("permission", &[("file", Value::Ref(at.id()))])?, Some(at.id()));
    }
    if let drive @ Value::Ref(_) = row.get("drive") {
        look(call.rows("permission", &[("drive", drive)])?, None);
    }
    Ok(best)
}

pub(crate) fn check_effective_access(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.reference("file")?;
    let person = Person::of(call, call.reference("user")?)?;
    let values = match access(call, file, &person)? {
        Some(found) => {
            vec![Value::Enum(found.role), Value::text(found.through), found.from.map_or(Value::Null, Value::Ref)]
        }
        None => vec![Value::Null; 3],
    };
    Ok(Gives::One(values))
}

pub(crate) fn list_files_shared_with(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let person = match (call.argument("user").as_ref_id(), call.argument("domain").as_text()) {
        (Some(user), None) => Person::of(call, user)?,
        (None, Some(domain)) => Person { id: None, domain: domain.to_owned(), groups: BTreeSet::new() },
        _ => return Err(Refusal::argument("user", "or `domain` must be given, and not both")),
    };
    let mut rows = Vec::new();
    for file in call.rows("file", &[])? {
        if let Some(found) = access(call, file.id(), &person)?
            && found.role != OWNER
        {
            rows.push(vec![Value::Ref(file.id()), file.get("name"), Value::Enum(found.role)]);
        }
    }
    Ok(Gives::Many(rows))
}

pub(crate) fn transfer_ownership(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row("file", call.reference("file")?)?;
    let to = call.row("user", call.reference("to")?)?;
    let Some(former) = file.get("owner").as_ref_id() else {
        return Err(Refusal::argument("file", "belongs to a shared drive and has no owner"));
    };
    if former == to.id() {
        return Err(Refusal::argument("to", "owns the file already"));
    }
    if call.row("user", former)?.get("tenant") != to.get("tenant") {
        return Err(Refusal::new(RefusalCode::Forbidden, "files stay in the company").about("to"));
    }
    call.update("file", file.id(), &[("owner", Value::Ref(to.id()))])?;
    // What the new owner had is part of owning now; the former owner becomes a writer.
    for (user, keeps) in [(to.id(), false), (former, true)] {
        let having = [("file", Value::Ref(file.id())), ("user", Value::Ref(user))];
        let present = call.rows("permission", &having)?.into_iter().next();
        let writer = ("role", Value::Enum(WRITER));
        match (present, keeps) {
            (Some(present), true) => _ = call.update("permission", present.id(), &[writer])?,
            (Some(present), false) => _ = call.delete("permission", present.id())?,
            (None, true) => {
                let kind = call.word("permission", "type", "user")?;
                let [of_file, of_user] = having;
                call.create("permission", &[of_file, of_user, ("type", kind), writer])?;
            }
            (None, false) => {}
        }
    }
    let actor = call.actor().unwrap_or(former);
    super::note(call, file.id(), actor, "share", "ownership transferred")?;
    Ok(Gives::One(vec![Value::Ref(file.id()), Value::Ref(to.id()), Value::Ref(former)]))
}

pub(crate) fn resolve_access_proposal(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let proposal = call.row("access_proposal", call.reference("proposal")?)?;
    let accepts = call.argument("accept") == Value::Bool(true);
    let status = call.word("access_proposal", "status", if accepts { "accepted" } else { "rejected" })?;
    if !proposal.is("status", "pending") {
        return Err(Refusal::new(RefusalCode::TransitionNotAllowed, "the proposal is decided already"));
    }
    call.update("access_proposal", proposal.id(), &[("status", status.clone())])?;
    let mut permission = Value::Null;
    if accepts {
        let role = match call.argument("role") {
            Value::Null => proposal.get("role"),
            given => given,
        };
        let values = [
            ("file", proposal.get("file")),
            ("type", call.word("permission", "type", "user")?),
            ("user", proposal.get("requester")),
            ("role", role),
            ("expires_on", call.argument("expires_on")),
        ];
        permission = Value::Ref(call.create("permission", &values)?);
    }
    Ok(Gives::One(vec![Value::Ref(proposal.id()), status, permission]))
}
