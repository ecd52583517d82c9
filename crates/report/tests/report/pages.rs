//! The pages: what they may hold, how large they are, and that nothing in them is markup but what this crate wrote.

use crate::made_up::{MadeUpPage, made_up_run, pages};
use benchwright_base::Digest;
use benchwright_pack::CheckStatus;
use benchwright_pack::run::{RunPlan, TrialEnd, TrialRecord};
use benchwright_report::html::{
    Answer, CallView, Index, LARGEST_INDEX, PageLink, TrialView, index, page_name, trial_page,
};
use benchwright_report::{Side, Summary, Tally, compare_all};

/// Markup in every shape that a browser might take for its own.
const MARKUP: &str = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"><svg/onload=alert(3)>&lt;b&gt;";

/// A run in which every text is markup.
fn hostile() -> (RunPlan, Vec<TrialRecord>) {
    let (mut plan, mut records) = made_up_run(1, 1);
    for agent in &mut plan.agents {
        agent.push_str(MARKUP);
    }
    for task in &mut plan.tasks {
        for text in [&mut task.id, &mut task.domain, &mut task.pattern, &mut task.tier, &mut task.objective] {
            text.push_str(MARKUP);
        }
        task.parameters =
            std::mem::take(&mut task.parameters).into_iter().map(|(name, n)| (name + MARKUP, n)).collect();
    }
    for record in &mut records {
        record.key.agent.push_str(MARKUP);
        match &mut record.end {
            TrialEnd::Error { cause, detail } => (*cause, *detail) = (MARKUP.into(), MARKUP.into()),
            TrialEnd::Scored(score) => {
                let failed = std::mem::take(&mut score.failed).into_iter();
                score.failed = failed.map(|(rule, family)| (rule + MARKUP, family + MARKUP)).collect();
                score.gates = vec![MARKUP.into()];
                score.limit = Some(MARKUP.into());
            }
        }
    }
    (plan, records)
}

/// Every tag on a page is one that this crate writes, with attributes that it writes.
fn only_our_tags(page: &str) {
    const TAGS: &[&str] = &[
        "!doctype",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "section",
        "h1",
        "h2",
        "p",
        "a",
        "code",
        "dl",
        "div",
        "dt",
        "dd",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "span",
        "figure",
        "figcaption",
        "svg",
        "desc",
        "line",
        "circle",
        "text",
        "rect",
        "ul",
        "ol",
        "li",
        "pre",
        "strong",
    ];
    let body = page.split_once("</style>").unwrap().1;
    for tag in body.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag that does not end");
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        assert!(TAGS.contains(&&*name), "<{tag}>");
        for banned in ["style=", "onload", "onerror", "src=", "javascript:"] {
            assert!(!tag.contains(banned), "<{tag}>");
        }
    }
    assert!(!page.contains("<script") && !page.contains("<img"));
}

fn whole(plan: &RunPlan, records: &[TrialRecord], title: &str, links: &[PageLink]) -> String {
    let tally = Tally::of(plan, records).unwrap();
    let sides: Vec<Side> = plan.agents.iter().map(|agent| Side { tally: &tally, agent }).collect();
    let comparisons = compare_all(&sides).unwrap();
    index(&tally.summary(), &Index { title, comparisons: &comparisons, pages: links, unlisted: 0, head: MARKUP })
}

#[test]
fn threat_11_markup_in_any_field_shows_as_text() {
    let (plan, records) = hostile();
    let link = PageLink {
        href: "javascript:alert(4)".into(),
        agent: MARKUP.into(),
        task: MARKUP.into(),
        attempt: 1,
        pass: None,
        wrong: Some(MARKUP.into()),
    };
    let page = whole(&plan, &records, MARKUP, &[link]);
    only_our_tags(&page);
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("&amp;lt;b&amp;gt;"));
    let call = |answer| CallView { tool: MARKUP.into(), arguments: MARKUP.into(), answer };
    let mut made_up = pages(&plan, &records);
    let page = &mut made_up[0];
    for check in &mut page.verdict.checks {
        let of = std::sync::Arc::make_mut(&mut check.of);
        (of.code, of.at, check.why) = (MARKUP.into(), vec![MARKUP.into()], Some(MARKUP.into()));
    }
    page.verdict.phases[0].name = MARKUP.into();
    let calls = [call(Answer::Answered(MARKUP.into())), call(Answer::Refused(MARKUP.into()))];
    let text = trial_page(&TrialView { instruction: MARKUP, calls: &calls, diff: MARKUP, ..page.view() });
    only_our_tags(&text);
    let wrong = records.iter().find(|record| matches!(record.end, TrialEnd::Error { .. })).unwrap();
    only_our_tags(&trial_page(&TrialView { record: wrong, verdict: None, wrong: Some(MARKUP), ..page.view() }));
}

#[test]
fn the_content_policy_allows_the_one_style_sheet_and_nothing_else() {
    let (plan, records) = made_up_run(1, 1);
    let made_up = pages(&plan, &records);
    for page in [whole(&plan, &records, "t", &[]), trial_page(&made_up[0].view())] {
        let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
        let policy = page.split_once("Security-Policy\" content=\"").unwrap().1.split_once('"').unwrap().0;
        let hash = policy.split_once("sha256-").unwrap().1.split_once('\'').unwrap().0;
        assert_eq!(policy, format!("default-src 'none'; style-src 'sha256-{hash}'; img-src data:"));
        assert_eq!(decoded(hash), Digest::of(style.as_bytes()).0);
        assert_eq!(page.matches("<style").count(), 1);
        only_our_tags(&page);
    }
}

/// The bytes of some base64.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut word, mut bits) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        word = word << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    out
}

#[test]
fn every_drawing_has_words_and_every_figure_a_table() {
    let (plan, records) = made_up_run(2, 1);
    let page = whole(&plan, &records, "A made-up run", &[]);
    assert!(page.matches("<svg").count() >= 7);
    assert_eq!(page.matches("<svg").count(), page.matches("<desc>").count());
    for section in page.split("<section>").filter(|section| section.contains("<svg")) {
        assert!(section.contains("<table>"), "{}", &section[..80]);
    }
    assert_eq!(page, whole(&plan, &records, "A made-up run", &[]), "the same run gives the same bytes");
    let made_up = pages(&plan, &records);
    let links: Vec<PageLink> = made_up.iter().map(MadeUpPage::link).collect();
    let page = whole(&plan, &records, "A made-up run", &links);
    assert!(made_up.iter().all(|of| page.contains(&format!("<a href=\"{}\">", of.name))));
}

#[test]
fn an_index_stays_within_its_size_however_large_the_run() {
    let (plan, _) = made_up_run(1, 1);
    let long = "x".repeat(3_000);
    let mut large = RunPlan { tasks: Vec::new(), agents: Vec::new(), ..plan.clone() };
    for n in 0..200 {
        large.agents.push(format!("{n}-{long}"));
    }
    for n in 0..400 {
        let mut task = plan.tasks[n % 300].clone();
        (task.digest, task.pattern) = (format!("{n:064}"), format!("{n}-{long}"));
        large.tasks.push(task);
    }
    let summary = Summary::of(&large, &[]).unwrap();
    let links: Vec<PageLink> = (0..50_000)
        .map(|n| PageLink {
            href: format!("trials/{n}.html"),
            agent: long.clone(),
            task: long.clone(),
            attempt: 1,
            pass: None,
            wrong: Some(long.clone()),
        })
        .collect();
    let page = index(&summary, &Index { title: &long, comparisons: &[], pages: &links, unlisted: 7, head: &long });
    assert!(page.len() <= LARGEST_INDEX, "{}", page.len());
    assert!(page.contains("more agents are in the JSON"));
    let listed = page.matches("href=\"trials/").count();
    assert!(page.contains(&format!("{} more pages are in the folder", 50_007 - listed)), "{listed}");
}

#[test]
fn a_page_of_a_trial_tells_failures_first() {
    let (plan, records) = made_up_run(1, 1);
    let made_up = pages(&plan, &records);
    let failed = |page: &&MadeUpPage| page.verdict.checks.iter().any(|check| check.status == CheckStatus::Fail);
    let text = trial_page(&made_up.iter().find(failed).unwrap().view());
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is missing"));
    assert!(place("What fell short") < place("Instruction") && place("Calls") < place("What changed"));
    assert!(place("at least 60 wanted") < place("All checks"));
    assert!(text.contains("there is no purchase order 99") && text.contains("beyond tolerance"));
    let names: std::collections::BTreeSet<String> = records.iter().map(|record| page_name(&record.key)).collect();
    assert_eq!(names.len(), records.len());
}
