-- Points: the objections of a debate, with their quotes. Texts, citations and versions determine
-- everything here but the settings, so all of it is a cache, and verification works it out again.

-- The settings, which the debate's checksum covers. The form is the version of the grammar.
alter table debates add column points_form integer;
alter table debates add column points_rounds integer;
alter table debates add column points_blocking text check (points_blocking in ('critical', 'major'));
-- The CLAIMs of the opponent and the RULINGs that count, whether the opponent agrees, the newest
-- argument that cites a new version, and why the newest RESOLUTION is held.
alter table debates add column points_claims integer;
alter table debates add column points_rulings integer;
alter table debates add column points_agreed integer;
alter table debates add column points_revised integer;
alter table debates add column points_held_seq integer;
alter table debates add column points_held text;

create trigger debates_keep_their_points
before update of points_form, points_rounds, points_blocking on debates
begin
    select raise(abort, 'the settings of a debate''s points are never changed');
end;

create table points (
    debate_key integer not null references debates (key),
    number integer not null check (number >= 1),
    severity text not null,
    title text not null,
    state text not null,
    late integer not null,
    unchanged integer not null,
    disputes integer not null,
    ruled integer not null,
    evidenced integer not null,
    -- The document in which a quote of it was found.
    document_key integer references documents (key),
    -- The last word of the opponent, or of an upholding RULING, on it.
    demanded_seq integer not null,
    raised_seq integer not null,
    last_seq integer not null,
    -- Whether it blocks completion, for lists.
    blocks integer not null,
    primary key (debate_key, number)
) without rowid;

-- The documents that the proposer and the arbitrator cite: the newest version, and the one that was
-- the newest at the opponent's latest CLAIM.
create table point_documents (
    debate_key integer not null references debates (key),
    ordinal integer not null,
    document_key integer not null references documents (key),
    version integer not null,
    examined integer,
    primary key (debate_key, ordinal)
) without rowid;

-- The statements of each argument, in the order of its text. A VERDICT has no number and no state.
create table point_turns (
    debate_key integer not null references debates (key),
    seq integer not null,
    ordinal integer not null,
    line integer not null,
    subject text not null check (subject in ('NEW', 'VERDICT', 'P')),
    number integer,
    word text not null,
    state text,
    primary key (debate_key, seq, ordinal)
) without rowid;
create index point_turns_by_point on point_turns (debate_key, number, seq);

-- The quotes of each statement, and where they were found.
create table point_quotes (
    debate_key integer not null references debates (key),
    seq integer not null,
    turn integer not null,
    ordinal integer not null,
    line integer not null,
    text text not null,
    source text,
    result text not null,
    document_key integer references documents (key),
    version integer,
    argument_seq integer,
    first_line integer,
    last_line integer,
    primary key (debate_key, seq, turn, ordinal)
) without rowid;
