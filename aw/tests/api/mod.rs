//! The API, endpoint by endpoint.

mod debate;
mod description;
mod documents;
mod errors;
mod feed;
mod guards;
mod input;
mod lists;
mod long_responses;
mod names;
mod old_clients;
mod pages;
mod points;
mod presence;
pub mod raw_http;
mod records;
mod result;
mod search;
mod seen;
mod servers;
mod signing_in;
pub mod token_server;
mod verify;
mod waiting;
