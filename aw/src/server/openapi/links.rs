//! OpenAPI links: which operations accept the ids that a response contains.
//!
//! Generated clients and API test tools follow them from one operation to the next.

use serde_json::json;
use utoipa::openapi::link::{Link, LinkBuilder};
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, RefOr};

/// Links from some responses to some operations.
struct LinkGroup {
    /// The operation and status of a response; the JSON pointers to an id in it and to a detail.
    from: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// The operation, its parameter for the id, and its place for the detail.
    to: &'static [(&'static str, &'static str, Detail)],
}

/// Where an operation accepts the detail: the argument of a debate or the version of a document.
enum Detail {
    Unused,
    Parameter(&'static str),
    BodyField(&'static str),
}

/// Links between the operations on debates, on documents and on tokens.
const GROUPS: [LinkGroup; 3] = [
    LinkGroup {
        from: &[
            ("create_debate", "201", "/data/debate/id", "/data/argument/id"),
            ("create_debate", "200", "/data/debate/id", "/data/argument/id"),
            ("claim", "201", "/data/debate/id", "/data/argument/id"),
            ("appeal", "201", "/data/debate/id", "/data/argument/id"),
            ("request_completion", "201", "/data/debate/id", "/data/argument/id"),
            ("rule", "201", "/data/debate/id", "/data/argument/id"),
            ("intervene", "201", "/data/debate/id", "/data/argument/id"),
            ("get_debate", "200", "/data/debate/id", "/data/motion/id"),
        ],
        to: &[
            ("get_debate", "id", Detail::Unused),
            ("delete_debate", "id", Detail::Unused),
            ("archive_debate", "id", Detail::Unused),
            ("preview_purge", "id", Detail::Unused),
            ("purge_debate", "id", Detail::Unused),
            ("type_of_debate", "id", Detail::Unused),
            ("export_debate", "id", Detail::Unused),
            ("report_debate", "id", Detail::Unused),
            ("verify_debate", "id", Detail::Unused),
            ("list_points", "id", Detail::Unused),
            ("get_point", "id", Detail::Unused),
            ("check_move", "id", Detail::BodyField("target_id")),
            ("poll", "id", Detail::Parameter("argument_id")),
            ("wait", "id", Detail::Parameter("argument_id")),
            ("set_presence", "id", Detail::Unused),
            ("set_seen", "id", Detail::Unused),
            ("follow", "debate_id", Detail::Unused),
            ("claim", "id", Detail::BodyField("target_id")),
            ("appeal", "id", Detail::BodyField("target_id")),
            ("request_completion", "id", Detail::BodyField("target_id")),
            ("rule", "id", Detail::BodyField("target_id")),
            ("intervene", "id", Detail::Unused),
        ],
    },
    LinkGroup {
        from: &[
            ("create_document", "201", "/data/document_id", "/data/version"),
            ("create_document", "200", "/data/document_id", "/data/version"),
            ("add_version", "201", "/data/document_id", "/data/version"),
            ("get_document", "200", "/data/document_id", "/data/version"),
        ],
        to: &[
            ("get_document", "id", Detail::Parameter("version")),
            ("delete_document", "id", Detail::Unused),
            ("list_versions", "id", Detail::Unused),
            ("add_version", "id", Detail::Unused),
            ("diff_versions", "id", Detail::Parameter("to")),
        ],
    },
    LinkGroup {
        from: &[("create_token", "201", "/data/token_id", "")],
        to: &[("revoke_token", "id", Detail::Unused)],
    },
];

/// Adds the links to a description.
pub(super) fn add_links(mut description: OpenApi) -> OpenApi {
    for group in GROUPS {
        for (from, status, id, detail) in group.from {
            let links = group.to.iter().map(|(to, parameter, takes)| {
                let link = LinkBuilder::new().operation_id(*to).parameter(*parameter, in_body(id));
                let link: Link = match takes {
                    Detail::Unused => link,
                    Detail::Parameter(name) => link.parameter(*name, in_body(detail)),
                    Detail::BodyField(name) => {
                        link.request_body(Some(json!({*name: in_body(detail)})))
                    }
                }
                .build();
                ((*to).to_owned(), RefOr::T(link))
            });
            let response =
                operation(&mut description, from).and_then(|operation| {
                    match operation.responses.responses.get_mut(*status) {
                        Some(RefOr::T(response)) => Some(response),
                        Some(RefOr::Ref(_)) | None => None,
                    }
                });
            response.expect("the description has every response in GROUPS").links.extend(links);
        }
    }
    description
}

/// The runtime expression for a JSON pointer into the response body.
fn in_body(pointer: &str) -> String {
    format!("$response.body#{pointer}")
}

fn operation<'a>(description: &'a mut OpenApi, id: &str) -> Option<&'a mut Operation> {
    let items = description.paths.paths.values_mut();
    let mut all = items.flat_map(|item| {
        [&mut item.get, &mut item.post, &mut item.put, &mut item.delete]
            .into_iter()
            .filter_map(Option::as_mut)
    });
    all.find(|operation| operation.operation_id.as_deref() == Some(id))
}
