-- The debates that cite a document, the newest first, as SQLite's migration 11 explains it.

drop index debate_documents_by_document;
create index debate_documents_by_document on debate_documents (document_key, debate_key);
