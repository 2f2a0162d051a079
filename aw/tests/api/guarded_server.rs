//! A server that requires tokens, with its administrator and signed-in browsers.

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};

use super::page_client::{Seen, see, send};
use crate::world::driver::{self, claim, opening_of, reply};
use crate::world::{Answer, Socket, World, new_id, text};

/// A server that requires tokens.
pub struct GuardedServer {
    pub world: World,
}

impl GuardedServer {
    pub async fn open() -> Self {
        GuardedServer { world: World::with(Guard::sharing("secret"), Limits::default()).await }
    }

    /// Sends a request with this token.
    pub async fn ask(&self, token: &str, method: Method, path: &str, body: Value) -> Answer {
        let request = self.world.request(method, path).bearer_auth(token);
        Answer::to(if body.is_null() { request } else { request.json(&body) }).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.ask("secret", Method::POST, path, body).await.created()
    }

    /// A seat: its token and its id.
    pub async fn seat(&self, fields: Value) -> (String, String) {
        let made = self.post("/tokens", fields).await;
        (text(&made["token"]), text(&made["token_id"]))
    }

    /// A debate that waits for its opponent, and its motion.
    pub async fn debate(&self, title: &str) -> (String, String) {
        let opened = self.post("/debates", opening_of(&new_id(), title, "Yes.")).await;
        (text(&opened["debate"]["id"]), text(&opened["argument"]["id"]))
    }

    /// A debate that waits for a RULING.
    pub async fn appealed(&self, title: &str) -> String {
        let (id, motion) = self.debate(title).await;
        let body = claim("opponent", &motion, "No.");
        let claim = self.post(&format!("/debates/{id}/arguments"), body).await;
        let body = reply(&driver::id(&claim), "No.");
        self.post(&format!("/debates/{id}/appeal"), body).await;
        id
    }

    /// A link that signs in with this token and leads to `to`.
    pub async fn link(&self, token: &str, to: &str) -> String {
        let made = self.ask(token, Method::POST, "/links", json!({"to": to})).await.created();
        text(&made["path"])
    }

    /// A browser that signed in with this token.
    pub async fn guest(&self, token: &str) -> SignedIn<'_> {
        let ask = see(&self.world, "/sign-in", &[]).await;
        let csrf = ask.csrf();
        let fields = [("csrf", csrf.as_str()), ("token", token)];
        let signed = send(&self.world, "/sign-in", &ask.cookies(), &fields).await;
        assert_eq!(signed.status, 303, "{}", signed.body);
        let cookies = format!("{}; {}", ask.cookies(), signed.cookies());
        SignedIn { world: &self.world, cookies, csrf }
    }
}

/// A signed-in browser.
pub struct SignedIn<'a> {
    world: &'a World,
    pub cookies: String,
    csrf: String,
}

impl SignedIn<'_> {
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
