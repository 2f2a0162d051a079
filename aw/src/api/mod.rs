//! The API of the server, as both ends speak it: JSON shapes, error codes, advice, and the client.
//!
//! [`types`] and [`error`] are the only JSON shapes. [`advice`] works out from them what a role does
//! next. Nothing here prints, reads the record or knows who calls.

pub mod advice;
pub mod error;
pub mod http;
pub mod types;
