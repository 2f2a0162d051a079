//! How a page can send requests to another server. The names are those in `attack.js`.

use super::endpoints::Endpoint;
use super::vantages::Vantage;

/// A technique and its use.
#[derive(Debug, Clone, Copy)]
pub struct Technique {
    pub name: &'static str,
    /// Its effect on a page of the server itself.
    pub own: FromOwnPage,
    /// The methods of the endpoints that it is tried at.
    how: &'static str,
    cost: Cost,
}

/// The effect of a technique on a page of the server itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromOwnPage {
    /// It reads a debate.
    Reads,
    /// It may write.
    Writes,
    /// It gets an answer that the script cannot read.
    Arrives,
    /// It is refused.
    Refused,
}

/// How long a technique takes. Slow ones are tried from few vantages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    Quick,
    Middling,
    Slow,
}

const fn quick(how: &'static str, name: &'static str, own: FromOwnPage) -> Technique {
    Technique { name, own, how, cost: Cost::Quick }
}

const fn frame(how: &'static str, name: &'static str, own: FromOwnPage) -> Technique {
    Technique { name, own, how, cost: Cost::Middling }
}

const fn slow(how: &'static str, name: &'static str, own: FromOwnPage) -> Technique {
    Technique { name, own, how, cost: Cost::Slow }
}

pub const TECHNIQUES: [Technique; 46] = [
    quick("GET", "fetch", FromOwnPage::Reads),
    quick("GET", "fetch with cookies", FromOwnPage::Reads),
    quick("GET", "fetch blindly", FromOwnPage::Reads),
    quick("GET", "fetch blindly with cookies", FromOwnPage::Reads),
    quick("GET", "fetch that outlives the page", FromOwnPage::Reads),
    quick("GET", "fetch HEAD", FromOwnPage::Arrives),
    quick("GET", "fetch OPTIONS", FromOwnPage::Refused),
    quick("GET", "fetch PUT", FromOwnPage::Refused),
    quick("GET", "XMLHttpRequest", FromOwnPage::Reads),
    quick("GET", "XMLHttpRequest with cookies", FromOwnPage::Reads),
    quick("GET", "image", FromOwnPage::Arrives),
    quick("GET", "script", FromOwnPage::Arrives),
    quick("GET", "module", FromOwnPage::Arrives),
    quick("GET", "style", FromOwnPage::Arrives),
    quick("GET", "prefetch", FromOwnPage::Arrives),
    quick("GET", "events", FromOwnPage::Arrives),
    quick("GET", "service worker", FromOwnPage::Arrives),
    quick("GET", "socket", FromOwnPage::Arrives),
    quick("SAYS", "socket that says something", FromOwnPage::Reads),
    frame("GET", "frame", FromOwnPage::Reads),
    slow("GET", "object", FromOwnPage::Reads),
    slow("GET", "embed", FromOwnPage::Arrives),
    slow("GET", "form GET", FromOwnPage::Reads),
    slow("GET", "window", FromOwnPage::Reads),
    slow("GET", "form GET to a window", FromOwnPage::Reads),
    quick("DELETE", "fetch DELETE", FromOwnPage::Writes),
    quick("DELETE", "fetch DELETE with cookies", FromOwnPage::Writes),
    quick("DELETE", "XMLHttpRequest DELETE", FromOwnPage::Writes),
    quick("PUT", "fetch PUT with JSON", FromOwnPage::Writes),
    quick("PUT", "XMLHttpRequest PUT", FromOwnPage::Writes),
    quick("POST", "fetch JSON", FromOwnPage::Writes),
    quick("POST", "fetch plain text", FromOwnPage::Refused),
    quick("POST", "fetch plain text blindly", FromOwnPage::Refused),
    quick("POST", "fetch form blindly", FromOwnPage::Writes),
    quick("POST", "fetch form that outlives the page", FromOwnPage::Writes),
    quick("POST", "fetch form parts blindly", FromOwnPage::Refused),
    quick("POST", "XMLHttpRequest JSON", FromOwnPage::Writes),
    quick("POST", "XMLHttpRequest plain text", FromOwnPage::Refused),
    quick("POST", "XMLHttpRequest form", FromOwnPage::Writes),
    quick("POST", "beacon", FromOwnPage::Refused),
    quick("POST", "beacon with a form", FromOwnPage::Writes),
    frame("POST", "form", FromOwnPage::Writes),
    slow("POST", "form of plain text", FromOwnPage::Refused),
    slow("POST", "form of parts", FromOwnPage::Refused),
    slow("POST", "form to a window", FromOwnPage::Writes),
    slow("POST", "form of plain text to a window", FromOwnPage::Refused),
];

impl Technique {
    /// Whether it is tried at this endpoint. Sockets are tried at `/ws` only, because a browser delays
    /// a page that opens many sockets without success.
    pub fn fits(self, endpoint: &Endpoint) -> bool {
        self.how == endpoint.how && (self.name != "socket" || endpoint.path.starts_with("/ws"))
    }

    /// Whether it is tried from this vantage.
    pub fn is_tried_on(self, vantage: &Vantage) -> bool {
        vantage.allows(self.cost)
    }

    /// Whether it looks like a person who follows a link.
    pub fn is_a_visit(self) -> bool {
        matches!(self.name, "window" | "form GET to a window")
    }

    /// Whether it shows another page in a frame.
    pub fn frames(self) -> bool {
        matches!(self.name, "frame" | "object" | "embed" | "form GET")
    }
}
