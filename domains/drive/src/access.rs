//! Who may do what with a file: permissions on the file, on every folder above it and on its shared drive.

use super::shared::{above, note};
use crate::names::{a, c, t, w};
use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, RowView, WordOf, cell};
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
        let domain = call.row(t::user, user)?.get(c::tenant).as_text().unwrap_or_default().to_owned();
        let member = call.rows(t::group_member, &[cell(c::user, Value::Ref(user))])?;
        let groups = member.iter().filter_map(|member| member.get(c::group).as_ref_id()).collect();
        Ok(Person { id: Some(user), domain, groups })
    }

    /// How a permission reaches the person, if it does.
    fn reached_by(&self, permission: &RowView<t::permission>) -> Option<&'static str> {
        if permission.is(c::r#type, w::anyone) {
            return Some("anyone");
        }
        if permission.is(c::r#type, w::domain) && permission.get(c::domain).as_text() == Some(&*self.domain) {
            return Some("domain");
        }
        match (permission.get(c::group).as_ref_id(), permission.get(c::user).as_ref_id()) {
            (Some(group), _) if self.groups.contains(&group) => Some("group"),
            (_, Some(user)) if self.id == Some(user) => Some("user"),
            _ => None,
        }
    }
}

/// The strongest access of a person to a file.
pub(crate) fn access(call: &NativeCall<'_, '_>, file: RowId, person: &Person) -> Result<Option<Access>, Refusal> {
    let row = call.row(t::file, file)?;
    if person.id.is_some() && row.get(c::owner).as_ref_id() == person.id {
        return Ok(Some(Access { role: OWNER, through: "owner", from: Some(file) }));
    }
    let today = Value::Date(call.now().date());
    let mut best: Option<Access> = None;
    let mut look = |permissions: Vec<RowView<t::permission>>, from: Option<RowId>| {
        for permission in permissions {
            let over = match (permission.get(c::expires_on), &today) {
                (Value::Date(until), Value::Date(today)) => until < *today,
                _ => false,
            };
            let (Value::Enum(role), Some(through), false) =
                (permission.get(c::role), person.reached_by(&permission), over)
            else {
                continue;
            };
            if best.as_ref().is_none_or(|best| role < best.role) {
                best = Some(Access { role, through, from });
            }
        }
    };
    for at in above(call, file)? {
        look(call.rows(t::permission, &[cell(c::file, Value::Ref(at.id()))])?, Some(at.id()));
    }
    if let drive @ Value::Ref(_) = row.get(c::drive) {
        look(call.rows(t::permission, &[cell(c::drive, drive)])?, None);
    }
    Ok(best)
}

pub(crate) fn check_effective_access(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.reference(a::file)?;
    let person = Person::of(call, call.reference(a::user)?)?;
    let values = match access(call, file, &person)? {
        Some(found) => {
            vec![Value::Enum(found.role), Value::text(found.through), found.from.map_or(Value::Null, Value::Ref)]
        }
        None => vec![Value::Null; 3],
    };
    Ok(Gives::One(values))
}

pub(crate) fn list_files_shared_with(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let person = match (call.argument(a::user)?.as_ref_id(), call.argument(a::domain)?.as_text()) {
        (Some(user), None) => Person::of(call, user)?,
        (None, Some(domain)) => Person { id: None, domain: domain.to_owned(), groups: BTreeSet::new() },
        _ => return Err(Refusal::argument("user", "or `domain` must be given, and not both")),
    };
    let mut rows = Vec::new();
    for file in call.rows(t::file, &[])? {
        if let Some(found) = access(call, file.id(), &person)?
            && found.role != OWNER
        {
            rows.push(vec![Value::Ref(file.id()), file.get(c::name), Value::Enum(found.role)]);
        }
    }
    Ok(Gives::Many(rows))
}

pub(crate) fn transfer_ownership(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row(t::file, call.reference(a::file)?)?;
    let to = call.row(t::user, call.reference(a::to)?)?;
    let Some(former) = file.get(c::owner).as_ref_id() else {
        return Err(Refusal::argument("file", "belongs to a shared drive and has no owner"));
    };
    if former == to.id() {
        return Err(Refusal::argument("to", "owns the file already"));
    }
    if call.row(t::user, former)?.get(c::tenant) != to.get(c::tenant) {
        return Err(Refusal::new(RefusalCode::Forbidden, "files stay in the company").about("to"));
    }
    call.update(t::file, file.id(), &[cell(c::owner, Value::Ref(to.id()))])?;
    // What the new owner had is part of owning now; the former owner becomes a writer.
    for (user, keeps) in [(to.id(), false), (former, true)] {
        let having = [cell(c::file, Value::Ref(file.id())), cell(c::user, Value::Ref(user))];
        let present = call.rows(t::permission, &having)?.into_iter().next();
        let writer = cell(c::role, Value::Enum(WRITER));
        match (present, keeps) {
            (Some(present), true) => _ = call.update(t::permission, present.id(), &[writer])?,
            (Some(present), false) => _ = call.delete(t::permission, present.id())?,
            (None, true) => {
                let kind = call.word(t::permission, c::r#type, w::user);
                let [of_file, of_user] = having;
                call.create(t::permission, &[of_file, of_user, cell(c::r#type, kind), writer])?;
            }
            (None, false) => {}
        }
    }
    let actor = call.actor().unwrap_or(former);
    note(call, file.id(), actor, w::share, "ownership transferred")?;
    Ok(Gives::One(vec![Value::Ref(file.id()), Value::Ref(to.id()), Value::Ref(former)]))
}

pub(crate) fn resolve_access_proposal(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let proposal = call.row(t::access_proposal, call.reference(a::proposal)?)?;
    let accepts = call.argument(a::accept)? == Value::Bool(true);
    let status = call.word(t::access_proposal, c::status, if accepts { w::accepted.of() } else { w::rejected.of() });
    if !proposal.is(c::status, w::pending) {
        return Err(Refusal::new(RefusalCode::TransitionNotAllowed, "the proposal is decided already"));
    }
    call.update(t::access_proposal, proposal.id(), &[cell(c::status, status.clone())])?;
    let mut permission = Value::Null;
    if accepts {
        let role = match call.argument(a::role)? {
            Value::Null => proposal.get(c::role),
            given => given,
        };
        let values = [
            cell(c::file, proposal.get(c::file)),
            cell(c::r#type, call.word(t::permission, c::r#type, w::user)),
            cell(c::user, proposal.get(c::requester)),
            cell(c::role, role),
            cell(c::expires_on, call.argument(a::expires_on)?),
        ];
        permission = Value::Ref(call.create(t::permission, &values)?);
    }
    Ok(Gives::One(vec![Value::Ref(proposal.id()), status, permission]))
}
