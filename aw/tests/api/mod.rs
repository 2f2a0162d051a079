//! The API, endpoint by endpoint.

pub mod by_hand;
mod debate;
mod description;
mod documents;
mod errors;
mod feed;
mod guards;
mod input;
mod lists;
mod long;
mod old_clients;
mod pages;
mod presence;
mod records;
pub mod seen;
mod servers;
mod signing_in;
pub mod token_server;
mod verify;
mod waiting;
