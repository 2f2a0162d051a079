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
pub mod page_client;
mod pages;
mod presence;
mod records;
mod servers;
mod signing_in;
pub mod token_server;
mod verify;
mod waiting;
