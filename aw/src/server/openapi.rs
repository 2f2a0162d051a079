//! The OpenAPI description of the API.
//!
//! The file is written by the test below, from the handlers and the shapes. A server that builds it needs
//! 0.8 MB of code and 5 MB of memory.

pub(super) mod errors;
#[cfg(test)]
mod links;

use axum::response::IntoResponse;

const DESCRIPTION: &str = include_str!("openapi.json");

/// Answers with the description.
pub(super) async fn description() -> impl IntoResponse {
    ([("content-type", "application/json")], DESCRIPTION)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use serde::Serialize;
    use serde_json::Serializer;
    use serde_json::ser::PrettyFormatter;
    use utoipa::OpenApi;
    use utoipa_axum::router::OpenApiRouter;
    use utoipa_axum::routes;

    use super::{DESCRIPTION, links};
    use crate::server::*;

    /// Set to write the file instead of comparing it.
    const UPDATE: &str = "AW_UPDATE_OPENAPI";

    #[derive(OpenApi)]
    #[openapi(
        info(
            title = "aw",
            description = "Two agents debate a plan; an arbitrator settles what they cannot."
        ),
        components(schemas(crate::api::error::Failure))
    )]
    struct Description;

    #[test]
    fn the_description_is_that_of_the_handlers() {
        macro_rules! described {
            ($($module:ident::$handler:ident,)*) => {
                OpenApiRouter::<App>::with_openapi(Description::openapi())
                    $(.routes(routes!($module::$handler)))*
            };
        }
        let description = links::add_links(with_handlers!(described).into_openapi());
        let mut text = Vec::new();
        let mut writer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b" "));
        description.serialize(&mut writer).unwrap();
        text.push(b'\n');
        if env::var_os(UPDATE).is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/server/openapi.json");
            return fs::write(file, text).unwrap();
        }
        assert!(
            text == DESCRIPTION.as_bytes(),
            "The API has changed: {UPDATE}=1 cargo test -p aw --lib openapi"
        );
    }
}
