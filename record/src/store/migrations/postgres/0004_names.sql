-- SQLite's migration 8 says why.

alter table debates add column slug text collate "C";
alter table debates add column project text collate "C";
alter table debates add column project_name text collate "C";
alter table debates add column branch text collate "C";
alter table debates add column commit_id text collate "C";

alter table debates add column archived_at bigint;

create unique index debates_by_slug on debates (slug) where slug is not null;
create index debates_by_project on debates (project, state, updated_at desc, id)
    where deleted_at is null and archived_at is null and project is not null;

create trigger debates_keep_their_slugs before update of slug on debates
for each row when (old.slug is not null)
execute function aw_refuse('the slug of a debate is never changed');
create trigger debates_keep_their_origin
before update of project, project_name, branch, commit_id on debates
for each row execute function aw_refuse('where a debate was opened is never changed');

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

alter table documents add column title text collate "C";
alter table documents add column name text collate "C";
create index documents_by_name on documents (name) where name is not null;
create table repeated_versions (
    document_key bigint not null references documents (key),
    client_request_id bytea not null check (length(client_request_id) = 16),
    version bigint not null,
    primary key (document_key, client_request_id)
);
