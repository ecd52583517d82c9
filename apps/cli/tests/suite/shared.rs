//! Work that many share, as far as no database is needed for it.

use crate::{common::Place, tasks::run};

#[test]
fn a_password_in_an_address_is_refused_and_not_repeated() {
    let place = Place::new("shared");
    let store = place.path("store");
    for address in ["postgres://u:hunter2@127.0.0.1:1/d", "postgres://127.0.0.1:1/d?user=u&password=hunter2"] {
        let told = run(&["work", "--ledger", address, "--store", &store]);
        let said = String::from_utf8_lossy(&told.stderr).into_owned() + &String::from_utf8_lossy(&told.stdout);
        assert!(!told.status.success() && said.contains("PGPASSWORD"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn work_says_where_it_lacks_what_it_needs() {
    let nowhere = run(&["work"]);
    assert_eq!(nowhere.status.code(), Some(2));
    let half = run(&["work", "--ledger", "postgres://127.0.0.1:1/d"]);
    assert_eq!(half.status.code(), Some(2));
    // A secret stands in no address, and is not repeated.
    let elsewhere = run(&["work", "--ledger", "postgres://127.0.0.1:1/d", "--store", "s3://key:secret@bucket/folder"]);
    let said = String::from_utf8_lossy(&elsewhere.stderr).into_owned();
    let names_next = said.contains("AWS_SECRET_ACCESS_KEY") || said.contains("the feature `cloud`");
    assert!(elsewhere.status.code() == Some(3) && names_next && !said.contains("secret@"), "{said}");
}
