-- The record: debates, their arguments, and the documents that they cite.
--
-- UUIDs are 16 bytes, times are milliseconds since 1970, words are the protocol's own. Inside the
-- file debates and documents have an integer key, which makes every other row and index smaller.
-- What must always hold is held here as well as in the code: order and uniqueness by keys, and
-- that history is only ever added to by triggers.

create table meta (
    name text primary key,
    value blob not null
) without rowid;
-- Written to find out whether writing works.
insert into meta (name, value) values ('pulse', 0);

create table debates (
    key integer primary key,
    id blob not null unique check (length(id) = 16),
    title text not null,
    debate_type text not null,
    resolution_policy text not null check (resolution_policy in ('auto', 'arbitrator')),
    -- The standing: a cached fold of the arguments.
    state text not null check (state in (
        'AWAITING_OPPONENT', 'AWAITING_PROPOSER', 'AWAITING_ARBITRATOR', 'INTERVENTION_PENDING', 'CLOSED'
    )),
    last_seq integer not null check (last_seq >= 1),
    proposer_count integer not null,
    opponent_count integer not null,
    proposer_newest integer,
    opponent_newest integer,
    arbitrator_newest integer,
    proposer_interrupted integer,
    opponent_interrupted integer,
    created_at integer not null,
    updated_at integer not null,
    deleted_at integer
);

-- A list of debates is a merge of a few runs of these: one for each state that is asked for.
create index debates_by_state on debates (state, updated_at desc, id) where deleted_at is null;
create index debates_by_type on debates (debate_type, state, updated_at desc, id) where deleted_at is null;
create index debates_without_opponent on debates (updated_at desc, id)
    where deleted_at is null and state = 'AWAITING_OPPONENT' and opponent_count = 0;
create index debates_without_opponent_by_type on debates (debate_type, updated_at desc, id)
    where deleted_at is null and state = 'AWAITING_OPPONENT' and opponent_count = 0;

-- How many debates there are by type; the row with the empty type counts all of them.
create table debate_counts (
    debate_type text primary key,
    awaiting_opponent integer not null default 0,
    awaiting_proposer integer not null default 0,
    awaiting_arbitrator integer not null default 0,
    intervention_pending integer not null default 0,
    closed integer not null default 0
) without rowid;

-- Its rowid is the debate's key. Titles never change.
create virtual table debate_titles using fts5 (title, tokenize = 'trigram remove_diacritics 1');

create table arguments (
    debate_key integer not null references debates (key),
    seq integer not null check (seq >= 1),
    id blob not null unique check (length(id) = 16),
    parent_id blob check (length(parent_id) = 16),
    type text not null check (type in ('MOTION', 'CLAIM', 'APPEAL', 'RULING', 'INTERVENTION', 'RESOLUTION')),
    role text not null check (role in ('proposer', 'opponent', 'arbitrator')),
    -- The INTERVENTION for which it was parked.
    parked_for integer,
    close integer check ((close is not null) = (type = 'RULING')),
    automatic integer not null,
    via text not null,
    author text,
    client_request_id blob not null check (length(client_request_id) = 16),
    created_at integer not null,
    -- How many of the first `seq` arguments these roles wrote: counts what is unseen without reading it.
    proposer_count integer not null,
    opponent_count integer not null,
    previous_hash blob not null check (length(previous_hash) = 32),
    hash blob not null check (length(hash) = 32),
    content text not null,
    unique (debate_key, seq),               -- two writers cannot take one turn
    unique (debate_key, client_request_id), -- a retry finds its first answer
    check ((seq = 1) = (type = 'MOTION'))
);

create index rulings on arguments (debate_key, seq) where type = 'RULING';

create trigger arguments_follow_each_other before insert on arguments when new.seq > 1
begin
    select raise(abort, 'an argument must follow its predecessor')
    where not exists (
        select 1 from arguments
        where debate_key = new.debate_key and seq = new.seq - 1
          and hash = new.previous_hash and created_at <= new.created_at
    );
end;
create trigger arguments_begin_the_chain before insert on arguments when new.seq = 1
begin
    select raise(abort, 'the first argument has no predecessor') where new.previous_hash <> zeroblob(32);
end;
create trigger arguments_never_change before update on arguments
begin
    select raise(abort, 'arguments are never changed');
end;
create trigger arguments_never_go before delete on arguments
begin
    select raise(abort, 'arguments are never deleted');
end;

create table documents (
    key integer primary key,
    id blob not null unique check (length(id) = 16),
    client_request_id blob not null unique check (length(client_request_id) = 16),
    -- The newest version, as lists show it.
    version integer not null check (version >= 1),
    summary text not null,
    updated_at integer not null,
    deleted_at integer
);

create index documents_by_time on documents (updated_at desc, id) where deleted_at is null;
create index documents_by_time_with_deleted on documents (updated_at desc, id);

create table document_counts (
    live integer not null,
    deleted integer not null
);
insert into document_counts (live, deleted) values (0, 0);

-- Its rowid is the document's key; the newest summary of each.
create virtual table document_summaries using fts5 (summary, tokenize = 'trigram remove_diacritics 1');

create table document_versions (
    document_key integer not null references documents (key),
    version integer not null check (version >= 1),
    summary text not null,
    author text,
    metadata text not null,
    client_request_id blob not null check (length(client_request_id) = 16),
    created_at integer not null,
    content text not null,
    unique (document_key, version),
    unique (document_key, client_request_id)
);

create trigger versions_follow_each_other before insert on document_versions when new.version > 1
begin
    select raise(abort, 'a version must follow its predecessor')
    where not exists (
        select 1 from document_versions
        where document_key = new.document_key and version = new.version - 1
    );
end;
create trigger versions_never_change before update on document_versions
begin
    select raise(abort, 'versions are never changed');
end;
create trigger versions_never_go before delete on document_versions
begin
    select raise(abort, 'versions are never deleted');
end;

-- Which version of a document an argument means.
create table citations (
    debate_key integer not null,
    seq integer not null,
    document_key integer not null references documents (key),
    version integer not null,
    primary key (debate_key, seq, document_key)
) without rowid;

-- The documents of a debate, each in the version that was cited last.
create table debate_documents (
    debate_key integer not null references debates (key),
    document_key integer not null references documents (key),
    version integer not null,
    seq integer not null,
    primary key (debate_key, document_key)
) without rowid;
