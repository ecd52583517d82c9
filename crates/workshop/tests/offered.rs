//! What agents on requests may be given: plans that say why each step is made, and sets of tools in which the work can be done and in
//! which it does not show whether it can.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_pack::Store;
use benchwright_run::{
    Host as _,
    model::{Tools, offer, told_plan},
};
use benchwright_workshop::{Catalog, Temporary, Workshop, host::StoreHost};
use std::collections::BTreeSet;

/// A request of each domain and of two joined ones, with a variant that cannot be carried out.
const REQUESTS: [(&str, &str); 8] = [
    ("csm/article-and-engineer", "still-a-draft"),
    ("itsm/hold-and-pause", ""),
    ("hr/open-service-case", ""),
    ("teams/tag-the-newcomers", ""),
    ("calendar/private-interviews", ""),
    ("email/forward-while-away", ""),
    ("drive/share-with-partner", ""),
    ("hybrid/our-outage-their-case", ""),
];

fn suite(catalog: &Catalog) -> benchwright_pack::Suite {
    let mut text = String::from("format = 1\nname = \"offered\"\nversion = 1\nfamily = \"scenario\"\ncanary = \"c\"\n");
    for (pattern, variant) in REQUESTS {
        let (scenario, _) = catalog.scenario(pattern).unwrap();
        let one_with_all_tools = scenario.blocked.iter().find(|blocked| blocked.without.is_empty()).unwrap();
        let variant = if variant.is_empty() { &one_with_all_tools.name } else { variant };
        for objective in ["done", variant] {
            text.push_str(&format!(
                "[[task]]\npattern = \"{pattern}\"\ntier = \"medium\"\nobjective = \"{objective}\"\nseed = 1\n"
            ));
        }
    }
    benchwright_pack::Suite::from_toml("offered.toml", &text).unwrap()
}

#[test]
fn the_tools_of_a_request_suffice_and_do_not_tell_whether_it_can_be_carried_out() {
    let workshop = Workshop::new(Catalog::built_in());
    let folder = Temporary::new().unwrap();
    let suite = suite(workshop.catalog());
    let built = workshop.build(&suite, &folder.path().join("out")).unwrap();
    assert_eq!((built.made.len(), built.short.len()), (2 * REQUESTS.len(), 0), "{:?}", built.short);
    let store = Store::at(folder.path().join("out"));
    let host = StoreHost::new(workshop.catalog(), store.clone());
    let mut oracle_sets: Vec<((String, bool), BTreeSet<String>)> = Vec::new();
    for id in store.ids().unwrap() {
        let (open, sealed) = (host.open(&id).unwrap(), host.sealed(&id).unwrap());
        let episode = host.begin(&id).unwrap();
        let line = host.line(&id).unwrap();
        let used: BTreeSet<String> = sealed.oracle.steps.iter().map(|step| step.tool()).collect();
        let names = |tools: Tools| -> BTreeSet<String> {
            offer(tools, &host, &open, episode.tools()).unwrap().into_iter().map(|card| card.name).collect()
        };
        let own = names(Tools::Oracle { distractors: 0 });
        let all = names(Tools::All);
        for distractors in [5, 10, 15] {
            let more = names(Tools::Oracle { distractors });
            assert!(own.is_subset(&more) && more.is_subset(&all), "{}", line.pattern);
            assert_eq!(more.len(), all.len().min(own.len() + distractors as usize), "{}", line.pattern);
        }
        assert!(used.is_subset(&own) && own.len() < all.len(), "{}: {used:?} {own:?}", line.pattern);
        assert!(own.contains("decline_request") && own.contains("submit_answer"));
        oracle_sets.push(((line.pattern.clone(), line.obstacle.is_some()), own));

        // Every step of the plan in words says why it is made.
        let plan = told_plan(&sealed, episode.tools());
        for (at, step) in sealed.oracle.steps.iter().enumerate() {
            let why = step.because.as_deref().unwrap();
            assert!(plan.contains(&format!("{}. {}", at + 1, step.tool())) && plan.contains(why), "{plan}");
        }
    }
    for ((pattern, blocked), own) in &oracle_sets {
        let twin = oracle_sets.iter().find(|((other, is), _)| other == pattern && is != blocked).unwrap();
        assert_eq!(*own, twin.1, "{pattern}");
    }
}
