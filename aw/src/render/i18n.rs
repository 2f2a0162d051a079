//! Every phrase of the pages in English and Vietnamese, side by side so that neither is forgotten.

use aw_core::{Held, Kind, Outcome, PointState, Role, Severity, State, Word};
use aw_record::SeatRole;

use crate::kit::texts::{BuiltIn, Language};

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
    // Every page
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
    read_only: "Signed in as {}. You can read. Only the arbitrator can rule or stop the agents.", "Đăng nhập với tên {}. Bạn có thể đọc. Chỉ arbitrator mới có thể ra ruling hoặc dừng các agent.";
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
    intervention_pending: "stopped; waiting for your ruling", "đã dừng; đang chờ ruling của bạn";
    closed: "closed", "đã đóng";
    awaiting_a_ruling: "waiting for a ruling", "đang chờ ruling";
    stopped_for_a_ruling: "stopped; waiting for a ruling", "đã dừng; đang chờ ruling";

    // The list
    needs_you: "Needs you", "Cần bạn";
    needs_arbitrator: "Needs the arbitrator", "Cần arbitrator";
    one_debate_only: "Your seat is for one debate only.", "Seat của bạn chỉ dành cho một debate.";
    active: "Active", "Đang diễn ra";
    closed_group: "Closed", "Đã đóng";
    search: "Search titles, arguments, documents, ids and authors", "Tìm tiêu đề, argument, tài liệu, id và tác giả";
    search_debates: "Search debates", "Tìm debate";
    filter: "Filter", "Lọc";
    show_all_of: "Show all {}", "Hiện tất cả {}";
    found_in_texts: "In arguments and documents", "Trong argument và tài liệu";
    state: "State", "Trạng thái";
    outcome_label: "Outcome", "Kết quả";
    project: "Project", "Dự án";
    any_project: "Any project", "Mọi dự án";
    any_outcome: "Any outcome", "Mọi kết quả";
    unread_new: "new", "mới";
    about_coding_plan: "A plan for code, examined against the code it touches", "Một plan cho code, được đối chiếu với phần code mà nó chạm tới";
    about_general_debate: "Any claim that could be wrong: a decision, a design, a text", "Bất kỳ khẳng định nào có thể sai: một quyết định, một thiết kế, một văn bản";
    to_the_ruling: "All options, or your own words", "Mọi phương án, hoặc lời của bạn";
    waits_for: "for {}", "đã {}";
    kind: "Type", "Loại";
    any_state: "Any state", "Mọi trạng thái";
    any_kind: "Any type", "Mọi loại";
    show: "Show", "Hiển thị";
    round: "round {}", "vòng {}";
    last_move: "{role} {kind}", "{role} {kind}";
    nothing_found: "No debate matches.", "Không có debate nào phù hợp.";
    clear_search: "Show all debates", "Hiển thị mọi debate";
    empty_title: "No debates yet", "Chưa có debate nào";
    empty_words: "Two agents argue about a plan until it holds. Start a debate here, or let an agent start one:", "Hai agent tranh luận về một plan cho đến khi nó đứng vững. Bắt đầu debate tại đây, hoặc để một agent bắt đầu:";
    empty_for_reader: "New debates appear here.", "Debate mới sẽ hiện ở đây.";
    nobody_needs_you: "Nothing needs you right now.", "Hiện không có gì cần bạn.";
    older: "Older debates", "Các debate cũ hơn";
    notify: "Notify me when a debate needs me", "Thông báo cho tôi khi một debate cần tôi";
    notified: "You will get a notification when a debate needs you", "Bạn sẽ nhận thông báo khi một debate cần bạn";
    needs_ruling: "needs your ruling", "cần ruling của bạn";

    // Presence
    is_waiting: "waiting", "đang chờ";
    works: "works: {label}, for {time}", "đang làm: {label}, đã {time}";
    is_working: "has the floor", "đang giữ lượt";
    seen: "seen {}", "thấy lần cuối {}";
    no_sign: "no sign for {}", "không thấy tín hiệu {}";
    not_since_start: "no sign since the server started", "không thấy tín hiệu từ khi server khởi động";
    never_seen: "not seen yet", "chưa xuất hiện";
    bring_back: "Bring this agent back", "Gọi lại agent này";
    bring_back_words: "Paste this to the agent:", "Dán câu này cho agent:";
    resume_line: "Resume as {role} in debate {id}: run `aw agent show {role} --debate-id {id}` and follow what it prints.", "Tiếp tục với vai {role} trong debate {id}: chạy `aw agent show {role} --debate-id {id}` và làm theo những gì nó in ra.";
    seats: "Who is connected", "Ai đang kết nối";

    // A debate
    standing: "Current state", "Trạng thái hiện tại";
    picture: "The debate at a glance", "Toàn cảnh debate";
    count_rounds: "rounds: {}", "vòng: {}";
    count_arguments: "arguments: {}", "argument: {}";
    count_appeals: "appeals: {}", "appeal: {}";
    count_interventions: "interventions: {}", "intervention: {}";
    count_rulings: "rulings: {}", "ruling: {}";
    arguments: "Arguments", "Các argument";
    answers: "answers {}", "trả lời {}";
    parked: "parked", "parked";
    parked_words: "Written before the author saw the intervention. It did not change the state.", "Được viết trước khi tác giả thấy intervention. Nó không thay đổi trạng thái.";
    automatic: "automatic", "tự động";
    closes: "closes the debate", "đóng debate";
    by_person: "by a person, on the page", "do một người, trên trang";
    ruled_by_person: "ruled by a person, on the page", "ruling do một người, trên trang";
    ruled_by_program: "ruled by a program, via {}", "ruling do một chương trình, qua {}";
    ruled_on_line: "ruled on the command line", "ruling bằng dòng lệnh";
    stopped_on_line: "stopped on the command line", "dừng bằng dòng lệnh";
    stopped_by_person: "stopped by a person, on the page", "dừng do một người, trên trang";
    stopped_by_program: "stopped by a program, via {}", "dừng do một chương trình, qua {}";
    by_run: "by an agent that aw debate run started", "do một agent mà aw debate run đã chạy";
    ruled_by_run: "ruled by an agent that aw debate run started", "ruling do một agent mà aw debate run đã chạy";
    stopped_by_run: "stopped by an agent that aw debate run started", "dừng do một agent mà aw debate run đã chạy";
    via: "via {}", "qua {}";
    seat: "seat", "seat";
    copy_link: "Copy link", "Sao chép liên kết";
    copy_text: "Copy text", "Sao chép nội dung";
    more: "Show all", "Hiện tất cả";
    less: "Show less", "Thu gọn";
    earlier: "Show {n} of {} earlier arguments", "Hiện {n} trên {} argument trước đó";
    newer: "Back to the newest arguments", "Về những argument mới nhất";
    one_new: "1 new", "1 mới";
    many_new: "{} new", "{} mới";
    documents: "Documents", "Tài liệu";
    document_deleted: "deleted", "đã xóa";
    export: "Export", "Xuất";
    delete: "Delete", "Xóa";
    debate_id: "Debate id", "Id của debate";
    opened: "opened {}", "mở {}";

    // Points
    points: "Points", "Các point";
    no_points: "No points yet.", "Chưa có point nào.";
    rounds_used: "round {n} of {all}", "vòng {n} trên {all}";
    one_point_blocks: "1 point blocks", "1 point chặn";
    many_points_block: "{} points block", "{} point chặn";
    nothing_blocks: "nothing blocks", "không có gì chặn";
    opponent_agrees: "the opponent agrees", "opponent đồng ý";
    held_policy: "The resolution waits for the arbitrator: this debate always asks before it closes.", "RESOLUTION chờ arbitrator: debate này luôn hỏi trước khi đóng.";
    held_not_agreed: "The resolution waits for the arbitrator: the opponent has not agreed.", "RESOLUTION chờ arbitrator: opponent chưa đồng ý.";
    held_other_version: "The resolution waits for the arbitrator: it cites another version than the one that the opponent agreed to.", "RESOLUTION chờ arbitrator: nó dẫn một phiên bản khác với phiên bản mà opponent đã đồng ý.";
    critical: "critical", "nghiêm trọng";
    major: "major", "lớn";
    minor: "minor", "nhỏ";
    point_open: "open", "còn mở";
    point_accepted: "accepted", "đã chấp nhận";
    point_rejected: "rejected", "bị phản đối";
    point_deferred: "deferred", "xin để sau";
    point_upheld: "upheld", "được ruling giữ";
    point_settled: "settled", "đã xong";
    point_withdrawn: "withdrawn", "đã rút";
    point_dismissed: "dismissed", "bị ruling bác";
    point_set_aside: "set aside", "để lại sau";
    point_left_open: "left open", "bỏ ngỏ";
    point_now: "{point} now: {state}", "{point} hiện: {state}";
    owed_by: "{} owes a word", "{} phải trả lời";
    blocks: "blocks", "chặn";
    late: "late", "muộn";
    late_words: "Raised late, about text that had not changed.", "Nêu muộn, về phần văn bản không thay đổi.";
    unchanged: "text unchanged", "văn bản chưa đổi";
    unchanged_words: "The proposer accepted it, and every quoted line still stands.", "Proposer đã chấp nhận, nhưng mọi dòng được trích vẫn còn nguyên.";
    disputed_once: "held once", "bị giữ lại một lần";
    disputed: "held {} times", "bị giữ lại {} lần";
    thread: "What was said", "Đã nói gì";
    raised_as: "raises it as {}", "nêu lên ở mức {}";
    says_resolved: "says: resolved", "nói: đã giải quyết";
    says_open: "holds it: open", "giữ lại: còn mở";
    says_withdrawn: "withdraws it", "rút lại";
    says_accepted: "accepts it", "chấp nhận";
    says_rejected: "rejects it", "phản đối";
    says_deferred: "defers it", "xin để sau";
    says_upheld: "upholds it", "giữ nguyên point";
    says_dismissed: "dismisses it", "bác bỏ point";
    quotes: "Quotes", "Trích dẫn";
    found_in_document: "found in {document} v{version}, {lines}", "có trong {document} v{version}, {lines}";
    found_in_argument: "found in argument #{seq}, {lines}", "có trong argument #{seq}, {lines}";
    one_line: "line {}", "dòng {}";
    some_lines: "lines {first} to {last}", "dòng {first} đến {last}";
    outdated: "from v{}, changed since", "từ v{}, đã thay đổi";
    unchecked: "from {}, not in the record", "từ {}, không có trong record";
    not_in_record: "not in the record", "không có trong record";

    // Outcomes
    agreed: "agreed", "đã đồng thuận";
    outcome_ruled: "ruled", "theo ruling";
    left_open: "left open", "bỏ ngỏ";
    completed: "completed at the proposer's request", "hoàn tất theo đề nghị của proposer";

    // The report
    report: "Report", "Báo cáo";
    report_agreed: "Agreed on {date} after {after}.", "Đồng thuận ngày {date} sau {after}.";
    report_ruled: "Closed by ruling on {date}.", "Đóng bằng ruling ngày {date}.";
    report_left_open: "Closed by ruling on {date} with {points} left open.", "Đóng bằng ruling ngày {date}, bỏ ngỏ {points}.";
    report_completed: "Completed on {date} at the proposer's request.", "Hoàn tất ngày {date} theo đề nghị của proposer.";
    report_open: "Still open: waiting for the {role} since {date}.", "Chưa đóng: chờ {role} từ ngày {date}.";
    date_form: "%-d %B %Y", "%-d/%-m/%Y";
    one_round: "1 round", "1 vòng";
    many_rounds: "{} rounds", "{} vòng";
    one_ruling: "1 ruling", "1 ruling";
    many_rulings: "{} rulings", "{} ruling";
    and: "and", "và";
    settled_in: "{state} in v{version}", "{state} ở v{version}";
    how_it_ended: "How it ended", "Kết thúc";
    point: "Point", "Point";
    severity: "Severity", "Mức";
    point_title: "Title", "Tiêu đề";
    why_ended: "Rejected or dismissed", "Bị phản đối hoặc bị bác";
    for_later: "Set aside, left open or late", "Để lại sau, bỏ ngỏ hoặc muộn";
    nothing_for_later: "No point is set aside, left open or late.", "Không có point nào để lại sau, bỏ ngỏ hoặc muộn.";
    no_points_raised: "No points were raised.", "Không có point nào được nêu.";
    keeps_no_points: "The debate keeps no points.", "Debate này không giữ point.";
    rulings: "Rulings", "Các ruling";
    ruling_of: "Ruling of {}", "Ruling ngày {}";
    of_the_record: "Record", "Record";
    quote_counts: "Quotes: {found} found, {outdated} outdated, {unchecked} unchecked", "Trích dẫn: {found} tìm thấy, {outdated} đã cũ, {unchecked} chưa kiểm tra";
    newest_hash: "Head", "Head";
    seal: "Seal", "Seal";
    for_commits: "For commits", "Cho commit";

    // Rules
    rules: "Rules of this debate", "Rules của debate này";
    back_to_debate: "Back to the debate", "Về debate";
    rules_built_in: "Built into aw.", "Có sẵn trong aw.";
    rules_of_creator: "The creator of the debate sent these rules along. Agents get them as a quote.", "Bên mở debate đã gửi kèm rules này. Các agent nhận chúng dưới dạng trích dẫn.";
    rules_replace: "They replace the built-in rules of {}.", "Chúng thay cho rules có sẵn của {}.";
    rules_unknown: "This type is not built in, and the creator of the debate sent no rules along. Each agent follows the rules on its own machine.", "Type này không có sẵn, và bên mở debate không gửi kèm rules. Mỗi agent theo rules trên máy của nó.";
    rules_sent_along: "rules sent along by the creator", "rules do bên mở debate gửi kèm";
    rules_replaced: "not the built-in rules: sent along by the creator", "không phải rules có sẵn: do bên mở debate gửi kèm";

    // Ruling
    rule_on_appeal: "The proposer appeals to you", "Proposer kháng nghị lên bạn";
    rule_on_resolution: "The proposer asks to complete the debate", "Proposer đề nghị kết thúc debate";
    rule_on_intervention: "You have stopped the agents", "Bạn đã dừng các agent";
    rule_on_intervention_words: "Both agents wait. Tell them how to go on.", "Cả hai agent đang chờ. Hãy nói họ nên tiếp tục thế nào.";
    proposer_says: "The proposer's position", "Lập trường của proposer";
    opponent_says: "The opponent's position", "Lập trường của opponent";
    choose: "Choose", "Chọn";
    another_way: "Another way", "Phương án khác";
    ruling_text: "Text of the ruling", "Nội dung ruling";
    words_after: "Text of the ruling, added after the option", "Nội dung ruling, thêm sau phương án";
    ruling_hint: "The ruling binds both sides. Markdown; at most {} bytes.", "Ràng buộc cả hai bên. Markdown; tối đa {} byte.";
    close_with_it: "Close the debate with this ruling", "Đóng debate bằng ruling này";
    approve: "Approved.", "Đồng ý.";
    approve_and_close: "Approve and close", "Đồng ý và đóng";
    send_ruling: "Send ruling", "Gửi ruling";
    rule_by: "Rule: {}", "Ruling: {}";
    rule_in_own_words: "Rule: in your own words", "Ruling: bằng lời của bạn";
    and_close: "and close the debate", "và đóng debate";
    preview: "Preview", "Xem trước";
    ruled: "Your ruling is argument {}.", "Ruling của bạn là argument {}.";
    ruled_before: "Somebody else has ruled already, so your ruling was not sent. Theirs is argument", "Người khác đã ra ruling trước, nên ruling của bạn không được gửi. Ruling đó là argument";
    not_sent: "Not sent:", "Chưa gửi được:";
    ruling_too_long: "it has {n} of {all} bytes. Shorten it.", "ruling dài {n} trên {all} byte. Hãy rút ngắn.";
    one_flaw: "one flaw in the text.", "có một lỗi trong nội dung.";
    many_flaws: "{} flaws in the text.", "có {} lỗi trong nội dung.";
    your_text: "What you typed", "Nội dung bạn đã gõ";
    blank_ruling: "Choose an option or write what should be done.", "Hãy chọn một phương án hoặc viết điều cần làm.";
    blank_other_way: "Describe the other way in your own words.", "Hãy mô tả phương án khác bằng lời của bạn.";
    unknown_option: "Nothing was sent: the APPEAL does not have this option. Choose again. Your text is kept.", "Chưa gửi gì: APPEAL không có phương án này. Hãy chọn lại. Nội dung của bạn vẫn được giữ.";

    rule_on_points: "Rule on the points", "Ra ruling cho từng point";
    uphold: "Uphold", "Giữ";
    dismiss: "Dismiss", "Bác bỏ";
    defer: "Defer", "Để sau";
    leave: "Leave", "Để nguyên";
    reason_for: "Reason for {} (optional)", "Lý do cho {} (không bắt buộc)";
    by_this_ruling: "By this ruling.", "Theo ruling này.";
    newest_words: "{role}, newest words", "{role}, lời mới nhất";

    // Intervention
    intervene_words: "Both agents will wait for your ruling. If one is writing now, its text is kept and shown as parked.", "Cả hai agent sẽ chờ ruling của bạn. Nếu một agent đang viết, nội dung đó được giữ lại và hiện là parked.";
    reason: "Reason (optional)", "Lý do (không bắt buộc)";
    stop_now: "Stop them now", "Dừng ngay";
    in_hand: "{} may still submit what it was writing. It will appear here as parked.", "{} vẫn có thể gửi nội dung đang viết. Nó sẽ hiện ở đây là parked.";
    was_parked: "{} submitted what it was writing: argument {n}, parked.", "{} đã gửi nội dung đang viết: argument {n}, parked.";
    stopped: "The agents are stopped. They wait for your ruling.", "Các agent đã dừng. Họ đang chờ ruling của bạn.";

    // The desk
    your_move_for: "Your move for {}", "Đến lượt bạn, đã {}";
    act_on_points: "rule on {}", "ra ruling cho {}";
    many_points: "{} points", "{} point";
    act_on_appeal: "rule on the appeal", "ra ruling cho appeal";
    act_on_resolution: "approve, or send back", "đồng ý, hoặc trả lại";
    act_on_intervention: "say how to go on", "nói nên tiếp tục thế nào";
    about_points: "about {}", "về {}";
    it_is_you: "you", "bạn";
    stop: "Stop", "Dừng";
    the_agents: "the agents", "các agent";
    new_since: "new since you looked", "mới từ lần xem trước";
    one_new_since: "1 new since you looked", "1 mới từ lần xem trước";
    many_new_since: "{} new since you looked", "{} mới từ lần xem trước";
    points_open: "Open", "Còn mở";
    points_left_open: "Left open", "Bỏ ngỏ";
    points_settled: "Settled", "Đã xong";
    count_need_you: "{} for you", "{} cần bạn";
    count_open: "{} open", "{} còn mở";
    count_left_open: "{} left open", "{} bỏ ngỏ";
    count_settled: "{} settled", "{} đã xong";
    you_owe: "you owe a ruling", "bạn phải ra ruling";
    one_quote: "1 quote found", "1 trích dẫn tìm thấy";
    many_quotes: "{} quotes found", "{} trích dẫn tìm thấy";
    not_checked: "not checked yet", "chưa kiểm tra";
    not_checked_words: "The proposer accepted it. The opponent has not checked the change.", "Proposer đã chấp nhận. Opponent chưa kiểm tra thay đổi.";
    no_evidence: "no evidence", "không có bằng chứng";
    no_evidence_words: "The proposer rejected it without a quote.", "Proposer phản đối mà không trích dẫn.";
    goes_in_circles: "three rounds or more", "ba vòng trở lên";
    goes_in_circles_words: "Both sides have said it three times or more.", "Hai bên đã nói từ ba lần trở lên.";
    turns: "Turns", "Các lượt";
    rounds_left: "{} left", "còn {}";
    live_agents: "Agents at work", "Các agent đang làm việc";
    final_version: "Final version", "Phiên bản cuối";
    changes_since_first: "changes since v1", "thay đổi từ v1";
    plan: "Plan", "Plan";
    plan_views: "How the plan is shown", "Cách hiện plan";
    raw: "Raw", "Thô";
    since_you_looked: "since you looked, v{}", "từ lần xem trước, v{}";
    since_version: "since v{}", "từ v{}";
    too_long_to_compare: "These versions are too long to compare here.", "Các phiên bản này quá dài để so sánh ở đây.";
    quoted_by: "Quoted by", "Được trích bởi";
    key_plan: "show or hide the plan", "hiện hoặc ẩn plan";
    key_list: "show or hide the list, on a wide screen", "hiện hoặc ẩn danh sách, trên màn hình rộng";
    key_search: "search the debates", "tìm trong các debate";
    key_debates: "next and previous debate", "debate tiếp theo, trước đó";
    key_options: "options of the debate", "các phương án của debate";
    key_open_debate: "open it", "mở";
    key_changes: "next and previous change", "thay đổi tiếp theo, trước đó";
    whole_transcript: "Whole transcript", "Toàn bộ transcript";
    your_ruling: "Your ruling", "Ruling của bạn";
    rule_on_this: "Rule", "Ra ruling";
    rule_one_option: "Rule: {} option", "Ruling: {} phương án";
    rule_on_ids: "Rule on {}", "Ra ruling cho {}";
    rule_resolution: "Approve or send back", "Đồng ý hoặc trả lại";
    words_on_resolution: "Words (needed to send it back)", "Lời của bạn (cần khi trả lại)";
    rule_options: "Rule: {} options", "Ruling: {} phương án";
    close_sheet: "Back to the debate", "Về debate";
    add_words: "Add words (may be left out)", "Thêm lời (có thể bỏ qua)";
    add_words_to: "Add words to {} (may be left out)", "Thêm lời cho {} (có thể bỏ qua)";
    send_back: "Send back", "Trả lại";
    both_sides: "What both sides say", "Hai bên nói gì";
    close_too: "and close the debate", "và đóng debate";
    uphold_ids: "uphold {}", "giữ {}";
    dismiss_ids: "dismiss {}", "bác bỏ {}";
    defer_ids: "defer {}", "để sau {}";
    bytes_of: "{n} of {all} bytes", "{n} trên {all} byte";
    sending: "Sending …", "Đang gửi …";
    kept: "No connection. Your ruling is kept and sent when the connection is back.", "Mất kết nối. Ruling của bạn được giữ và sẽ gửi khi có kết nối lại.";
    do_not_send: "Do not send", "Không gửi";
    dismiss_note: "Dismiss", "Bỏ qua";
    keys: "Keys", "Phím tắt";
    key_choose: "choose an option", "chọn phương án";
    key_send: "send the ruling", "gửi ruling";
    key_words: "write words", "viết lời";
    key_new: "next and previous new argument", "argument mới tiếp theo, trước đó";
    key_points: "next and previous point", "point tiếp theo, trước đó";
    key_open: "show the turns of the point alone", "chỉ hiện các lượt của point";
    key_all: "whole transcript", "toàn bộ transcript";
    key_stop: "stop the agents", "dừng các agent";
    key_next: "next debate that needs you", "debate tiếp theo cần bạn";
    single_keys: "Use single keys", "Dùng phím đơn";
    key_help: "these keys", "các phím này";
    close: "Close", "Đóng";
    next_needed: "next: {} waiting", "tiếp: {} đang chờ";

    // Documents
    document: "Document", "Tài liệu";
    version_of: "Version {n} of {all}", "Phiên bản {n} trên {all}";
    compare: "Compare", "So sánh";
    compare_from: "From", "Từ";
    compare_to: "To", "Đến";
    written_by: "by {}", "bởi {}";
    no_author: "author not given", "không ghi tác giả";
    same_text: "These two versions are the same.", "Hai phiên bản này giống nhau.";
    lines_added: "lines added: {}", "số dòng thêm: {}";
    lines_removed: "lines removed: {}", "số dòng bớt: {}";
    unchanged_lines: "unchanged lines: {}", "số dòng không đổi: {}";
    coarse: "These texts are so large that unchanged words may be marked too.", "Các văn bản này quá lớn nên cả những từ không đổi cũng có thể được đánh dấu.";
    line_ends: "These two versions differ only in their line ends.", "Hai phiên bản này chỉ khác cách kết thúc dòng.";
    left_out: "{} more rows are not shown. Use aw docs diff.", "{} dòng nữa không được hiện. Dùng aw docs diff.";
    changes: "Changes", "Thay đổi";
    read: "Read", "Đọc";
    contents: "Contents", "Mục lục tài liệu";
    compare_versions: "Compare two versions", "So sánh hai phiên bản";
    one_change: "1 change", "1 thay đổi";
    many_changes: "{} changes", "{} thay đổi";
    next_change: "next change", "thay đổi tiếp";
    previous_change: "previous", "trước đó";
    by_line: "Line by line", "Từng dòng";
    only_spaces: "These two versions read the same.", "Hai phiên bản này đọc như nhau.";
    new_in_version: "new in v{}", "mới ở v{}";
    one_section_unchanged: "1 section unchanged", "1 mục không đổi";
    sections_unchanged: "{} sections unchanged", "{} mục không đổi";
    one_part_unchanged: "1 part unchanged", "1 phần không đổi";
    parts_unchanged: "{} parts unchanged", "{} phần không đổi";
    versions: "Versions", "Các phiên bản";
    cited_by: "Debates that cite it", "Các debate trích dẫn tài liệu này";

    // New
    new_words: "Two agents will argue about your motion. You are the arbitrator.", "Hai agent sẽ tranh luận về motion của bạn. Bạn là arbitrator.";
    new_words_of_proposer: "Two agents will argue about your motion. The arbitrator settles what they cannot.", "Hai agent sẽ tranh luận về motion của bạn. Arbitrator quyết định điều họ không tự giải quyết được.";
    by_hand: "Open it here", "Mở ngay tại đây";
    by_hand_words: "You paste a line into each of two agents, on any machine.", "Bạn dán một dòng vào mỗi agent trong hai agent, trên máy bất kỳ.";
    by_run_heading: "Or let one command run it", "Hoặc để một lệnh chạy tất cả";
    by_run_words: "Run this line in the folder of your project. It starts both agent programs there; this page starts none.", "Chạy dòng này trong thư mục dự án của bạn. Nó khởi động cả hai chương trình agent tại đó; trang này không khởi động gì.";
    run_plan: "File of the plan", "Tệp của plan";
    run_automatic: "automatic", "tự động";
    run_agent_hint: "claude, codex, gemini, opencode or an agent of yours, with :MODEL if you like.", "claude, codex, gemini, opencode hoặc agent của bạn, thêm :MODEL nếu muốn.";
    run_me: "you, on this page", "bạn, trên trang này";
    run_nobody: "nobody", "không ai";
    run_rounds: "Rounds", "Số vòng";
    run_time: "Time for all", "Thời gian tổng";
    run_tokens: "Tokens for all", "Tổng số token";
    run_no_limit: "no limit", "không giới hạn";
    run_ask: "What to look at", "Cần xem xét điều gì";
    run_compose: "Compose the line", "Soạn dòng lệnh";
    title: "Title", "Tiêu đề";
    title_hint: "One line, at most 200 characters", "Một dòng, tối đa 200 ký tự";
    motion_text: "Motion", "Motion";
    motion_hint: "Your proposal and its purpose. Markdown; at most {} bytes.", "Đề xuất của bạn và mục đích của nó. Markdown; tối đa {} byte.";
    attach: "Plan as a document (optional)", "Plan dưới dạng tài liệu (không bắt buộc)";
    attach_hint: "For a long text. The motion will cite it.", "Dành cho văn bản dài. Motion sẽ dẫn nó.";
    who_approves: "When the proposer asks to complete the debate", "Khi proposer đề nghị kết thúc debate";
    approve_auto: "close it", "đóng luôn";
    approve_me: "ask me first", "hỏi tôi trước";
    approve_arbitrator: "ask the arbitrator first", "hỏi arbitrator trước";
    keep_points: "Keep points", "Ghi các point";
    keep_points_words: "The server numbers each objection, looks up its quotes, and refuses to complete the debate while one blocks.", "Server đánh số từng phản đối, tra các trích dẫn của nó, và không cho hoàn tất debate khi còn point chặn.";
    point_settings: "Rounds and blocking", "Số vòng và mức chặn";
    rounds_label: "Rounds before the arbitrator decides (1 to 20)", "Số vòng trước khi arbitrator quyết định (1 đến 20)";
    blocking_label: "Points that block", "Point nào chặn";
    blocking_major: "critical and major ones", "nghiêm trọng và lớn";
    blocking_critical: "only critical ones", "chỉ nghiêm trọng";
    create: "Open the debate", "Mở debate";
    created: "The debate is open. Paste one line into each of two agents:", "Debate đã mở. Dán mỗi dòng cho một agent:";
    line_proposer: "Be the proposer in debate {id}: run `aw agent show proposer --debate-id {id}` and follow what it prints.", "Hãy làm proposer trong debate {id}: chạy `aw agent show proposer --debate-id {id}` và làm theo những gì nó in ra.";
    line_opponent: "Be the opponent in debate {id}: run `aw agent show opponent --debate-id {id}` and follow what it prints.", "Hãy làm opponent trong debate {id}: chạy `aw agent show opponent --debate-id {id}` và làm theo những gì nó in ra.";

    // Deleting
    delete_title: "Delete this debate?", "Xóa debate này?";
    delete_words: "Nobody will be able to read it (arguments: {n}). Agents that wait for it get an error. Its documents stay. This cannot be undone.", "Sẽ không ai đọc được nó nữa (argument: {n}). Các agent đang chờ sẽ nhận lỗi. Tài liệu của nó vẫn còn. Không thể hoàn tác.";
    delete_now: "Delete it", "Xóa";
    keep: "Keep it", "Giữ lại";
    deleted: "The debate is deleted.", "Debate đã bị xóa.";

    // Signing in
    sign_in: "Sign in", "Đăng nhập";
    token: "Token", "Token";
    token_hint: "The token of your seat, or the administrator's. On the server's machine, aw debate open signs you in without a token.", "Token của seat của bạn, hoặc của administrator. Trên máy chạy server, aw debate open đăng nhập cho bạn mà không cần token.";
    wrong_token: "The server does not accept this token. It is mistyped, has expired or was revoked.", "Server không chấp nhận token này. Token bị gõ sai, đã hết hạn hoặc đã bị thu hồi.";
    used_link: "This link was used already or is older than ten minutes. Ask for another link, or sign in with a token.", "Liên kết này đã được dùng hoặc đã quá mười phút. Hãy xin liên kết khác, hoặc đăng nhập bằng token.";
    link_words: "This link signs you in once.", "Liên kết này đăng nhập cho bạn một lần.";

    // Errors
    oops: "Something went wrong", "Đã xảy ra lỗi";
    not_found_title: "There is no such page", "Không có trang này";
    debate_gone_title: "There is no such debate", "Không có debate này";
    debate_gone: "Its id may be mistyped, or the debate is on another server.", "Id có thể bị gõ sai, hoặc debate ở trên server khác.";
    debate_deleted_title: "This debate was deleted", "Debate này đã bị xóa";
    debate_deleted: "It was deleted on {}. Deleted debates cannot be brought back.", "Nó bị xóa ngày {}. Debate đã xóa không thể khôi phục.";
    document_gone_title: "There is no such document", "Không có tài liệu này";
    document_gone: "Its id or version may be mistyped, or it was deleted.", "Id hoặc phiên bản có thể bị gõ sai, hoặc nó đã bị xóa.";
    stopping_title: "The server is stopping or overloaded", "Server đang dừng hoặc quá tải";
    stopping: "Nothing is lost. Try again in a moment. If that does not help, run aw server status.", "Không mất gì. Hãy thử lại sau giây lát. Nếu vẫn lỗi, chạy aw server status.";
    stale_title: "This form is out of date", "Biểu mẫu này đã cũ";
    stale: "The server has restarted since, or the form is from another browser. Nothing was sent. Open the page again and send the form again.", "Server đã khởi động lại, hoặc biểu mẫu này từ trình duyệt khác. Chưa gửi gì. Mở lại trang và gửi lại biểu mẫu.";
    signed_out_title: "You are signed out", "Bạn đã đăng xuất";
    signed_out: "Nothing was sent. Go back: what you typed is still there. Sign in on another tab, then send it again.", "Chưa gửi gì. Quay lại: nội dung bạn đã gõ vẫn còn. Đăng nhập ở tab khác, rồi gửi lại.";
    forbidden_title: "Your seat may not do this", "Seat của bạn không được làm việc này";
    forbidden: "Nothing was changed. Sign in with another seat, or ask the administrator for one.", "Chưa có gì thay đổi. Hãy đăng nhập bằng seat khác, hoặc xin administrator một seat.";
    failed_title: "The server failed", "Server gặp lỗi";
    failed: "See the log: aw server logs.", "Xem log: aw server logs.";
    to_debates: "To the debates", "Đến các debate";
    try_again: "Try again", "Thử lại";
}

/// How many ids of points are listed in a line. `dock.js` has the same number.
const MOST_IDS: usize = 4;

impl Phrases {
    /// The name of a role.
    pub(crate) fn role(&self, role: Role) -> &'static str {
        match role {
            Role::Proposer => self.proposer,
            Role::Opponent => self.opponent,
            Role::Arbitrator => self.arbitrator,
        }
    }

    /// The name of the role of a seat.
    pub(crate) fn seat_role(&self, role: SeatRole) -> &'static str {
        match role {
            SeatRole::Plays(role) => self.role(role),
            SeatRole::Observer => self.observer,
        }
    }

    /// A state in words. `rules` says whether the reader may rule.
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

    /// How a debate ended; nothing, while it goes on.
    pub(crate) fn outcome(&self, outcome: Outcome) -> Option<&'static str> {
        match outcome {
            Outcome::Agreed => Some(self.agreed),
            Outcome::Ruled => Some(self.outcome_ruled),
            Outcome::LeftOpen => Some(self.left_open),
            Outcome::Completed => Some(self.completed),
            Outcome::Open => None,
        }
    }

    /// The purpose of a built-in type.
    pub(crate) fn about_kind(&self, kind: BuiltIn) -> &'static str {
        match kind {
            BuiltIn::CodingPlan => self.about_coding_plan,
            BuiltIn::General => self.about_general_debate,
        }
    }

    /// How many arguments are new to a reader who has seen those up to `seen`; none if no argument is.
    pub(crate) fn unread(&self, seen: u64, last: u64) -> Option<String> {
        match last.saturating_sub(seen) {
            0 => None,
            _ if seen == 0 => Some(self.unread_new.to_owned()),
            1 => Some(self.one_new.to_owned()),
            count => Some(put(self.many_new, count)),
        }
    }

    /// How bad a point is.
    pub(crate) fn severity(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Critical => self.critical,
            Severity::Major => self.major,
            Severity::Minor => self.minor,
        }
    }

    /// Where a point stands. In a closed debate a point that is not over is left open.
    pub(crate) fn point_state(&self, state: PointState, is_closed: bool) -> &'static str {
        match state {
            _ if is_closed && state.is_alive() => self.point_left_open,
            PointState::Open => self.point_open,
            PointState::Accepted => self.point_accepted,
            PointState::Rejected => self.point_rejected,
            PointState::Deferred => self.point_deferred,
            PointState::Upheld => self.point_upheld,
            PointState::Settled => self.point_settled,
            PointState::Withdrawn => self.point_withdrawn,
            PointState::Dismissed => self.point_dismissed,
            PointState::SetAside => self.point_set_aside,
        }
    }

    /// The effect of this word on a point; nothing for a word about the whole plan.
    pub(crate) fn says(&self, word: Word) -> String {
        match word {
            Word::Critical => put(self.raised_as, self.critical),
            Word::Major => put(self.raised_as, self.major),
            Word::Minor => put(self.raised_as, self.minor),
            Word::Resolved => self.says_resolved.to_owned(),
            Word::Open => self.says_open.to_owned(),
            Word::Withdrawn => self.says_withdrawn.to_owned(),
            Word::Accepted => self.says_accepted.to_owned(),
            Word::Rejected => self.says_rejected.to_owned(),
            Word::Deferred => self.says_deferred.to_owned(),
            Word::Upheld => self.says_upheld.to_owned(),
            Word::Dismissed => self.says_dismissed.to_owned(),
            Word::Agree | Word::Object => String::new(),
        }
    }

    /// How often the opponent held a point after an answer; nothing if it never did.
    pub(crate) fn disputes(&self, count: u32) -> Option<String> {
        match count {
            0 => None,
            1 => Some(self.disputed_once.to_owned()),
            _ => Some(put(self.disputed, count)),
        }
    }

    /// Why a RESOLUTION waits for the arbitrator.
    pub(crate) fn held(&self, held: Held) -> &'static str {
        match held {
            Held::Policy => self.held_policy,
            Held::NotAgreed => self.held_not_agreed,
            Held::OtherVersion => self.held_other_version,
        }
    }

    /// The ids of points, or their number where they are too many for a line.
    pub(crate) fn ids_of_points(&self, ids: &[String]) -> String {
        match ids.len() {
            ..=MOST_IDS => ids.join(", "),
            count => put(self.many_points, count),
        }
    }

    /// How many points block.
    pub(crate) fn blocking(&self, count: usize) -> String {
        match count {
            0 => self.nothing_blocks.to_owned(),
            1 => self.one_point_blocks.to_owned(),
            _ => put(self.many_points_block, count),
        }
    }

    /// The heading of the panel in which a person rules on this kind of argument.
    pub(crate) fn rule_on(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Resolution => self.rule_on_resolution,
            Kind::Intervention => self.rule_on_intervention,
            Kind::Motion | Kind::Claim | Kind::Appeal | Kind::Ruling => self.rule_on_appeal,
        }
    }

    /// A number with its thousands apart, as the script writes it too.
    pub(crate) fn number(&self, number: usize) -> String {
        let mark = match self.lang {
            Language::English => ',',
            Language::Vietnamese => '.',
        };
        let digits = number.to_string();
        let mut apart = String::with_capacity(digits.len() * 4 / 3);
        for (at, digit) in digits.char_indices() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                apart.push(mark);
            }
            apart.push(digit);
        }
        apart
    }

    /// How long ago, in the largest unit that fits.
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

    /// A duration in the largest unit that fits.
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

/// Fills in the blank of a phrase.
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
    fn the_language_that_the_browser_prefers_is_used() {
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
    fn times_have_the_largest_unit_that_fits() {
        let phrases = Language::English.phrases();
        assert_eq!(phrases.ago(4_000), "just now");
        assert_eq!(phrases.ago(61_000), "1 min ago");
        assert_eq!(phrases.lasting(7_200_000), "2 h");
        assert_eq!(
            [999, 10_240, 1_234_567].map(|n| phrases.number(n)),
            ["999", "10,240", "1,234,567"]
        );
        assert_eq!(Language::Vietnamese.phrases().ago(3 * 86_400_000), "3 ngày trước");
    }
}
