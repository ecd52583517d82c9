//! The tools of teams that are more than one table operation: teams with all that belongs to them, channels over the borders of
//! teams, mail addresses of channels and status lines.

mod names;

use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, Natives, RowView, WordOf, cell, columns, natives};
use names::{NAMES, a, c, t, w};

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("set_user_status_message", set_user_status_message),
    ("create_team", create_team),
    ("archive_team", archive_team),
    ("unarchive_team", unarchive_team),
    ("clone_team", clone_team),
    ("add_team_members_in_bulk", add_team_members_in_bulk),
    ("list_all_channels", list_all_channels),
    ("get_primary_channel", get_primary_channel),
    ("provision_channel_email", provision_channel_email),
];

/// What the mail addresses of channels end with.
const MAIL: &str = "@channels.lindqvist.example";

fn set_user_status_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let user = call.row(t::user, call.reference(a::user)?)?.id();
    let (message, expires) = (call.argument(a::message)?, call.argument(a::expires_on)?);
    let values = [cell(c::message, message.clone()), cell(c::expires_on, expires.clone())];
    let present = call.rows(t::status_message, &[cell(c::user, Value::Ref(user))])?;
    let id = match present.first() {
        Some(line) => {
            call.update(t::status_message, line.id(), &values)?;
            line.id()
        }
        None => {
            let [message, expires] = values;
            call.create(t::status_message, &[cell(c::user, Value::Ref(user)), message, expires])?
        }
    };
    Ok(Gives::One(vec![Value::Ref(id), message, expires]))
}

fn create_team(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let owner = Value::Ref(call.row(t::user, call.reference(a::owner)?)?.id());
    let (name, description) = (call.argument(a::display_name)?, call.argument(a::description)?);
    let visibility = match call.argument(a::visibility)? {
        Value::Null => call.word(t::team, c::visibility, w::private),
        given => given,
    };
    let nickname = slug(name.as_text().unwrap_or_default());
    if nickname.is_empty() {
        return Err(Refusal::argument("display_name", "needs a letter or a digit"));
    }
    let group = [
        cell(c::display_name, name.clone()),
        cell(c::description, description.clone()),
        cell(c::mail_nickname, Value::text(nickname)),
        cell(c::visibility, visibility.clone()),
    ];
    let group = call.create(t::directory_group, &group)?;
    call.create(t::group_owner, &[cell(c::group, Value::Ref(group)), cell(c::user, owner.clone())])?;
    call.create(t::group_member, &[cell(c::group, Value::Ref(group)), cell(c::user, owner.clone())])?;
    let team = [
        cell(c::display_name, name),
        cell(c::description, description),
        cell(c::visibility, visibility),
        cell(c::group, Value::Ref(group)),
        cell(c::created_by, owner.clone()),
    ];
    let team = call.create(t::team, &team)?;
    add_member(call, team, owner.clone(), w::owner)?;
    let channel = general(call, team, owner)?;
    Ok(Gives::One(vec![Value::Ref(team), Value::Ref(channel), Value::Ref(group)]))
}

fn archive_team(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    set_archived(call, true)
}

fn unarchive_team(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    set_archived(call, false)
}

fn set_archived(call: &mut NativeCall<'_, '_>, archived: bool) -> Result<Gives, Refusal> {
    let team = call.row(t::team, call.reference(a::team)?)?;
    call.update(t::team, team.id(), &[cell(c::archived, Value::Bool(archived))])?;
    let mut channels = 0;
    for channel in call.rows(t::channel, &[cell(c::team, Value::Ref(team.id()))])? {
        if channel.get(c::is_primary) == Value::Bool(false)
            && call.update(t::channel, channel.id(), &[cell(c::archived, Value::Bool(archived))])?
        {
            channels += 1;
        }
    }
    Ok(Gives::One(vec![Value::Ref(team.id()), Value::Int(channels)]))
}

fn clone_team(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let source = call.row(t::team, call.reference(a::team)?)?;
    let owner = Value::Ref(call.row(t::user, call.reference(a::owner)?)?.id());
    // Places of the words of `ClonePart`.
    let parts = call.arguments(a::parts)?;
    let [channels, tabs, members, apps, settings] = [0, 1, 2, 3, 4].map(|part| parts.contains(&Value::Enum(part)));
    if tabs && !(channels && apps) {
        return Err(Refusal::argument("parts", "asks for tabs, which need channels and apps"));
    }
    let mut values = vec![cell(c::display_name, call.argument(a::display_name)?), cell(c::created_by, owner.clone())];
    if settings {
        for column in columns![
            description,
            visibility,
            members_can_create_channels,
            members_can_create_private,
            guests_allowed,
            classification,
        ] {
            values.push(cell(column, source.get(column)));
        }
    }
    let team = call.create(t::team, &values)?;
    add_member(call, team, owner.clone(), w::owner)?;
    let mut counts = [0, 0, 1, 0];
    if members {
        for member in call.rows(t::team_member, &[cell(c::team, Value::Ref(source.id()))])? {
            let user = member.get(c::user);
            let is_on = match user {
                Value::Ref(id) => call.row(t::user, id)?.get(c::account_enabled) == Value::Bool(true),
                _ => false,
            };
            if is_on && user != owner {
                let role = member.get(c::role);
                call.create(
                    t::team_member,
                    &[cell(c::team, Value::Ref(team)), cell(c::user, user), cell(c::role, role)],
                )?;
                counts[2] += 1;
            }
        }
    }
    if apps {
        for installed in call.rows(t::installed_app, &[cell(c::team, Value::Ref(source.id()))])? {
            call.create(t::installed_app, &[cell(c::team, Value::Ref(team)), cell(c::app, installed.get(c::app))])?;
            counts[3] += 1;
        }
    }
    let general = general(call, team, owner.clone())?;
    let standard = call.word(t::channel, c::kind, w::standard);
    for channel in call
        .rows(t::channel, &[cell(c::team, Value::Ref(source.id()))])?
        .into_iter()
        .filter(|channel| channel.get(c::kind) == standard)
    {
        let copy = if channel.get(c::is_primary) == Value::Bool(true) {
            general
        } else if channels {
            let [name, description, moderated] =
                columns![display_name, description, moderated].map(|column| channel.get(column));
            counts[0] += 1;
            let values = [
                cell(c::team, Value::Ref(team)),
                cell(c::display_name, name),
                cell(c::description, description),
                cell(c::moderated, moderated),
                cell(c::created_by, owner.clone()),
            ];
            call.create(t::channel, &values)?
        } else {
            continue;
        };
        for tab in call.rows(t::channel_tab, &[cell(c::channel, Value::Ref(channel.id()))])?.iter().filter(|_| tabs) {
            let mut values = vec![cell(c::channel, Value::Ref(copy))];
            for column in columns![app, display_name, content_url, website_url, rank] {
                values.push(cell(column, tab.get(column)));
            }
            call.create(t::channel_tab, &values)?;
            counts[1] += 1;
        }
    }
    let mut gives = vec![Value::Ref(team)];
    gives.extend(counts.map(Value::Int));
    Ok(Gives::One(gives))
}

fn add_team_members_in_bulk(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let team = call.row(t::team, call.reference(a::team)?)?.id();
    let role = match call.argument(a::role)? {
        Value::Null => call.word(t::team_member, c::role, w::member),
        given => given,
    };
    let mut rows = Vec::new();
    for user in call.arguments(a::users)?.to_vec() {
        let Some(id) = user.as_ref_id() else { return Err(Refusal::argument("users", "wants people")) };
        call.row(t::user, id)?;
        let present = call.rows(t::team_member, &[cell(c::team, Value::Ref(team)), cell(c::user, user.clone())])?;
        if present.is_empty() {
            let values = [cell(c::team, Value::Ref(team)), cell(c::user, user.clone()), cell(c::role, role.clone())];
            call.create(t::team_member, &values)?;
        }
        rows.push(vec![user, Value::Bool(present.is_empty())]);
    }
    Ok(Gives::Many(rows))
}

fn list_all_channels(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let team = call.row(t::team, call.reference(a::team)?)?.id();
    let shown = |channel: &RowView<t::channel>, shared: bool| {
        let mut values = vec![Value::Ref(channel.id())];
        values.extend(columns![display_name, kind, archived, team].map(|column| channel.get(column)));
        values.push(Value::Bool(shared));
        values
    };
    let own = call.rows(t::channel, &[cell(c::team, Value::Ref(team))])?;
    let mut rows: Vec<Vec<Value>> = own.iter().map(|channel| shown(channel, false)).collect();
    for share in call.rows(t::shared_channel_team, &[cell(c::team, Value::Ref(team))])? {
        if let Some(id) = share.get(c::channel).as_ref_id()
            && own.iter().all(|channel| channel.id() != id)
        {
            rows.push(shown(&call.row(t::channel, id)?, true));
        }
    }
    Ok(Gives::Many(rows))
}

fn get_primary_channel(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let team = call.row(t::team, call.reference(a::team)?)?.id();
    let having = [cell(c::team, Value::Ref(team)), cell(c::is_primary, Value::Bool(true))];
    let Some(channel) = call.rows(t::channel, &having)?.into_iter().next() else {
        return Err(Refusal::new(RefusalCode::NotFound, format!("team {team} has no General channel")));
    };
    let [name, email, archived] = columns![display_name, email, archived].map(|column| channel.get(column));
    Ok(Gives::One(vec![Value::Ref(channel.id()), name, email, archived]))
}

fn provision_channel_email(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let channel = call.row(t::channel, call.reference(a::channel)?)?;
    let mut email = channel.get(c::email);
    if email.is_null() {
        let team = match channel.get(c::team) {
            Value::Ref(team) => call.row(t::team, team)?.get(c::display_name),
            _ => Value::Null,
        };
        let [team, name] = [team, channel.get(c::display_name)].map(|text| slug(text.as_text().unwrap_or_default()));
        email = Value::text(format!("{team}.{name}.{}{MAIL}", channel.id()));
        call.update(t::channel, channel.id(), &[cell(c::email, email.clone())])?;
    }
    Ok(Gives::One(vec![Value::Ref(channel.id()), email]))
}

fn add_member(
    call: &mut NativeCall<'_, '_>,
    team: RowId,
    user: Value,
    role: impl WordOf<t::team_member, c::role>,
) -> Result<RowId, Refusal> {
    let role = call.word(t::team_member, c::role, role);
    call.create(t::team_member, &[cell(c::team, Value::Ref(team)), cell(c::user, user), cell(c::role, role)])
}

fn general(call: &mut NativeCall<'_, '_>, team: RowId, by: Value) -> Result<RowId, Refusal> {
    let values = [
        cell(c::team, Value::Ref(team)),
        cell(c::display_name, Value::text("General")),
        cell(c::is_primary, Value::Bool(true)),
        cell(c::created_by, by),
    ];
    call.create(t::channel, &values)
}

/// Lower case, with dots between words, fit for an address.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join(".")
}
