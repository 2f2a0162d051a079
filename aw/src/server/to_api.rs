//! Converts what the engine returns into the types of the API.

use aw_core::{ByRole, DebateId, DocumentId, Hash, State};
use aw_record as record;

use crate::api::types::{
    Argument, AvailableActions, CitedDocument, Debate, DebateContext, DebateEvent, DebateList,
    DebateListed, Document, DocumentList, DocumentListed, KeptVersion, LastArgument, News, Nothing,
    Poll, Presence, RulesOrigin, Seat, Sign, Stamp, Text, Transcript, TypeTexts, Version,
    VersionList, Word, Written,
};
use crate::kit::texts::BuiltIn;

impl From<&aw_core::Argument> for Argument {
    fn from(argument: &aw_core::Argument) -> Self {
        let event = argument.event;
        Argument {
            id: Text(argument.id),
            debate_id: Text(argument.debate),
            parent_id: argument.parent.map(Text),
            kind: event.kind().into(),
            role: event.role().into(),
            author: argument.author.as_ref().map(|author| author.as_str().to_owned()),
            content: argument.content.as_str().to_owned(),
            client_request_id: Text(argument.request),
            seq: argument.seq.0,
            parked: event.parked(),
            close: event.close(),
            automatic: event.automatic(),
            via: argument.via.into(),
            seat: argument.seat.as_ref().map(|seat| seat.as_str().to_owned()),
            hash: Text(argument.hash),
            created_at: Stamp(argument.at),
        }
    }
}

impl From<&record::Seat> for Seat {
    fn from(seat: &record::Seat) -> Self {
        Seat {
            token_id: seat.id.to_string(),
            name: seat.name.as_str().to_owned(),
            role: seat.role.as_str().to_owned(),
            debate_id: seat.debate.map(Text),
            created_at: Stamp(seat.created_at),
            expires_at: seat.expires_at.map(Stamp),
            revoked_at: seat.revoked_at.map(Stamp),
        }
    }
}

impl From<&aw_core::Debate> for AvailableActions {
    fn from(debate: &aw_core::Debate) -> Self {
        let of = |role| debate.available(role).into_iter().map(Word::Known).collect();
        let ByRole { proposer, opponent, arbitrator } = ByRole::of(of);
        AvailableActions { proposer, opponent, arbitrator }
    }
}

impl From<&record::DebateHead> for Debate {
    fn from(head: &record::DebateHead) -> Self {
        Debate {
            id: Text(head.id),
            title: head.title.as_str().to_owned(),
            debate_type: head.debate_type.as_str().to_owned(),
            state: head.state().into(),
            resolution_policy: head.debate.policy.into(),
            created_at: Stamp(head.created_at),
            updated_at: Stamp(head.updated_at),
        }
    }
}

impl From<&record::LastArgument> for LastArgument {
    fn from(last: &record::LastArgument) -> Self {
        LastArgument {
            id: Text(last.id),
            seq: last.seq.0,
            role: last.role.into(),
            kind: last.kind.into(),
            parked: last.parked,
            author: last.author.as_ref().map(|author| author.as_str().to_owned()),
            created_at: Stamp(last.at),
        }
    }
}

impl From<ByRole<record::Sign>> for Presence {
    fn from(presence: ByRole<record::Sign>) -> Self {
        let sign = |sign: record::Sign| Sign {
            waiting: sign.waiting,
            last_seen_at: sign.last_seen.map(Stamp),
        };
        Presence {
            proposer: sign(presence.proposer),
            opponent: sign(presence.opponent),
            arbitrator: sign(presence.arbitrator),
        }
    }
}

impl DebateEvent {
    /// A debate with its presence.
    pub(super) fn of(listed: &record::DebateListed, presence: Presence) -> Self {
        DebateEvent {
            debate: (&listed.debate).into(),
            presence,
            last_argument: (&listed.last).into(),
        }
    }
}

impl From<&record::CitedDocument> for CitedDocument {
    fn from(cited: &record::CitedDocument) -> Self {
        CitedDocument {
            document_id: Text(cited.id),
            version: cited.version,
            summary: cited.summary.as_str().to_owned(),
            deleted_at: cited.deleted_at.map(Stamp),
        }
    }
}

impl From<&record::DocumentListed> for DocumentListed {
    fn from(listed: &record::DocumentListed) -> Self {
        DocumentListed {
            document_id: Text(listed.id),
            version: listed.version,
            summary: listed.summary.as_str().to_owned(),
            created_at: Stamp(listed.updated_at),
            deleted_at: listed.deleted_at.map(Stamp),
        }
    }
}

impl Version {
    /// A version of this document.
    pub(super) fn of(document: DocumentId, listed: &record::VersionListed) -> Self {
        Version {
            document_id: Text(document),
            version: listed.number,
            summary: listed.summary.as_str().to_owned(),
            author: listed.author.as_ref().map(|author| author.as_str().to_owned()),
            metadata: serde_json::from_str(&listed.metadata).unwrap_or_default(),
            created_at: Stamp(listed.at),
        }
    }
}

impl From<&record::Receipt> for Written {
    fn from(receipt: &record::Receipt) -> Self {
        Written {
            debate: (&receipt.debate).into(),
            argument: (&receipt.argument).into(),
            replayed: receipt.replayed,
            missed: receipt.missed.iter().map(Into::into).collect(),
            action: Some(receipt.action.into()),
            next_argument_id_to_wait: Text(receipt.waits_on),
            message: receipt.argument.event.parked().then(|| parked_message(receipt)),
        }
    }
}

/// Says that an argument was parked, why, and how to go on.
fn parked_message(receipt: &record::Receipt) -> String {
    let seq = receipt.argument.seq;
    match receipt.debate.state() {
        State::Closed => format!(
            "Parked as seq {seq}: the arbitrator intervened while it was being written, so it changed nothing. \
             The debate is closed since."
        ),
        State::InterventionPending => format!(
            "Parked as seq {seq}: the arbitrator intervened while it was being written. It is kept and changes \
             nothing. Wait for the RULING, then answer that; what still holds can be said again there."
        ),
        State::AwaitingOpponent | State::AwaitingProposer | State::AwaitingArbitrator => format!(
            "Parked as seq {seq}: it answers an argument from before the arbitrator's INTERVENTION, so it is kept \
             and changes nothing. The RULING has been made since: read it, and answer the RULING to say this now."
        ),
    }
}

impl From<&record::News> for News {
    fn from(news: &record::News) -> Self {
        News {
            has_new_argument: true,
            action: news.action.into(),
            debate_state: news.state.into(),
            argument: (&news.argument).into(),
            arguments: news.arguments.iter().map(Into::into).collect(),
            omitted: news.omitted,
            next_argument_id_to_wait: Text(news.waits_on),
            pending_argument_id: news.pending.map(Text),
            available_actions: news.available.iter().copied().map(Word::Known).collect(),
        }
    }
}

impl From<&record::Poll> for Poll {
    fn from(poll: &record::Poll) -> Self {
        match poll {
            record::Poll::News(news) => Poll::News(Box::new(news.as_ref().into())),
            record::Poll::Nothing { debate, state, seen, action, since } => {
                Poll::Nothing(Nothing {
                    has_new_argument: false,
                    debate_id: Text(*debate),
                    debate_state: Some((*state).into()),
                    last_seen_seq: *seen,
                    last_argument_id: None,
                    action: Some((*action).into()),
                    waiting_since: Some(Stamp(*since)),
                })
            }
        }
    }
}

impl DebateContext {
    /// A debate with its presence.
    pub(super) fn of(context: &record::Context, presence: Presence) -> Self {
        DebateContext {
            debate: (&context.debate).into(),
            motion: (&context.motion).into(),
            arguments: context.arguments.iter().map(Into::into).collect(),
            rulings: context.rulings.iter().map(Into::into).collect(),
            documents: context.documents.iter().map(Into::into).collect(),
            own_rules: context.own_rules,
            rules_origin: RulesOrigin::of(context.debate.debate_type.as_str(), context.own_rules),
            available_actions: (&context.debate.debate).into(),
            presence,
        }
    }
}

impl Transcript {
    /// A debate with the texts of its type and the seal over both, without arguments and documents.
    pub(super) fn of(
        debate: &record::DebateHead,
        texts: Option<&record::TypeTexts>,
        seal: Option<Hash>,
    ) -> Self {
        Transcript {
            debate: debate.into(),
            arguments: Vec::new(),
            documents: Vec::new(),
            type_texts: texts.map(Into::into),
            seal: seal.map(Text),
        }
    }
}

impl DebateList {
    /// A page of at most `limit` debates, each with its presence.
    pub(super) fn page(
        list: &record::DebateList,
        limit: u64,
        presence: impl Fn(DebateId) -> ByRole<record::Sign>,
    ) -> Self {
        let full = limit > 0 && list.debates.len() as u64 == limit;
        let last = list.debates.last().filter(|_| full).map(|listed| &listed.debate);
        DebateList {
            debates: list
                .debates
                .iter()
                .map(|listed| DebateListed {
                    debate: (&listed.debate).into(),
                    last_argument: (&listed.last).into(),
                    presence: presence(listed.debate.id).into(),
                })
                .collect(),
            total: list.total,
            total_is_exact: list.total_is_exact,
            next_before: last.map(|last| format!("{},{}", Stamp(last.updated_at), last.id)),
        }
    }
}

impl From<&record::KeptVersion> for KeptVersion {
    fn from(kept: &record::KeptVersion) -> Self {
        KeptVersion { version: Version::of(kept.document, &kept.version), replayed: kept.replayed }
    }
}

impl From<record::Document> for Document {
    fn from(document: record::Document) -> Self {
        Document {
            version: Version::of(document.id, &document.version.version),
            content: document.version.content.into_string(),
            newest_version: document.newest,
            deleted_at: document.deleted_at.map(Stamp),
        }
    }
}

impl VersionList {
    /// The versions of this document.
    pub(super) fn of(document: DocumentId, list: &record::VersionList) -> Self {
        VersionList {
            document_id: Text(document),
            versions: list.versions.iter().map(|listed| Version::of(document, listed)).collect(),
            total: list.total,
            deleted_at: list.deleted_at.map(Stamp),
        }
    }
}

impl From<&record::DocumentList> for DocumentList {
    fn from(list: &record::DocumentList) -> Self {
        DocumentList {
            documents: list.documents.iter().map(Into::into).collect(),
            total: list.total,
            total_is_exact: list.total_is_exact,
        }
    }
}

impl RulesOrigin {
    /// The origin of the rules of a debate, whose creator may have sent its own.
    pub(super) fn of(debate_type: &str, own_rules: bool) -> Self {
        match (own_rules, BuiltIn::named(debate_type)) {
            (true, _) => RulesOrigin::Creator,
            (false, Some(_)) => RulesOrigin::BuiltIn,
            (false, None) => RulesOrigin::Unknown,
        }
    }
}

impl From<&record::TypeTexts> for TypeTexts {
    fn from(texts: &record::TypeTexts) -> Self {
        TypeTexts {
            title: texts.title.as_str().to_owned(),
            description: texts.description.as_str().to_owned(),
            proposer: texts.rules.proposer.as_str().to_owned(),
            opponent: texts.rules.opponent.as_str().to_owned(),
            arbitrator: texts.rules.arbitrator.as_str().to_owned(),
        }
    }
}
