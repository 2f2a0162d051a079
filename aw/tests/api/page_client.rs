//! Requests pages and sends forms over plain HTTP.

use reqwest::Method;
use reqwest::header::{HeaderMap, SET_COOKIE};

use crate::world::{Socket, World};

/// The response to a request for a page.
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
}

pub async fn see(world: &World, path: &str, headers: &[(&str, &str)]) -> PageResponse {
    let request =
        headers.iter().fold(world.request(Method::GET, path), |request, (name, value)| {
            request.header(*name, *value)
        });
    seen(request).await
}

pub async fn send(
    world: &World,
    path: &str,
    cookies: &str,
    fields: &[(&str, &str)],
) -> PageResponse {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = world
        .request(Method::POST, path)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", cookies)
        .body(body);
    seen(request).await
}

pub async fn seen(request: reqwest::RequestBuilder) -> PageResponse {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    PageResponse { status, headers, body: response.text().await.unwrap() }
}

/// A browser without a screen: a page, its cookies and its CSRF token.
pub struct PageClient<'a> {
    world: &'a World,
    pub page: PageResponse,
    pub cookies: String,
    pub csrf: String,
}

impl<'a> PageClient<'a> {
    /// Opens a page without any cookies.
    pub async fn open(world: &'a World, path: &str) -> Self {
        let page = see(world, path, &[]).await;
        let (cookies, csrf) = (page.cookies(), page.csrf());
        PageClient { world, page, cookies, csrf }
    }

    /// Signs in on the sign-in page. The client keeps the session cookie.
    pub async fn signs_in(&mut self, token: &str) -> PageResponse {
        let to = self.page.hidden("to");
        let signed = self.sends("/sign-in", &[("token", token), ("to", &to)]).await;
        self.cookies = format!("{}; {}", self.cookies, signed.cookies());
        signed
    }

    pub async fn sees(&self, path: &str) -> PageResponse {
        see(self.world, path, &[("cookie", &self.cookies), ("accept", "text/html")]).await
    }

    pub async fn sends(&self, path: &str, fields: &[(&str, &str)]) -> PageResponse {
        let fields = [&[("csrf", self.csrf.as_str())], fields].concat();
        send(self.world, path, &self.cookies, &fields).await
    }

    pub async fn follows(&self, path: &str) -> Result<Socket, u16> {
        Socket::with(self.world, path, &[("cookie", &self.cookies)]).await
    }

    pub async fn is_signed_in(&self) -> bool {
        self.sees("/").await.status == 200
    }
}
