-- Names: people call a debate by a slug made from its title, and find it by the repository in which it
-- was opened. Older debates get their slugs in the same transaction, from the code that makes them.

alter table debates add column slug text;
-- A hash of the repository's address or folder, and what people call it.
alter table debates add column project text;
alter table debates add column project_name text;
alter table debates add column branch text;
alter table debates add column commit_id text;

create unique index debates_by_slug on debates (slug) where slug is not null;
create index debates_by_project on debates (project, state, updated_at desc, id)
    where deleted_at is null and project is not null;

create trigger debates_keep_their_slugs before update of slug on debates when old.slug is not null
begin
    select raise(abort, 'the slug of a debate is never changed');
end;
create trigger debates_keep_their_origin
before update of project, project_name, branch, commit_id on debates
begin
    select raise(abort, 'where a debate was opened is never changed');
end;
