//! An answer as JSON.

use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::error::Problem;

/// As much as most answers need.
const USUAL: usize = 2048;

/// An answer as JSON. axum's own begins with 128 bytes and doubles them, which a transcript of ten
/// arguments pays for seven times.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut text = Vec::with_capacity(USUAL);
        match serde_json::to_writer(&mut text, &self.0) {
            Ok(()) => {
                let kind = HeaderValue::from_static("application/json");
                ([(CONTENT_TYPE, kind)], text).into_response()
            }
            Err(error) => Problem::fault(format!("an answer: {error}")).into_response(),
        }
    }
}
