-- Seals: hashes over what the chain of arguments does not cover, so that a change made behind our
-- back is found there too. They lie apart from what they seal: documents are long, and a hash in
-- their own rows would stand behind the text.

create table seals (
    thing text not null check (thing in ('debate', 'citations', 'document')),
    -- Of the debate, or of the document.
    key integer not null,
    -- Of a debate: 1 for its own words, 2 for when it was last touched before it was imported.
    -- Of citations: the argument that means them. Of a document: the version, each chained to its
    -- predecessor. And 0 for when either was deleted.
    number integer not null check (number >= 0),
    hash blob not null check (length(hash) = 32),
    primary key (thing, key, number)
) without rowid;

create trigger seals_never_change before update on seals
begin
    select raise(abort, 'seals are never changed');
end;
create trigger seals_never_go before delete on seals
begin
    select raise(abort, 'seals are never deleted');
end;

-- What is sealed never changes.

create trigger debates_keep_their_words
before update of key, id, title, debate_type, resolution_policy, created_at on debates
begin
    select raise(abort, 'what a debate was opened with is never changed');
end;
create trigger debates_stay_deleted before update of deleted_at on debates
when old.deleted_at is not null
begin
    select raise(abort, 'a debate is deleted once');
end;
create trigger debates_never_go before delete on debates
begin
    select raise(abort, 'debates are hidden, never removed');
end;

create trigger documents_keep_their_names before update of key, id, client_request_id on documents
begin
    select raise(abort, 'what a document was kept with is never changed');
end;
create trigger documents_stay_deleted before update of deleted_at on documents
when old.deleted_at is not null
begin
    select raise(abort, 'a document is deleted once');
end;
create trigger documents_never_go before delete on documents
begin
    select raise(abort, 'documents are hidden, never removed');
end;

create trigger citations_never_change before update on citations
begin
    select raise(abort, 'citations are never changed');
end;
create trigger citations_never_go before delete on citations
begin
    select raise(abort, 'citations are never deleted');
end;
