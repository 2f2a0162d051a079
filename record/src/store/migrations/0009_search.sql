-- Search: an index of the words of all titles, arguments and newest versions of documents. It is a
-- cache, which is brought up to date after the writes and never by them.

-- The newest argument of a debate that the index has, and the newest version of a document. These
-- indexes find what it lacks.
alter table debates add column indexed integer not null default 0;
create index debates_to_index on debates (updated_at)
    where indexed < last_seq and deleted_at is null;
alter table documents add column indexed integer not null default 0;
create index documents_to_index on documents (updated_at) where indexed < version;

-- A row for each title (seq 0), argument and document. Greater keys were indexed later.
create table search_rows (
    key integer primary key,
    debate_key integer references debates (key),
    seq integer check ((seq is null) = (debate_key is null)),
    document_key integer references documents (key)
        check ((document_key is null) <> (debate_key is null)),
    version integer check ((version is null) = (document_key is null))
);
create unique index search_rows_by_argument on search_rows (debate_key, seq)
    where debate_key is not null;
create unique index search_rows_by_document on search_rows (document_key)
    where document_key is not null;

-- Their words, already folded; nothing but the words, without their places.
create virtual table search_words using fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

-- The index has the pieces of titles and summaries too.
drop table debate_titles;
drop table document_summaries;
