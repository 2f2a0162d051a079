-- SQLite's migration 7 says why.

alter table debates add column points_form bigint;
alter table debates add column points_rounds bigint;
alter table debates add column points_blocking text collate "C" check (points_blocking in ('critical', 'major'));
alter table debates add column points_claims bigint;
alter table debates add column points_rulings bigint;
alter table debates add column points_agreed boolean;
alter table debates add column points_revised bigint;
alter table debates add column points_held_seq bigint;
alter table debates add column points_held text collate "C";

create trigger debates_keep_their_points
before update of points_form, points_rounds, points_blocking on debates
for each row execute function aw_refuse('the settings of a debate''s points are never changed');

create table points (
    debate_key bigint not null references debates (key),
    number bigint not null check (number >= 1),
    severity text collate "C" not null,
    title text collate "C" not null,
    state text collate "C" not null,
    late boolean not null,
    unchanged boolean not null,
    disputes bigint not null,
    ruled boolean not null,
    evidenced boolean not null,
    document_key bigint references documents (key),
    demanded_seq bigint not null,
    raised_seq bigint not null,
    last_seq bigint not null,
    blocks boolean not null,
    primary key (debate_key, number)
);

create table point_documents (
    debate_key bigint not null references debates (key),
    ordinal bigint not null,
    document_key bigint not null references documents (key),
    version bigint not null,
    examined bigint,
    primary key (debate_key, ordinal)
);

create table point_turns (
    debate_key bigint not null references debates (key),
    seq bigint not null,
    ordinal bigint not null,
    line bigint not null,
    subject text collate "C" not null check (subject in ('NEW', 'VERDICT', 'P')),
    number bigint,
    word text collate "C" not null,
    state text collate "C",
    primary key (debate_key, seq, ordinal)
);
create index point_turns_by_point on point_turns (debate_key, number, seq);

create table point_quotes (
    debate_key bigint not null references debates (key),
    seq bigint not null,
    turn bigint not null,
    ordinal bigint not null,
    line bigint not null,
    text text collate "C" not null,
    source text collate "C",
    result text collate "C" not null,
    document_key bigint references documents (key),
    version bigint,
    argument_seq bigint,
    first_line bigint,
    last_line bigint,
    primary key (debate_key, seq, turn, ordinal)
);
