//! A browser without a window: it keeps its cookies and sends forms with their CSRF token.

use reqwest::header::SET_COOKIE;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response};

use crate::world::World;

/// A server that can be called.
pub trait Served {
    /// A request to the server.
    fn request(&self, method: Method, path: &str) -> RequestBuilder;
}

impl Served for World {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        World::request(self, method, path)
    }
}

/// A server in its own process.
#[derive(Debug, Clone)]
pub struct Remote {
    url: String,
    client: Client,
}

impl Remote {
    /// The server at this URL.
    pub fn at(url: &str) -> Self {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Remote { url: url.to_owned(), client }
    }
}

impl Served for Remote {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }
}

/// A browser.
#[derive(Debug, Clone)]
pub struct Browser {
    /// The cookie that identifies it for CSRF tokens.
    browser: String,
    /// The CSRF token of its forms.
    pub csrf: String,
    /// The path of the style sheet.
    pub style: String,
    /// The session cookie.
    pub session: Option<String>,
}

impl Browser {
    /// A browser that has opened the sign-in page.
    pub async fn new(world: &impl Served) -> Self {
        let response = world.request(Method::GET, "/sign-in").send().await.unwrap();
        let browser = cookie(&response, "aw_browser").expect("every browser is given one");
        let page = response.text().await.unwrap();
        let after = |words: &str| {
            let rest = page.split(words).nth(1).unwrap_or_else(|| panic!("no {words}: {page}"));
            rest.split('"').next().unwrap().to_owned()
        };
        let csrf = after("name=\"csrf\" value=\"");
        let style = after("rel=\"stylesheet\" href=\"");
        Browser { browser, csrf, style, session: None }
    }

    /// Sets a forged session cookie.
    pub fn wears(&mut self, session: &str) {
        self.session = Some(session.to_owned());
    }

    /// Signs in with a valid token.
    pub async fn signs_in(&mut self, world: &impl Served, token: &str) {
        let session = self.pastes(world, token).await;
        assert!(session.is_some(), "a good token signs in");
        self.session = session;
    }

    /// Signs in with a token and returns the session, if there is one.
    pub async fn pastes(&self, world: &impl Served, token: &str) -> Option<String> {
        let response = self.sends(world, "/sign-in", &[("token", token)]).send().await.unwrap();
        cookie(&response, "aw_session")
    }

    /// Follows a sign-in link and returns the session, if there is one.
    pub async fn comes_by(&self, world: &impl Served, path: &str) -> Option<String> {
        let visit = self.visits(world, path);
        let visit = visit.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
        let response = visit.send().await.unwrap();
        cookie(&response, "aw_session")
    }

    /// Sends the form of a sign-in link and returns the session, if there is one.
    pub async fn presses(&self, world: &impl Served, fields: &[(&str, &str)]) -> Option<String> {
        let response = self.sends(world, "/sign-in/link", fields).send().await.unwrap();
        cookie(&response, "aw_session")
    }

    /// A request for a page.
    pub fn visits(&self, world: &impl Served, path: &str) -> RequestBuilder {
        world.request(Method::GET, path).header("cookie", self.cookies())
    }

    /// A request with a form.
    pub fn sends(
        &self,
        world: &impl Served,
        path: &str,
        fields: &[(&str, &str)],
    ) -> RequestBuilder {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("csrf", &self.csrf)
            .extend_pairs(fields)
            .finish();
        world
            .request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", self.cookies())
            .body(form)
    }

    /// The cookies of every request.
    pub fn cookies(&self) -> String {
        let session = self.session.iter().map(|session| format!("; aw_session={session}"));
        format!("aw_browser={}{}", self.browser, session.collect::<String>())
    }
}

/// The value of a cookie that a response sets. The name of the session cookie ends with a mark of the server.
fn cookie(response: &Response, name: &str) -> Option<String> {
    let set = response.headers().get_all(SET_COOKIE).iter();
    let mut pairs = set.filter_map(|value| value.to_str().ok()?.split(';').next()?.split_once('='));
    let is_meant = |known: &str| known.strip_prefix(name).is_some_and(|mark| !mark.contains('='));
    pairs.find(|(known, value)| is_meant(known) && !value.is_empty()).map(|(_, v)| v.to_owned())
}
