//! What a rule reads besides its own row, and the way back from there.

use crate::fixture::{CASE, HelpDesk, TEAM, truth};
use benchwright_base::{FieldId, RelationId};
use benchwright_expr::{Back, Expr, Names, Path, Scope, check_truth, reads, untouched};

/// What is read, in words: `member(team, user) <- case.team` for members by whose team the cases of that team are found.
fn told(expr: &Expr, subject: RelationId) -> Vec<String> {
    let name = |relation: RelationId, field: FieldId| {
        format!("{}.{}", HelpDesk.relation_name(relation), HelpDesk.field_name(relation, field))
    };
    let path = |path: &Path| -> String {
        let steps: Vec<&str> = path.iter().map(|(relation, field)| HelpDesk.field_name(*relation, *field)).collect();
        steps.join(".")
    };
    let step = |step: &Back| match step {
        Back::Holding { value, relation, field } if value.is_empty() => name(*relation, *field),
        Back::Holding { value, relation, field } => format!("{} = {}", name(*relation, *field), path(value)),
        Back::Below { relation, field } => format!("below {}", name(*relation, *field)),
        Back::All(relation) => format!("all {}", HelpDesk.relation_name(*relation)),
    };
    // References are indexed, and nothing else is.
    let cost = |relation: RelationId, field: FieldId| {
        let field = HelpDesk.field(relation, HelpDesk.field_name(relation, field));
        match field.map(|field| (field.id, field.ty)) {
            Some((FieldId::ID, _)) => 1,
            Some((_, benchwright_expr::Type::Ref(_))) => 10,
            _ => 1000,
        }
    };
    let told = reads(expr, subject, &cost).into_iter().map(|read| {
        let fields: Vec<&str> = read.fields.iter().map(|field| HelpDesk.field_name(read.relation, *field)).collect();
        let only = if read.only.is_empty() { String::new() } else { format!(" if {}", read.only.len()) };
        let back: Vec<String> = read.back.iter().map(step).collect();
        format!("{}({}){only} <- {}", HelpDesk.relation_name(read.relation), fields.join(", "), back.join(" <- "))
    });
    told.collect()
}

fn of_case(text: &str) -> Vec<String> {
    told(&truth(text), CASE)
}

#[test]
fn a_rule_on_its_own_row_reads_no_other() {
    assert!(of_case("state != closed or cost > 5.00").is_empty());
    assert!(of_case("team != null and assignee = null").is_empty());
}

#[test]
fn a_reference_is_followed_backwards() {
    assert_eq!(of_case("assignee.active"), ["user(active) <- case.assignee"]);
    let steps = ["team(lead) <- case.team", "user(active) <- team.lead <- case.team"];
    assert_eq!(of_case("team.lead.active"), steps);
}

#[test]
fn the_cell_that_a_selector_compares_leads_back() {
    let by_id = of_case("none article(case = id, state = draft)");
    assert_eq!(by_id, ["article(case, state) if 1 <- case.id = case"]);
    // Of two ways the one by an index is taken, whichever stands first.
    let by_index = of_case("exists user(name = title, id = assignee, active = true)");
    assert_eq!(by_index, ["user(name, id, active) if 1 <- case.assignee = id"]);
    let by_scan = of_case("none user(name = title)");
    assert_eq!(by_scan, ["user(name) <- case.title = name"]);
}

#[test]
fn steps_are_composed() {
    // A selector that compares with what a reference leads to.
    let lead = of_case("exists shift(user = team.lead)");
    assert_eq!(lead, ["team(lead) <- case.team", "shift(user) <- team.lead = user <- case.team"]);
    // A test that goes on from the row that is selected, and a fold in a fold.
    let author = of_case("none article(case = id, author.active = false)");
    let steps = ["article(case, author) <- case.id = case", "user(active) <- article.author <- case.id = case"];
    assert_eq!(author, steps);
    let nested = of_case("all m in member(team = team) exists shift(user = m.user)");
    assert_eq!(nested[0], "member(team, user) <- case.team = team");
    assert_eq!(nested[1], "shift(user) <- member.user = user <- case.team = team");
}

#[test]
fn what_nothing_ties_concerns_every_row() {
    assert_eq!(of_case("none user(active = false)"), ["user(active) if 1 <- all case"]);
    assert_eq!(of_case("(count shift()) > 3"), ["shift() <- all case"]);
}

#[test]
fn ancestors_concern_what_is_below() {
    let expr = check_truth("parent = null or not (id in ancestors(parent))", &HelpDesk, Scope::on(TEAM));
    let expr = expr.unwrap_or_else(|faults| panic!("{faults:?}"));
    assert_eq!(told(&expr, TEAM), ["team(parent) <- below team.parent <- team.parent"]);
}

#[test]
fn of_a_row_that_nobody_wrote_a_rule_about_an_act_says_nothing() {
    for act in ["not changed(assignee) or assignee.active", "not created or exists member(user = assignee)"] {
        assert_eq!(untouched(&truth(act)), Expr::Truth(true), "{act}");
    }
    assert_eq!(untouched(&truth("deleted or assignee.active")), truth("assignee.active"));
    assert_eq!(
        untouched(&truth("old.state = new implies assignee = null")),
        truth("state = new implies assignee = null")
    );
}
