//! The API of the server, as both ends speak it: JSON shapes, error codes, advice, and the client.
//!
//! [`types`] and [`error`] are the only JSON shapes. [`client`] has the requests; [`http`] and
//! [`in_process`] send them. [`advice`] works out from the answers what a role should do next.
//! Nothing here prints or reads the record.

pub mod advice;
pub mod brief;
pub mod client;
pub mod error;
pub mod http;
pub mod in_process;
pub mod types;
