//! The error responses of each operation in the OpenAPI description.

use std::collections::BTreeMap;

use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::api::error::Failure;

const READ: &[(&str, &str)] = &[
    ("400", "INVALID_INPUT"),
    ("401", "AUTH_FAILED"),
    ("403", "FORBIDDEN"),
    ("404", "DEBATE_NOT_FOUND, ARGUMENT_NOT_FOUND, DOCUMENT_NOT_FOUND or VERSION_NOT_FOUND"),
    ("500", "SERVER_ERROR or RECORD_DAMAGED"),
    ("503", "SERVER_BUSY"),
];

const WRITE: &[(&str, &str)] = &[
    ("400", "INVALID_INPUT"),
    ("401", "AUTH_FAILED"),
    ("403", "ACTION_NOT_ALLOWED or FORBIDDEN"),
    ("404", "DEBATE_NOT_FOUND, ARGUMENT_NOT_FOUND or DOCUMENT_NOT_FOUND"),
    ("413", "CONTENT_TOO_LARGE"),
    ("415", "UNSUPPORTED_MEDIA_TYPE"),
    ("500", "SERVER_ERROR or RECORD_DAMAGED"),
    ("503", "SERVER_BUSY"),
    ("507", "STORAGE_FULL"),
];

/// The errors of an operation that reads.
pub(in crate::server) struct ReadErrors;

/// The errors of an operation that writes.
pub(in crate::server) struct WriteErrors;

impl IntoResponses for ReadErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(READ)
    }
}

impl IntoResponses for WriteErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(WRITE)
    }
}

fn responses(errors: &[(&str, &str)]) -> BTreeMap<String, RefOr<Response>> {
    let response = |codes: &str| {
        let body = Content::new(Some(Ref::from_schema_name(Failure::name())));
        ResponseBuilder::new().description(codes).content("application/json", body).build()
    };
    errors.iter().map(|(status, codes)| ((*status).to_owned(), response(codes).into())).collect()
}
