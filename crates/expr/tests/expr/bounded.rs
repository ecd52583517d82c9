//! From which side a rule bounds what rows hold.

use crate::fixture::truth;
use benchwright_expr::{
    Bounded::{Above, Below},
    bounded,
};

#[test]
fn a_comparison_of_rows_with_what_is_none_is_a_bound() {
    for (text, found) in [
        ("(sum case(team = team) of visits) <= 5", Some(Above)),
        ("5 >= (sum case(team = team) of visits)", Some(Above)),
        ("(count c in case()) > 2", Some(Below)),
        ("for c in case(): c.visits >= 2", Some(Below)),
        ("for c in case(): c.escalated implies c.visits <= 2", Some(Above)),
        ("(sum case() of visits) + (count member()) < 9", Some(Above)),
        // What is left and what is taken are both spoken of.
        ("9 - (sum case() of visits) >= 2", None),
        ("(count c in case()) <= (count m in member())", None),
        ("(sum case() of visits) = 5", None),
        ("(count c in case()) <= 5 and (count m in member()) <= 5", None),
        ("abs((sum case() of visits) - 5) <= 5", None),
    ] {
        assert_eq!(bounded(&truth(text)), found, "{text}");
    }
}
