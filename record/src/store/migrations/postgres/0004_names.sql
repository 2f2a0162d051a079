-- SQLite's migration 8 says why.

alter table debates add column slug text collate "C";
alter table debates add column project text collate "C";
alter table debates add column project_name text collate "C";
alter table debates add column branch text collate "C";
alter table debates add column commit_id text collate "C";

create unique index debates_by_slug on debates (slug) where slug is not null;
create index debates_by_project on debates (project, state, updated_at desc, id)
    where deleted_at is null and project is not null;

create trigger debates_keep_their_slugs before update of slug on debates
for each row when (old.slug is not null)
execute function aw_refuse('the slug of a debate is never changed');
create trigger debates_keep_their_origin
before update of project, project_name, branch, commit_id on debates
for each row execute function aw_refuse('where a debate was opened is never changed');
