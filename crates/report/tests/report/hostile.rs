//! Fifty kinds of text that a page could take for its own, or that could turn, break or hide what stands around it.

use crate::made_up::{made, made_up_run};
use benchwright_pack::run::{RunPlan, TrialEnd, TrialRecord};
use benchwright_report::html::{Answer, CallView, Made, Said, Turn};
use std::collections::{BTreeMap, BTreeSet};

/// The texts, each with what it is.
pub(crate) fn texts() -> Vec<(&'static str, String)> {
    let marked = |n: usize, text: &str| text.replace('#', &n.to_string());
    let kinds: [(&str, &str); 46] = [
        ("script", "<script>window.hit=#</script>"),
        ("closed script", "</script><script>window.hit=#</script>"),
        ("closed style", "</style><script>window.hit=#</script>"),
        ("closed title", "</title><script>window.hit=#</script>"),
        ("closed pre", "</pre></details><script>window.hit=#</script>"),
        ("closed table", "</td></tr></table><img src=x onerror=window.hit=#>"),
        ("image", "<img src=x onerror='window.hit=#'>"),
        ("image without blanks", "<img/src=x/onerror=window.hit=#>"),
        ("svg", "<svg/onload=window.hit=#>"),
        ("svg script", "<svg><script>window.hit=#</script></svg>"),
        ("svg animation", "<svg><animate onbegin=window.hit=# attributeName=x></svg>"),
        ("svg link", "<svg><a xlink:href='javascript:window.hit=#'><text>x</text></a></svg>"),
        ("math", "<math><mtext><style><img src=x onerror=window.hit=#></style></mtext></math>"),
        ("frame", "<iframe srcdoc='<script>parent.hit=#</script>'></iframe>"),
        ("frame address", "<iframe src='javascript:parent.hit=#'></iframe>"),
        ("object", "<object data='data:text/html,<script>parent.hit=#</script>'></object>"),
        ("embed", "<embed src='javascript:window.hit=#'>"),
        ("link", "<a href='javascript:window.hit=#'>here</a>"),
        ("base", "<base href='https://example.invalid/'>"),
        ("refresh", "<meta http-equiv=refresh content='0;url=https://example.invalid/'>"),
        ("policy", "<meta http-equiv=Content-Security-Policy content=\"default-src *\">"),
        ("style", "<style>*{display:none}</style>"),
        ("style sheet", "<link rel=stylesheet href='https://example.invalid/x.css'>"),
        ("style attribute", "<b style='position:fixed;inset:0'>x</b>"),
        ("form", "<form action='https://example.invalid/'><button autofocus>x</button></form>"),
        ("input", "<input autofocus onfocus=window.hit=#>"),
        ("details", "<details open ontoggle=window.hit=#>x</details>"),
        ("video", "<video><source onerror=window.hit=#></video>"),
        ("body", "<body onload=window.hit=#>"),
        ("template", "<template><script>window.hit=#</script></template>"),
        ("slot of an id", "<div id=main><div id=matrix>"),
        ("attribute", "\" onmouseover=\"window.hit=#\" x=\""),
        ("attribute with one stroke", "' onmouseover='window.hit=#' x='"),
        ("comment", "<!-- <script>window.hit=#</script>"),
        ("cdata", "<![CDATA[<script>window.hit=#</script>]]>"),
        ("entity", "&lt;script&gt;window.hit=#&lt;/script&gt;"),
        ("numbered entity", "&#60;script&#62;window.hit=#&#60;/script&#62;"),
        ("address", "javascript:window.hit=#"),
        ("data address", "data:text/html,<script>window.hit=#</script>"),
        ("markdown link", "[x](javascript:window.hit=#)"),
        ("markdown image", "![x](https://example.invalid/#.png)"),
        ("markdown html", "a\n\n<script>window.hit=#</script>\n\nb"),
        ("markdown fence", "```\n</code></pre><script>window.hit=#</script>\n```"),
        ("template of another engine", "{{constructor.constructor('window.hit=#')()}} ${window.hit=#}"),
        ("csv formula", "=HYPERLINK(\"https://example.invalid\",\"#\")"),
        ("selector", "#main{} /* */ @import 'https://example.invalid/#'"),
    ];
    let mut all: Vec<(&str, String)> =
        kinds.iter().enumerate().map(|(n, (name, text))| (*name, marked(n + 1, text))).collect();
    all.push(("bidi", "\u{202e}txt.exe\u{202c} \u{2066}a\u{2069} \u{200f}b\u{61c}".into()));
    all.push(("ansi", "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;https://example.invalid\u{7}x\u{1b}]8;;\u{7}".into()));
    all.push(("controls", "a\0b\u{8}c\u{c}d\u{7f}e\u{85}f\r\ng".into()));
    all.push(("a long line", "x".repeat(30_000)));
    all
}

/// All of them in one text.
pub(crate) fn all() -> String {
    texts()
        .into_iter()
        .map(|(name, text)| format!("{name}: {}\n", text.chars().take(2_000).collect::<String>()))
        .collect()
}

/// A run in which every text is one that a browser might take for its own.
pub(crate) fn hostile(text: &str) -> (RunPlan, Vec<TrialRecord>) {
    let (mut plan, mut records) = made_up_run(1, 1);
    plan.tasks.truncate(8);
    let kept: BTreeSet<String> = plan.tasks.iter().map(|task| task.digest.clone()).collect();
    records.retain(|record| kept.contains(&record.key.task));
    for agent in &mut plan.agents {
        agent.push_str(text);
    }
    for task in &mut plan.tasks {
        for own in [&mut task.id, &mut task.domain, &mut task.pattern, &mut task.tier, &mut task.objective] {
            own.push_str(text);
        }
        task.parameters = std::mem::take(&mut task.parameters).into_iter().map(|(name, n)| (name + text, n)).collect();
    }
    for record in &mut records {
        record.key.agent.push_str(text);
        record.failed = Some(format!("exit status: 1: {text}"));
        match &mut record.end {
            TrialEnd::Error { cause, detail } => (*cause, *detail) = (text.into(), text.into()),
            TrialEnd::Scored(score) => {
                let failed = std::mem::take(&mut score.failed).into_iter();
                score.failed = failed.map(|(rule, family)| (rule + text, family + text)).collect();
                score.gates = vec![text.into()];
                score.limit = Some(text.into());
            }
        }
    }
    (plan, records)
}

/// A trial in which everything that was said, called, changed and found is one text.
pub(crate) fn hostile_made(record: &TrialRecord, text: &str) -> Made {
    let mut all = made(record);
    let call = |answer| Said::Call(CallView { tool: text.into(), arguments: text.into(), answer });
    all.instruction = text.into();
    all.said = vec![
        Said::System(text.into()),
        Said::User(text.into()),
        Said::Turn(Turn { text: text.into(), reasoning: Some(text.into()), ..Turn::default() }),
        call(Answer::Answered(text.into())),
        call(Answer::Refused(text.into())),
        Said::Program { code: None, signal: Some(9), out: text.into(), err: text.into() },
    ];
    let verdict = all.verdict.as_mut().unwrap();
    let mut rule = String::new();
    for check in &mut verdict.checks {
        let of = std::sync::Arc::make_mut(&mut check.of);
        rule = format!("{}{text}", of.rule);
        of.rule.clone_from(&rule);
        (of.code, of.family, of.at, check.why) = (text.into(), text.into(), vec![text.into()], Some(text.into()));
    }
    verdict.phases[0].name = text.into();
    verdict.gates = vec![text.into()];
    all.sentences = BTreeMap::from([(rule, vec![text.into()])]);
    all.phases = vec![(Some(text.into()), text.into())];
    for change in &mut all.changes {
        (change.table, change.record) = (text.into(), text.into());
        change.cells = vec![(text.into(), text.into(), text.into())];
    }
    for plan in &mut all.plan {
        plan.view = text.into();
        plan.fields.iter_mut().for_each(|field| *field = text.into());
        plan.found.iter_mut().flatten().for_each(|cell| *cell = text.into());
    }
    if let Some((_, words)) = &mut all.anchors {
        words.iter_mut().for_each(|word| *word = text.into());
    }
    all
}
