//! What the page says, in English and Vietnamese, side by side so that neither is forgotten.

use aw_core::{Kind, Role, State};
use aw_record::SeatRole;

use crate::kit::texts::Language;

impl Language {
    /// The best of our languages for an `Accept-Language` header; English if it names none of them.
    pub(crate) fn accepted(header: &str) -> Self {
        let codes = header.split(',').filter_map(|language| {
            let mut parts = language.trim().split(';');
            let code = parts.next()?.split('-').next()?.to_ascii_lowercase();
            let weight = parts.find_map(|part| part.trim().strip_prefix("q="));
            let weight = weight.and_then(|weight| weight.parse().ok()).unwrap_or(1.0_f32);
            Some((code.parse::<Language>().ok()?, weight))
        });
        let best = codes.fold(None, |best: Option<(Language, f32)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        });
        best.map_or(Language::English, |(language, _)| language)
    }

    /// The phrases of the page in this language.
    pub(crate) fn phrases(self) -> &'static Phrases {
        match self {
            Language::English => &ENGLISH,
            Language::Vietnamese => &VIETNAMESE,
        }
    }
}

macro_rules! phrases {
    ($($name:ident: $english:literal, $vietnamese:literal;)+) => {
        /// Every phrase of the page in one language.
        pub(crate) struct Phrases {
            pub(crate) lang: Language,
            $(pub(crate) $name: &'static str,)+
        }

        static ENGLISH: Phrases = Phrases { lang: Language::English, $($name: $english,)+ };
        static VIETNAMESE: Phrases = Phrases { lang: Language::Vietnamese, $($name: $vietnamese,)+ };

        #[cfg(test)]
        const PAIRS: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $vietnamese),)+];
    };
}

phrases! {
    // Everywhere
    skip: "Skip to content", "Đến nội dung";
    debates: "Debates", "Các debate";
    new_debate: "New debate", "Debate mới";
    language: "Language", "Ngôn ngữ";
    theme: "Theme", "Giao diện";
    theme_system: "System", "Hệ thống";
    theme_light: "Light", "Sáng";
    theme_dark: "Dark", "Tối";
    sign_out: "Sign out", "Đăng xuất";
    signed_in_as: "Signed in as", "Đăng nhập với tên";
    reads_along: "Signed in as {}. You can read along; ruling and stopping are the arbitrator's.", "Đăng nhập với tên {}. Bạn có thể theo dõi; ra ruling và dừng các agent là việc của arbitrator.";
    copy: "Copy", "Sao chép";
    copied: "Copied", "Đã sao chép";
    cancel: "Cancel", "Hủy";
    shut_out: "You are signed out. What you typed is kept.", "Bạn đã đăng xuất. Nội dung bạn đã gõ vẫn được giữ.";
    offline: "Connection lost. Trying again; what you typed is kept.", "Mất kết nối. Đang thử lại; nội dung bạn đã gõ vẫn được giữ.";
    online: "Connected again", "Đã kết nối lại";
    proposer: "Proposer", "Proposer";
    opponent: "Opponent", "Opponent";
    arbitrator: "Arbitrator", "Arbitrator";
    observer: "Observer", "Observer";
    just_now: "just now", "vừa xong";
    seconds_ago: "{} s ago", "{} giây trước";
    minutes_ago: "{} min ago", "{} phút trước";
    hours_ago: "{} h ago", "{} giờ trước";
    days_ago: "{} d ago", "{} ngày trước";
    for_seconds: "{} s", "{} giây";
    for_minutes: "{} min", "{} phút";
    for_hours: "{} h", "{} giờ";
    for_days: "{} d", "{} ngày";

    // States
    awaiting_opponent: "waiting for the opponent", "đang chờ opponent";
    awaiting_proposer: "waiting for the proposer", "đang chờ proposer";
    awaiting_arbitrator: "waiting for your ruling", "đang chờ ruling của bạn";
    intervention_pending: "stopped; your ruling is owed", "đã dừng; cần ruling của bạn";
    closed: "closed", "đã đóng";
    awaiting_a_ruling: "waiting for a ruling", "đang chờ ruling";
    stopped_for_a_ruling: "stopped; a ruling is owed", "đã dừng; cần một ruling";

    // The list
    needs_you: "Needs you", "Cần bạn";
    needs_arbitrator: "Needs the arbitrator", "Cần arbitrator";
    one_debate_only: "Your seat is for one debate only.", "Seat của bạn chỉ dành cho một debate.";
    active: "Active", "Đang diễn ra";
    closed_group: "Closed", "Đã đóng";
    search: "Search titles", "Tìm theo tiêu đề";
    state: "State", "Trạng thái";
    kind: "Type", "Loại";
    any_state: "Any state", "Mọi trạng thái";
    any_kind: "Any type", "Mọi loại";
    show: "Show", "Hiển thị";
    round: "round {}", "vòng {}";
    last_move: "{role} {kind}", "{role} {kind}";
    nothing_found: "No debate matches.", "Không có debate nào phù hợp.";
    clear_search: "Show all debates", "Hiển thị mọi debate";
    empty_title: "No debates yet", "Chưa có debate nào";
    empty_words: "Let two agents argue about a plan until it holds. Start one here, or let an agent start it:", "Để hai agent tranh luận về một plan cho đến khi nó đứng vững. Bắt đầu tại đây, hoặc để một agent bắt đầu:";
    empty_for_reader: "When one is opened, it appears here.", "Khi có debate được mở, nó sẽ hiện ở đây.";
    nobody_needs_you: "Nothing needs you right now.", "Hiện không có gì cần bạn.";
    older: "Older debates", "Các debate cũ hơn";
    notify: "Tell me when a debate needs me", "Báo cho tôi khi một debate cần tôi";
    notified: "You will be told when a debate needs you", "Bạn sẽ được báo khi một debate cần bạn";
    needs_ruling: "needs your ruling", "cần ruling của bạn";

    // Presence
    is_waiting: "waiting", "đang chờ";
    is_working: "has the floor", "đang giữ lượt";
    seen: "seen {}", "thấy {}";
    no_sign: "no sign for {}", "không thấy tín hiệu {}";
    not_since_start: "no sign since the server started", "không thấy tín hiệu từ khi server khởi động";
    never_seen: "not seen yet", "chưa xuất hiện";
    bring_back: "Bring this agent back", "Gọi lại agent này";
    bring_back_words: "Paste this to the agent:", "Dán câu này cho agent:";
    resume_line: "Resume as {role} in debate {id}: run `aw agent show {role} --debate-id {id}` and go by what it prints.", "Tiếp tục với vai {role} trong debate {id}: chạy `aw agent show {role} --debate-id {id}` và làm theo những gì nó in ra.";
    seats: "Who is there", "Ai đang có mặt";

    // A debate
    standing: "Where it stands", "Tình hình";
    whose_move: "Whose move", "Đến lượt ai";
    your_move: "Your move", "Đến lượt bạn";
    picture: "The debate at a glance", "Toàn cảnh debate";
    count_rounds: "rounds: {}", "vòng: {}";
    count_arguments: "arguments: {}", "argument: {}";
    count_appeals: "appeals: {}", "appeal: {}";
    count_interventions: "interventions: {}", "intervention: {}";
    count_rulings: "rulings: {}", "ruling: {}";
    outline: "Outline", "Mục lục";
    round_heading: "Round {}", "Vòng {}";
    arguments: "Arguments", "Các argument";
    answers: "answers {}", "trả lời {}";
    parked: "parked", "parked";
    parked_words: "Written before the author knew of the intervention; it changed nothing.", "Được viết trước khi tác giả biết về intervention; không thay đổi gì.";
    automatic: "automatic", "tự động";
    closes: "closes the debate", "đóng debate";
    by_person: "by a person, on the page", "do một người, trên trang";
    ruled_by_person: "ruled by a person, on the page", "ruling do một người, trên trang";
    ruled_by_program: "ruled by a program, via {}", "ruling do một chương trình, qua {}";
    ruled_on_line: "ruled on the command line", "ruling bằng dòng lệnh";
    stopped_on_line: "stopped on the command line", "dừng bằng dòng lệnh";
    stopped_by_person: "stopped by a person, on the page", "dừng do một người, trên trang";
    stopped_by_program: "stopped by a program, via {}", "dừng do một chương trình, qua {}";
    via: "via {}", "qua {}";
    seat: "seat", "seat";
    copy_link: "Copy link", "Sao chép liên kết";
    copy_text: "Copy text", "Sao chép nội dung";
    more: "Show all", "Hiện tất cả";
    less: "Show less", "Thu gọn";
    earlier: "Show {} earlier arguments", "Hiện {} argument trước đó";
    newer: "Back to the newest arguments", "Về những argument mới nhất";
    one_new: "1 new", "1 mới";
    many_new: "{} new", "{} mới";
    documents: "Documents", "Tài liệu";
    document_deleted: "deleted", "đã xóa";
    export: "Export", "Xuất";
    delete: "Delete", "Xóa";
    debate_id: "Debate id", "Id của debate";
    opened: "opened {}", "mở {}";

    // Rules
    rules: "Rules of this debate", "Rules của debate này";
    back_to_debate: "Back to the debate", "Về debate";
    rules_built_in: "Built into aw.", "Có sẵn trong aw.";
    rules_of_creator: "The creator of the debate sent these rules along. Agents get them as a quote.", "Bên mở debate đã gửi kèm rules này. Các agent nhận chúng dưới dạng trích dẫn.";
    rules_replace: "They replace the built-in rules of {}.", "Chúng thay cho rules có sẵn của {}.";
    rules_unknown: "This type is not built in, and the creator of the debate sent no rules along. Each agent goes by the rules on its own machine.", "Type này không có sẵn, và bên mở debate không gửi kèm rules. Mỗi agent theo rules trên máy của nó.";
    rules_sent_along: "rules sent along by the creator", "rules do bên mở debate gửi kèm";
    rules_replaced: "not the built-in rules: sent along by the creator", "không phải rules có sẵn: do bên mở debate gửi kèm";

    // Ruling
    rule_on_appeal: "The proposer appeals to you", "Proposer kháng nghị lên bạn";
    rule_on_resolution: "The proposer asks to complete the debate", "Proposer đề nghị kết thúc debate";
    rule_on_intervention: "You have stopped the agents", "Bạn đã dừng các agent";
    rule_on_intervention_words: "Both wait. Say how they should go on.", "Cả hai đang chờ. Hãy nói họ nên tiếp tục thế nào.";
    dispute: "The dispute", "Điểm tranh chấp";
    proposer_says: "The proposer's position", "Lập trường của proposer";
    opponent_says: "The opponent's position", "Lập trường của opponent";
    read_whole: "Read it whole", "Đọc toàn bộ";
    choose: "Choose", "Chọn";
    another_way: "Another way", "Phương án khác";
    ruling_text: "Text of the ruling", "Nội dung ruling";
    words_after: "Text of the ruling, added after the option", "Nội dung ruling, thêm sau phương án";
    ruling_hint: "It binds both sides. Markdown; at most {} bytes.", "Ràng buộc cả hai bên. Markdown; tối đa {} byte.";
    close_with_it: "Close the debate with this ruling", "Đóng debate bằng ruling này";
    approve: "Approved.", "Đồng ý.";
    approve_and_close: "Approve and close", "Đồng ý và đóng";
    send_ruling: "Send ruling", "Gửi ruling";
    rule_by: "Rule: {}", "Ruling: {}";
    rule_in_own_words: "Rule: in your own words", "Ruling: bằng lời của bạn";
    and_close: "and close the debate", "và đóng debate";
    preview: "Preview", "Xem trước";
    ruled: "Your ruling is argument {}.", "Ruling của bạn là argument {}.";
    ruled_before: "Somebody has ruled already, so yours was not sent. Theirs is argument {}; what you typed is below.", "Đã có người ra ruling trước, nên ruling của bạn không được gửi. Ruling đó là argument {}; nội dung bạn gõ ở bên dưới.";
    not_sent: "It was not sent:", "Chưa gửi được:";
    your_text: "What you typed", "Nội dung bạn đã gõ";
    blank_ruling: "Choose an option or write what should be done.", "Hãy chọn một phương án hoặc viết điều cần làm.";
    blank_other_way: "Describe the other way in your own words.", "Hãy mô tả phương án khác bằng lời của bạn.";
    unknown_option: "Nothing was sent: what you chose is not an option here. Choose again; your words are kept.", "Chưa gửi gì: lựa chọn của bạn không có ở đây. Hãy chọn lại; lời của bạn vẫn được giữ.";

    // Intervention
    intervene: "Stop the agents", "Dừng các agent";
    intervene_words: "Both will wait until you have ruled. What an agent is writing now is kept and shown as parked.", "Cả hai sẽ chờ đến khi bạn ra ruling. Nội dung mà một agent đang viết được giữ lại và hiện là parked.";
    reason: "Reason (may be left out)", "Lý do (có thể bỏ trống)";
    stop_now: "Stop them now", "Dừng ngay";
    in_hand: "{} may still hand in what it was writing; it will appear here as parked.", "{} vẫn có thể nộp nội dung đang viết; nó sẽ hiện ở đây là parked.";
    was_parked: "{} handed in what it had been writing: argument {n}, parked.", "{} đã nộp nội dung đang viết: argument {n}, parked.";
    stopped: "The agents are stopped. They wait for your ruling.", "Các agent đã dừng. Họ đang chờ ruling của bạn.";

    // Documents
    document: "Document", "Tài liệu";
    version: "Version", "Phiên bản";
    version_of: "Version {n} of {all}", "Phiên bản {n} trên {all}";
    compare: "Compare", "So sánh";
    compare_from: "From", "Từ";
    compare_to: "To", "Đến";
    read_it: "Read", "Đọc";
    written_by: "by {}", "bởi {}";
    no_author: "author not given", "không ghi tác giả";
    same_text: "These two versions are the same.", "Hai phiên bản này giống nhau.";
    lines_added: "lines added: {}", "số dòng thêm: {}";
    lines_removed: "lines removed: {}", "số dòng bớt: {}";
    unchanged_lines: "unchanged lines: {}", "số dòng không đổi: {}";
    coarse: "These texts are so large that not every changed word is marked.", "Các văn bản này quá lớn nên không phải từ nào thay đổi cũng được đánh dấu.";
    line_ends: "These two versions differ only in how their lines end.", "Hai phiên bản này chỉ khác cách kết thúc dòng.";
    left_out: "{} more rows are not shown; use aw docs diff.", "{} dòng nữa không được hiện; dùng aw docs diff.";
    raw_text: "Plain text", "Văn bản thuần";
    versions: "Versions", "Các phiên bản";

    // New
    new_words: "Two agents will argue about it; you are the arbitrator.", "Hai agent sẽ tranh luận về nó; bạn là arbitrator.";
    new_words_of_proposer: "Two agents will argue about it; the arbitrator settles what they cannot.", "Hai agent sẽ tranh luận về nó; arbitrator quyết định điều họ không tự giải quyết được.";
    title: "Title", "Tiêu đề";
    title_hint: "One line, at most 200 characters", "Một dòng, tối đa 200 ký tự";
    motion_text: "Motion", "Motion";
    motion_hint: "What is proposed, and what it is for. Markdown; at most {} bytes.", "Đề xuất điều gì, và để làm gì. Markdown; tối đa {} byte.";
    attach: "Plan as a document (may be left out)", "Plan dưới dạng tài liệu (có thể bỏ trống)";
    attach_hint: "A long text goes here; the motion will cite it.", "Văn bản dài đặt ở đây; motion sẽ dẫn nó.";
    who_approves: "When the proposer asks to complete it", "Khi proposer đề nghị kết thúc";
    approve_auto: "close it", "đóng luôn";
    approve_me: "ask me first", "hỏi tôi trước";
    approve_arbitrator: "ask the arbitrator first", "hỏi arbitrator trước";
    create: "Open the debate", "Mở debate";
    created: "The debate is open. Paste one line into each of two agents:", "Debate đã mở. Dán mỗi dòng cho một agent:";
    line_proposer: "Be the proposer in debate {id}: run `aw agent show proposer --debate-id {id}` and go by what it prints.", "Hãy làm proposer trong debate {id}: chạy `aw agent show proposer --debate-id {id}` và làm theo những gì nó in ra.";
    line_opponent: "Be the opponent in debate {id}: run `aw agent show opponent --debate-id {id}` and go by what it prints.", "Hãy làm opponent trong debate {id}: chạy `aw agent show opponent --debate-id {id}` và làm theo những gì nó in ra.";

    // Deleting
    delete_title: "Delete this debate?", "Xóa debate này?";
    delete_words: "Nobody can read it any more (arguments: {n}), and agents that wait for it are told. Its documents stay. This cannot be undone.", "{n} argument của nó sẽ không đọc được nữa, và các agent đang chờ sẽ được báo. Tài liệu của nó vẫn còn. Không thể hoàn tác.";
    delete_now: "Delete it", "Xóa";
    keep: "Keep it", "Giữ lại";
    deleted: "The debate is deleted.", "Debate đã bị xóa.";

    // Signing in
    sign_in: "Sign in", "Đăng nhập";
    token: "Token", "Token";
    token_hint: "The one you were given for your seat, or the administrator's. On the server's own machine, aw debate open signs you in without one.", "Token bạn được cấp cho seat của mình, hoặc của administrator. Trên chính máy chạy server, aw debate open đăng nhập cho bạn mà không cần token.";
    wrong_token: "This token is not good here: it is mistyped, has expired or was taken back.", "Token này không dùng được ở đây: gõ sai, đã hết hạn hoặc đã bị thu hồi.";
    used_link: "This link was used already or is too old: it works once, for ten minutes. Ask for another, or sign in with a token.", "Liên kết này đã được dùng hoặc đã quá cũ: nó chỉ dùng được một lần, trong mười phút. Hãy xin liên kết khác, hoặc đăng nhập bằng token.";
    link_words: "This link signs you in, once.", "Liên kết này đăng nhập cho bạn, một lần.";

    // What went wrong
    oops: "Something is not right", "Có gì đó không ổn";
    not_found_title: "There is no such page", "Không có trang này";
    debate_gone_title: "There is no such debate", "Không có debate này";
    debate_gone: "Its id may be mistyped, or the record is another one.", "Id có thể bị gõ sai, hoặc record là một cái khác.";
    debate_deleted_title: "This debate was deleted", "Debate này đã bị xóa";
    debate_deleted: "It was deleted {}. Deleted debates cannot be brought back.", "Nó bị xóa {}. Debate đã xóa không thể khôi phục.";
    document_gone_title: "There is no such document", "Không có tài liệu này";
    document_gone: "Its id or version may be mistyped, or it was deleted.", "Id hoặc phiên bản có thể bị gõ sai, hoặc nó đã bị xóa.";
    stopping_title: "The server is stopping or has too much to do", "Server đang dừng hoặc quá tải";
    stopping: "Nothing is lost. Try again in a moment; if it stays so, run aw server status.", "Không mất gì. Hãy thử lại sau giây lát; nếu vẫn vậy, chạy aw server status.";
    stale_title: "This form is out of date", "Biểu mẫu này đã cũ";
    stale: "It was made before the server was started anew, or in another browser. Nothing was sent. Open the page again and send it once more.", "Nó được tạo trước khi server khởi động lại, hoặc ở trình duyệt khác. Chưa gửi gì. Mở lại trang và gửi lại.";
    signed_out_title: "You are signed out", "Bạn đã đăng xuất";
    signed_out: "Nothing was sent. Go back: what you typed is still there. Sign in on another tab, then send it again.", "Chưa gửi gì. Quay lại: nội dung bạn đã gõ vẫn còn. Đăng nhập ở tab khác, rồi gửi lại.";
    forbidden_title: "Your seat may not do this", "Seat của bạn không được làm việc này";
    forbidden: "Nothing was changed. Sign in to a seat that may, or ask whoever runs the server for one.", "Chưa có gì thay đổi. Hãy đăng nhập vào một seat được phép, hoặc xin người quản lý server một seat như vậy.";
    failed_title: "The server failed", "Server gặp lỗi";
    failed: "It is written in its log: aw server logs.", "Lỗi được ghi trong log: aw server logs.";
    to_debates: "To the debates", "Đến các debate";
    try_again: "Try again", "Thử lại";
}

impl Phrases {
    /// What a role is called.
    pub(crate) fn role(&self, role: Role) -> &'static str {
        match role {
            Role::Proposer => self.proposer,
            Role::Opponent => self.opponent,
            Role::Arbitrator => self.arbitrator,
        }
    }

    /// What a seat is for.
    pub(crate) fn seat_role(&self, role: SeatRole) -> &'static str {
        match role {
            SeatRole::Plays(role) => self.role(role),
            SeatRole::Observer => self.observer,
        }
    }

    /// A state in words, for whoever may rule or for somebody else.
    pub(crate) fn state(&self, state: State, rules: bool) -> &'static str {
        match (state, rules) {
            (State::AwaitingOpponent, _) => self.awaiting_opponent,
            (State::AwaitingProposer, _) => self.awaiting_proposer,
            (State::AwaitingArbitrator, true) => self.awaiting_arbitrator,
            (State::AwaitingArbitrator, false) => self.awaiting_a_ruling,
            (State::InterventionPending, true) => self.intervention_pending,
            (State::InterventionPending, false) => self.stopped_for_a_ruling,
            (State::Closed, _) => self.closed,
        }
    }

    /// What is ruled on.
    pub(crate) fn rule_on(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Resolution => self.rule_on_resolution,
            Kind::Intervention => self.rule_on_intervention,
            Kind::Motion | Kind::Claim | Kind::Appeal | Kind::Ruling => self.rule_on_appeal,
        }
    }

    /// How long ago, in the largest unit that says something.
    pub(crate) fn ago(&self, milliseconds: i64) -> String {
        let seconds = milliseconds / 1000;
        match seconds {
            ..5 => self.just_now.to_owned(),
            5..60 => put(self.seconds_ago, seconds),
            60..3_600 => put(self.minutes_ago, seconds / 60),
            3_600..86_400 => put(self.hours_ago, seconds / 3_600),
            _ => put(self.days_ago, seconds / 86_400),
        }
    }

    /// How long.
    pub(crate) fn lasting(&self, milliseconds: i64) -> String {
        let seconds = (milliseconds / 1000).max(0);
        match seconds {
            ..60 => put(self.for_seconds, seconds),
            60..3_600 => put(self.for_minutes, seconds / 60),
            3_600..86_400 => put(self.for_hours, seconds / 3_600),
            _ => put(self.for_days, seconds / 86_400),
        }
    }
}

/// The phrase with its blank filled in.
pub(crate) fn put(phrase: &str, value: impl std::fmt::Display) -> String {
    phrase.replacen("{}", &value.to_string(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_the_same_blanks() {
        let blanks = |phrase: &str| {
            let mut found: Vec<String> = phrase
                .split('{')
                .skip(1)
                .map(|rest| rest.split('}').next().unwrap().to_owned())
                .collect();
            found.sort();
            found
        };
        for (name, english, vietnamese) in PAIRS {
            assert_eq!(blanks(english), blanks(vietnamese), "{name}");
            assert!(!vietnamese.is_empty(), "{name}");
        }
    }

    #[test]
    fn the_browsers_favourite_of_the_languages_that_there_are_is_taken() {
        for (header, language) in [
            ("", Language::English),
            ("vi", Language::Vietnamese),
            ("vi-VN,vi;q=0.9,en;q=0.8", Language::Vietnamese),
            ("en-US,en;q=0.9,vi;q=0.8", Language::English),
            ("fr,vi;q=0.5,en;q=0.7", Language::English),
            ("fr-FR,fr", Language::English),
            ("en;q=0.3, vi;q=0.4", Language::Vietnamese),
        ] {
            assert_eq!(Language::accepted(header), language, "{header}");
        }
    }

    #[test]
    fn times_are_told_in_the_largest_unit_that_says_something() {
        let phrases = Language::English.phrases();
        assert_eq!(phrases.ago(4_000), "just now");
        assert_eq!(phrases.ago(61_000), "1 min ago");
        assert_eq!(phrases.lasting(7_200_000), "2 h");
        assert_eq!(Language::Vietnamese.phrases().ago(3 * 86_400_000), "3 ngày trước");
    }
}
