//! Starts a world that is not running yet and waits until it answers, so that a health check can be what starts it.

use super::socket::ask;
use crate::ServerError;
use axum::http::{Method, StatusCode};
use nix::unistd::{Uid, User, geteuid};
use std::{
    fs, io,
    os::unix::{
        fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// How long a world may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN: Duration = Duration::from_millis(20);
/// How much of what a world said is told when it did not start.
const TOLD: usize = 2_000;

/// How a world is started.
pub struct Starter {
    /// What serves the world until it is ended.
    pub command: Command,
    /// The folder of the open part.
    pub folder: PathBuf,
    /// The control socket.
    pub socket: PathBuf,
    /// The user that the world gets, and that the folder is handed to. Only root can give one.
    pub user: Option<String>,
}

/// Sees that the world answers, and starts it where nobody does.
pub async fn ready(mut starter: Starter) -> Result<(), ServerError> {
    if answers(&starter.socket).await {
        return Ok(());
    }
    let failed = |why: String| ServerError::NotReady(why);
    let told = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| ServerError::NotReady(format!("{path}: {error}"))
    };
    let user = starter.user.as_deref().map(found).transpose()?;
    let home = starter.socket.parent().unwrap_or(Path::new("."));
    match fs::DirBuilder::new().mode(0o700).create(home) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(told(home)(error)),
        _ => {}
    }
    if let Some(user) = &user {
        own(home, user).map_err(told(home))?;
        hand_over(&starter.folder, user).map_err(told(&starter.folder))?;
    }
    let log_path = home.join("world.log");
    let log = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&log_path).map_err(told(&log_path))?;
    let command = &mut starter.command;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0);
    if let Some(user) = &user {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    let mut child = command.spawn().map_err(told(Path::new(command.get_program())))?;
    let begun = Instant::now();
    loop {
        if answers(&starter.socket).await {
            return Ok(());
        }
        if let Ok(Some(status)) = child.try_wait() {
            let said = fs::read(&log_path).unwrap_or_default();
            let said = String::from_utf8_lossy(&said[said.len().saturating_sub(TOLD)..]).into_owned();
            return Err(failed(format!("the world ended with {status}: {}", said.trim())));
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            return Err(failed(format!("the world did not answer within {} s", PATIENCE.as_secs())));
        }
        tokio::time::sleep(BETWEEN).await;
    }
}

/// Whether a world answers at the socket.
async fn answers(socket: &Path) -> bool {
    matches!(ask(socket, Method::GET, "/task").await, Ok((StatusCode::OK, _)))
}

fn found(name: &str) -> Result<User, ServerError> {
    if geteuid() != Uid::from_raw(0) {
        return Err(ServerError::NotReady("only root can start a world as another user".to_owned()));
    }
    let none = || ServerError::NotReady(format!("there is no user `{name}`"));
    User::from_name(name).ok().flatten().ok_or_else(none)
}

/// Gives a folder with all that is in it to a user, and to nobody else. What is neither a folder nor a plain file is refused.
fn hand_over(path: &Path, user: &User) -> io::Result<()> {
    let about = fs::symlink_metadata(path)?;
    if about.is_dir() {
        own(path, user)?;
        return fs::read_dir(path)?.try_for_each(|entry| hand_over(&entry?.path(), user));
    }
    if !about.is_file() {
        return Err(io::Error::other(format!("{} is a link or no plain file", path.display())));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
}

fn own(folder: &Path, user: &User) -> io::Result<()> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::other("it is no folder"));
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    chown(folder, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
}
