//! What a request may be refused with, for the description of the API.

use std::collections::BTreeMap;

use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::api::error::Failure;

const READING: &[(&str, &str)] = &[
    ("400", "INVALID_INPUT"),
    ("401", "AUTH_FAILED"),
    ("403", "FORBIDDEN"),
    ("404", "DEBATE_NOT_FOUND, ARGUMENT_NOT_FOUND, DOCUMENT_NOT_FOUND or VERSION_NOT_FOUND"),
    ("500", "SERVER_ERROR or RECORD_DAMAGED"),
    ("503", "SERVER_BUSY"),
];

const WRITING: &[(&str, &str)] = &[
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

/// Of a request that reads.
pub(super) struct ReadRefused;

/// Of a request that writes.
pub(super) struct WriteRefused;

impl IntoResponses for ReadRefused {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        described(READING)
    }
}

impl IntoResponses for WriteRefused {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        described(WRITING)
    }
}

fn described(refusals: &[(&str, &str)]) -> BTreeMap<String, RefOr<Response>> {
    let response = |codes: &str| {
        let body = Content::new(Some(Ref::from_schema_name(Failure::name())));
        ResponseBuilder::new().description(codes).content("application/json", body).build()
    };
    refusals.iter().map(|(status, codes)| ((*status).to_owned(), response(codes).into())).collect()
}
