//! The tools that write into a debate: one a move.

use aw_core::{Kind, Role};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Hand;
use super::next_call::{NextCall, NextCalls, WaitHabits};
use super::quoting::Answer;
use super::refusal::Refusal;
use super::results::{QUOTED, Said, Written};
use super::tool_args::Arguments;
use super::tools::Tool;
use crate::api::http::{derived_id, encoded};
use crate::api::types::{ActionText, ArgumentIdText, Debate, RequestIdText};

/// What the API answers to a write.
#[derive(Debug, Deserialize)]
struct Receipt {
    debate: Debate,
    argument: Own,
    replayed: bool,
    missed: Vec<Said>,
    action: ActionText,
    next_argument_id_to_wait: ArgumentIdText,
    message: Option<String>,
}

/// An argument of whoever called.
#[derive(Debug, Deserialize)]
struct Own {
    #[serde(flatten)]
    said: Said,
    client_request_id: RequestIdText,
}

/// A move on its way.
struct Move<'a> {
    debate: &'a str,
    role: Role,
    target: Option<&'a str>,
    request: String,
    path: String,
    body: Value,
    message: &'static str,
}

impl Hand {
    pub(super) async fn create(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let (title, kind) = (given.text("title")?, given.text("type")?);
        let content = given.text("content")?;
        let debate = match given.optional("debate_id")? {
            Some(id) => id.to_owned(),
            None => Uuid::new_v4().to_string(),
        };
        let role = Role::Proposer;
        let request = request_id(given, || derived_id(&debate, role, Kind::Motion, None, content))?;
        let body = json!({
            "debate_id": debate,
            "title": title,
            "debate_type": kind,
            "motion_content": content,
            "type_texts": self.habits.type_texts(kind)?,
            "resolution_policy": given.optional("resolution_policy")?,
        });
        let opening = Move {
            debate: &debate,
            role,
            target: None,
            request,
            path: "/debates".to_owned(),
            body,
            message: "Debate created",
        };
        self.play(given, opening).await.map_err(|refusal| {
            let refusal =
                refusal.calling("motion_content", "content").calling("debate_type", "type");
            if refusal.is_passing() {
                let again = "Call debate_create again with the same arguments and this debate_id: \
                             then it is opened once";
                return refusal.suggest(again);
            }
            refusal
        })
    }

    pub(super) async fn submit(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let role = given.own_role(self.scope)?;
        let body = json!({"role": role.as_str()});
        self.answer_to(given, role, Kind::Claim, "arguments", body, "Argument submitted").await
    }

    pub(super) async fn appeal(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let role = Role::Proposer;
        self.answer_to(given, role, Kind::Appeal, "appeal", json!({}), "Appeal submitted").await
    }

    pub(super) async fn request_completion(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let (role, kind) = (Role::Proposer, Kind::Resolution);
        self.answer_to(given, role, kind, "resolution", json!({}), "Resolution submitted").await
    }

    /// Words to a target that must be named.
    async fn answer_to(
        &self,
        given: &Arguments,
        role: Role,
        kind: Kind,
        path: &str,
        mut body: Value,
        message: &'static str,
    ) -> Result<Answer, Refusal> {
        let (debate, target) = (given.text("debate_id")?, given.text("target_id")?);
        let content = given.text("content")?;
        let request = request_id(given, || derived_id(debate, role, kind, Some(target), content))?;
        body["target_id"] = target.into();
        body["content"] = content.into();
        let path = format!("/debates/{}/{path}", encoded(debate));
        let claim = Move { debate, role, target: Some(target), request, path, body, message };
        self.play(given, claim).await
    }

    pub(super) async fn rule(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let (debate, content) = (given.text("debate_id")?, given.text("content")?);
        let (target, close) = (given.optional("target_id")?, given.flag("close")?);
        let role = Role::Arbitrator;
        // Without a target the same words may mean the next dispute.
        let request =
            request_id(given, || derived_id(debate, role, Kind::Ruling, Some(target?), content))?;
        let body = json!({"content": content, "close": close, "target_id": target});
        let path = format!("/debates/{}/ruling", encoded(debate));
        let message = "Ruling submitted";
        self.play(given, Move { debate, role, target, request, path, body, message }).await
    }

    pub(super) async fn intervene(&self, given: &Arguments) -> Result<Answer, Refusal> {
        let debate = given.text("debate_id")?;
        let stop = Move {
            debate,
            role: Role::Arbitrator,
            target: None,
            request: request_id(given, || None)?,
            path: format!("/debates/{}/intervention", encoded(debate)),
            body: json!({"content": given.optional("content")?}),
            message: "Intervention submitted",
        };
        self.play(given, stop).await
    }

    async fn play(&self, given: &Arguments, play: Move<'_>) -> Result<Answer, Refusal> {
        let Move { debate, role, target, request, path, mut body, message } = play;
        body["client_request_id"] = request.as_str().into();
        body["author"] = self.author(given)?.into();
        shorn(&mut body);
        let derived = given.optional("client_request_id")?.is_none();
        let context = || {
            let arguments = json!({"debate_id": debate, "role": role.as_str()});
            NextCall::new(Tool::DebateGetContext, arguments)
        };
        let wait = |after: Option<&str>| {
            NextCall::wait(debate, role.as_str(), after, WaitHabits::default())
        };
        let receipt: Receipt = self.way.post(path, body).await.map_err(|refusal| {
            let refusal =
                refusal.with_id("debate_id", debate).with_id("client_request_id", &request);
            match (refusal.code(), refusal.field()) {
                ("ACTION_NOT_ALLOWED", _) => refusal.next(&wait(target)),
                ("ARGUMENT_NOT_FOUND", _) | ("INVALID_INPUT", Some("target_id")) => {
                    refusal.next(&context())
                }
                ("INVALID_INPUT", Some("client_request_id")) if derived => refusal
                    .with("message", "this text was written here before, with other arguments")
                    .suggest("See what is there, and change the text if it should be there again")
                    .next(&context()),
                ("CONTENT_TOO_LARGE", _) if role == Role::Proposer => {
                    let create = NextCall::new(Tool::DocsCreate, json!({}));
                    refusal
                        .suggest(
                            "Keep long text in a document (docs_create) and cite it: write a summary \
                             and doc_id=<document_id> (v1)",
                        )
                        .next(&create.with_your(&["summary", "content"]))
                }
                ("CONTENT_TOO_LARGE", _) => {
                    refusal.suggest("Shorten the text to max_length bytes and make the same call")
                }
                _ => refusal,
            }
        })?;
        let Receipt { debate: head, argument: Own { said, client_request_id }, missed, .. } =
            receipt;
        let message = match (receipt.message, receipt.replayed) {
            (Some(parked), _) => parked,
            (None, true) => format!("{message} before: this is the first answer again"),
            (None, false) => message.to_owned(),
        };
        let id = said.id.0.to_string();
        // An INTERVENTION that was sent before may have been ruled on since: a wait tells.
        let calls = if said.kind.0 == Kind::Intervention && !said.parked && !receipt.replayed {
            let pending = json!({"action": "rule", "pending_argument_id": id});
            NextCalls::after(&pending, debate, role.as_str(), WaitHabits::default())
        } else {
            let after = receipt.next_argument_id_to_wait.0.to_string();
            NextCalls { next: Some(wait(Some(&after))), others: Vec::new() }
        };
        let url = self.way.url_of(debate);
        let words = format!(
            "{message}. It is argument {} ({}) of debate {debate}, which is {} now.\n{}{}{}",
            said.seq,
            said.kind.0,
            head.state.0,
            url.as_ref()
                .map_or(String::new(), |url| format!("A person can watch and rule at {url}\n")),
            if missed.is_empty() {
                ""
            } else {
                "What you had not seen follows: read it before you go on.\n"
            },
            calls.words(),
        );
        let written = Written {
            message,
            action: receipt.action,
            next: calls.next.unwrap_or_else(|| wait(Some(&id))),
            alternatives: calls.others,
            debate_id: head.id,
            debate_state: head.state,
            debate_type: head.debate_type,
            argument_id: said.id,
            argument_type: said.kind,
            argument_seq: said.seq,
            parked: said.parked,
            replayed: receipt.replayed,
            next_argument_id_to_wait: receipt.next_argument_id_to_wait,
            client_request_id,
            url,
            missed,
            quoted: QUOTED,
        };
        Ok(Answer::new(&written, words).quoting_all(&written.missed))
    }
}

/// The id that was given, the derived one, or a random one.
pub(super) fn request_id(
    given: &Arguments,
    derived: impl FnOnce() -> Option<aw_core::RequestId>,
) -> Result<String, Refusal> {
    Ok(match given.optional("client_request_id")? {
        Some(given) => given.to_owned(),
        None => derived().map_or_else(|| Uuid::new_v4().to_string(), |derived| derived.to_string()),
    })
}

/// Takes away what was left out.
pub(super) fn shorn(body: &mut Value) {
    if let Value::Object(fields) = body {
        fields.retain(|_, value| !value.is_null());
    }
}
