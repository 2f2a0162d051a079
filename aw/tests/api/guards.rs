//! The guard: foreign hosts, other web sites and callers without a token are refused.

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};

use super::raw_http::{self, RawAnswer};
use crate::world::{Answer, World, new_id, text};

const UPGRADE: &str = "upgrade: websocket\r\nsec-websocket-version: 13\r\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A request that is valid except for its headers.
struct RouteRequest {
    method: String,
    path: String,
    body: String,
    upgrade: bool,
}

impl RouteRequest {
    fn new(method: &str, path: &str) -> Self {
        RouteRequest {
            method: method.to_uppercase(),
            path: path.to_owned(),
            body: String::new(),
            upgrade: path.starts_with("/ws"),
        }
    }

    /// Sends it with these header lines.
    async fn with(&self, world: &World, lines: &[String]) -> RawAnswer {
        let RouteRequest { method, path, body, upgrade } = self;
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        for line in lines {
            head += &format!("{line}\r\n");
        }
        if *upgrade {
            head += &format!("connection: close, upgrade\r\n{UPGRADE}");
        } else {
            head += "connection: close\r\n";
        }
        if !body.is_empty() {
            let length = body.len();
            head += &format!("content-type: application/json\r\ncontent-length: {length}\r\n");
        }
        raw_http::send(world, format!("{head}\r\n{body}").as_bytes()).await
    }
}

/// Every route of the description, and some that are not in it.
async fn every_route(world: &World) -> Vec<RouteRequest> {
    let ask = |method, path| world.request(method, path);
    let debate = new_id();
    let motion = json!({
        "debate_id": debate, "title": "Title", "debate_type": "general_debate",
        "motion_content": "Motion", "client_request_id": new_id(),
    });
    let opened = Answer::to(ask(Method::POST, "/debates").json(&motion)).await.created();
    let text_to_keep = json!({"summary": "s", "content": "c"});
    let kept = Answer::to(ask(Method::POST, "/documents").json(&text_to_keep)).await.created();
    let document = text(&kept["document_id"]);
    let description = Answer::to(ask(Method::GET, "/openapi.json")).await.body;

    let mut routes = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        let id = if path.starts_with("/debates") { &debate } else { &document };
        let mut path = path.replace("{id}", id);
        if path.ends_with("/poll") || path.ends_with("/wait") {
            path += "?role=opponent";
        }
        if path == "/ws" {
            path = format!("/ws?debate_id={debate}");
        }
        for method in methods.as_object().unwrap().keys() {
            let mut route = RouteRequest::new(method, &path);
            if method == "post" {
                let body = json!({
                    "debate_id": new_id(), "title": "Title", "debate_type": "general_debate",
                    "motion_content": "Motion", "client_request_id": new_id(),
                    "role": "opponent", "target_id": opened["argument"]["id"],
                    "content": "Content", "summary": "Summary",
                });
                route.body = body.to_string();
            }
            routes.push(route);
        }
    }
    assert!(routes.len() >= 20, "the description has only {} routes", routes.len());
    for (method, path) in [
        ("GET", "/openapi.json"),
        ("HEAD", "/debates"),
        ("OPTIONS", "/debates"),
        ("PUT", "/debates"),
        ("GET", "/nowhere"),
        ("POST", "/nowhere"),
        ("GET", "/"),
        ("GET", "/ws"),
    ] {
        routes.push(RouteRequest::new(method, path));
    }
    routes
}

/// The error of an answer; none for HEAD, which has no body.
#[track_caller]
fn refused(route: &RouteRequest, answer: RawAnswer, status: u16, code: &str) -> Value {
    if route.method == "HEAD" {
        assert_eq!(answer.status, status, "{answer:?}");
        return Value::Null;
    }
    answer.refused(status, code)
}

#[tokio::test]
async fn a_foreign_host_is_refused_on_every_route() {
    let world = World::start().await;
    let routes = every_route(&world).await;
    let own = raw_http::address(&world);
    let port = own.rsplit(':').next().unwrap();
    let before = world.written();
    let hosts: Vec<Vec<String>> = vec![
        vec![],
        vec!["host: evil.test".to_owned()],
        vec![format!("host: {own}"), format!("host: {own}")],
        vec![format!("host: {own}"), "host: evil.test".to_owned()],
        vec!["host: ".to_owned()],
        vec![format!("host: evil.test:{port}")],
        vec![format!("host: localhost.evil.test:{port}")],
        vec![format!("host: 127.0.0.1.evil.test:{port}")],
        vec![format!("host: 0.0.0.0:{port}")],
        vec![format!("host: 192.168.1.1:{port}")],
        vec![format!("host: evil.test@localhost:{port}")],
        vec![format!("host: localhost:{port}@evil.test")],
        vec![format!("host: {own}, evil.test")],
        vec![format!("host: {own}/evil.test")],
        vec![format!("host: {own}:80")],
        vec!["host: [::]".to_owned()],
        vec!["host: [::1]evil.test".to_owned()],
        vec!["host: localhost:port".to_owned()],
    ];
    for route in &routes {
        for lines in &hosts {
            let answer = route.with(&world, lines).await;
            let error = refused(route, answer, 403, "FORBIDDEN");
            if !error.is_null() {
                assert_eq!(error["reason"], "host", "{} {} {lines:?}", route.method, route.path);
            }
        }
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn another_web_site_is_refused_on_every_route() {
    let world = World::start().await;
    let routes = every_route(&world).await;
    let own = raw_http::address(&world);
    let port = own.rsplit(':').next().unwrap();
    let before = world.written();
    let origins: Vec<Vec<String>> = vec![
        vec!["origin: https://evil.test".to_owned()],
        vec!["origin: null".to_owned()],
        vec!["origin: ".to_owned()],
        vec!["origin: http://127.0.0.1:1".to_owned()],
        vec!["origin: http://127.0.0.1".to_owned()],
        vec![format!("origin: https://{own}")],
        vec![format!("origin: ws://{own}")],
        vec![format!("origin: http://localhost:{port}")],
        vec![format!("origin: {own}")],
        vec![format!("origin: http://{own}/")],
        vec![format!("origin: http://{own}.evil.test")],
        vec![format!("origin: http://{own} https://evil.test")],
        vec![format!("origin: http://{own}"), format!("origin: http://{own}")],
        vec![format!("origin: http://{own}"), "origin: https://evil.test".to_owned()],
        vec!["sec-fetch-site: cross-site".to_owned()],
        // Such as another port of this machine.
        vec!["sec-fetch-site: same-site".to_owned()],
        vec![format!("origin: http://{own}"), "sec-fetch-site: cross-site".to_owned()],
    ];
    for route in &routes {
        for lines in &origins {
            let mut lines = lines.clone();
            lines.insert(0, format!("host: {own}"));
            let answer = route.with(&world, &lines).await;
            let error = refused(route, answer, 403, "FORBIDDEN");
            if !error.is_null() {
                assert_eq!(error["reason"], "origin", "{} {} {lines:?}", route.method, route.path);
            }
        }
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn a_url_with_another_host_than_the_header_is_refused() {
    let world = World::start().await;
    let own = raw_http::address(&world);
    let host = [format!("host: {own}")];
    let foreign = RouteRequest::new("GET", "http://evil.test/debates").with(&world, &host).await;
    assert_eq!(foreign.refused(403, "FORBIDDEN")["reason"], "host");
    let same = RouteRequest::new("GET", &format!("http://{own}/debates")).with(&world, &host).await;
    assert_eq!(same.status, 200);
}

#[tokio::test]
async fn loopback_names_are_accepted_with_any_port() {
    let world = World::start().await;
    for host in [
        "localhost",
        "LocalHost",
        "localhost:3456",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:8080",
    ] {
        for origin in [None, Some(format!("http://{}", host.to_lowercase()))] {
            let mut lines = vec![format!("host: {host}")];
            lines.extend(origin.map(|origin| format!("origin: {origin}")));
            let answer = RouteRequest::new("GET", "/debates").with(&world, &lines).await;
            assert_eq!(answer.status, 200, "{lines:?}");
        }
    }
    let own = raw_http::address(&world);
    for site in ["same-origin", "none"] {
        let lines = [format!("host: {own}"), format!("sec-fetch-site: {site}")];
        assert_eq!(
            RouteRequest::new("GET", "/debates").with(&world, &lines).await.status,
            200,
            "{site}"
        );
    }
}

#[tokio::test]
async fn the_page_of_the_server_itself_may_open_a_socket() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let own = raw_http::address(&world);
    let knock = format!(
        "GET /ws?debate_id={} HTTP/1.1\r\nhost: {own}\r\norigin: http://{own}\r\n\
         connection: upgrade\r\n{UPGRADE}\r\n",
        debate.id
    );
    let mut stream = raw_http::connect(&world).await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, knock.as_bytes()).await.unwrap();
    let mut begin = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut begin).await.unwrap();
    assert_eq!(&begin, b"HTTP/1.1 101");
}

#[tokio::test]
async fn nothing_allows_other_sites_to_read() {
    let world = World::start().await;
    let routes = every_route(&world).await;
    let own = raw_http::address(&world);
    let foreign = |route| ["https://evil.test", "null"].map(|origin| (route, origin.to_owned()));
    let known = ["GET", "OPTIONS"].map(|method| RouteRequest::new(method, "/debates"));
    let mut tried: Vec<_> = routes.iter().flat_map(foreign).collect();
    tried.extend(known.iter().map(|route| (route, format!("http://{own}"))));
    for (route, origin) in tried {
        let lines = [
            format!("host: {own}"),
            format!("origin: {origin}"),
            "access-control-request-method: POST".to_owned(),
        ];
        let answer = route.with(&world, &lines).await;
        let (method, path) = (&route.method, &route.path);
        assert!(!answer.head.contains("access-control-"), "{method} {path} {origin}: {answer:?}");
    }
}

#[tokio::test]
async fn a_public_url_is_accepted_with_its_host_and_origin_only() {
    let public = ["https://debates.example.org", "http://intranet:8080"];
    let public = public.iter().map(|url| url.parse().unwrap()).collect();
    let world = World::with(Guard { public, ..Guard::default() }, Limits::default()).await;
    for (host, origin, status) in [
        ("debates.example.org", None, 200),
        ("Debates.Example.org", None, 200),
        ("debates.example.org", Some("https://debates.example.org"), 200),
        ("intranet:8080", Some("http://intranet:8080"), 200),
        // A proxy may hand requests on under the machine's own name.
        ("127.0.0.1:3456", Some("https://debates.example.org"), 200),
        ("localhost", None, 200),
        ("debates.example.org", Some("http://debates.example.org"), 403),
        ("debates.example.org", Some("https://debates.example.org:8443"), 403),
        ("debates.example.org", Some("https://evil.test"), 403),
        ("debates.example.org", Some("null"), 403),
        ("sub.debates.example.org", None, 403),
        ("example.org", None, 403),
        ("debates.example.org.evil.test", None, 403),
        ("intranet:9090", None, 403),
    ] {
        let mut lines = vec![format!("host: {host}")];
        lines.extend(origin.map(|origin| format!("origin: {origin}")));
        let answer = RouteRequest::new("GET", "/debates").with(&world, &lines).await;
        assert_eq!(answer.status, status, "{host} {origin:?}");
    }
}

#[tokio::test]
async fn only_a_well_formed_bearer_token_authenticates() {
    let token = "a-long-secret";
    let world = World::with(Guard::sharing(token), Limits::default()).await;
    let host = format!("host: {}", raw_http::address(&world));
    let refused: Vec<Vec<String>> = vec![
        vec![],
        vec!["authorization: ".to_owned()],
        vec!["authorization: Bearer".to_owned()],
        vec!["authorization: Bearer ".to_owned()],
        vec!["authorization: Bearer wrong".to_owned()],
        vec!["authorization: Bearer a-long-secre".to_owned()],
        vec!["authorization: Bearer a-long-secret2".to_owned()],
        vec!["authorization: Bearer A-LONG-SECRET".to_owned()],
        vec![format!("authorization: {token}")],
        vec![format!("authorization: Basic {token}")],
        vec![format!("authorization: Bearer {token}"), "authorization: Bearer wrong".to_owned()],
        vec![format!("cookie: token={token}")],
    ];
    for lines in refused {
        let lines = [vec![host.clone()], lines].concat();
        let answer = RouteRequest::new("GET", "/debates").with(&world, &lines).await;
        answer.refused(401, "AUTH_FAILED");
    }
    let in_the_query =
        RouteRequest::new("GET", &format!("/debates?token={token}&access_token={token}"));
    in_the_query.with(&world, std::slice::from_ref(&host)).await.refused(401, "AUTH_FAILED");
    let lines = [host, format!("Authorization: Bearer {token}")];
    assert_eq!(RouteRequest::new("GET", "/debates").with(&world, &lines).await.status, 200);
}

#[tokio::test]
async fn a_token_opens_neither_a_foreign_host_nor_another_site() {
    let guard = Guard::sharing("secret");
    let world = World::with(guard, Limits::default()).await;
    let own = raw_http::address(&world);
    let token = "authorization: Bearer secret".to_owned();
    let foreign = [token.clone(), "host: evil.test".to_owned()];
    let answer = RouteRequest::new("GET", "/debates").with(&world, &foreign).await;
    assert_eq!(answer.refused(403, "FORBIDDEN")["reason"], "host");
    let other = [token, format!("host: {own}"), "origin: https://evil.test".to_owned()];
    let answer = RouteRequest::new("GET", "/debates").with(&world, &other).await;
    assert_eq!(answer.refused(403, "FORBIDDEN")["reason"], "origin");
}
