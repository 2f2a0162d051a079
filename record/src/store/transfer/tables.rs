//! The tables of a move with their columns, each table after those it refers to.

/// A table with its columns, and the column with the key of the debate, document or seat that a row
/// belongs to.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, ColumnKind)],
    pub(super) key: &'static str,
    /// Only these rows.
    pub(super) only: &'static str,
    pub(super) order: &'static str,
}

/// The kind of a column.
#[derive(Debug, Clone, Copy)]
pub(super) enum ColumnKind {
    /// The key of a debate, which is different in the target.
    Debate,
    /// The key of a document.
    Document,
    /// The key of a seat.
    Seat,
    Number,
    Flag,
    Text,
    Id,
    Hash,
}

/// The tables that are moved together; the first one holds the keys.
pub(super) struct Family {
    pub(super) tables: &'static [Table],
    /// The approximate number of rows of a key, as a column of the first table.
    pub(super) weight: &'static str,
}

use ColumnKind::{Debate, Document, Flag, Hash, Id, Number, Seat, Text};

const DEBATES: Table = Table {
    name: "debates",
    columns: &[
        ("key", Debate),
        ("id", Id),
        ("title", Text),
        ("debate_type", Text),
        ("resolution_policy", Text),
        ("state", Text),
        ("last_seq", Number),
        ("proposer_count", Number),
        ("opponent_count", Number),
        ("proposer_newest", Number),
        ("opponent_newest", Number),
        ("arbitrator_newest", Number),
        ("proposer_interrupted", Number),
        ("opponent_interrupted", Number),
        ("created_at", Number),
        ("updated_at", Number),
        ("deleted_at", Number),
        ("points_form", Number),
        ("points_rounds", Number),
        ("points_blocking", Text),
        ("points_claims", Number),
        ("points_rulings", Number),
        ("points_agreed", Flag),
        ("points_revised", Number),
        ("points_held_seq", Number),
        ("points_held", Text),
        ("slug", Text),
        ("project", Text),
        ("project_name", Text),
        ("branch", Text),
        ("commit_id", Text),
        ("archived_at", Number),
    ],
    key: "key",
    only: "true",
    order: "key",
};

const ARGUMENTS: Table = Table {
    name: "arguments",
    columns: &[
        ("debate_key", Debate),
        ("seq", Number),
        ("id", Id),
        ("parent_id", Id),
        ("type", Text),
        ("role", Text),
        ("parked_for", Number),
        ("close", Flag),
        ("automatic", Flag),
        ("via", Text),
        ("author", Text),
        ("client_request_id", Id),
        ("created_at", Number),
        ("proposer_count", Number),
        ("opponent_count", Number),
        ("previous_hash", Hash),
        ("hash", Hash),
        ("content", Text),
        ("seat", Text),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key, seq",
};

const TYPE_TEXTS: Table = Table {
    name: "type_texts",
    columns: &[
        ("debate_key", Debate),
        ("title", Text),
        ("description", Text),
        ("proposer", Text),
        ("opponent", Text),
        ("arbitrator", Text),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key",
};

const FORMER_IDS: Table = Table {
    name: "former_ids",
    columns: &[("debate_key", Debate), ("id", Text)],
    key: "debate_key",
    only: "true",
    order: "debate_key",
};

const SEATS: Table = Table {
    name: "seats",
    columns: &[
        ("key", Seat),
        ("id", Id),
        ("name", Text),
        ("role", Text),
        ("debate_key", Debate),
        ("token_hash", Hash),
        ("created_at", Number),
        ("expires_at", Number),
        ("revoked_at", Number),
    ],
    key: "key",
    only: "true",
    order: "key",
};

const DOCUMENTS: Table = Table {
    name: "documents",
    columns: &[
        ("key", Document),
        ("id", Id),
        ("client_request_id", Id),
        ("version", Number),
        ("summary", Text),
        ("updated_at", Number),
        ("deleted_at", Number),
        ("seat_key", Seat),
        ("title", Text),
        ("name", Text),
    ],
    key: "key",
    only: "true",
    order: "key",
};

const VERSIONS: Table = Table {
    name: "document_versions",
    columns: &[
        ("document_key", Document),
        ("version", Number),
        ("summary", Text),
        ("author", Text),
        ("metadata", Text),
        ("client_request_id", Id),
        ("created_at", Number),
        ("content", Text),
    ],
    key: "document_key",
    only: "true",
    order: "document_key, version",
};

const REPEATED: Table = Table {
    name: "repeated_versions",
    columns: &[("document_key", Document), ("client_request_id", Id), ("version", Number)],
    key: "document_key",
    only: "true",
    order: "document_key, client_request_id",
};

const CITED: Table = Table {
    name: "debate_documents",
    columns: &[
        ("debate_key", Debate),
        ("document_key", Document),
        ("version", Number),
        ("seq", Number),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key, document_key",
};

const CITATIONS: Table = Table {
    name: "citations",
    columns: &[
        ("debate_key", Debate),
        ("seq", Number),
        ("document_key", Document),
        ("version", Number),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key, seq, document_key",
};

const POINTS: Table = Table {
    name: "points",
    columns: &[
        ("debate_key", Debate),
        ("number", Number),
        ("severity", Text),
        ("title", Text),
        ("state", Text),
        ("late", Flag),
        ("unchanged", Flag),
        ("disputes", Number),
        ("ruled", Flag),
        ("evidenced", Flag),
        ("document_key", Document),
        ("demanded_seq", Number),
        ("raised_seq", Number),
        ("last_seq", Number),
        ("blocks", Flag),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key, number",
};

const POINT_DOCUMENTS: Table = Table {
    name: "point_documents",
    columns: &[
        ("debate_key", Debate),
        ("ordinal", Number),
        ("document_key", Document),
        ("version", Number),
        ("examined", Number),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key, ordinal",
};

const POINT_TURNS: Table = Table {
    name: "point_turns",
    columns: &[
        ("debate_key", Debate),
        ("seq", Number),
        ("ordinal", Number),
        ("line", Number),
        ("subject", Text),
        ("number", Number),
        ("word", Text),
        ("state", Text),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key, seq, ordinal",
};

const POINT_QUOTES: Table = Table {
    name: "point_quotes",
    columns: &[
        ("debate_key", Debate),
        ("seq", Number),
        ("turn", Number),
        ("ordinal", Number),
        ("line", Number),
        ("text", Text),
        ("source", Text),
        ("result", Text),
        ("document_key", Document),
        ("version", Number),
        ("argument_seq", Number),
        ("first_line", Number),
        ("last_line", Number),
    ],
    key: "debate_key",
    only: "true",
    order: "debate_key, seq, turn, ordinal",
};

const SEEN: Table = Table {
    name: "seen",
    columns: &[("debate_key", Debate), ("holder", Hash), ("seq", Number)],
    key: "debate_key",
    only: "true",
    order: "debate_key, holder",
};

const fn seals(only: &'static str, columns: &'static [(&'static str, ColumnKind)]) -> Table {
    Table { name: "seals", columns, key: "key", only, order: "key, number" }
}

const fn tombstones(only: &'static str, columns: &'static [(&'static str, ColumnKind)]) -> Table {
    Table { name: "tombstones", columns, key: "key", only, order: "key" }
}

const DEBATE_TOMBSTONES: &[(&str, ColumnKind)] =
    &[("key", Debate), ("thing", Text), ("purged_at", Number), ("pieces", Number), ("hash", Hash)];

const DOCUMENT_TOMBSTONES: &[(&str, ColumnKind)] = &[
    ("key", Document),
    ("thing", Text),
    ("purged_at", Number),
    ("pieces", Number),
    ("hash", Hash),
];

const OF_DEBATES: &[(&str, ColumnKind)] =
    &[("key", Debate), ("thing", Text), ("number", Number), ("hash", Hash)];

const OF_DOCUMENTS: &[(&str, ColumnKind)] =
    &[("key", Document), ("thing", Text), ("number", Number), ("hash", Hash)];

/// All families, each after those it refers to. Sessions and links of browsers are not moved: they
/// belong to the old server.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        tables: &[
            DEBATES,
            FORMER_IDS,
            TYPE_TEXTS,
            ARGUMENTS,
            seals("thing = 'debate'", OF_DEBATES),
            // Those of a purged debate stay, without citations.
            seals("thing = 'citations'", OF_DEBATES),
            tombstones("thing = 'debate'", DEBATE_TOMBSTONES),
        ],
        weight: "last_seq",
    },
    Family { tables: &[SEATS], weight: "1" },
    Family {
        tables: &[
            DOCUMENTS,
            VERSIONS,
            REPEATED,
            seals("thing = 'document'", OF_DOCUMENTS),
            tombstones("thing = 'document'", DOCUMENT_TOMBSTONES),
        ],
        weight: "version",
    },
    Family { tables: &[CITED, CITATIONS], weight: "1" },
    Family { tables: &[POINTS], weight: "1" },
    Family { tables: &[POINT_DOCUMENTS], weight: "1" },
    Family { tables: &[POINT_TURNS, POINT_QUOTES], weight: "1" },
    Family { tables: &[SEEN], weight: "1" },
];
