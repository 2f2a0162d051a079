//! The API, endpoint by endpoint.

mod by_hand;
mod debate;
mod documents;
mod errors;
mod feed;
mod guards;
mod input;
mod lists;
mod old_clients;
mod pages;
mod presence;
mod records;
mod waiting;
