//! Identifies processes. An id alone is not enough: the system reuses ids, and containers have their own.

use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;

/// The start of a process, as a text to compare; none if the process has ended.
#[cfg(target_os = "linux")]
pub fn began(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name that may contain spaces. The state is the first after it, and the
    // time, in ticks since the machine started, the twentieth.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    // A zombie has ended.
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

/// The start of a process, as a text to compare; none if the process has ended.
#[cfg(not(target_os = "linux"))]
pub fn began(pid: u32) -> Option<String> {
    let output = std::process::Command::new("/bin/ps")
        .args(["-o", "stat=,lstart=", "-p", &pid.to_string()])
        .env("LC_ALL", "C")
        .output()
        .ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let (state, began) = line.trim().split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then(|| began.trim().to_owned())
}

/// Whether a process that runs was started with this argument.
#[cfg(target_os = "linux")]
pub fn has_argument(pid: u32, argument: &str) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())
}

/// Whether a process that runs was started with this argument.
#[cfg(not(target_os = "linux"))]
pub fn has_argument(pid: u32, argument: &str) -> bool {
    let ps = std::process::Command::new("/bin/ps")
        .args(["-o", "args=", "-p", &pid.to_string()])
        .output();
    let line = ps.map(|ps| String::from_utf8_lossy(&ps.stdout).into_owned()).unwrap_or_default();
    line.split_whitespace().any(|word| word == argument)
}

/// The holder of a file's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// This process.
    Process(u32),
    /// A process that is not visible from here, such as one in another container.
    Hidden,
    /// The system does not say.
    Unknown,
}

/// The process that holds the lock (flock) of this file. The file must be locked.
#[cfg(target_os = "linux")]
pub fn holder(lock: &File) -> io::Result<Holder> {
    let inode = lock.metadata()?.ino().to_string();
    let Ok(locks) = std::fs::read_to_string("/proc/locks") else { return Ok(Holder::Unknown) };
    // 3: FLOCK  ADVISORY  WRITE 3765 fe:00:10576335 0 EOF
    let holders = locks.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (kind, pid) = (fields.next()?, fields.nth(2)?);
        let ours = fields.next()?.rsplit_once(':')?.1 == inode;
        // The device is not compared: some file systems give it two numbers.
        (kind == "FLOCK" && ours && line.contains("WRITE")).then(|| pid.parse::<u32>().ok())?
    });
    Ok(match holders.into_iter().find(|pid| *pid > 0) {
        Some(pid) => Holder::Process(pid),
        None => Holder::Hidden,
    })
}

/// The process that holds the lock (flock) of this file. The file must be locked.
#[cfg(not(target_os = "linux"))]
pub fn holder(lock: &File) -> io::Result<Holder> {
    lock.metadata().map(|_| Holder::Unknown)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_has_a_start_until_it_ends() {
        let own = std::process::id();
        assert!(began(own).is_some());
        assert_eq!(began(own), began(own));
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(began(other.id()).is_some());
        other.kill().unwrap();
        // A process that was not reaped yet has ended, too.
        while began(other.id()).is_some() {
            std::thread::yield_now();
        }
        other.wait().unwrap();
        assert_eq!(began(other.id()), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_holder_of_a_lock_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let lock = File::create(folder.path().join("lock")).unwrap();
        assert_eq!(holder(&lock).unwrap(), Holder::Hidden, "no visible process");
        lock.lock().unwrap();
        assert_eq!(holder(&lock).unwrap(), Holder::Process(std::process::id()));
    }
}
