//! The API, endpoint by endpoint.

mod debate;
