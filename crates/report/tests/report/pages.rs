//! The pages: what they may hold, how large they are, and that nothing in them is markup but what this crate wrote. The same is held in a
//! browser by `scripts/pages-check`.

use crate::hostile::{self, hostile, hostile_made};
use crate::made_up::{MadeUpPage, made_up_run, pages};
use benchwright_base::Digest;
use benchwright_pack::CheckStatus;
use benchwright_pack::run::{RunPlan, TrialEnd, TrialRecord};
use benchwright_report::html::{LARGEST_INDEX, Made, Page, Site, page_name};
use benchwright_report::{Side, Tally, compare_all};
use std::collections::{BTreeMap, BTreeSet};

/// Every tag on a page is one that this crate writes, with attributes that it writes.
fn only_our_tags(page: &str) {
    const TAGS: &str = " !doctype html head meta title style body header main section nav h1 h2 h3 h4 h5 h6 p a b code dl div dt dd table caption \
        thead tbody tr th td span small figure figcaption svg desc line circle text rect polyline ul ol li pre strong em s br hr blockquote \
        details summary label select option input button output script ";
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    let (body, script) = body.rsplit_once("<script>").unwrap();
    assert_eq!(script.matches("</script>").count(), 1);
    for tag in before.split('<').chain(body.split('<')).skip(1).filter(|tag| !tag.is_empty()) {
        let Some((tag, _)) = tag.split_once('>') else { continue };
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        assert!(TAGS.contains(&format!(" {} ", name.to_lowercase())), "<{tag}>");
        let mut in_text = false;
        let bare: String = tag
            .chars()
            .filter(|c| {
                in_text ^= *c == '"';
                !in_text
            })
            .collect();
        for banned in [" style=", " on", " src=", "javascript:"] {
            assert!(!bare.contains(banned) || tag.starts_with("meta"), "<{tag}>");
        }
        assert!(!tag.contains("href=\"javascript") && !tag.contains("href=\"data"), "<{tag}>");
    }
    assert!(!body.contains("<script") && !body.contains("<img"));
    let steers = |c: char| benchwright_draw::text::steers(c) && !matches!(c, '\n' | '\t');
    assert!(!page.contains(steers), "nothing turns or steers what stands around it");
}

/// All pages of a run, by name.
fn all_pages(
    plan: &RunPlan,
    records: &[TrialRecord],
    trials: &[(i64, &TrialRecord, Made)],
) -> BTreeMap<String, String> {
    let tally = Tally::of(plan, records).unwrap();
    let sides: Vec<Side> = plan.agents.iter().map(|agent| Side { tally: &tally, agent }).collect();
    let numbers = trials.iter().map(|(number, ..)| *number).collect();
    let site = Site::new("A run", "head", &tally, compare_all(&sides).unwrap()).with_trials(numbers, BTreeMap::new());
    let mut out: BTreeMap<String, String> =
        site.pages().into_iter().map(|page| (site.name(page), site.render(page, Some("# Do\n\n*it*")))).collect();
    for (_, record, made) in trials {
        out.insert(page_name(&record.key), site.trial(record, Some(made), None));
    }
    out
}

fn whole(plan: &RunPlan, records: &[TrialRecord]) -> BTreeMap<String, String> {
    let made_up = pages(plan, records);
    let trials: Vec<_> = made_up.into_iter().map(|page| (page.number, page.record, page.made)).collect();
    all_pages(plan, records, &trials)
}

#[test]
fn threat_11_markup_in_any_field_shows_as_text() {
    for (name, text) in hostile::texts().into_iter().chain([("all at once", hostile::all())]) {
        let (plan, records) = hostile(&text);
        let scored = records.iter().position(|record| matches!(record.end, TrialEnd::Scored(_))).unwrap();
        let record = &records[scored];
        let tally = Tally::of(&plan, &records).unwrap();
        let sides: Vec<Side> = plan.agents.iter().map(|agent| Side { tally: &tally, agent }).collect();
        let wrong = BTreeMap::from([(1, text.clone())]);
        let site =
            Site::new(&text, &text, &tally, compare_all(&sides).unwrap()).with_trials(BTreeSet::from([1]), wrong);
        for page in site.pages().into_iter().filter(|page| !matches!(page, Page::Task(1..))) {
            only_our_tags(&site.render(page, Some(&text)));
        }
        let page = site.trial(record, Some(&hostile_made(record, &text)), None);
        only_our_tags(&page);
        if name == "script" {
            assert!(page.contains("&lt;script&gt;window.hit=1&lt;/script&gt;"));
        }
        only_our_tags(&site.trial(record, None, Some(&text)));
    }
}

#[test]
fn the_content_policy_allows_the_one_style_sheet_and_the_one_script_and_nothing_else() {
    let (plan, records) = made_up_run(1, 1);
    for page in whole(&plan, &records).values().take(12) {
        let between = |open: &str, close: &str| page.split_once(open).unwrap().1.split_once(close).unwrap().0;
        let policy = between("Security-Policy\" content=\"", "\"");
        let hash = |text: &str| encoded(&Digest::of(text.as_bytes()).0);
        assert_eq!(
            policy,
            format!(
                "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
                hash(between("<style>", "</style>")),
                hash(between("<script>", "</script>"))
            )
        );
        assert_eq!((page.matches("<style").count(), page.matches("<script").count()), (1, 1));
        only_our_tags(page);
    }
}

/// Bytes as base64.
fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * at)) as usize & 63];
            out.push(if at > three.len() { '=' } else { letter as char });
        }
    }
    out
}

#[test]
fn every_drawing_has_words_and_every_figure_a_table_and_every_link_a_page() {
    let (plan, records) = made_up_run(2, 1);
    let all = whole(&plan, &records);
    let page = &all["index.html"];
    assert!(page.matches("<svg").count() >= 7);
    assert_eq!(page.matches("<svg").count(), page.matches("<desc>").count());
    for section in page.split("<section>").filter(|section| section.contains("<svg")) {
        assert!(section.contains("<table>"), "{}", &section[..80]);
    }
    assert_eq!(all, whole(&plan, &records), "the same run gives the same bytes");
    for (name, page) in &all {
        for href in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let (href, id) = href.split_once('#').unwrap_or((href, ""));
            let target = match (href, name.contains('/')) {
                ("", _) => name.clone(),
                (href, true) => href.strip_prefix("../").unwrap_or_else(|| panic!("{href} on {name}")).to_owned(),
                (href, false) => href.to_owned(),
            };
            let target = all.get(&target).unwrap_or_else(|| panic!("{target} on {name}"));
            // A word of a filter names no place.
            let is_word = id.len() > 1 && id[1..].bytes().all(|c| c.is_ascii_digit());
            assert!(id.is_empty() || is_word || target.contains(&format!("id=\"{id}\"")), "{id} on {name}");
        }
    }
    assert_eq!(all.len(), 2 + 10 + 300 + 30);
}

#[test]
fn an_index_stays_within_its_size_however_large_the_run() {
    let (plan, _) = made_up_run(1, 1);
    let long = "x".repeat(3_000);
    let mut large = RunPlan { tasks: Vec::new(), agents: Vec::new(), ..plan.clone() };
    for n in 0..100 {
        large.agents.push(format!("{n}-{long}"));
    }
    for n in 0..1_000 {
        let mut task = plan.tasks[n % 300].clone();
        (task.digest, task.pattern) = (format!("{n:064}"), format!("{n}-{long}"));
        large.tasks.push(task);
    }
    let tally = Tally::new(&large);
    let wrong = (0..5_000).map(|n| (n, long.clone())).collect();
    let site = Site::new(&long, &long, &tally, Vec::new()).with_trials(BTreeSet::new(), wrong);
    let page = site.render(Page::Index, None);
    assert!(page.len() <= LARGEST_INDEX, "{}", page.len());
    assert!(page.contains("more agents are in the JSON") && page.contains("href=\"matrix-4.html\""));
    assert!(site.render(Page::Matrix(3), None).len() <= LARGEST_INDEX);
}

#[test]
fn a_matrix_in_pages_has_every_task_once_and_every_attempt_as_it_came() {
    let (mut plan, records) = made_up_run(2, 1);
    let mut more: Vec<_> = plan.tasks.iter().take(40).cloned().collect();
    for task in &mut more {
        task.digest = format!("0000{}", &task.digest[4..]);
        task.id.push_str("-more");
    }
    plan.tasks.extend(more);
    let all = all_pages(&plan, &records, &[]);
    let rows: String = [1, 2].map(|n| all[&format!("matrix-{n}.html")].as_str()).concat();
    for task in &plan.tasks {
        assert_eq!(rows.matches(&format!(">{}</a></th>", task.id)).count(), 1, "{}", task.id);
    }
    let passed = records.iter().filter(|record| matches!(&record.end, TrialEnd::Scored(score) if score.pass)).count();
    assert_eq!(rows.matches("aria-label=\"passed\"").count(), passed);
    assert_eq!(rows.matches("aria-label=\"not ended\"").count(), 40 * 5 * 2);
}

#[test]
fn a_page_of_a_trial_tells_failures_first_and_everything_that_was_said() {
    let (plan, records) = made_up_run(1, 1);
    let made_up = pages(&plan, &records);
    let failed = |page: &&MadeUpPage| {
        let checks = &page.made.verdict.as_ref().unwrap().checks;
        checks.iter().any(|check| check.status == CheckStatus::Fail && check.rule == "erp/cover")
    };
    let page = made_up.iter().find(failed).unwrap();
    let all = all_pages(&plan, &records, &[(page.number, page.record, page.made.clone())]);
    let text = &all[&page_name(&page.record.key)];
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is missing"));
    assert!(place("id=\"short\"") < place("id=\"plan\"") && place("id=\"plan\"") < place("id=\"said\""));
    assert!(place("id=\"brief\"") < place("id=\"changed\"") && place("id=\"changed\"") < place("id=\"checks\""));
    assert!(place("at least 60 wanted") < place("id=\"checks\""));
    for words in [
        "<blockquote>Every order must be covered on its promised day.</blockquote>",
        "482.00",
        "1.90 s, 3100 tokens in, 140 out",
        "The orders decide what is bought.",
        "refused: not_found: there is no purchase order 99",
        "It ended with exit code 3.",
        "<h3>Spring buying</h3>",
        "sale_order: 1 changed",
        "buy: 0 as certified, 1 only of the agent, 1 only certified",
        "beyond tolerance",
    ] {
        place(words);
    }
    let names: BTreeSet<String> = records.iter().map(|record| page_name(&record.key)).collect();
    assert_eq!(names.len(), records.len());
}

#[test]
fn clusters_count_every_trial_in_which_a_rule_failed() {
    let (plan, records) = made_up_run(3, 2);
    let all = all_pages(&plan, &records, &[]);
    let failed = |rule: &str| {
        let is_so =
            |record: &&TrialRecord| matches!(&record.end, TrialEnd::Scored(score) if score.failed.contains_key(rule));
        records.iter().filter(is_so).count()
    };
    for rule in ["erp/cover", "erp/budget"] {
        let told = all["failures.html"].split_once(&format!("<strong>{rule}</strong>")).unwrap().1;
        assert!(told.split_once("trials,").unwrap().0.ends_with(&format!("{} ", failed(rule))), "{rule}");
    }
    assert!(all["failures.html"].contains("429 after 6 tries") && all["failures.html"].contains("rate-limit"));
}
