//! The Chrome DevTools Protocol: commands with answers, and events.
//!
//! The socket has its own thread, so a test may block.

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

/// Receives the events of a session.
pub trait EventListener: Send + Sync {
    /// Receives an event and may answer with a command.
    fn hear(&self, event: &str, data: &Value) -> Option<(&'static str, Value)>;
}

type Reply = Result<Value, String>;

/// A connection to the browser. Everything that was made through it ends with it.
pub struct DevTools {
    out: mpsc::UnboundedSender<Message>,
    next: AtomicU64,
    open: Arc<Mutex<Pending>>,
}

#[derive(Default)]
struct Pending {
    calls: HashMap<u64, oneshot::Sender<Reply>>,
    listeners: HashMap<String, Arc<dyn EventListener>>,
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
            // A screenshot of a long page is one message.
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
                            let message = serde_json::from_str(&text).expect("the browser sends JSON");
                            let command = open.lock().unwrap().receive(message);
                            if let (Some(command), Some(out)) = (command, answers.upgrade()) {
                                let _ = out.send(Message::text(command.to_string()));
                            }
                        }
                        Some(Ok(_)) => {}
                        Some(Err(_)) | None => break,
                    },
                }
            }
            let mut open = open.lock().unwrap();
            open.over = true;
            open.calls.clear();
        });
        in_time("the browser takes the call", is_ready).await.expect("the browser takes the call");
        tools
    }

    /// Sends a command to the browser or to a session, and returns its answer.
    pub async fn try_call(&self, session: Option<&str>, method: &str, given: Value) -> Reply {
        let answer = self.send(session, method, given);
        match in_time(&format!("the browser answers {method}"), answer).await {
            Ok(answer) => answer,
            Err(_) => panic!("the browser is gone"),
        }
    }

    /// Sends a command that must succeed, and returns its answer.
    pub async fn call(&self, session: Option<&str>, method: &str, given: Value) -> Value {
        match self.try_call(session, method, given.clone()).await {
            Ok(answer) => answer,
            Err(error) => panic!("{method} {given}: {error}"),
        }
    }

    /// Sends a command and does not wait for its answer.
    pub fn send(
        &self,
        session: Option<&str>,
        method: &str,
        given: Value,
    ) -> oneshot::Receiver<Reply> {
        let (sender, receiver) = oneshot::channel();
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({"id": id, "method": method});
        message["params"] = given;
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        {
            let mut open = self.open.lock().unwrap();
            if !open.over {
                open.calls.insert(id, sender);
            }
        }
        let _ = self.out.send(Message::text(message.to_string()));
        receiver
    }

    /// Sends the events of a session to this listener.
    pub fn listen(&self, session: &str, listener: Arc<dyn EventListener>) {
        self.open.lock().unwrap().listeners.insert(session.to_owned(), listener);
    }
}

impl Pending {
    /// Handles a message of the browser. Returns the command that answers it, if any.
    fn receive(&mut self, mut message: Value) -> Option<Value> {
        if let Some(id) = message["id"].as_u64() {
            let answer = match message["error"]["message"].as_str() {
                Some(error) => Err(format!("{error} {}", message["error"]["data"])),
                None => Ok(message["result"].take()),
            };
            if let Some(sender) = self.calls.remove(&id) {
                let _ = sender.send(answer);
            }
            return None;
        }
        let (session, event) = (message["sessionId"].as_str()?, message["method"].as_str()?);
        let (method, given) = self.listeners.get(session)?.hear(event, &message["params"])?;
        // Nobody waits for the answer.
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
