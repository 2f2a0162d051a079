//! What a debate in the list asks its arbitrator: the question and the options.

use aw_core::Kind;
use aw_record::DebateListed;

use super::super::options;
use crate::policy::Command;
use crate::render::i18n::Phrases;
use crate::server::Access;

/// How many characters of a question and of an option are shown.
const QUESTION: usize = 220;
const OPTION: usize = 120;

/// How many options are shown. The dock has all of them.
const OPTIONS: usize = 4;

/// The question of a debate, as a row shows it.
pub(super) struct RowQuestion {
    pub(super) words: String,
    /// The address of the dock.
    pub(super) href: String,
    /// The words of the link to the dock.
    pub(super) act: &'static str,
    pub(super) options: Vec<RowOption>,
}

/// An option. Its link opens the dock with this choice.
pub(super) struct RowOption {
    pub(super) label: String,
    pub(super) words: String,
    pub(super) href: String,
}

impl RowQuestion {
    /// The question of a debate that waits for a ruling; none if it was answered meanwhile.
    pub(super) async fn of(
        access: &Access,
        t: &'static Phrases,
        listed: &DebateListed,
    ) -> Option<Self> {
        let id = listed.debate.id;
        let pending = listed.debate.debate.standing.pending()?;
        let debate = access.debate(Command::DebateGetContext, id).ok()?;
        let mut asks = debate.stretch(pending.0 - 1, 1).await.ok()?.arguments;
        let asks = asks.pop().filter(|argument| argument.seq == pending)?;
        let text = asks.content.as_str();
        let (words, choices) = match asks.event.kind() {
            Kind::Appeal => (options::question(text), options::choices(text)),
            kind => {
                let why = listed.debate.debate.pending_held().map(|held| t.held(held));
                let words = [Some(t.rule_on(kind)), why].into_iter().flatten();
                (words.collect::<Vec<_>>().join(". "), Vec::new())
            }
        };
        let choices = choices.into_iter().zip(1..).filter(|(choice, _)| !choice.is_free);
        let option = |(choice, number): (options::Choice, usize)| RowOption {
            label: choice.label(),
            words: shortened(&choice.words, OPTION),
            href: format!("/debate/{id}?choose={number}"),
        };
        let options: Vec<RowOption> = choices.take(OPTIONS).map(option).collect();
        Some(RowQuestion {
            words: shortened(&words, QUESTION),
            href: format!("/debate/{id}"),
            act: match asks.event.kind() {
                Kind::Resolution => t.rule_resolution,
                _ if options.is_empty() => t.rule_on_this,
                _ => t.to_the_ruling,
            },
            options,
        })
    }
}

/// The text in one line, cut after so many characters.
fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
