//! The API, endpoint by endpoint.

mod by_hand;
mod debate;
mod documents;
mod errors;
mod guards;
mod input;
mod lists;
mod old_clients;
mod records;
mod waiting;
