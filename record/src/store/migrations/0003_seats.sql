-- Seats: who may call where the server asks. A token is shown once to whoever it was made for; here
-- is only its SHA-256. What was written from a seat keeps the seat's name.

create table seats (
    key integer primary key,
    id blob not null unique check (length(id) = 16),
    name text not null,
    role text not null check (role in ('proposer', 'opponent', 'arbitrator', 'observer')),
    -- The only debate that it may take part in; without one, any.
    debate_key integer references debates (key),
    token_hash blob not null unique check (length(token_hash) = 32),
    created_at integer not null,
    expires_at integer,
    revoked_at integer
);

create trigger seats_never_go before delete on seats
begin
    select raise(abort, 'seats are never deleted: what was written from them names them');
end;

-- What a browser holds instead of a token: by its SHA-256, and for whom, by the SHA-256 of the token.
create table passes (
    hash blob primary key check (length(hash) = 32),
    holder blob not null check (length(holder) = 32),
    -- A link, which is good for one visit, or a session.
    once integer not null,
    expires_at integer not null
) without rowid;

create index passes_by_end on passes (expires_at);

alter table arguments add column seat text;

-- Whose document it is: a seat of one debate sees what that debate cites and what it wrote itself.
alter table documents add column seat_key integer references seats (key);
create index documents_by_seat on documents (seat_key) where seat_key is not null;
