//! Plans: the good one compiles, and each folder below `tests/wrong_plans` says how it differs and all that is told of it.

use crate::changes::changed;
use crate::common::{self, compare, shown};
use benchwright_base::Diagnostic;
use benchwright_schema::{
    Document, Domain, load,
    plan::{Binding, Bindings, Bound, Plan, PlanText},
};

const NATIVES: [&str; 1] = ["shop/origin"];

fn shop() -> Domain {
    load(&common::shop()).unwrap_or_else(|faults| panic!("{}", shown(&faults)))
}

fn good() -> PlanText {
    let text = &common::files(&common::path("good/plan"))["plan.toml"];
    PlanText::from_toml("plan.toml", text).unwrap_or_else(|faults| panic!("{}", shown(&faults)))
}

/// All that is wrong with the text of a plan.
fn faults(text: &str, domain: &Domain) -> Vec<Diagnostic> {
    let document = Document::new("plan.toml", text);
    if let Some(plan) = document.read::<PlanText>().filter(|_| document.is_toml()) {
        document.add(plan.check(domain, &NATIVES));
    }
    document.into_faults()
}

#[test]
fn the_good_plan_has_no_fault() {
    let (domain, plan) = (shop(), good());
    assert_eq!(plan.check(&domain, &NATIVES), []);
    let plan = Plan::compile(&plan, &domain).unwrap();
    assert_eq!((plan.views.len(), plan.rules.len(), plan.facts.len(), plan.dominant.len()), (2, 5, 4, 1));
}

#[test]
fn every_wrong_plan_is_told_all_its_faults_and_no_other() {
    let domain = shop();
    let mut folders: Vec<_> =
        std::fs::read_dir(common::path("wrong_plans")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 15, "{}", folders.len());
    for folder in folders {
        let mut files = common::files(&common::path("good/plan"));
        changed(&mut files, common::files(&folder));
        let faults = faults(&files["plan.toml"], &domain);
        assert!(!faults.is_empty(), "{}", folder.display());
        compare(&folder.join("expected.txt"), &shown(&faults));
    }
}

/// The plan inside a sealed verifier stands in no file, so its faults are told by key.
#[test]
fn a_plan_without_a_file_is_told_its_faults_by_key() {
    let mut plan = good();
    plan.rules.get_mut("shop/budget").unwrap().require = Some("$twice <= bugdet()".to_owned());
    plan.lets.insert("spend".to_owned(), "sum s in sel of s.price".to_owned());
    let told = Plan::compile(&plan, &shop()).unwrap_err().to_string();
    assert_eq!(
        told,
        "rules.\"shop/budget\".require: no relation, fact or function is called `bugdet`\n  help: did you mean `budget`?\n\
         lets.spend: no set or relation is called `sel`\n  help: did you mean `sell`?"
    );
}

#[test]
fn bindings_that_do_not_fit_are_told_by_key() {
    let plan = Plan::compile(&good(), &shop()).unwrap();
    let mut bindings = Bindings { anchor: "2026-03-02".to_owned(), ..Bindings::default() };
    bindings.members.insert("order".to_owned(), vec!["SO1".to_owned()]);
    bindings.set("orders", ["SO1", "SO2"]);
    bindings.fact("asked", &["SO1", "SO1"], 3);
    bindings.fact_key("item", &["SO1"], "cup");
    bindings.fact("bugdet", &[], 5);
    let told = Bound::new(&plan, &bindings).unwrap_err().to_string();
    assert_eq!(
        told,
        "sets.orders: `SO2` is no order\nfacts.asked.\"SO1|SO1\": `asked` takes 1 arguments\n\
         facts.item.SO1: `cup` is no product\nfacts.bugdet: there is no fact `bugdet`\n  help: did you mean `budget`?"
    );
    assert_eq!(serde_json::to_string(&[Binding::Number(-3), Binding::Key("7".to_owned())]).unwrap(), r#"[-3,"7"]"#);
    assert_eq!(
        serde_json::from_str::<Vec<Binding>>(r#"[-3,7,"7"]"#).unwrap(),
        [Binding::Number(-3), Binding::Number(7), Binding::Key("7".to_owned())]
    );
    assert!(serde_json::from_str::<Binding>("1.5").is_err());
    assert!(serde_json::from_str::<Binding>("18446744073709551615").is_err());
}
