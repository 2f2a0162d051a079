//! `/tokens`: the seats of this server. `/links`: links that sign a browser in.

use aw_core::{Hash, SeatName, Time};
use aw_record::{NewSeat, Pass, SeatRole};
use axum::http::StatusCode;
use uuid::Uuid;

use super::access::Access;
use super::error::Problem;
use super::input::{self, Body, Segment};
use super::json::{Json, JsonResult};
use super::openapi::errors::{ReadErrors, WriteErrors};
use super::pages;
use crate::api::types::{CreateLink, CreateToken, Link, NewToken, Seat, Stamp, Success, TokenList};
use crate::policy::Command;
use crate::token::Token;

/// The lifetime of a link, in milliseconds.
const LINK_LASTS: i64 = 10 * 60 * 1000;

/// The longest lifetime of a token, in seconds: a hundred years.
const LONGEST: u64 = 100 * 365 * 24 * 60 * 60;

/// Makes a seat and returns its token, which cannot be read again.
#[utoipa::path(
    post,
    path = "/tokens",
    operation_id = "create_token",
    request_body = CreateToken,
    responses(
        (status = 201, body = Success<NewToken>),
        WriteErrors,
    )
)]
pub(super) async fn create(
    access: Access,
    Body(body): Body<CreateToken>,
) -> Result<(StatusCode, Json<Success<NewToken>>), Problem> {
    let role: SeatRole = input::value("role", &body.role)?;
    let debate = match body.debate_id.filter(|id| !id.is_empty()) {
        Some(id) => Some(input::debate_id(&access.app, &id).await?),
        None => None,
    };
    let name = body.name.filter(|name| !name.is_empty()).unwrap_or_else(|| role.to_string());
    let name = SeatName::parse(name).map_err(|bad| Problem::text("name", bad))?;
    let administration = access.administration()?;
    let end = |seconds: u64| {
        let fits = i64::try_from(seconds).ok().filter(|_| (1..=LONGEST).contains(&seconds));
        let seconds = fits.ok_or_else(|| {
            Problem::input("expires_in", format!("`expires_in` must be 1 to {LONGEST} seconds"))
        })?;
        Ok::<_, Problem>(Time(administration.now().0 + seconds * 1000))
    };
    let expires_at = body.expires_in.map(end).transpose()?;
    let token = Token::new();
    let new = NewSeat { name, role, debate, expires_at, token: token.digest() };
    let seat = administration.make_seat(new).await?;
    let answer = NewToken {
        token: token.as_str().to_owned(),
        seat: (&seat).into(),
        wanted: access.app.guard.wants_token,
        public_url: access.app.guard.public.first().map(|url| url.origin().to_owned()),
    };
    Ok((StatusCode::CREATED, Json(Success::new(answer))))
}

/// Lists the seats, the newest first, without their tokens.
#[utoipa::path(
    get,
    path = "/tokens",
    operation_id = "list_tokens",
    responses(
        (status = 200, body = Success<TokenList>),
        ReadErrors,
    )
)]
pub(super) async fn list(access: Access) -> JsonResult<TokenList> {
    let seats = access.administration()?.seats().await?;
    let tokens: Vec<Seat> = seats.iter().map(Seat::from).collect();
    let (total, wanted) = (tokens.len() as u64, access.app.guard.wants_token);
    Ok(Json(Success::new(TokenList { tokens, total, wanted })))
}

/// Revokes a token, which is named by its id or by its SHA-256 in hexadecimal digits.
#[utoipa::path(
    delete,
    path = "/tokens/{id}",
    operation_id = "revoke_token",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<Seat>),
        WriteErrors,
    )
)]
pub(super) async fn revoke(access: Access, Segment(id): Segment) -> JsonResult<Seat> {
    let administration = access.administration()?;
    let id: Uuid = match id.parse::<Hash>() {
        Ok(token) => {
            let unknown = || {
                let message = "no valid token of this server has this hash";
                Problem::input("token_id", message).suggest("See which there are: aw token list")
            };
            administration.seat_of(token).await?.ok_or_else(unknown)?.id
        }
        Err(_) => input::id("token_id", &id)?,
    };
    let seat = administration.revoke_seat(id).await?;
    Ok(Json(Success::new((&seat).into())))
}

/// Makes a link that signs a browser in as the caller, once.
#[utoipa::path(
    post,
    path = "/links",
    operation_id = "create_link",
    request_body = CreateLink,
    responses(
        (status = 201, body = Success<Link>),
        WriteErrors,
    )
)]
pub(super) async fn link(
    access: Access,
    Body(body): Body<CreateLink>,
) -> Result<(StatusCode, Json<Success<Link>>), Problem> {
    let to = pages::local_path(body.to.as_deref().unwrap_or("/")).to_owned();
    // A caller who may read may do so in a browser.
    access.caller.may_use(Command::DebateList)?;
    let (path, expires_at) = match access.caller.holder() {
        None => (to, None),
        Some(holder) => {
            let link = Token::new();
            let expires_at = Time(access.app.record.now().0 + LINK_LASTS);
            let pass = Pass { hash: link.digest(), holder, once: true, expires_at };
            access.app.record.give_pass(pass).await?;
            (pages::sign_in_link(&link, &to), Some(Stamp(expires_at)))
        }
    };
    Ok((StatusCode::CREATED, Json(Success::new(Link { path, expires_at }))))
}
