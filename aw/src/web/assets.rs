//! Style, script and icons. They are embedded, compressed once, and named by their hash, so browsers
//! may cache them for ever.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use sha2::{Digest, Sha256};

use super::page_request::gzip;
use crate::render::STYLE;
use crate::server::Problem;
use crate::server::input::Segments;

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const ASSETS: &[Asset] = &[
    asset("app.css", "text/css; charset=utf-8", STYLE.as_bytes()),
    asset("app.js", "text/javascript; charset=utf-8", include_bytes!("assets/app.js")),
    asset("feed.js", "text/javascript; charset=utf-8", include_bytes!("assets/feed.js")),
    asset("list.js", "text/javascript; charset=utf-8", include_bytes!("assets/list.js")),
    asset("desk.css", "text/css; charset=utf-8", include_bytes!("assets/desk.css")),
    asset("new.js", "text/javascript; charset=utf-8", include_bytes!("assets/new.js")),
    asset("changes.js", "text/javascript; charset=utf-8", include_bytes!("assets/changes.js")),
    asset("debate.js", "text/javascript; charset=utf-8", include_bytes!("assets/debate.js")),
    asset("dock.js", "text/javascript; charset=utf-8", include_bytes!("assets/dock.js")),
    asset("drafts.js", "text/javascript; charset=utf-8", include_bytes!("assets/drafts.js")),
    asset("keys.js", "text/javascript; charset=utf-8", include_bytes!("assets/keys.js")),
    asset("beside.js", "text/javascript; charset=utf-8", include_bytes!("assets/beside.js")),
    asset("filters.js", "text/javascript; charset=utf-8", include_bytes!("assets/filters.js")),
    asset("help.js", "text/javascript; charset=utf-8", include_bytes!("assets/help.js")),
    asset("seen.js", "text/javascript; charset=utf-8", include_bytes!("assets/seen.js")),
    asset("unread.js", "text/javascript; charset=utf-8", include_bytes!("assets/unread.js")),
    asset("plan.js", "text/javascript; charset=utf-8", include_bytes!("assets/plan.js")),
    asset("socket.js", "text/javascript; charset=utf-8", include_bytes!("assets/socket.js")),
    asset("icon.svg", "image/svg+xml", include_bytes!("assets/icon.svg")),
    asset("icon-needed.svg", "image/svg+xml", include_bytes!("assets/icon-needed.svg")),
];

const fn asset(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Asset {
    Asset { name, kind, bytes }
}

/// The folder that assets are served from, named by the hash of all of them. A hash per file would
/// keep scripts from importing each other by name.
pub(crate) static FOLDER: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for asset in ASSETS {
        digest.update(asset.name);
        digest.update(asset.bytes);
    }
    let hash: String = digest.finalize()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("/assets/{hash}")
});

/// Compressed once, and as small as possible.
static COMPRESSED: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| ASSETS.iter().map(|asset| gzip(asset.bytes, Compression::best())).collect());

pub(super) async fn serve(Segments(folder, name): Segments, headers: HeaderMap) -> Response {
    let ours = FOLDER.ends_with(&format!("/{folder}"));
    let asset = ASSETS.iter().position(|asset| ours && asset.name == name);
    let Some(asset) = asset else {
        return Problem::route_not_found(&format!("/assets/{folder}/{name}")).into_response();
    };
    let takes_gzip = headers
        .get(ACCEPT_ENCODING)
        .and_then(|codings| codings.to_str().ok())
        .is_some_and(|codings| codings.contains("gzip"));
    let body = if takes_gzip {
        Body::from(COMPRESSED[asset].as_slice())
    } else {
        Body::from(ASSETS[asset].bytes)
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(ASSETS[asset].kind));
    let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
    headers.insert(CACHE_CONTROL, for_ever);
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if takes_gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
