//! The data folder (`AWEAVE_HOME`, or `~/.aweave`), and the server that runs on it.
//!
//! A running server holds `server.lock` and describes itself in `server.json`. The system releases the lock
//! when the process ends, so `server.json` is valid only while the lock is held.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::process::{self, Holder};
use crate::token::Token;

/// The longest time between a server's lock and its description. It may import an older database.
const INTRODUCTION: Duration = Duration::from_secs(60);

/// The time between two looks at a file.
const PAUSE: Duration = Duration::from_millis(5);

/// The data folder.
#[derive(Debug, Clone)]
pub struct DataDir {
    path: PathBuf,
}

/// The description of a running server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Running {
    /// The id of its process.
    pub pid: u32,
    /// Its URL.
    pub url: String,
    /// Its version.
    pub version: String,
    /// The place of its record.
    pub database: String,
    /// The time of its start, RFC 3339.
    pub started_at: String,
    /// Whether it requires tokens.
    #[serde(default)]
    pub wants_token: bool,
    /// Whether it was started with `--auth`, which a restart repeats.
    #[serde(default)]
    pub auth_flag: bool,
    /// The start of its process ([`process::began`]), because another process may get its id later.
    #[serde(default)]
    pub process_began: Option<String>,
}

impl Running {
    /// Whether its process still runs.
    pub fn is_alive(&self) -> bool {
        let began = process::began(self.pid);
        began.is_some() && (self.process_began.is_none() || self.process_began == began)
    }
}

/// `server.json`, with two more names for the older system's command line. Without them it takes our server
/// for a broken one and kills it.
#[derive(Serialize)]
struct ServerFile<'a> {
    #[serde(flatten)]
    running: &'a Running,
    port: Option<u16>,
    #[serde(rename = "startedAt")]
    started_at: &'a str,
}

/// How a user last started a server. Commands that start a server themselves start it the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The address that it listens on, as it was set.
    pub listen: String,
    /// The place of its record, without a password.
    pub database: String,
    /// Whether it requires tokens.
    pub auth: bool,
    /// Whether it was started with `--auth`.
    pub auth_flag: bool,
}

/// Why the lock of a data folder cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another server runs on it.
    #[error("another aw server runs on {0}: see aw server status")]
    InUse(PathBuf),
    /// A file cannot be made.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
}

/// The lock of a data folder, which a running server holds.
#[derive(Debug)]
pub struct DataDirLock {
    data_dir: DataDir,
    lock: File,
}

impl DataDir {
    /// The folder at this path, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        DataDir { path: path.into() }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The default place of the record.
    pub fn database(&self) -> PathBuf {
        self.path.join("db").join("debate.db")
    }

    /// The log of a server in the background.
    pub fn log(&self) -> PathBuf {
        self.path.join("logs").join("server.log")
    }

    /// The config file.
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The file with the administrator's token.
    pub fn admin_token_file(&self) -> PathBuf {
        self.path.join("admin_token")
    }

    /// The id of this folder, made on first use. Clients recognise the folder's server by it.
    pub fn id(&self) -> io::Result<String> {
        let path = self.path.join("home_id");
        if let Ok(id) = fs::read_to_string(&path)
            && !id.is_empty()
        {
            return Ok(id);
        }
        self.make()?;
        let id = Uuid::new_v4().to_string();
        // Written to a draft and then linked, so that two processes agree on one id.
        let draft = self.path.join(format!("home_id.{id}"));
        private().create_new(true).open(&draft)?.write_all(id.as_bytes())?;
        let linked = fs::hard_link(&draft, &path);
        fs::remove_file(&draft)?;
        match linked {
            Err(there) if there.kind() == ErrorKind::AlreadyExists => fs::read_to_string(&path),
            linked => linked.map(|()| id),
        }
    }

    /// The administrator's token, made on first use.
    pub fn make_admin_token(&self) -> io::Result<String> {
        self.make()?;
        let path = self.admin_token_file();
        if self.admin_token()?.is_none() {
            // Written to a draft and synced first, so that a power cut leaves no empty token.
            let draft = self.path.join(format!("admin_token.{}", Uuid::new_v4()));
            let mut file = private().create_new(true).open(&draft)?;
            file.write_all(Token::new().as_str().as_bytes())?;
            file.sync_all()?;
            let linked = fs::hard_link(&draft, &path);
            if linked.is_err() && self.admin_token()?.is_none() {
                fs::rename(&draft, &path)?;
            } else {
                fs::remove_file(&draft)?;
            }
        }
        let file = File::open(&path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        self.admin_token()?.ok_or_else(|| io::Error::other("admin_token was removed"))
    }

    /// The administrator's token, if it was made.
    pub fn admin_token(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(self.admin_token_file()) {
            Ok(token) => Ok(Some(token.trim().to_owned()).filter(|token| !token.is_empty())),
            Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The server that runs on this folder. Waits for a starting server to describe itself.
    pub fn running(&self) -> io::Result<Option<Running>> {
        let mut waited = Duration::ZERO;
        loop {
            if !self.running_or_starting()? {
                return Ok(None);
            }
            if let Some(running) = self.described() {
                return Ok(Some(running));
            }
            if waited > INTRODUCTION {
                return Err(io::Error::other(
                    "a server holds the lock, but has not written its address",
                ));
            }
            thread::sleep(PAUSE);
            waited += PAUSE;
        }
    }

    /// Whether the server of this folder is at this URL. Only the folder's owner can hold the lock.
    pub fn serves(&self, url: &str) -> bool {
        self.running_or_starting().unwrap_or(false)
            && self.described().is_some_and(|running| running.url == url)
    }

    /// How a user last started a server, if one did.
    pub fn last_start(&self) -> io::Result<Option<Started>> {
        let path = self.path.join("started.json");
        let text = match fs::read(&path) {
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    }

    /// The description of the last server, which may have ended.
    pub fn described(&self) -> Option<Running> {
        serde_json::from_slice(&fs::read(self.path.join("server.json")).ok()?).ok()
    }

    /// Whether a server holds the lock.
    pub fn running_or_starting(&self) -> io::Result<bool> {
        self.is_held("server.lock")
    }

    /// The process that holds the lock, if one does.
    pub fn holder(&self) -> io::Result<Option<Holder>> {
        if !self.running_or_starting()? {
            return Ok(None);
        }
        process::holder(&File::open(self.path.join("server.lock"))?).map(Some)
    }

    /// Takes the lock for a server that is about to start.
    pub fn lock(&self) -> Result<DataDirLock, LockError> {
        let path = self.path.join("server.lock");
        let io = |error| LockError::Io(path.clone(), error);
        self.make().and_then(|()| self.close_to_others()).map_err(io)?;
        let lock = private().create(true).truncate(false).open(&path).map_err(io)?;
        // A process that only checks the lock holds it for a moment.
        for _ in 0..40 {
            match lock.try_lock() {
                Ok(()) => {
                    forget(&self.path.join("server.json")).map_err(io)?;
                    return Ok(DataDirLock { data_dir: self.clone(), lock });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(io(error)),
            }
        }
        Err(LockError::InUse(self.path.clone()))
    }

    /// Keeps other processes from starting a server until the result is dropped.
    pub fn lock_start(&self) -> io::Result<File> {
        self.make()?;
        let lock = private().create(true).truncate(false).open(self.path.join("start.lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    fn is_held(&self, name: &str) -> io::Result<bool> {
        let lock = match File::open(self.path.join(name)) {
            Ok(lock) => lock,
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match lock.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Makes our folder private. A shared folder, such as /tmp, is left alone.
    fn close_to_others(&self) -> io::Result<()> {
        let mode = fs::metadata(&self.path)?.permissions().mode();
        let ours = ["home_id", "db"].iter().any(|name| self.path.join(name).exists());
        let sticky = mode & 0o1000 != 0;
        if ours && !sticky && mode & 0o077 != 0 {
            fs::set_permissions(&self.path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// Makes the folder, private to its owner.
    pub fn make(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.path)
    }
}

impl DataDirLock {
    /// Writes the description of the server.
    pub fn describe(&self, running: &Running) -> io::Result<()> {
        let port = running.url.rsplit(':').next().and_then(|port| port.parse().ok());
        let file = ServerFile { running, port, started_at: &running.started_at };
        self.write("server.json", &serde_json::to_vec(&file)?)
    }

    /// Stores how the server was started.
    pub fn remember_start(&self, started: &Started) -> io::Result<()> {
        self.write("started.json", &serde_json::to_vec(started)?)
    }

    fn write(&self, name: &str, text: &[u8]) -> io::Result<()> {
        let draft = self.data_dir.path.join(format!("{name}.new"));
        private().create(true).truncate(true).open(&draft)?.write_all(text)?;
        fs::rename(draft, self.data_dir.path.join(name))
    }

    /// Removes the description. The lock is kept until the process ends, because others wait for that.
    pub fn remove_description(self) -> io::Result<()> {
        mem::forget(self.lock);
        forget(&self.data_dir.path.join("server.json"))
    }
}

/// Options to write a file that is private to its owner.
pub(crate) fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn forget(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_id_also_when_many_processes_make_it_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataDir::at(folder.path().join("new"));
        let ids: Vec<String> = thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| home.id().unwrap())).collect();
            asking.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0] && id.len() == 36), "{ids:?}");
    }

    #[test]
    fn the_administrators_token_stays_and_an_empty_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataDir::at(folder.path().join("new"));
        let tokens: Vec<String> = thread::scope(|scope| {
            let make = || home.make_admin_token().unwrap();
            let making: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
            making.into_iter().map(|made| made.join().unwrap()).collect()
        });
        assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        assert_eq!(home.make_admin_token().unwrap(), tokens[0]);
        fs::write(home.admin_token_file(), "\n").unwrap();
        fs::set_permissions(home.admin_token_file(), fs::Permissions::from_mode(0o644)).unwrap();
        let anew = home.make_admin_token().unwrap();
        assert_ne!(anew, tokens[0]);
        assert_eq!(home.admin_token().unwrap(), Some(anew));
        let mode = fs::metadata(home.admin_token_file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_server_is_running_only_while_it_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataDir::at(folder.path());
        assert!(home.running().unwrap().is_none());
        let held = home.lock().unwrap();
        let me = Running {
            pid: 1,
            url: "http://127.0.0.1:1".to_owned(),
            version: "1".to_owned(),
            database: "x".to_owned(),
            started_at: "now".to_owned(),
            wants_token: true,
            auth_flag: false,
            process_began: None,
        };
        assert!(!home.serves(&me.url), "it has not written its address yet");
        held.describe(&me).unwrap();
        assert!(home.serves(&me.url) && !home.serves("http://127.0.0.1:2"));
        assert_eq!(home.running().unwrap().map(|running| running.url), Some(me.url.clone()));
        assert!(matches!(home.lock(), Err(LockError::InUse(_))));
        drop(held);
        assert!(folder.path().join("server.json").exists(), "a crash leaves it behind");
        assert!(home.running().unwrap().is_none());
        assert!(!home.serves(&me.url), "another program may have the address now");
    }
}
