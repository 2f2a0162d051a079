//! Finds elements of a page by selector, or by role and name as a screen reader does.

use std::fmt;

use serde_json::{Value, json};

use super::page::Page;

/// A description of an element.
#[derive(Debug, Clone)]
pub struct Find {
    by: FindBy,
    within: Option<Box<Find>>,
    number: Option<usize>,
}

#[derive(Debug, Clone)]
enum FindBy {
    Css(String),
    Role { role: String, name: String },
}

/// The elements that match a selector.
pub fn css(selector: &str) -> Find {
    Find { by: FindBy::Css(selector.to_owned()), within: None, number: None }
}

/// The elements with this role and a name that contains this text in any case. Elements with exactly
/// this name take precedence.
pub fn role(role: &str, name: &str) -> Find {
    let by = FindBy::Role { role: role.to_owned(), name: name.to_owned() };
    Find { by, within: None, number: None }
}

pub fn button(name: &str) -> Find {
    role("button", name)
}

pub fn link(name: &str) -> Find {
    role("link", name)
}

/// A text field.
pub fn field(name: &str) -> Find {
    role("textbox", name)
}

impl Find {
    /// Only elements inside of this one.
    pub fn within(mut self, place: impl Into<Find>) -> Self {
        self.within = Some(Box::new(place.into()));
        self
    }

    /// Only the element with this index.
    pub fn number(mut self, number: usize) -> Self {
        self.number = Some(number);
        self
    }
}

impl From<&str> for Find {
    fn from(selector: &str) -> Self {
        css(selector)
    }
}

impl From<&Find> for Find {
    fn from(find: &Find) -> Self {
        find.clone()
    }
}

impl fmt::Display for Find {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            FindBy::Css(selector) => write!(f, "{selector}")?,
            FindBy::Role { role, name } => write!(f, "{role} {name:?}")?,
        }
        if let Some(number) = self.number {
            write!(f, " no. {number}")?;
        }
        match &self.within {
            Some(place) => write!(f, " in {place}"),
            None => Ok(()),
        }
    }
}

impl Page {
    /// The handles of all elements that match now. It fails while the page changes.
    pub(super) async fn all(&self, find: &Find) -> Result<Vec<String>, String> {
        let place = match &find.within {
            Some(place) => match Box::pin(self.all(place)).await?.pop() {
                Some(place) => place,
                None => return Ok(Vec::new()),
            },
            None => self.handle("document").await?,
        };
        let mut found = match &find.by {
            FindBy::Css(selector) => {
                let code = "function(selector) { return [...this.querySelectorAll(selector)] }";
                self.handles(&place, code, json!([{"value": selector}])).await?
            }
            FindBy::Role { role, name } => self.named(&place, role, name).await?,
        };
        if let Some(number) = find.number {
            found = found.into_iter().skip(number).take(1).collect();
        }
        Ok(found)
    }

    async fn named(&self, place: &str, role: &str, name: &str) -> Result<Vec<String>, String> {
        let asked = json!({"objectId": place, "role": role});
        let tree = self.ask("Accessibility.queryAXTree", asked).await?;
        let (mut exact, mut roughly) = (Vec::new(), Vec::new());
        for node in tree["nodes"].as_array().into_iter().flatten() {
            let called = squeezed(node["name"]["value"].as_str().unwrap_or_default());
            if node["ignored"] == true || node["backendDOMNodeId"].is_null() {
                continue;
            }
            if called == name {
                exact.push(&node["backendDOMNodeId"]);
            } else if called.to_lowercase().contains(&name.to_lowercase()) {
                roughly.push(&node["backendDOMNodeId"]);
            }
        }
        let mut found = Vec::new();
        for node in if exact.is_empty() { roughly } else { exact } {
            let resolved = self.ask("DOM.resolveNode", json!({"backendNodeId": node})).await?;
            found.push(handle_in(&resolved["object"])?);
        }
        Ok(found)
    }

    /// The handles of the elements that a function returns.
    async fn handles(&self, on: &str, code: &str, given: Value) -> Result<Vec<String>, String> {
        let asked = json!({"objectId": on, "functionDeclaration": code, "arguments": given});
        let list = self.ask("Runtime.callFunctionOn", asked).await?;
        if let Some(thrown) = list["exceptionDetails"]["exception"]["description"].as_str() {
            panic!("{thrown}");
        }
        let asked = json!({"objectId": handle_in(&list["result"])?, "ownProperties": true});
        let mut properties = self.ask("Runtime.getProperties", asked).await?["result"].take();
        let properties = properties.as_array_mut().ok_or("no list")?.iter();
        let numbered = properties.filter(|at| at["name"].as_str().is_some_and(is_number));
        numbered.map(|at| handle_in(&at["value"])).collect()
    }

    async fn handle(&self, code: &str) -> Result<String, String> {
        let asked = json!({"expression": code});
        handle_in(&self.ask("Runtime.evaluate", asked).await?["result"])
    }
}

fn handle_in(object: &Value) -> Result<String, String> {
    object["objectId"].as_str().map(str::to_owned).ok_or_else(|| format!("no object: {object}"))
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Joins the words of a text with single spaces.
pub(super) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
