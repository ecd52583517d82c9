//! What a task's traps and rules are worth is found again, by solving it the way somebody does who does not heed one of them. A trap that
//! misleads nobody, and a weight that is not what was sealed, are faults.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_project::Discard;
use benchwright_solve::Portfolio;
use benchwright_spec::{PhaseResult, Solved};

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    let sealed = &subject.task.sealed.certificate.weights;
    if !subject.is_anchored() {
        return Finding::new(Held::Na("nothing misleads in its data on purpose".to_owned()));
    }
    match weighed(subject) {
        Err(Discard::Because(why)) => Finding::of(&[why]),
        Err(Discard::Planner(error)) => Finding::new(Held::NoVerdict(error.to_string())),
        Err(Discard::Fault(why)) => Finding::new(Held::NoVerdict(why)),
        Ok(found) => {
            let names = || found.keys().chain(sealed.keys().filter(|name| !found.contains_key(*name)));
            let differ = |name: &&String| found.get(*name) != sealed.get(*name);
            let told = |name: &String| format!("{name}: {:?}, and {:?} is sealed", found.get(name), sealed.get(name));
            let faults: Vec<String> = names().filter(differ).map(told).collect();
            let of = |kind: &str| found.keys().filter(|name| name.starts_with(kind)).count();
            let binding = found.values().filter(|said| *said == "binds").count();
            let finding = Finding::of(&faults).count("traps", of("trap ")).count("rules", of("rule "));
            // The best plan lies at the edge of a rule that binds.
            let tight =
                found.iter().filter(|(_, said)| *said == "binds").filter_map(|(name, _)| name.strip_prefix("rule "));
            tight.fold(finding, |finding, rule| finding.count(&format!("tight {rule}"), 1)).count("binding", binding)
        }
    }
}

fn weighed(subject: &Subject<'_>) -> Result<std::collections::BTreeMap<String, String>, Discard> {
    let tier = &subject.task.sealed.tier;
    let Some(optimised) = subject.family.optimised() else { return Ok(Default::default()) };
    let certificate = &subject.task.sealed.certificate;
    let phases: Vec<PhaseResult> = serde_json::from_value(certificate.phases.clone())
        .map_err(|error| Discard::Fault(format!("the certificate's phases: {error}")))?;
    let solved = Solved {
        rows: subject.optimum.clone(),
        phases,
        variables: certificate.variables,
        constraints: certificate.constraints,
    };
    let (first, second) = (subject.solver().map_err(Discard::Fault)?, subject.second().map_err(Discard::Fault)?);
    let admitted = optimised.admits(tier).unwrap_or_default();
    let mut planner = Portfolio { admitted, ..Portfolio::new(first, second) };
    optimised.weigh(tier, &subject.case, &subject.plan, &subject.bound, &solved, &mut planner)
}
