-- The debates that cite a document, the newest first: the page of a document lists them.

create index debate_documents_by_document on debate_documents (document_key, debate_key);
