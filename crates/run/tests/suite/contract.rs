//! What every ledger promises, whichever database it is in: the same cases are put to each.

use crate::{
    folder::folder,
    made_up::{Still, error, plan},
};
use benchwright_pack::{MakePlan, RunPlan, WorkPlan};
use benchwright_run::{Claim, Ended, Finish, Lease, LedgerError, LedgerStore, PostgresLedger, RunId, SqliteLedger};
use std::{collections::BTreeSet, sync::Mutex, time::Duration};

/// How long a worker's trials are held in these cases, in milliseconds.
const HOLD: i64 = 400;

/// A ledger, and how time passes for it.
struct Subject {
    ledger: Box<dyn LedgerStore>,
    pass: Box<dyn Fn(i64)>,
}

type Case = (&'static str, fn(&Subject));

const CASES: &[Case] = &[
    ("leases hold each trial once, in order and no more than were asked for", in_leases),
    ("who wakes after its lease writes nothing", stale),
    ("who is heard of keeps what it holds", kept_alive),
    ("what failed waits, what was not begun does not", again),
    ("who leaves gives everything back", leaving),
    ("what fails to be placed is not recorded", placing),
    ("segments and folders are one chain, and errors that are opened again stay in it", chained),
    ("many at once record each trial once", crowd),
    ("the same plan is the same run, and its parts read back", plans),
    ("tasks that are made are given out and chained as trials are", making),
];

fn numbers(lease: &Lease) -> Vec<i64> {
    lease.trials.iter().map(|claim| claim.number).collect()
}

fn opened(subject: &Subject, name: &str, plan: &RunPlan) -> RunId {
    subject.ledger.open(name, plan, true).unwrap().0
}

/// Records all or some trials of a lease as a segment.
fn finish(subject: &Subject, lease: &Lease, numbers: &[i64], errors: &[i64]) -> Finish {
    let name = format!("{:08}-{}", lease.fence, numbers[0]);
    subject.ledger.finish(lease, Ended::Segment { numbers, errors, name: &name, digest: "00" }).unwrap()
}

fn in_leases(subject: &Subject) {
    let run = opened(subject, "leases", &plan(10, 3));
    let worker = subject.ledger.join(run, HOLD).unwrap();
    let mut seen = Vec::new();
    while let Some(lease) = subject.ledger.claim(worker, 7).unwrap() {
        let held = numbers(&lease);
        assert!(held.len() <= 7 && held.is_sorted(), "{held:?}");
        assert_eq!(finish(subject, &lease, &held, &[]), Finish::Recorded);
        seen.extend(held);
    }
    seen.sort_unstable();
    assert_eq!(seen, (1..=30).collect::<Vec<_>>());
    let standing = subject.ledger.standing(run).unwrap();
    assert_eq!((standing.planned, standing.recorded, standing.leased, standing.next), (30, 30, 0, None));
    assert_eq!(subject.ledger.fences(run).unwrap(), [0_i64; 0], "a lease that is worked off is forgotten");
}

fn stale(subject: &Subject) {
    let run = opened(subject, "stale", &plan(10, 1));
    let [sleeper, other] = [(); 2].map(|()| subject.ledger.join(run, HOLD).unwrap());
    let slept = subject.ledger.claim(sleeper, 10).unwrap().unwrap();
    assert_eq!(subject.ledger.claim(other, 10).unwrap(), None, "all are held");
    assert!((1..=HOLD).contains(&subject.ledger.standing(run).unwrap().next.unwrap().1));
    (subject.pass)(HOLD + 1);
    let taken = subject.ledger.claim(other, 4).unwrap().unwrap();
    assert!(taken.fence > slept.fence && taken.trials.len() == 4);
    // It wakes, says that it is alive, and hands in all that it had done: one trial of it is another's, so none is recorded.
    subject.ledger.keep(sleeper).unwrap();
    let before = subject.ledger.chain(run).unwrap();
    assert_eq!(finish(subject, &slept, &numbers(&slept), &[]), Finish::Stale);
    let mut placed = 0;
    let (number, mut place) = (taken.trials[0].number, || {
        placed += 1;
        Ok(())
    });
    let key = plan(10, 1).key(number).unwrap();
    let ended = Ended::Folder { number, record: &error(&key), digest: "00", place: &mut place };
    assert_eq!(subject.ledger.finish(&slept, ended).unwrap(), Finish::Stale);
    subject.ledger.give_back(&slept, &numbers(&taken)).unwrap();
    subject.ledger.retry(&slept, number, 0).unwrap();
    assert_eq!((placed, subject.ledger.chain(run).unwrap()), (0, before), "nothing was written");
    assert_eq!(subject.ledger.standing(run).unwrap().leased, 10, "a sleeper gives nothing back that is another's");
    assert_eq!(finish(subject, &taken, &numbers(&taken), &[]), Finish::Recorded);
    assert_eq!(finish(subject, &taken, &numbers(&taken), &[]), Finish::Stale, "once");
    // What nobody took over meanwhile is still its own.
    let rest: Vec<i64> = numbers(&slept).into_iter().filter(|number| !numbers(&taken).contains(number)).collect();
    assert_eq!(finish(subject, &slept, &rest, &[]), Finish::Recorded);
    assert_eq!(subject.ledger.standing(run).unwrap().recorded, 10);
    assert_eq!(subject.ledger.chain(run).unwrap().flaws, []);
}

fn kept_alive(subject: &Subject) {
    let run = opened(subject, "alive", &plan(3, 1));
    let [steady, other] = [(); 2].map(|()| subject.ledger.join(run, HOLD).unwrap());
    let lease = subject.ledger.claim(steady, 9).unwrap().unwrap();
    for _ in 0..4 {
        (subject.pass)(HOLD / 2);
        subject.ledger.keep(steady).unwrap();
        assert_eq!(subject.ledger.claim(other, 9).unwrap(), None);
    }
    assert_eq!(finish(subject, &lease, &[1, 2, 3], &[]), Finish::Recorded);
}

fn again(subject: &Subject) {
    let run = opened(subject, "again", &plan(3, 1));
    let worker = subject.ledger.join(run, 10 * HOLD).unwrap();
    let lease = subject.ledger.claim(worker, 3).unwrap().unwrap();
    subject.ledger.retry(&lease, 1, HOLD).unwrap();
    subject.ledger.give_back(&lease, &[3]).unwrap();
    let next = subject.ledger.claim(worker, 3).unwrap().unwrap();
    assert_eq!(next.trials, [Claim { number: 3, tries: 0 }]);
    assert_eq!(subject.ledger.claim(worker, 3).unwrap(), None, "one waits, two are held");
    (subject.pass)(HOLD + 1);
    let next = subject.ledger.claim(worker, 3).unwrap().unwrap();
    assert_eq!(next.trials, [Claim { number: 1, tries: 1 }]);
    assert_eq!(finish(subject, &lease, &[2], &[]), Finish::Recorded, "what was not given back is held");
    assert_eq!(finish(subject, &lease, &[3], &[]), Finish::Stale);
}

fn leaving(subject: &Subject) {
    let run = opened(subject, "leaving", &plan(4, 1));
    let [one, other] = [(); 2].map(|()| subject.ledger.join(run, HOLD).unwrap());
    let lease = subject.ledger.claim(one, 4).unwrap().unwrap();
    subject.ledger.leave(one).unwrap();
    assert_eq!(finish(subject, &lease, &[1], &[]), Finish::Stale);
    assert_eq!(numbers(&subject.ledger.claim(other, 9).unwrap().unwrap()), [1, 2, 3, 4]);
    assert!(subject.ledger.claim(one, 1).is_err(), "who left is not heard of any more");
    // Whoever knows that nobody is left takes everything back.
    assert_eq!(subject.ledger.take_back(run).unwrap(), 4);
    assert_eq!(subject.ledger.fences(run).unwrap(), [0_i64; 0]);
    let third = subject.ledger.join(run, HOLD).unwrap();
    assert_eq!(subject.ledger.claim(third, 9).unwrap().unwrap().trials.len(), 4);
}

fn placing(subject: &Subject) {
    let plan = plan(1, 1);
    let run = opened(subject, "placing", &plan);
    let worker = subject.ledger.join(run, HOLD).unwrap();
    let lease = subject.ledger.claim(worker, 1).unwrap().unwrap();
    let record = error(&plan.key(1).unwrap());
    let mut full = || Err(std::io::Error::other("the disk is full"));
    let ended = Ended::Folder { number: 1, record: &record, digest: "00", place: &mut full };
    assert!(subject.ledger.finish(&lease, ended).is_err());
    assert_eq!(subject.ledger.standing(run).unwrap().recorded, 0);
    assert_eq!(subject.ledger.chain(run).unwrap().hashes.len(), 1);
    let ended = Ended::Folder { number: 1, record: &record, digest: "00", place: &mut || Ok(()) };
    assert_eq!(subject.ledger.finish(&lease, ended).unwrap(), Finish::Recorded, "it is still held");
}

fn chained(subject: &Subject) {
    let plan = plan(6, 1);
    let run = opened(subject, "chained", &plan);
    let worker = subject.ledger.join(run, HOLD).unwrap();
    let lease = subject.ledger.claim(worker, 6).unwrap().unwrap();
    assert_eq!(finish(subject, &lease, &[1, 2, 4], &[2]), Finish::Recorded);
    let record = error(&plan.key(3).unwrap());
    let ended = Ended::Folder { number: 3, record: &record, digest: "33", place: &mut || Ok(()) };
    assert_eq!(subject.ledger.finish(&lease, ended).unwrap(), Finish::Recorded);
    let before = subject.ledger.chain(run).unwrap();
    assert_eq!((before.recorded, before.hashes.len(), before.flaws.as_slice()), (4, 3, &[][..]));
    assert_eq!(
        (before.segments[0].numbers.ranges(), before.segments[0].errors.ranges()),
        (&[(1, 2), (4, 4)][..], &[(2, 2)][..])
    );
    assert_eq!((before.records[0].0, &*before.folders[&3]), (3, "33"));
    assert_eq!(subject.ledger.standing(run).unwrap().errors, 2);
    assert_eq!(subject.ledger.reopen_errors(run).unwrap(), 2);
    assert_eq!(subject.ledger.reopen_errors(run).unwrap(), 0);
    let reopened = subject.ledger.claim(worker, 6).unwrap().unwrap();
    assert_eq!(numbers(&reopened), [2, 3]);
    assert_eq!(finish(subject, &reopened, &[2, 3], &[]), Finish::Recorded);
    let after = subject.ledger.chain(run).unwrap();
    assert_eq!((after.recorded, after.hashes.len(), after.flaws.as_slice()), (4, 6, &[][..]));
    assert!(after.hashes.starts_with(&before.hashes), "what was published stays part of it");
    let counted: Vec<Vec<i64>> = after.segments.iter().map(|segment| segment.numbers.iter().collect()).collect();
    assert_eq!((counted, after.records.len()), (vec![vec![1, 4], vec![2, 3]], 0));
}

fn crowd(subject: &Subject) {
    let run = opened(subject, "crowd", &plan(50, 20));
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for most in [1, 3, 17, 40] {
            let (ledger, seen) = (&*subject.ledger, &seen);
            scope.spawn(move || {
                let worker = ledger.join(run, 1_000 * HOLD).unwrap();
                while let Some(lease) = ledger.claim(worker, most).unwrap() {
                    let held = numbers(&lease);
                    let name = format!("{:08}-1", lease.fence);
                    let ended = Ended::Segment { numbers: &held, errors: &[], name: &name, digest: "00" };
                    assert_eq!(ledger.finish(&lease, ended).unwrap(), Finish::Recorded);
                    seen.lock().unwrap().extend(held);
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (1_000, 1_000));
    let chain = subject.ledger.chain(run).unwrap();
    assert_eq!((chain.recorded, chain.flaws.as_slice()), (1_000, &[][..]));
}

fn plans(subject: &Subject) {
    let plan = plan(3, 2);
    let (run, is_new) = subject.ledger.open("plans", &plan, false).unwrap();
    assert!(is_new);
    assert_eq!(subject.ledger.plan(run).unwrap(), plan);
    assert_eq!(subject.ledger.open("other", &plan, false).unwrap(), (run, false));
    let (third, is_new) = subject.ledger.open("third", &plan, true).unwrap();
    assert!(is_new && third != run);
    assert_eq!(subject.ledger.name(run).unwrap(), "plans");
    assert_eq!((subject.ledger.named("third").unwrap(), subject.ledger.newest().unwrap()), (Some(third), Some(third)));
    assert!(subject.ledger.runs().unwrap().starts_with(&[third, run]));
}

fn making(subject: &Subject) {
    let tried = opened(subject, "tried", &plan(3, 2));
    let make = MakePlan { suite: "format = 1".to_owned(), tasks: 25, per_shard: 10, ground: "00".to_owned() };
    let make = WorkPlan::Make { make };
    let (run, is_new) = subject.ledger.begin("made", &make, false).unwrap();
    assert!(is_new);
    assert_eq!(subject.ledger.begin("made", &make, false).unwrap(), (run, false));
    assert_eq!(subject.ledger.work(run).unwrap(), make);
    let no_trials = subject.ledger.plan(run).unwrap_err();
    assert!(matches!(&no_trials, LedgerError::NoTrials { name, .. } if name == "made"), "{no_trials}");
    assert_eq!(subject.ledger.newest().unwrap(), Some(tried), "what is made is no run of agents");
    let worker = subject.ledger.join(run, HOLD).unwrap();
    while let Some(lease) = subject.ledger.claim(worker, 1).unwrap() {
        assert_eq!(finish(subject, &lease, &numbers(&lease), &[]), Finish::Recorded);
    }
    let (standing, chain) = (subject.ledger.standing(run).unwrap(), subject.ledger.chain(run).unwrap());
    assert_eq!((standing.planned, standing.recorded, chain.flaws.as_slice()), (3, 3, &[][..]));
    let mut made: Vec<i64> = chain.segments.iter().flat_map(|segment| segment.numbers.iter()).collect();
    made.sort_unstable();
    assert_eq!(made, [1, 2, 3]);
}

#[test]
fn in_sqlite() {
    for (name, case) in CASES {
        let (root, still) = (folder("contract"), Still::default());
        let ledger = SqliteLedger::open_file(&root.join("ledger.sqlite"), still.clock()).unwrap();
        println!("{name}");
        case(&Subject { ledger: Box::new(ledger), pass: Box::new(move |millis| still.pass(millis)) });
    }
}

/// `BENCHWRIGHT_POSTGRES` is its address, which `scripts/postgres up` prints. What is in it is lost.
#[test]
#[ignore = "needs a PostgreSQL of its own: scripts/postgres-slice.sh starts one"]
fn in_postgres() {
    let url = std::env::var("BENCHWRIGHT_POSTGRES").expect("BENCHWRIGHT_POSTGRES is the address of a PostgreSQL");
    for (name, case) in CASES {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute("drop schema if exists benchwright cascade").unwrap();
        let ledger = PostgresLedger::open_url(&url, None).unwrap();
        println!("{name}");
        let pass = |millis: i64| std::thread::sleep(Duration::from_millis(millis.unsigned_abs()));
        case(&Subject { ledger: Box::new(ledger), pass: Box::new(pass) });
    }
}

#[test]
fn an_address_with_a_password_is_refused_and_not_repeated() {
    let told = PostgresLedger::open_url("postgres://me:hidden-word@127.0.0.1:1/x", None).err().unwrap().to_string();
    assert!(told.contains("PGPASSWORD") && !told.contains("hidden-word"), "{told}");
}
