-- SQLite's migration 6 says why.

create table former_ids (
    debate_key bigint primary key references debates (key),
    id text collate "C" not null unique
);
create trigger former_ids_never_change before update on former_ids
for each statement execute function aw_refuse('former ids are never changed');
create trigger former_ids_never_go before delete or truncate on former_ids
for each statement execute function aw_refuse('former ids are never deleted');
