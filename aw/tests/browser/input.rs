//! Mouse and keyboard, as events of the browser itself.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::find::Find;
use super::page::{Page, value_in};
use crate::world::CEILING;

const ALT: u8 = 1;
const CTRL: u8 = 2;
const SHIFT: u8 = 8;

impl Page {
    /// Clicks in the middle of an element, once it does not move and nothing covers it.
    pub async fn click(&self, find: impl Into<Find>) {
        let (x, y) = self.reach(&find.into()).await;
        self.press_at(x, y, 1).await;
    }

    /// Clicks twice without a pause.
    pub async fn double_click(&self, find: impl Into<Find>) {
        let (x, y) = self.reach(&find.into()).await;
        for count in [1, 2] {
            self.press_at(x, y, count).await;
        }
    }

    /// Clicks and waits for another document.
    pub async fn follow(&self, find: impl Into<Find>) {
        let find = find.into();
        self.turns_to_another(&format!("{find} leads on"), async || self.click(&find).await).await;
    }

    /// Turns the wheel in the middle of the screen. Down is positive.
    pub async fn wheel(&self, pixels: i32) {
        let size = self.eval("[innerWidth / 2, innerHeight / 2]").await;
        let (x, y) = (size[0].as_f64().expect("a width"), size[1].as_f64().expect("a height"));
        self.mouse("mouseWheel", x, y, json!({"deltaX": 0, "deltaY": pixels})).await;
    }

    /// Clicks on a field and types at its end.
    pub async fn type_into(&self, find: impl Into<Find>, text: &str) {
        let find = find.into();
        self.click(&find).await;
        self.press("Control+End").await;
        self.type_keys(text).await;
    }

    /// Selects an option by typing its first letters.
    pub async fn pick(&self, find: impl Into<Find>, option: &str) {
        self.focus(find).await;
        self.type_keys(option).await;
    }

    pub async fn focus(&self, find: impl Into<Find>) {
        self.on(&find.into(), "function() { this.focus() }").await;
    }

    /// Types into the element with the focus.
    pub async fn type_keys(&self, text: &str) {
        for char in text.chars() {
            match char {
                '\n' => self.stroke("Enter", 0).await,
                ' '..='~' => self.stroke(&char.to_string(), 0).await,
                // No key of the keyboard writes it.
                _ => drop(self.call("Input.insertText", json!({"text": char.to_string()})).await),
            }
        }
    }

    /// Presses a key, such as `Tab`, `Shift+Tab`, `Control+Enter` or `j`.
    pub async fn press(&self, key: &str) {
        let mut held = 0;
        let mut name = key;
        // The last part may be a plus sign.
        while let Some((modifier, rest)) = name.split_once('+').filter(|(_, rest)| !rest.is_empty())
        {
            held |= match modifier {
                "Alt" => ALT,
                "Control" => CTRL,
                "Shift" => SHIFT,
                other => panic!("{other} is not held while another key is pressed"),
            };
            name = rest;
        }
        self.stroke(name, held).await;
    }

    async fn stroke(&self, key: &str, held: u8) {
        let (code, number, text) = match key {
            "Enter" => ("Enter".to_owned(), 13, "\r"),
            "Tab" => ("Tab".to_owned(), 9, ""),
            "Escape" => ("Escape".to_owned(), 27, ""),
            "Backspace" => ("Backspace".to_owned(), 8, ""),
            "Delete" => ("Delete".to_owned(), 46, ""),
            "End" => ("End".to_owned(), 35, ""),
            "Home" => ("Home".to_owned(), 36, ""),
            "PageUp" => ("PageUp".to_owned(), 33, ""),
            "PageDown" => ("PageDown".to_owned(), 34, ""),
            "ArrowLeft" => ("ArrowLeft".to_owned(), 37, ""),
            "ArrowUp" => ("ArrowUp".to_owned(), 38, ""),
            "ArrowRight" => ("ArrowRight".to_owned(), 39, ""),
            "ArrowDown" => ("ArrowDown".to_owned(), 40, ""),
            " " => ("Space".to_owned(), 32, " "),
            one if one.len() == 1 => {
                let upper = one.to_ascii_uppercase();
                let byte = upper.as_bytes()[0];
                let code = match byte {
                    b'A'..=b'Z' => format!("Key{upper}"),
                    b'0'..=b'9' => format!("Digit{upper}"),
                    _ => String::new(),
                };
                // Pages do not ask for the number of a sign.
                (code, if byte.is_ascii_alphanumeric() { byte } else { 0 }, one)
            }
            other => panic!("there is no key {other}"),
        };
        // With Control or Alt a key writes nothing.
        let text = if held & (CTRL | ALT) == 0 { text } else { "" };
        let mut event = json!({
            "type": if text.is_empty() { "rawKeyDown" } else { "keyDown" },
            "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": held, "text": text,
        });
        // Without a window system the browser needs its editing commands here.
        if held & CTRL != 0
            && let Some(command) = [("a", "selectAll"), ("End", "moveToEndOfDocument")]
                .iter()
                .find_map(|(name, command)| (*name == key).then_some(command))
        {
            event["commands"] = json!([command]);
        }
        // A key that closes the page is not answered.
        let _ = self.ask("Input.dispatchKeyEvent", event.clone()).await;
        event["type"] = json!("keyUp");
        event["text"] = json!("");
        let _ = self.ask("Input.dispatchKeyEvent", event).await;
    }

    async fn press_at(&self, x: f64, y: f64, count: u8) {
        self.mouse("mouseMoved", x, y, json!({})).await;
        for event in ["mousePressed", "mouseReleased"] {
            self.mouse(event, x, y, json!({"button": "left", "clickCount": count})).await;
        }
    }

    async fn mouse(&self, event: &str, x: f64, y: f64, more: Value) {
        let mut asked = json!({"type": event, "x": x, "y": y});
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        // A click that closes the page is not answered.
        let _ = self.ask("Input.dispatchMouseEvent", asked).await;
    }

    /// The point to click on.
    async fn reach(&self, find: &Find) -> (f64, f64) {
        let began = Instant::now();
        let mut before = None;
        loop {
            let handle = self.one(find).await;
            let now = self.middle(&handle).await;
            match now {
                Ok(at) if before == Some(at) => return at,
                Err(why) if began.elapsed() > CEILING => panic!("{find} cannot be clicked: {why}"),
                Ok(_) | Err(_) => before = now.ok(),
            }
            // The duration of a frame.
            sleep(Duration::from_millis(16)).await;
        }
    }

    async fn middle(&self, handle: &str) -> Result<(f64, f64), String> {
        self.ask("DOM.scrollIntoViewIfNeeded", json!({"objectId": handle})).await?;
        let boxes = self.ask("DOM.getContentQuads", json!({"objectId": handle})).await?;
        let corner = |at: usize| boxes["quads"][0][at].as_f64().ok_or("it has no size");
        let x = (corner(0)? + corner(4)?) / 2.0;
        let y = (corner(1)? + corner(5)?) / 2.0;
        let code = "function(x, y) {
            if (this.matches(':disabled')) return 'it is disabled';
            const hit = document.elementFromPoint(x, y);
            if (!hit) return 'it is not on the screen';
            if (this.contains(hit) || hit.contains(this) && hit.matches('label, summary')) return '';
            return hit.outerHTML.slice(0, 200) + ' lies over it';
        }";
        let asked = json!({
            "objectId": handle, "functionDeclaration": code, "returnByValue": true,
            "arguments": [{"value": x}, {"value": y}],
        });
        match value_in(self.ask("Runtime.callFunctionOn", asked).await?)?.as_str() {
            Some("") => Ok((x, y)),
            Some(why) => Err(why.to_owned()),
            None => Err("it is gone".to_owned()),
        }
    }
}
