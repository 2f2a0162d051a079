//! Requests pages and sends forms over plain HTTP.

use reqwest::header::{HeaderMap, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder};

use super::{Socket, World};

/// A server that can be called.
#[derive(Debug, Clone)]
pub struct Remote {
    pub url: String,
    client: Client,
}

impl Remote {
    /// The server at this URL.
    pub fn at(url: &str) -> Self {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Remote { url: url.to_owned(), client }
    }

    /// A request to the server.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }
}

impl From<&World> for Remote {
    fn from(world: &World) -> Self {
        Remote { url: world.url.clone(), client: world.client.clone() }
    }
}

impl From<&Remote> for Remote {
    fn from(server: &Remote) -> Self {
        server.clone()
    }
}

/// The response to a request for a page.
#[derive(Debug, Clone)]
pub struct PageResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl PageResponse {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The cookies that it sets, as a browser sends them back.
    pub fn cookies(&self) -> String {
        let all = self.headers.get_all(SET_COOKIE).iter();
        let pairs = all.map(|value| value.to_str().unwrap().split(';').next().unwrap().to_owned());
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// The CSRF token of its forms.
    pub fn csrf(&self) -> String {
        self.after("name=\"csrf\" value=\"")
    }

    /// The text between this mark and the next quote.
    pub fn after(&self, mark: &str) -> String {
        let rest = self.body.split(mark).nth(1).unwrap_or_else(|| panic!("no {mark}"));
        rest.split('"').next().unwrap().to_owned()
    }

    /// The value of a hidden field in the last form.
    pub fn hidden(&self, name: &str) -> String {
        let rest = self.body.split(&format!("name=\"{name}\" value=\"")).skip(1).last();
        rest.unwrap_or_else(|| panic!("no {name}")).split('"').next().unwrap().to_owned()
    }

    /// The session that it starts.
    pub fn session(&self) -> Option<String> {
        session_in(&self.cookies())
    }
}

/// The value of the session cookie, whose name ends with a mark of the server.
fn session_in(cookies: &str) -> Option<String> {
    let mut pairs = cookies.split("; ").filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(name, value)| name.starts_with("aw_session") && !value.is_empty());
    found.map(|(_, value)| value.to_owned())
}

pub async fn see(server: impl Into<Remote>, path: &str, headers: &[(&str, &str)]) -> PageResponse {
    let request = server.into().request(Method::GET, path);
    let with =
        |request: RequestBuilder, (name, value): &(&str, &str)| request.header(*name, *value);
    seen(headers.iter().fold(request, with)).await
}

pub async fn send(
    server: impl Into<Remote>,
    path: &str,
    cookies: &str,
    fields: &[(&str, &str)],
) -> PageResponse {
    seen(form(&server.into(), path, cookies, fields)).await
}

fn form(server: &Remote, path: &str, cookies: &str, fields: &[(&str, &str)]) -> RequestBuilder {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    server
        .request(Method::POST, path)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", cookies)
        .body(body)
}

pub async fn seen(request: RequestBuilder) -> PageResponse {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    PageResponse { status, headers, body: response.text().await.unwrap() }
}

/// A browser without a window: a page, its cookies and its CSRF token.
#[derive(Debug, Clone)]
pub struct PageClient {
    server: Remote,
    pub page: PageResponse,
    pub cookies: String,
    pub csrf: String,
}

impl PageClient {
    /// Opens a page without any cookies.
    pub async fn open(server: impl Into<Remote>, path: &str) -> Self {
        let server = server.into();
        let page = see(&server, path, &[]).await;
        let (cookies, csrf) = (page.cookies(), page.csrf());
        PageClient { server, page, cookies, csrf }
    }

    /// Signs in on the sign-in page. The client keeps the session cookie.
    pub async fn signs_in(&mut self, token: &str) -> PageResponse {
        let to = self.page.hidden("to");
        let signed = self.sends("/sign-in", &[("token", token), ("to", &to)]).await;
        self.cookies = format!("{}; {}", self.cookies, signed.cookies());
        signed
    }

    /// Signs in with a token and returns the session, if there is one. The client does not keep it.
    pub async fn pastes(&self, token: &str) -> Option<String> {
        self.sends("/sign-in", &[("token", token)]).await.session()
    }

    /// Follows a sign-in link and returns the session, if there is one.
    pub async fn comes_by(&self, path: &str) -> Option<String> {
        let visit = self.visits(path).header("sec-fetch-mode", "navigate");
        seen(visit.header("sec-fetch-dest", "document")).await.session()
    }

    /// The session that the client has.
    pub fn session(&self) -> Option<String> {
        session_in(&self.cookies)
    }

    /// Takes this session, perhaps a forged one, instead of its own.
    pub fn wears(&mut self, session: &str) {
        let browser = self.cookies.split("; ").next().unwrap_or_default();
        self.cookies = format!("{browser}; aw_session={session}");
    }

    /// A request for a page.
    pub fn visits(&self, path: &str) -> RequestBuilder {
        self.server.request(Method::GET, path).header("cookie", &self.cookies)
    }

    /// A request with a form.
    pub fn fills_in(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let fields = [&[("csrf", self.csrf.as_str())], fields].concat();
        form(&self.server, path, &self.cookies, &fields)
    }

    pub async fn sees(&self, path: &str) -> PageResponse {
        seen(self.visits(path).header("accept", "text/html")).await
    }

    pub async fn sends(&self, path: &str, fields: &[(&str, &str)]) -> PageResponse {
        seen(self.fills_in(path, fields)).await
    }

    pub async fn follows(&self, path: &str) -> Result<Socket, u16> {
        Socket::with(&self.server.url, path, &[("cookie", &self.cookies)]).await
    }

    pub async fn is_signed_in(&self) -> bool {
        self.sees("/").await.status == 200
    }
}
