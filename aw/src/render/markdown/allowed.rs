//! The allow-list for the HTML of an agent's text.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use aw_core::DocumentId;

use super::highlight;

/// Removes everything that [`super::Drawing`] does not write.
pub(super) static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(sanitiser);

/// Removes everything that [`super::Drawing`] and [`super::changes`] do not write.
pub(super) static CHANGES_SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut sanitiser = sanitiser();
    sanitiser.add_tags(["ins"]);
    for (tag, class) in [
        ("del", "gone"),
        ("details", "unchanged"),
        ("div", "change"),
        ("li", "gone"),
        ("p", "unchanged"),
        ("span", "tag"),
    ] {
        sanitiser.add_allowed_classes(tag, [class]);
    }
    sanitiser
});

fn sanitiser() -> Builder<'static> {
    let tags = "a bdi blockquote br code data del details div em h3 h4 h5 h6 hr input label li ol p pre span strong summary sup \
        table tbody td th thead tr ul";
    let attributes = HashMap::from([
        ("a", HashSet::from(["href"])),
        // Marks a place for a note of the page.
        ("data", HashSet::from(["value"])),
        ("div", HashSet::from(["aria-label"])),
        // Anchors of documents, which the drawing makes.
        ("h3", HashSet::from(["id"])),
        ("h4", HashSet::from(["id"])),
        ("h5", HashSet::from(["id"])),
        ("h6", HashSet::from(["id"])),
        ("input", HashSet::from(["aria-label", "checked", "disabled"])),
        ("ol", HashSet::from(["start"])),
    ]);
    let values = HashMap::from([
        (
            "div",
            HashMap::from([("role", HashSet::from(["group"])), ("tabindex", HashSet::from(["0"]))]),
        ),
        ("input", HashMap::from([("type", HashSet::from(["checkbox"]))])),
        ("pre", HashMap::from([("tabindex", HashSet::from(["0"]))])),
        ("th", HashMap::from([("scope", HashSet::from(["col"]))])),
    ]);
    let mut spans = HashSet::from(["address", "control", "image"]);
    spans.extend(highlight::CLASSES);
    let classes = HashMap::from([
        ("a", HashSet::from(["doc"])),
        ("div", HashSet::from(["scroll"])),
        ("li", HashSet::from(["task"])),
        ("pre", HashSet::from(["code", "mermaid", "raw"])),
        ("span", spans),
        ("td", HashSet::from(["center", "right"])),
        ("th", HashSet::from(["center", "right"])),
    ]);
    let mut sanitiser = Builder::empty();
    sanitiser
        .tags(tags.split_whitespace().collect())
        .tag_attributes(attributes)
        .tag_attribute_values(values)
        .allowed_classes(classes)
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Custom(Box::new(document_page)))
        .link_rel(Some("noopener nofollow ugc"));
    sanitiser
}

/// The address if it is a document page, the only page of this site that a text may link to.
fn document_page(address: &str) -> Option<Cow<'_, str>> {
    let (id, version) = address.strip_prefix("/doc/")?.split_once("?version=")?;
    id.parse::<DocumentId>().ok()?;
    version.parse::<u64>().ok()?;
    Some(Cow::Borrowed(address))
}
