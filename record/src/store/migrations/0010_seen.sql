-- What each person has seen: the newest argument of a debate that was on their screen. A person is known by
-- the SHA-256 of a token, as in passes.

create table seen (
    holder blob not null check (length(holder) = 32),
    debate_key integer not null references debates (key),
    seq integer not null check (seq >= 1),
    primary key (holder, debate_key)
) without rowid;
