-- Names: people call a debate by a slug made from its title, and find it by the repository in which it
-- was opened. Older debates get their slugs in the same transaction, from the code that makes them.

alter table debates add column slug text;
-- A hash of the repository's address or folder, and what people call it.
alter table debates add column project text;
alter table debates add column project_name text;
alter table debates add column branch text;
alter table debates add column commit_id text;

-- Archived debates are left out of lists. What is archived can come back.
alter table debates add column archived_at integer;

create unique index debates_by_slug on debates (slug) where slug is not null;
create index debates_by_project on debates (project, state, updated_at desc, id)
    where deleted_at is null and archived_at is null and project is not null;

create trigger debates_keep_their_slugs before update of slug on debates when old.slug is not null
begin
    select raise(abort, 'the slug of a debate is never changed');
end;
create trigger debates_keep_their_origin
before update of project, project_name, branch, commit_id on debates
begin
    select raise(abort, 'where a debate was opened is never changed');
end;

drop index debates_by_state;
drop index debates_by_type;
drop index debates_without_opponent;
drop index debates_without_opponent_by_type;
create index debates_by_state on debates (state, updated_at desc, id)
    where deleted_at is null and archived_at is null;
create index debates_by_type on debates (debate_type, state, updated_at desc, id)
    where deleted_at is null and archived_at is null;
create index debates_without_opponent on debates (updated_at desc, id)
    where deleted_at is null and archived_at is null and state = 'AWAITING_OPPONENT' and opponent_count = 0;
create index debates_without_opponent_by_type on debates (debate_type, updated_at desc, id)
    where deleted_at is null and archived_at is null and state = 'AWAITING_OPPONENT' and opponent_count = 0;
create index debates_archived on debates (state, updated_at desc, id)
    where deleted_at is null and archived_at is not null;

-- A document has a title, and is found by it.
alter table documents add column title text;
alter table documents add column name text;
create index documents_by_name on documents (name) where name is not null;
-- A version that equals the newest one is not kept twice; a retry of its request finds that one.
create table repeated_versions (
    document_key integer not null references documents (key),
    client_request_id blob not null check (length(client_request_id) = 16),
    version integer not null,
    primary key (document_key, client_request_id)
) without rowid;
