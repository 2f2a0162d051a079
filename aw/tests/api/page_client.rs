//! Requests pages and sends forms over plain HTTP.

use reqwest::Method;
use reqwest::header::{HeaderMap, SET_COOKIE};

use crate::world::World;

/// The response to a request for a page.
pub struct Seen {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Seen {
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
        let rest = self.body.split("name=\"csrf\" value=\"").nth(1).expect("there is a form");
        rest.split('"').next().unwrap().to_owned()
    }

    /// The value of a hidden field in the last form.
    pub fn hidden(&self, name: &str) -> String {
        let rest = self.body.split(&format!("name=\"{name}\" value=\"")).skip(1).last();
        rest.unwrap_or_else(|| panic!("no {name}")).split('"').next().unwrap().to_owned()
    }
}

pub async fn see(world: &World, path: &str, headers: &[(&str, &str)]) -> Seen {
    let request =
        headers.iter().fold(world.request(Method::GET, path), |request, (name, value)| {
            request.header(*name, *value)
        });
    seen(request).await
}

pub async fn send(world: &World, path: &str, cookies: &str, fields: &[(&str, &str)]) -> Seen {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = world
        .request(Method::POST, path)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", cookies)
        .body(body);
    seen(request).await
}

pub async fn seen(request: reqwest::RequestBuilder) -> Seen {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Seen { status, headers, body: response.text().await.unwrap() }
}
