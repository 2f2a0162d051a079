//! Requests: bodies, queries, headers and forms, through the real router.

use aw::settings::Guard;
use axum::body::Body;
use axum::http::Request;
use axum::http::request::Builder;
use serde_json::Value;

use crate::html::is_our_page;
use crate::scene::{Answer, SUMMARY, Stage, TITLE, TOKEN, play};

/// Any bytes as the body of a POST: the first line is its path and query, the second its media type,
/// the rest the body.
///
/// - The answer is never a 5xx. It is the envelope, with a code of the table, its status and its fields.
/// - A refused request and a retry leave the record unchanged.
/// - An accepted request is recorded literally.
pub fn bodies(data: &[u8]) {
    thread_local!(static STAGE: Stage = const { Stage::new(Guard::default) });
    let Some([path, kind, body]) = lines(data) else { return };
    play(&STAGE, |world| {
        let (path, body) = (world.named(path), world.named(body));
        let Some(request) = to(&path, "POST") else { return };
        let Ok(request) = request.header("content-type", kind).body(Body::from(body.clone()))
        else {
            return;
        };
        let path = request.uri().path().to_owned();
        if path.starts_with("/mcp") {
            return;
        }
        let Some(answer) = world.send(request) else { return };
        if is_page(&path) {
            assert!(answer.status.as_u16() < 500, "{answer:?}");
            return world.is_untouched("no form is JSON");
        }
        let reply = envelope(&answer);
        let wrote = answer.status.as_u16() == 201 && path != "/links";
        if !wrote {
            return world.is_untouched(&format!("{path} answered {answer:?}"));
        }
        world.is_changed(&format!("{path} answered {answer:?}"));
        let sent = str::from_utf8(&body).expect("what is not UTF-8 is refused");
        // A huge number or half an escaped surrogate is valid JSON in a field that is not read.
        let Ok(sent) = serde_json::from_str::<Value>(sent) else { return };
        for (name, place) in [
            ("content", "/data/argument/content"),
            ("motion_content", "/data/argument/content"),
            ("title", "/data/debate/title"),
            ("author", "/data/argument/author"),
            ("summary", "/data/summary"),
        ] {
            if let (Some(sent), Some(kept)) = (sent.get(name), reply.pointer(place)) {
                let is_none = sent.as_str().is_none_or(str::is_empty);
                assert!(sent == kept || is_none, "{name}: {sent} became {kept}");
            }
        }
    });
}

/// Any bytes as the URL and the headers of a GET: the first line is its path and query, each further
/// line a header.
///
/// - The answer is never a 5xx. It is the envelope, or a page, an export, a report or a table of figures.
/// - A page runs only our scripts.
/// - A read writes nothing.
pub fn queries(data: &[u8]) {
    thread_local!(static STAGE: Stage = const { Stage::new(Guard::default) });
    play(&STAGE, |world| {
        let named = world.named(data);
        let Some(request) = with_headers(&named, Some("localhost")) else { return };
        let path = request.uri().path().to_owned();
        let Some(answer) = world.send(request) else { return };
        world.is_untouched(&format!("{path} was only read"));
        let plain = ["/metrics", "/openapi.json"].contains(&path.as_str())
            || path.ends_with("/export")
            || path.ends_with("/result")
            || path.starts_with("/assets/");
        assert!(answer.status.as_u16() < 500, "{path}: {answer:?}");
        let good = answer.status.is_success() || answer.status.is_redirection();
        if is_html(&answer) {
            is_our_page(&String::from_utf8_lossy(&answer.body));
        } else if !(good && (plain || is_page(&path))) {
            envelope(&answer);
        }
    });
}

/// Any bytes as the URL and the headers of a GET to a server that requires a token and has one public
/// name besides those of this machine.
///
/// - A request with another host name is refused, and so is one from another origin.
/// - Nothing is readable without the token.
pub fn callers(data: &[u8]) {
    thread_local!(static STAGE: Stage = const { Stage::new(sharing) });
    play(&STAGE, |world| {
        let named = world.named(data);
        let Some(request) = with_headers(&named, None) else { return };
        let path = request.uri().path().to_owned();
        let header = |name: &str| -> Vec<String> {
            let all = request.headers().get_all(name).iter();
            all.map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase()).collect()
        };
        let (hosts, origins, keys) = (header("host"), header("origin"), header("authorization"));
        let Some(answer) = world.send(request) else { return };
        assert!(answer.status.as_u16() < 500, "{answer:?}");
        world.is_untouched(&format!("{path} was only read"));
        let public = hosts == ["debates.example.org"];
        let ours = hosts.len() == 1 && (public || is_this_machine(&hosts[0]));
        if !ours {
            assert_eq!(envelope(&answer)["error"]["reason"], "host", "{hosts:?}: {answer:?}");
            return;
        }
        let own = match origins.as_slice() {
            [] => true,
            [one] => {
                *one == "https://debates.example.org"
                    || (!public && *one == format!("http://{}", hosts[0]))
            }
            _ => false,
        };
        if !own {
            assert_eq!(envelope(&answer)["error"]["reason"], "origin", "{origins:?}: {answer:?}");
        }
        if keys == [format!("bearer {TOKEN}")] {
            return;
        }
        let reply = String::from_utf8_lossy(&answer.body);
        assert!(
            !reply.contains(TITLE) && !reply.contains(SUMMARY),
            "{path} was readable with {keys:?}"
        );
        let open =
            path == "/health" || path.starts_with("/sign-in") || path.starts_with("/assets/");
        // A visit by a link is redirected here once more, with the cookies of this site.
        let again = reply.contains("http-equiv=\"refresh\"");
        let refused = !answer.status.is_success();
        assert!(refused || open || again, "{path} was given to {keys:?}: {answer:?}");
    });
}

/// A server that requires the token and has a public name.
fn sharing() -> Guard {
    Guard {
        public: vec!["https://debates.example.org".parse().expect("it is a URL")],
        ..Guard::sharing(TOKEN)
    }
}

/// Any bytes as a form of the page: the first line is its path, the second its cookies, the rest its
/// fields. `$S` is the CSRF token of the browser `$W`.
///
/// - The answer is never a 5xx. It is a page that runs only our scripts, or a redirect within this
///   site.
/// - A request that is not redirected has written nothing.
/// - No script can read a cookie, and no other site can send it.
pub fn forms(data: &[u8]) {
    thread_local!(static STAGE: Stage = const { Stage::new(Guard::default) });
    let Some([path, cookies, typed]) = lines(data) else { return };
    play(&STAGE, |world| {
        let Some(request) = to(&world.named(path), "POST") else { return };
        let path = request.uri_ref().map(|uri| uri.path().to_owned()).unwrap_or_default();
        if !is_page(&path) {
            return;
        }
        let kind = "application/x-www-form-urlencoded";
        let request = request.header("content-type", kind).header("cookie", world.named(cookies));
        let Ok(request) = request.body(Body::from(world.named(typed))) else { return };
        let Some(answer) = world.send(request) else { return };
        assert!(answer.status.as_u16() < 500, "{path}: {answer:?}");
        for cookie in answer.headers.get_all("set-cookie") {
            let cookie = String::from_utf8_lossy(cookie.as_bytes()).into_owned();
            assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
            assert!(!cookie.contains(TYPED), "{cookie}");
        }
        if let Some(to) = answer.headers.get("location") {
            let to = String::from_utf8_lossy(to.as_bytes()).into_owned();
            let own = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\");
            assert!(own && answer.status.is_redirection(), "{path} leads to {to:?}");
        } else {
            world.is_untouched(&format!("{path} answered {answer:?}"));
        }
        if is_html(&answer) {
            is_our_page(&String::from_utf8_lossy(&answer.body));
        }
    });
}

/// Occurs in the fields of a form, and never in a cookie.
const TYPED: &str = "fuzz";

/// Every code that may occur here, its status and its fields.
const CODES: [(&str, u16, &[&str]); 12] = [
    ("INVALID_INPUT", 400, &["field"]),
    ("CONTENT_TOO_LARGE", 413, &["max_length"]),
    ("UNSUPPORTED_MEDIA_TYPE", 415, &[]),
    ("AUTH_FAILED", 401, &[]),
    ("FORBIDDEN", 403, &["reason"]),
    ("ACTION_NOT_ALLOWED", 403, &["current_state", "allowed_roles", "suggestion", "last_argument"]),
    ("DEBATE_NOT_FOUND", 404, &["debate_id"]),
    ("ARGUMENT_NOT_FOUND", 404, &["argument_id"]),
    ("DOCUMENT_NOT_FOUND", 404, &["document_id"]),
    ("VERSION_NOT_FOUND", 404, &["document_id", "version"]),
    ("ROUTE_NOT_FOUND", 404, &[]),
    ("METHOD_NOT_ALLOWED", 405, &[]),
];

/// Asserts that an answer is the envelope, and returns it.
pub(crate) fn envelope(answer: &Answer) -> Value {
    let reply: Value = serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| panic!("not the envelope: {answer:?}"));
    match reply["success"].as_bool() {
        Some(true) => {
            assert!(matches!(answer.status.as_u16(), 200 | 201), "{answer:?}");
            assert!(reply["data"].is_object(), "{answer:?}");
        }
        Some(false) => {
            let error = &reply["error"];
            let known = CODES.iter().find(|(code, _, _)| error["code"] == *code);
            let (_, status, with) = known.unwrap_or_else(|| panic!("not of the table: {answer:?}"));
            assert_eq!(answer.status.as_u16(), *status, "{answer:?}");
            assert!(error["message"].as_str().is_some_and(|said| !said.is_empty()), "{answer:?}");
            for name in *with {
                assert!(error.get(name).is_some(), "{name} is missing: {answer:?}");
            }
            assert!(*status != 405 || answer.headers.contains_key("allow"), "{answer:?}");
        }
        None => panic!("not the envelope: {answer:?}"),
    }
    reply
}

/// Two lines and the rest.
fn lines(data: &[u8]) -> Option<[&[u8]; 3]> {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    Some([parts.next()?, parts.next()?, parts.next()?])
}

/// A request to this path, if it is valid.
fn to(path: &[u8], method: &str) -> Option<Builder> {
    let path = str::from_utf8(path).ok().filter(|path| path.starts_with('/'))?;
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    request.uri_ref().is_some().then_some(request)
}

/// A GET whose first line is the path and whose other lines are headers.
fn with_headers(text: &[u8], host: Option<&str>) -> Option<Request<Body>> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let path = str::from_utf8(lines.next()?).ok().filter(|path| path.starts_with('/'))?;
    let mut request = Request::get(path);
    if let Some(host) = host {
        request = request.header("host", host);
    }
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if host.is_none() || !name.eq_ignore_ascii_case(b"host") {
            request = request.header(name, value);
        }
    }
    request.body(Body::empty()).ok()
}

fn is_html(answer: &Answer) -> bool {
    let kind = answer.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/html"))
}

/// Whether this path is a page for people.
fn is_page(path: &str) -> bool {
    let pages = [
        "",
        "needed",
        "new",
        "debate",
        "doc",
        "preview",
        "preferences",
        "sign-in",
        "sign-out",
        "assets",
    ];
    pages.contains(&path.trim_start_matches('/').split('/').next().unwrap_or_default())
}

/// Whether a host is a name of this machine in its plain spelling, with or without a port.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => {
            let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            if !digits || port.parse::<u16>().is_err() {
                return false;
            }
            name
        }
        _ => host,
    };
    let parts: Vec<&str> = name.split('.').collect();
    let is_number =
        |part: &&str| part.parse::<u8>().is_ok_and(|number| number.to_string() == **part);
    let loopback = parts.len() == 4 && parts[0] == "127" && parts.iter().all(is_number);
    name == "localhost" || name == "[::1]" || loopback
}
