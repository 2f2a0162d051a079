-- Tombstones of purged debates and documents, as SQLite's migration 12 explains them.

create table tombstones (
    thing text collate "C" not null check (thing in ('debate', 'document')),
    key bigint not null,
    purged_at bigint not null,
    pieces bigint not null check (pieces >= 1),
    hash bytea not null check (length(hash) = 32),
    primary key (thing, key)
);
create trigger tombstones_never_change before update on tombstones
for each statement execute function aw_refuse('tombstones are never changed');
create trigger tombstones_never_go before delete or truncate on tombstones
for each statement execute function aw_refuse('tombstones are never deleted');

-- For triggers: refuses, in the words that the trigger gives, unless there is a tombstone.
create function aw_refuse_unless_purged() returns trigger language plpgsql as $$
declare
    owner bigint := case tg_table_name
        when 'debates' then (to_jsonb(old) ->> 'key')::bigint
        when 'document_versions' then (to_jsonb(old) ->> 'document_key')::bigint
        else (to_jsonb(old) ->> 'debate_key')::bigint
    end;
    kind text := case tg_table_name when 'document_versions' then 'document' else 'debate' end;
begin
    if not exists (select 1 from tombstones where thing = kind and key = owner) then
        raise exception '%', tg_argv[0];
    end if;
    return case tg_op when 'DELETE' then old else new end;
end
$$;

drop trigger arguments_never_go on arguments;
create trigger arguments_never_go before delete on arguments
for each row execute function aw_refuse_unless_purged('arguments are never deleted');
create trigger arguments_never_vanish before truncate on arguments
for each statement execute function aw_refuse('arguments are never deleted');
drop trigger type_texts_never_go on type_texts;
create trigger type_texts_never_go before delete on type_texts
for each row execute function aw_refuse_unless_purged('the texts of a debate''s type are never deleted');
create trigger type_texts_never_vanish before truncate on type_texts
for each statement execute function aw_refuse('the texts of a debate''s type are never deleted');
drop trigger citations_never_go on citations;
create trigger citations_never_go before delete on citations
for each row execute function aw_refuse_unless_purged('citations are never deleted');
create trigger citations_never_vanish before truncate on citations
for each statement execute function aw_refuse('citations are never deleted');
drop trigger versions_never_go on document_versions;
create trigger versions_never_go before delete on document_versions
for each row execute function aw_refuse_unless_purged('versions are never deleted');
create trigger versions_never_vanish before truncate on document_versions
for each statement execute function aw_refuse('versions are never deleted');

drop trigger debates_keep_their_words on debates;
create trigger debates_keep_their_words
before update of key, id, debate_type, resolution_policy, created_at on debates
for each row execute function aw_refuse('what a debate was opened with is never changed');
create trigger debates_keep_their_titles before update of title on debates
for each row execute function aw_refuse_unless_purged('what a debate was opened with is never changed');
drop trigger debates_keep_their_slugs on debates;
create trigger debates_keep_their_slugs before update of slug on debates
for each row when (old.slug is not null)
execute function aw_refuse_unless_purged('the slug of a debate is never changed');
drop trigger debates_keep_their_origin on debates;
create trigger debates_keep_their_origin
before update of project, project_name, branch, commit_id on debates
for each row execute function aw_refuse_unless_purged('where a debate was opened is never changed');
