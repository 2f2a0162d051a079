//! A server that wants tokens, and people who sign in to it over plain HTTP.

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::page_client::PageClient;
use crate::world::{Answer, World, driver, text};

/// A server that wants tokens. `secret` is the shared one.
pub struct TokenServer {
    pub world: World,
}

impl TokenServer {
    pub async fn start() -> Self {
        TokenServer { world: World::with(Guard::sharing("secret"), Limits::default()).await }
    }

    /// Sends a request with this token.
    pub async fn ask(&self, token: &str, method: Method, path: &str, body: Value) -> Answer {
        let request = self.world.request(method, path).bearer_auth(token);
        Answer::to(if body.is_null() { request } else { request.json(&body) }).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.ask("secret", Method::POST, path, body).await.created()
    }

    /// Creates a seat. Returns its token and its id.
    pub async fn seat(&self, fields: Value) -> (String, String) {
        let made = self.post("/tokens", fields).await;
        (text(&made["token"]), text(&made["token_id"]))
    }

    /// A debate that waits for its opponent, and its motion.
    pub async fn debate(&self, title: &str) -> (String, String) {
        let opened = self.post("/debates", driver::opening(title)).await;
        (text(&opened["debate"]["id"]), text(&opened["argument"]["id"]))
    }

    /// A debate that waits for a ruling.
    pub async fn appealed(&self, title: &str) -> String {
        let (id, motion) = self.debate(title).await;
        let claim = self.claim(&id, &motion, "No.").await;
        self.appeal(&id, &claim, "No.").await;
        id
    }

    /// Submits a CLAIM of the opponent and returns its id.
    pub async fn claim(&self, debate: &str, target: &str, content: &str) -> String {
        let body = driver::claim("opponent", target, content);
        driver::id(&self.post(&format!("/debates/{debate}/arguments"), body).await)
    }

    /// Submits an APPEAL.
    pub async fn appeal(&self, debate: &str, target: &str, content: &str) {
        self.post(&format!("/debates/{debate}/appeal"), driver::reply(target, content)).await;
    }

    /// A sign-in link for this token that leads to this path.
    pub async fn link(&self, token: &str, to: &str) -> String {
        let made = self.ask(token, Method::POST, "/links", json!({"to": to})).await.created();
        text(&made["path"])
    }

    /// Signs in with this token.
    pub async fn guest(&self, token: &str) -> PageClient {
        let mut client = PageClient::open(&self.world, "/sign-in").await;
        let signed = client.signs_in(token).await;
        assert_eq!(signed.status, 303, "{}", signed.body);
        client
    }
}
