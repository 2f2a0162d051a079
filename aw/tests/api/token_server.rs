//! A server that wants tokens, and people who sign in to it over plain HTTP.

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};

use super::seen::{Seen, see, send};
use crate::world::{Answer, Socket, World, new_id, text};

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
        let body = json!({
            "debate_id": new_id(), "title": title, "debate_type": "general_debate",
            "motion_content": "Yes.", "client_request_id": new_id(),
        });
        let opened = self.post("/debates", body).await;
        (text(&opened["debate"]["id"]), text(&opened["argument"]["id"]))
    }

    /// A debate that waits for a ruling.
    pub async fn appealed(&self, title: &str) -> String {
        let (id, motion) = self.debate(title).await;
        let mut body = json!({
            "role": "opponent", "target_id": motion, "content": "No.", "client_request_id": new_id(),
        });
        let claim = self.post(&format!("/debates/{id}/arguments"), body.clone()).await;
        body["target_id"] = claim["argument"]["id"].clone();
        body["client_request_id"] = json!(new_id());
        self.post(&format!("/debates/{id}/appeal"), body).await;
        id
    }

    /// A sign-in link for this token that leads to this path.
    pub async fn link(&self, token: &str, to: &str) -> String {
        let made = self.ask(token, Method::POST, "/links", json!({"to": to})).await.created();
        text(&made["path"])
    }
    /// Signs in with this token.
    pub async fn guest(&self, token: &str) -> Guest<'_> {
        let ask = see(&self.world, "/sign-in", &[]).await;
        let csrf = ask.csrf();
        let fields = [("csrf", csrf.as_str()), ("token", token)];
        let signed = send(&self.world, "/sign-in", &ask.cookies(), &fields).await;
        assert_eq!(signed.status, 303, "{}", signed.body);
        let cookies = format!("{}; {}", ask.cookies(), signed.cookies());
        Guest { world: &self.world, cookies, csrf }
    }
}

/// A person who is signed in.
pub struct Guest<'a> {
    world: &'a World,
    pub cookies: String,
    csrf: String,
}

impl Guest<'_> {
    pub async fn sees(&self, path: &str) -> Seen {
        see(self.world, path, &[("cookie", &self.cookies), ("accept", "text/html")]).await
    }

    pub async fn sends(&self, path: &str, fields: &[(&str, &str)]) -> Seen {
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
