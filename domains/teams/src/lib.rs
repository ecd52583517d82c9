//! The tools of teams that are more than one table operation: teams with all that belongs to them, channels over the borders of
//! teams, mail addresses of channels and status lines.

use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, Natives, RowView};

/// The code of the native tools, by name.
pub const NATIVES: &Natives = &[
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
    let user = call.row("user", call.reference("user")?)?.id();
    let (message, expires) = (call.argument("message"), call.argument("expires_on"));
    let values = [("message", message.clone()), ("expires_on", expires.clone())];
    let present = call.rows("status_message", &[("user", Value::Ref(user))])?;
    let id = match present.first() {
        Some(line) => {
            call.update("status_message", line.id(), &values)?;
            line.id()
        }
        None => {
            let [message, expires] = values;
            call.create("status_message", &[("user", Value::Ref(user)), message, expires])?
        }
    };
    Ok(Gives::One(vec![Value::Ref(id), message, expires]))
}

fn create_team(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let owner = Value::Ref(call.row("user", call.reference("owner")?)?.id());
    let (name, description) = (call.argument("display_name"), call.argument("description"));
    let visibility = match call.argument("visibility") {
        Value::Null => call.word("team", "visibility", "private")?,
        given => given,
    };
    let nickname = slug(name.as_text().unwrap_or_default());
    if nickname.is_empty() {
        return Err(Refusal::argument("display_name", "needs a letter or a digit"));
    }
    let group = [
        ("display_name", name.clone()),
        ("description", description.clone()),
        ("mail_nickname", Value::text(nickname)),
        ("visibility", visibility.clone()),
    ];
    let group = call.create("directory_group", &group)?;
    for table in ["group_owner", "group_member"] {
        call.create(table, &[("group", Value::Ref(group)), ("user", owner.clone())])?;
    }
    let team = [
        ("display_name", name),
        ("description", description),
        ("visibility", visibility),
        ("group", Value::Ref(group)),
        ("created_by", owner.clone()),
    ];
    let team = call.create("team", &team)?;
    add_member(call, team, owner.clone(), "owner")?;
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
    let team = call.row("team", call.reference("team")?)?;
    call.update("team", team.id(), &[("archived", Value::Bool(archived))])?;
    let mut channels = 0;
    for channel in call.rows("channel", &[("team", Value::Ref(team.id()))])? {
        if channel.get("is_primary") == Value::Bool(false)
            && call.update("channel", channel.id(), &[("archived", Value::Bool(archived))])?
        {
            channels += 1;
        }
    }
    Ok(Gives::One(vec![Value::Ref(team.id()), Value::Int(channels)]))
}

fn clone_team(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let source = call.row("team", call.reference("team")?)?;
    let owner = Value::Ref(call.row("user", call.reference("owner")?)?.id());
    // Places of the words of `ClonePart`.
    let wants = |call: &NativeCall<'_, '_>, part: u16| call.arguments("parts").contains(&Value::Enum(part));
    let [channels, tabs, members, apps, settings] = [0, 1, 2, 3, 4].map(|part| wants(call, part));
    if tabs && !(channels && apps) {
        return Err(Refusal::argument("parts", "asks for tabs, which need channels and apps"));
    }
    let of_source = [("team", Value::Ref(source.id()))];
    let mut values = vec![("display_name", call.argument("display_name")), ("created_by", owner.clone())];
    if settings {
        for field in [
            "description",
            "visibility",
            "members_can_create_channels",
            "members_can_create_private",
            "guests_allowed",
            "classification",
        ] {
            values.push((field, source.get(field)));
        }
    }
    let team = call.create("team", &values)?;
    add_member(call, team, owner.clone(), "owner")?;
    let mut counts = [0, 0, 1, 0];
    if members {
        for member in call.rows("team_member", &of_source)? {
            let user = member.get("user");
            let is_on = match user {
                Value::Ref(id) => call.row("user", id)?.get("account_enabled") == Value::Bool(true),
                _ => false,
            };
            if is_on && user != owner {
                let role = member.get("role");
                call.create("team_member", &[("team", Value::Ref(team)), ("user", user), ("role", role)])?;
                counts[2] += 1;
            }
        }
    }
    if apps {
        for installed in call.rows("installed_app", &of_source)? {
            call.create("installed_app", &[("team", Value::Ref(team)), ("app", installed.get("app"))])?;
            counts[3] += 1;
        }
    }
    let general = general(call, team, owner.clone())?;
    let standard = call.word("channel", "kind", "standard")?;
    for channel in call.rows("channel", &of_source)?.into_iter().filter(|channel| channel.get("kind") == standard) {
        let copy = if channel.get("is_primary") == Value::Bool(true) {
            general
        } else if channels {
            let [name, description, moderated] =
                ["display_name", "description", "moderated"].map(|field| channel.get(field));
            counts[0] += 1;
            let values = [
                ("team", Value::Ref(team)),
                ("display_name", name),
                ("description", description),
                ("moderated", moderated),
                ("created_by", owner.clone()),
            ];
            call.create("channel", &values)?
        } else {
            continue;
        };
        for tab in call.rows("channel_tab", &[("channel", Value::Ref(channel.id()))])?.iter().filter(|_| tabs) {
            let mut values = vec![("channel", Value::Ref(copy))];
            for field in ["app", "display_name", "content_url", "website_url", "rank"] {
                values.push((field, tab.get(field)));
            }
            call.create("channel_tab", &values)?;
            counts[1] += 1;
        }
    }
    let mut gives = vec![Value::Ref(team)];
    gives.extend(counts.map(Value::Int));
    Ok(Gives::One(gives))
}

fn add_team_members_in_bulk(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let team = call.row("team", call.reference("team")?)?.id();
    let role = match call.argument("role") {
        Value::Null => call.word("team_member", "role", "member")?,
        given => given,
    };
    let mut rows = Vec::new();
    for user in call.arguments("users").to_vec() {
        let Some(id) = user.as_ref_id() else { return Err(Refusal::argument("users", "wants people")) };
        call.row("user", id)?;
        let present = call.rows("team_member", &[("team", Value::Ref(team)), ("user", user.clone())])?;
        if present.is_empty() {
            let values = [("team", Value::Ref(team)), ("user", user.clone()), ("role", role.clone())];
            call.create("team_member", &values)?;
        }
        rows.push(vec![user, Value::Bool(present.is_empty())]);
    }
    Ok(Gives::Many(rows))
}

fn list_all_channels(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let team = call.row("team", call.reference("team")?)?.id();
    let shown = |channel: &RowView, shared: bool| {
        let mut values = vec![Value::Ref(channel.id())];
        values.extend(["display_name", "kind", "archived", "team"].map(|field| channel.get(field)));
        values.push(Value::Bool(shared));
        values
    };
    let own = call.rows("channel", &[("team", Value::Ref(team))])?;
    let mut rows: Vec<Vec<Value>> = own.iter().map(|channel| shown(channel, false)).collect();
    for share in call.rows("shared_channel_team", &[("team", Value::Ref(team))])? {
        if let Some(id) = share.get("channel").as_ref_id()
            && own.iter().all(|channel| channel.id() != id)
        {
            rows.push(shown(&call.row("channel", id)?, true));
        }
    }
    Ok(Gives::Many(rows))
}

fn get_primary_channel(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let team = call.row("team", call.reference("team")?)?.id();
    let having = [("team", Value::Ref(team)), ("is_primary", Value::Bool(true))];
    let Some(channel) = call.rows("channel", &having)?.into_iter().next() else {
        return Err(Refusal::new(RefusalCode::NotFound, format!("team {team} has no General channel")));
    };
    let [name, email, archived] = ["display_name", "email", "archived"].map(|field| channel.get(field));
    Ok(Gives::One(vec![Value::Ref(channel.id()), name, email, archived]))
}

fn provision_channel_email(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let channel = call.row("channel", call.reference("channel")?)?;
    let mut email = channel.get("email");
    if email.is_null() {
        let team = match channel.get("team") {
            Value::Ref(team) => call.row("team", team)?.get("display_name"),
            _ => Value::Null,
        };
        let [team, name] = [team, channel.get("display_name")].map(|text| slug(text.as_text().unwrap_or_default()));
        email = Value::text(format!("{team}.{name}.{}{MAIL}", channel.id()));
        call.update("channel", channel.id(), &[("email", email.clone())])?;
    }
    Ok(Gives::One(vec![Value::Ref(channel.id()), email]))
}

fn add_member(call: &mut NativeCall<'_, '_>, team: RowId, user: Value, role: &str) -> Result<RowId, Refusal> {
    let role = call.word("team_member", "role", role)?;
    call.create("team_member", &[("team", Value::Ref(team)), ("user", user), ("role", role)])
}

fn general(call: &mut NativeCall<'_, '_>, team: RowId, by: Value) -> Result<RowId, Refusal> {
    let values = [
        ("team", Value::Ref(team)),
        ("display_name", Value::text("General")),
        ("is_primary", Value::Bool(true)),
        ("created_by", by),
    ];
    call.create("channel", &values)
}

/// Lower case, with dots between words, fit for an address.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join(".")
}
