//! The Chrome DevTools Protocol: commands with answers, and events for who listens.
//!
//! The socket is served by a thread of its own, so a test may block while it runs commands.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::world::in_time;

/// Somebody who is told what happens in a session, and may have something to say to it.
pub trait Listener: Send + Sync {
    /// Hears of an event; may answer with a command.
    fn hear(&self, event: &str, told: &Value) -> Option<(&'static str, Value)>;
}

type Answer = Result<Value, String>;

/// A connection to the browser. What was made through it goes when it does.
pub struct DevTools {
    out: mpsc::UnboundedSender<Message>,
    next: AtomicU64,
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    asked: HashMap<u64, oneshot::Sender<Answer>>,
    listeners: HashMap<String, Arc<dyn Listener>>,
    over: bool,
}

impl DevTools {
    /// Connects to the browser at this address.
    pub async fn connect(address: &str) -> Arc<Self> {
        let (out, mut outgoing) = mpsc::unbounded_channel();
        let tools = Arc::new(DevTools { out, next: AtomicU64::new(1), open: Arc::default() });
        let (open, answers, address) =
            (tools.open.clone(), tools.out.downgrade(), address.to_owned());
        let (ready, is_ready) = oneshot::channel();
        runtime().spawn(async move {
            // A picture of a long page is one message.
            let roomy = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
            let socket = connect_async_with_config(address, Some(roomy), true).await;
            let (mut sink, mut stream) = socket.expect("the browser takes the call").0.split();
            let _ = ready.send(());
            loop {
                tokio::select! {
                    message = outgoing.recv() => match message {
                        Some(message) => sink.send(message).await.expect("the browser listens"),
                        None => break,
                    },
                    message = stream.next() => match message {
                        Some(Ok(Message::Text(text))) => {
                            let told = serde_json::from_str(&text).expect("the browser speaks JSON");
                            let said = open.lock().unwrap().take_in(told);
                            if let (Some(said), Some(out)) = (said, answers.upgrade()) {
                                let _ = out.send(Message::text(said.to_string()));
                            }
                        }
                        Some(Ok(_)) => {}
                        Some(Err(_)) | None => break,
                    },
                }
            }
            let mut open = open.lock().unwrap();
            open.over = true;
            open.asked.clear();
        });
        in_time("the browser takes the call", is_ready).await.expect("the browser takes the call");
        tools
    }

    /// What comes of a command to the browser, or to a session in it.
    pub async fn try_call(&self, session: Option<&str>, method: &str, given: Value) -> Answer {
        let answer = self.send(session, method, given);
        match in_time(&format!("the browser answers {method}"), answer).await {
            Ok(answer) => answer,
            Err(_) => panic!("the browser is gone"),
        }
    }

    /// The answer to a command that succeeds.
    pub async fn call(&self, session: Option<&str>, method: &str, given: Value) -> Value {
        match self.try_call(session, method, given.clone()).await {
            Ok(answer) => answer,
            Err(error) => panic!("{method} {given}: {error}"),
        }
    }

    /// Sends a command at once; its answer comes later.
    pub fn send(
        &self,
        session: Option<&str>,
        method: &str,
        given: Value,
    ) -> oneshot::Receiver<Answer> {
        let (tell, told) = oneshot::channel();
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({"id": id, "method": method});
        message["params"] = given;
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        {
            let mut open = self.open.lock().unwrap();
            if !open.over {
                open.asked.insert(id, tell);
            }
        }
        let _ = self.out.send(Message::text(message.to_string()));
        told
    }

    /// From now on this one hears of the session's events.
    pub fn listen(&self, session: &str, listener: Arc<dyn Listener>) {
        self.open.lock().unwrap().listeners.insert(session.to_owned(), listener);
    }
}

impl Open {
    /// Passes on what the browser has told; what is to be said to that.
    fn take_in(&mut self, mut told: Value) -> Option<Value> {
        if let Some(id) = told["id"].as_u64() {
            let answer = match told["error"]["message"].as_str() {
                Some(error) => Err(format!("{error} {}", told["error"]["data"])),
                None => Ok(told["result"].take()),
            };
            if let Some(tell) = self.asked.remove(&id) {
                let _ = tell.send(answer);
            }
            return None;
        }
        let (session, event) = (told["sessionId"].as_str()?, told["method"].as_str()?);
        let (method, given) = self.listeners.get(session)?.hear(event, &told["params"])?;
        // Nobody asked, so nobody waits for the answer.
        Some(json!({"id": 0, "sessionId": session, "method": method, "params": given}))
    }
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().unwrap()
    })
}
