//! Links in the description of the API: where one can go with what an answer has told.
//!
//! Programs that read the description find their way by them, and so do those that try the server out.

use serde_json::json;
use utoipa::openapi::link::{Link, LinkBuilder};
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, RefOr};

/// What some answers tell of, and where that leads.
struct Told {
    /// The operation and the status of an answer; where in it are the id of a thing, and some part of it.
    by: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// An operation, the parameter that takes the id, and what takes the part.
    to: &'static [(&'static str, &'static str, Part)],
}

/// What takes a part of a thing.
enum Part {
    Nothing,
    Parameter(&'static str),
    /// A field of the body.
    Field(&'static str),
}

/// A debate and an argument of it; a document and a version of it; a seat.
const TOLD: [Told; 3] = [
    Told {
        by: &[
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
            ("get_debate", "id", Part::Nothing),
            ("delete_debate", "id", Part::Nothing),
            ("type_of_debate", "id", Part::Nothing),
            ("export_debate", "id", Part::Nothing),
            ("verify_debate", "id", Part::Nothing),
            ("poll", "id", Part::Parameter("argument_id")),
            ("wait", "id", Part::Parameter("argument_id")),
            ("follow", "debate_id", Part::Nothing),
            ("claim", "id", Part::Field("target_id")),
            ("appeal", "id", Part::Field("target_id")),
            ("request_completion", "id", Part::Field("target_id")),
            ("rule", "id", Part::Field("target_id")),
            ("intervene", "id", Part::Nothing),
        ],
    },
    Told {
        by: &[
            ("create_document", "201", "/data/document_id", "/data/version"),
            ("create_document", "200", "/data/document_id", "/data/version"),
            ("add_version", "201", "/data/document_id", "/data/version"),
            ("get_document", "200", "/data/document_id", "/data/version"),
        ],
        to: &[
            ("get_document", "id", Part::Parameter("version")),
            ("delete_document", "id", Part::Nothing),
            ("list_versions", "id", Part::Nothing),
            ("add_version", "id", Part::Nothing),
            ("diff_versions", "id", Part::Parameter("to")),
        ],
    },
    Told {
        by: &[("create_token", "201", "/data/token_id", "")],
        to: &[("revoke_token", "id", Part::Nothing)],
    },
];

/// The description with its links.
pub(super) fn linked(mut description: OpenApi) -> OpenApi {
    for told in TOLD {
        for (by, status, thing, part) in told.by {
            let links = told.to.iter().map(|(to, takes, takes_part)| {
                let link = LinkBuilder::new().operation_id(*to).parameter(*takes, in_body(thing));
                let link: Link = match takes_part {
                    Part::Nothing => link,
                    Part::Parameter(name) => link.parameter(*name, in_body(part)),
                    Part::Field(name) => link.request_body(Some(json!({*name: in_body(part)}))),
                }
                .build();
                ((*to).to_owned(), RefOr::T(link))
            });
            let answer = operation(&mut description, by).and_then(|operation| {
                match operation.responses.responses.get_mut(*status) {
                    Some(RefOr::T(answer)) => Some(answer),
                    Some(RefOr::Ref(_)) | None => None,
                }
            });
            answer.expect("every answer that is named here is described").links.extend(links);
        }
    }
    description
}

/// Where a link finds something in an answer.
fn in_body(pointer: &str) -> String {
    format!("$response.body#{pointer}")
}

fn operation<'a>(description: &'a mut OpenApi, id: &str) -> Option<&'a mut Operation> {
    let items = description.paths.paths.values_mut();
    let mut all = items.flat_map(|item| {
        [&mut item.get, &mut item.post, &mut item.delete].into_iter().filter_map(Option::as_mut)
    });
    all.find(|operation| operation.operation_id.as_deref() == Some(id))
}
