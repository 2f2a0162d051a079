-- What each person has seen, as SQLite's migration 10 explains it.

create table seen (
    holder bytea not null check (length(holder) = 32),
    debate_key bigint not null references debates (key),
    seq bigint not null check (seq >= 1),
    primary key (holder, debate_key)
);
