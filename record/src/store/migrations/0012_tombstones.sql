-- Purging removes the texts of a debate, and of documents, for good. What is left is a tombstone. Only a
-- debate or a document with a tombstone loses its texts.

create table tombstones (
    thing text not null check (thing in ('debate', 'document')),
    -- Of the debate, or of the document.
    key integer not null,
    purged_at integer not null,
    -- How many arguments or versions there were.
    pieces integer not null check (pieces >= 1),
    -- The hash of the newest argument, or the checksum of the newest version.
    hash blob not null check (length(hash) = 32),
    primary key (thing, key)
) without rowid;

create trigger tombstones_never_change before update on tombstones
begin
    select raise(abort, 'tombstones are never changed');
end;
create trigger tombstones_never_go before delete on tombstones
begin
    select raise(abort, 'tombstones are never deleted');
end;

drop trigger arguments_never_go;
create trigger arguments_never_go before delete on arguments
when not exists (select 1 from tombstones where thing = 'debate' and key = old.debate_key)
begin
    select raise(abort, 'arguments are never deleted');
end;
drop trigger type_texts_never_go;
create trigger type_texts_never_go before delete on type_texts
when not exists (select 1 from tombstones where thing = 'debate' and key = old.debate_key)
begin
    select raise(abort, 'the texts of a debate''s type are never deleted');
end;
drop trigger citations_never_go;
create trigger citations_never_go before delete on citations
when not exists (select 1 from tombstones where thing = 'debate' and key = old.debate_key)
begin
    select raise(abort, 'citations are never deleted');
end;
drop trigger versions_never_go;
create trigger versions_never_go before delete on document_versions
when not exists (select 1 from tombstones where thing = 'document' and key = old.document_key)
begin
    select raise(abort, 'versions are never deleted');
end;

drop trigger debates_keep_their_words;
create trigger debates_keep_their_words
before update of key, id, debate_type, resolution_policy, created_at on debates
begin
    select raise(abort, 'what a debate was opened with is never changed');
end;
create trigger debates_keep_their_titles before update of title on debates
when not exists (select 1 from tombstones where thing = 'debate' and key = old.key)
begin
    select raise(abort, 'what a debate was opened with is never changed');
end;
drop trigger debates_keep_their_slugs;
create trigger debates_keep_their_slugs before update of slug on debates
when old.slug is not null
    and not exists (select 1 from tombstones where thing = 'debate' and key = old.key)
begin
    select raise(abort, 'the slug of a debate is never changed');
end;
drop trigger debates_keep_their_origin;
create trigger debates_keep_their_origin
before update of project, project_name, branch, commit_id on debates
when not exists (select 1 from tombstones where thing = 'debate' and key = old.key)
begin
    select raise(abort, 'where a debate was opened is never changed');
end;
