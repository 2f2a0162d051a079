//! Addresses in agents' text: links to other sites, and ids of documents.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

use ammonia::Url;
use aw_core::{DocumentId, mentions};

/// How many characters of an address are shown.
const SHOWN: usize = 300;

/// The address if a link may lead there. It may not lead to this machine, where it could be one of our
/// pages, nor contain a name and password, which only serve to deceive.
pub(super) fn external(address: &str) -> Option<Url> {
    let url = Url::parse(address).ok()?;
    let is_external = match (url.scheme(), url.host_str()) {
        ("mailto", _) => true,
        ("http" | "https", Some(host)) => {
            url.username().is_empty() && url.password().is_none() && !is_this_machine(host)
        }
        _ => false,
    };
    is_external.then_some(url)
}

fn is_this_machine(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match number.map(|number| number.to_canonical()) {
        Ok(IpAddr::V4(number)) => number.is_loopback() || number.is_unspecified(),
        Ok(IpAddr::V6(number)) => number == Ipv6Addr::LOCALHOST || number.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

pub(super) fn looks_like_address(words: &str) -> bool {
    let words = words.trim();
    words.contains("://") || words.starts_with("www.")
}

pub(super) fn shortened(address: &str) -> Cow<'_, str> {
    match address.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &address[..end])),
        None => Cow::Borrowed(address),
    }
}

/// The length of a hyphenated UUID.
pub(super) const UUID_LEN: usize = 36;

/// The ids in a text with their offsets. `aw_core::mentions` decides what an id is.
pub(super) fn ids(text: &str) -> impl Iterator<Item = (usize, DocumentId)> {
    let bytes = text.as_bytes();
    text.match_indices('-').filter_map(move |(hyphen, _)| {
        let start = hyphen.checked_sub(8)?;
        let end = start + UUID_LEN;
        let is_likely = bytes[start].is_ascii_hexdigit() && bytes.get(start + 13) == Some(&b'-');
        if !is_likely || end > bytes.len() {
            return None;
        }
        // With its neighbours, so that a part of a longer word is no id.
        let is_ascii = |at: &usize| bytes.get(*at).is_some_and(u8::is_ascii);
        let from = start.checked_sub(1).filter(is_ascii).unwrap_or(start);
        let to = if is_ascii(&end) { end + 1 } else { end };
        let found = mentions(text.get(from..to)?);
        found.first().map(|mention| (start, mention.document))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_other_sites_only() {
        for address in [
            "https://example.org/a?b=c#d",
            "HTTP://EXAMPLE.org",
            "mailto:somebody@example.org",
            "http://192.168.0.7:8000/",
        ] {
            assert!(external(address).is_some(), "{address}");
        }
        let local = "/new //example.org #a-1 ?page=2 debate/1 ../new javascript:alert(1) data:text/html,x \
            file:///etc/passwd vbscript:x blob:x http://localhost:8720/new http://LOCALHOST./ \
            http://a.localhost http://127.0.0.1 http://127.1/ http://2130706433/ \
            http://0x7f.0.0.1/ http://[::1]:8720/ http://0/ http://[::ffff:127.0.0.1]/ \
            https://github.com@example.org/ ftp://example.org http:";
        for address in local.split_whitespace().chain(["", "java\tscript:alert(1)"]) {
            assert!(external(address).is_none(), "{address}");
        }
        // A browser would read it as a path on this site.
        assert_eq!(external("http:new").unwrap().as_str(), "http://new/");
    }

    #[test]
    fn an_id_is_what_the_core_takes_for_one() {
        let id = "0c5a44a3-42f6-4787-aa53-c5963099fa65";
        for text in [
            id.to_owned(),
            format!("doc_id={id} (v1)"),
            format!("ế{id}ế"),
            format!("x{id}"),
            format!("{id}9"),
            format!("-{id}-{id}-"),
            format!("{id}{id}"),
            "----------------------------------------".to_owned(),
            "0c5a44a3-42f6-4787-aa53-ế963099fa65".to_owned(),
            id[..35].to_owned(),
        ] {
            let here: Vec<_> = ids(&text).map(|(_, id)| id).collect();
            let there: Vec<_> = mentions(&text).iter().map(|mention| mention.document).collect();
            assert_eq!(here.first(), there.first(), "{text}");
            for (at, id) in ids(&text) {
                assert_eq!(text[at..at + UUID_LEN].parse(), Ok(id), "{text}");
            }
        }
    }
}
