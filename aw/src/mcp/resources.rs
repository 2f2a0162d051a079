//! The resources: the rules of the roles, and documents.

use aw_core::Role;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use super::Toolbox;
use super::refusal::ToolRefusal;
use super::tools::Scope;

use crate::api::client::{DocumentFilter, documents};
use crate::api::error::Code;
use crate::kit::texts::{BuiltIn, Language};

const MARKDOWN: &str = "text/markdown";

/// How many documents are listed at a time.
const PAGE: u64 = 50;

/// The thing that a resource shows.
#[derive(Debug, PartialEq, Eq)]
enum Named<'a> {
    /// The rules of a role in debates of this type.
    Rules { role: Role, kind: &'a str },
    /// The rules of a role in this debate.
    DebateRules { debate: &'a str, role: Role },
    /// A document, in its newest version or this one.
    Document { document: &'a str, version: Option<u64> },
}

impl<'a> Named<'a> {
    fn parse(uri: &'a str) -> Option<Self> {
        let (path, query) = match uri.strip_prefix("aw://")?.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (uri.strip_prefix("aw://")?, None),
        };
        let parts: Vec<&str> = path.split('/').collect();
        match (parts.as_slice(), query) {
            (["rules", role, kind], None) => Some(Named::Rules { role: role.parse().ok()?, kind }),
            (["debates", debate, "rules", role], None) => {
                Some(Named::DebateRules { debate, role: role.parse().ok()? })
            }
            (["docs", document], None) => Some(Named::Document { document, version: None }),
            (["docs", document], Some(query)) => {
                let version = query.strip_prefix("version=")?.parse().ok()?;
                Some(Named::Document { document, version: Some(version) })
            }
            _ => None,
        }
    }
}

/// The forms of the addresses of resources.
pub(super) fn templates(scope: Scope) -> Vec<ResourceTemplate> {
    let roles: Vec<&str> = scope.roles().iter().map(|role| role.as_str()).collect();
    let roles = roles.join(", ");
    [
        (
            "aw://docs/{document_id}{?version}",
            "document",
            "A document",
            "A document whole, in its newest version or a chosen one: the words of its author"
                .to_owned(),
        ),
        (
            "aw://debates/{debate_id}/rules/{role}",
            "debate-rules",
            "The rules of a debate",
            format!("The rules of a role ({roles}) in this debate"),
        ),
        (
            "aw://rules/{role}/{type}",
            "rules",
            "The rules of a type of debate",
            format!("The rules of a role ({roles}) in debates of this type"),
        ),
    ]
    .map(|(form, name, title, what)| {
        ResourceTemplate::new(form, name)
            .with_title(title)
            .with_description(what)
            .with_mime_type(MARKDOWN)
    })
    .to_vec()
}

impl Toolbox {
    /// The rules of the built-in types, and documents if a server is reachable.
    pub(super) async fn resources(
        &self,
        cursor: Option<&str>,
    ) -> Result<ListResourcesResult, ToolRefusal> {
        let offset: Option<u64> = match cursor {
            None => None,
            Some(cursor) => Some(cursor.parse().map_err(|_| {
                ToolRefusal::input("cursor", "`cursor` is not one that was given out here")
                    .suggest("Begin without a cursor")
            })?),
        };
        let mut resources = if offset.is_none() { rules(self.scope) } else { Vec::new() };
        let mut next = None;
        if self.transport.is_there() {
            let offset = offset.unwrap_or(0);
            let filter = DocumentFilter { limit: PAGE, offset, ..Default::default() };
            let page = self.transport.send(&documents(filter)).await?;
            let end = offset + page.documents.len() as u64;
            next = (end < page.total && end > offset).then(|| end.to_string());
            resources.extend(page.documents.into_iter().map(|document| {
                let id = document.document_id.0.to_string();
                Resource::new(format!("aw://docs/{id}"), id)
                    .with_title(document.summary)
                    .with_mime_type(MARKDOWN)
            }));
        }
        let mut listed = ListResourcesResult::with_all_items(resources);
        listed.next_cursor = next;
        Ok(listed)
    }

    /// The resource at this address, if the address has a known form.
    pub(super) async fn resource(&self, uri: &str) -> Result<ReadResourceResult, ToolRefusal> {
        let language = Language::English;
        let text = match Named::parse(uri) {
            Some(Named::Rules { role, kind }) => {
                self.may_read(role)?;
                self.defaults.rules(kind, role, language)?.shown(language)
            }
            Some(Named::DebateRules { debate, role }) => {
                self.may_read(role)?;
                self.rules_of_debate(debate, role, language).await?.shown(language)
            }
            Some(Named::Document { document, version }) => {
                self.read_document(document, version, false).await?.content
            }
            None => {
                let forms: Vec<String> =
                    templates(self.scope).into_iter().map(|form| form.uri_template).collect();
                let message = format!("there is no resource {uri:?}");
                return Err(ToolRefusal::new(Code::RouteNotFound, message)
                    .suggest(format!("Resources are {}", forms.join(", "))));
            }
        };
        let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
        Ok(ReadResourceResult::new(vec![contents]))
    }

    fn may_read(&self, role: Role) -> Result<(), ToolRefusal> {
        if self.scope.roles().contains(&role) {
            return Ok(());
        }
        Err(ToolRefusal::role(format!(
            "the {role}'s rules are not for these tools, which are another role's"
        )))
    }
}

fn rules(scope: Scope) -> Vec<Resource> {
    let mut all = Vec::new();
    for role in scope.roles() {
        for kind in BuiltIn::ALL {
            let name = kind.name();
            all.push(
                Resource::new(format!("aw://rules/{role}/{name}"), format!("{role}-{name}"))
                    .with_title(format!("{}: rules of the {role}", kind.title()))
                    .with_description(kind.description())
                    .with_mime_type(MARKDOWN),
            );
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_their_own_forms_only() {
        let rules = Named::Rules { role: Role::Opponent, kind: "general_debate" };
        assert_eq!(Named::parse("aw://rules/opponent/general_debate"), Some(rules));
        let document = |version| Some(Named::Document { document: "d", version });
        assert_eq!(Named::parse("aw://docs/d"), document(None));
        assert_eq!(Named::parse("aw://docs/d?version=2"), document(Some(2)));
        let kept = Named::DebateRules { debate: "d", role: Role::Proposer };
        assert_eq!(Named::parse("aw://debates/d/rules/proposer"), Some(kept));
        for none in [
            "",
            "aw://",
            "aw://docs",
            "aw://docs/d/2",
            "aw://docs/d?version=x",
            "aw://docs/d?v=1",
            "aw://rules/judge/general_debate",
            "aw://rules/opponent",
            "aw://rules/opponent/x?y",
            "file:///etc/passwd",
            "AW://docs/d",
        ] {
            assert_eq!(Named::parse(none), None, "{none}");
        }
    }
}
