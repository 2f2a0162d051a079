//! A browser without a screen: it asks for pages, sends their forms and keeps what came back.

use reqwest::Method;
use reqwest::header::{HeaderMap, SET_COOKIE};

use crate::world::World;

/// What came back, as a browser would see it.
pub struct Seen {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The cookies it sets, as a browser would send them back.
    pub fn cookies(&self) -> String {
        let all = self.headers.get_all(SET_COOKIE).iter();
        let pairs = all.map(|value| value.to_str().unwrap().split(';').next().unwrap().to_owned());
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// What its forms carry.
    pub fn csrf(&self) -> String {
        let rest = self.body.split("name=\"csrf\" value=\"").nth(1).expect("there is a form");
        rest.split('"').next().unwrap().to_owned()
    }

    /// What the page's own form, the last one, carries in this field.
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
