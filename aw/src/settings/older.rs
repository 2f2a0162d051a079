//! Settings of the older system: applied where they have a meaning here, otherwise reported.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::Environment;
use crate::data_dir::DataDir;

/// A setting that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// Names the setting and says that it has no effect.
    pub what: String,
    /// Says what to set instead.
    pub instead: String,
}

/// The file that `DEBATE_DB_DIR` and `DEBATE_DB_NAME` name, if one of them is set.
pub(super) fn database(set: Environment<'_>, home: &DataDir) -> Option<PathBuf> {
    let (folder, name) = (set("DEBATE_DB_DIR"), set("DEBATE_DB_NAME"));
    if folder.is_none() && name.is_none() {
        return None;
    }
    let usual = home.database();
    let folder = folder.map_or_else(|| usual.with_file_name(""), PathBuf::from);
    let file = folder.join(name.unwrap_or_else(|| "debate.db".to_owned()));
    Some(std::path::absolute(&file).unwrap_or(file))
}

/// The document database of the older command line.
pub(super) fn docstore(set: Environment<'_>, home: &DataDir) -> PathBuf {
    // Absolute, because a server changes its working folder.
    let file = set("AWEAVE_DB_PATH").and_then(|file| std::path::absolute(file).ok());
    file.unwrap_or_else(|| home.path().join("docstore.db"))
}

/// The value of `DEBATE_AUTO_START`, if it is set.
pub(super) fn autostart(set: Environment<'_>) -> Option<bool> {
    set("DEBATE_AUTO_START").map(|text| text.eq_ignore_ascii_case("true") || text == "1")
}

/// The settings that have no effect. Other programs use these names too, so a port is reported only if it
/// differs from our server's port.
pub(super) fn ignored(set: Environment<'_>, listen: SocketAddr) -> Vec<Ignored> {
    let token = set("AUTH_TOKEN").filter(|_| set("AW_AUTH_TOKEN").or(set("AW_AUTH")).is_none());
    let token = token.map(|_| Ignored {
        what: "AUTH_TOKEN is a setting of the older system and has no effect: it makes no server require a token"
            .to_owned(),
        instead: "Set AW_AUTH_TOKEN, or unset AUTH_TOKEN".to_owned(),
    });
    ["SERVER_PORT", "DEBATE_SERVER_PORT"]
        .into_iter()
        .filter_map(|name| Some((name, set(name)?)))
        .filter(|(_, port)| *port != listen.port().to_string())
        .map(|(name, port)| Ignored {
            what: format!(
                "{name}={port} is a setting of the older system and has no effect: the server is at {listen}"
            ),
            instead: format!("Set AW_LISTEN=127.0.0.1:{port}, or unset {name}"),
        })
        .chain(token)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn set<'a>(all: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_older_databases_are_where_its_settings_say() {
        let home = DataDir::at("/home/a/.aweave");
        let database = |all: &[(&str, &str)]| database(&set(all), &home);
        assert_eq!(database(&[]), None);
        let there = |path: &str| Some(PathBuf::from(path));
        assert_eq!(database(&[("DEBATE_DB_DIR", "/data")]), there("/data/debate.db"));
        assert_eq!(database(&[("DEBATE_DB_NAME", "d.db")]), there("/home/a/.aweave/db/d.db"));
        let both = [("DEBATE_DB_DIR", "/data"), ("DEBATE_DB_NAME", "d.db")];
        assert_eq!(database(&both), there("/data/d.db"));
        assert_eq!(docstore(&set(&[]), &home), Path::new("/home/a/.aweave/docstore.db"));
        let elsewhere = [("AWEAVE_DB_PATH", "/data/docs.db")];
        assert_eq!(docstore(&set(&elsewhere), &home), Path::new("/data/docs.db"));
    }

    #[test]
    fn the_older_auto_start_has_its_old_meaning() {
        for (text, starts) in
            [("true", true), ("TRUE", true), ("1", true), ("false", false), ("no", false)]
        {
            assert_eq!(autostart(&set(&[("DEBATE_AUTO_START", text)])), Some(starts), "{text}");
        }
        assert_eq!(autostart(&set(&[])), None);
    }

    #[test]
    fn a_port_that_differs_from_the_servers_is_reported() {
        let listen: SocketAddr = "127.0.0.1:3456".parse().unwrap();
        assert_eq!(ignored(&set(&[("SERVER_PORT", "3456")]), listen), []);
        let named = ignored(&set(&[("SERVER_PORT", "4000"), ("DEBATE_SERVER_PORT", "5")]), listen);
        assert!(named[0].what.contains("SERVER_PORT=4000") && named.len() == 2, "{named:?}");
        assert!(named[0].instead.contains("AW_LISTEN=127.0.0.1:4000"), "{named:?}");
        let named = ignored(&set(&[("AUTH_TOKEN", "secret")]), listen);
        assert!(named[0].what.contains("AUTH_TOKEN"), "{named:?}");
        assert!(!format!("{named:?}").contains("secret"), "a token is not shown");
        assert_eq!(ignored(&set(&[("AUTH_TOKEN", "s"), ("AW_AUTH_TOKEN", "s")]), listen), []);
    }
}
