//! By what a page can reach another server: the names are those in `strike.js`.

use super::doors::Door;
use super::ways::Way;

/// A means, and what it is good for.
#[derive(Debug, Clone, Copy)]
pub struct Means {
    pub name: &'static str,
    /// What comes of it in the hands of the server's own page.
    pub own: Own,
    /// The doors at which it is tried.
    how: &'static str,
    pace: Pace,
}

/// What comes of a means in the hands of the server's own page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// It reads what is in a debate.
    Reads,
    /// It is let in to change something.
    Writes,
    /// It is answered, though the answer is not shown to it. Whoever polls has been seen.
    Arrives,
    /// It is refused even so.
    Refused,
}

/// How long a means takes, and so on how many ways it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    Quick,
    /// A frame.
    Middling,
    /// Another frame, a window.
    Slow,
}

const fn quick(how: &'static str, name: &'static str, own: Own) -> Means {
    Means { name, own, how, pace: Pace::Quick }
}

const fn frame(how: &'static str, name: &'static str, own: Own) -> Means {
    Means { name, own, how, pace: Pace::Middling }
}

const fn slow(how: &'static str, name: &'static str, own: Own) -> Means {
    Means { name, own, how, pace: Pace::Slow }
}

pub const MEANS: [Means; 44] = [
    quick("GET", "fetch", Own::Reads),
    quick("GET", "fetch with cookies", Own::Reads),
    quick("GET", "fetch blindly", Own::Reads),
    quick("GET", "fetch blindly with cookies", Own::Reads),
    quick("GET", "fetch that outlives the page", Own::Reads),
    quick("GET", "fetch HEAD", Own::Arrives),
    quick("GET", "fetch OPTIONS", Own::Refused),
    quick("GET", "fetch PUT", Own::Refused),
    quick("GET", "XMLHttpRequest", Own::Reads),
    quick("GET", "XMLHttpRequest with cookies", Own::Reads),
    quick("GET", "image", Own::Arrives),
    quick("GET", "script", Own::Arrives),
    quick("GET", "module", Own::Arrives),
    quick("GET", "style", Own::Arrives),
    quick("GET", "prefetch", Own::Arrives),
    quick("GET", "events", Own::Arrives),
    quick("GET", "service worker", Own::Arrives),
    quick("GET", "socket", Own::Arrives),
    quick("SAYS", "socket that says something", Own::Reads),
    frame("GET", "frame", Own::Reads),
    slow("GET", "object", Own::Reads),
    slow("GET", "embed", Own::Arrives),
    slow("GET", "form GET", Own::Reads),
    slow("GET", "window", Own::Reads),
    slow("GET", "form GET to a window", Own::Reads),
    quick("DELETE", "fetch DELETE", Own::Writes),
    quick("DELETE", "fetch DELETE with cookies", Own::Writes),
    quick("DELETE", "XMLHttpRequest DELETE", Own::Writes),
    quick("POST", "fetch JSON", Own::Writes),
    quick("POST", "fetch plain text", Own::Refused),
    quick("POST", "fetch plain text blindly", Own::Refused),
    quick("POST", "fetch form blindly", Own::Writes),
    quick("POST", "fetch form that outlives the page", Own::Writes),
    quick("POST", "fetch form parts blindly", Own::Refused),
    quick("POST", "XMLHttpRequest JSON", Own::Writes),
    quick("POST", "XMLHttpRequest plain text", Own::Refused),
    quick("POST", "XMLHttpRequest form", Own::Writes),
    quick("POST", "beacon", Own::Refused),
    quick("POST", "beacon with a form", Own::Writes),
    frame("POST", "form", Own::Writes),
    slow("POST", "form of plain text", Own::Refused),
    slow("POST", "form of parts", Own::Refused),
    slow("POST", "form to a window", Own::Writes),
    slow("POST", "form of plain text to a window", Own::Refused),
];

impl Means {
    /// Whether this door is tried by it. A browser lets a page wait for seconds that opens many sockets in
    /// vain, so those are tried where there is one.
    pub fn fits(self, door: &Door) -> bool {
        self.how == door.how && (self.name != "socket" || door.path.starts_with("/ws"))
    }

    /// Whether it is tried on this way.
    pub fn is_tried_on(self, way: &Way) -> bool {
        way.allows(self.pace)
    }

    /// Whether it is what happens when somebody follows a link.
    pub fn is_a_visit(self) -> bool {
        matches!(self.name, "window" | "form GET to a window")
    }

    /// Whether it shows another page within its own.
    pub fn frames(self) -> bool {
        matches!(self.name, "frame" | "object" | "embed" | "form GET")
    }
}
