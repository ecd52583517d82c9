//! What `Objects` promise, held by servers that speak S3. `scripts/objects up` starts one and prints its address, `BENCHWRIGHT_MOTO` or
//! `BENCHWRIGHT_S3S_FS`. As an endpoint and credentials come from the environment, each test starts itself again in one that has them.

use benchwright_cloud::open;
use benchwright_depot::{Depot, DepotError, Objects, contract, contract_but_for_folders};
use std::{
    env,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const SECRET: &str = "benchwright-secret";

/// Runs a part in the environment of a server, whose address a variable has.
fn on(server: &str, part: &str, more: &[(&str, &str)]) {
    let endpoint =
        env::var(server).unwrap_or_else(|_| panic!("{server} is the address that `scripts/objects up` prints"));
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([&format!("servers::{part}"), "--exact", "--ignored", "--nocapture"]);
    child.envs([("AWS_ENDPOINT_URL", &*endpoint), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "us-east-1")]);
    child.envs([("AWS_ACCESS_KEY_ID", "benchwright"), ("AWS_SECRET_ACCESS_KEY", SECRET)]);
    child.envs(more.iter().copied());
    let output = child.output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    eprintln!("{told}");
}

/// A prefix that no other test has.
fn fresh(name: &str) -> String {
    format!("s3://benchwright/{name}-{}", std::process::id())
}

#[test]
#[ignore = "needs a server: scripts/objects up moto DIR"]
fn moto_server_keeps_the_contract() {
    on("BENCHWRIGHT_MOTO", "part_contract", &[]);
}

#[test]
#[ignore = "needs a server: scripts/objects up s3s-fs DIR"]
fn s3s_fs_keeps_the_contract() {
    on("BENCHWRIGHT_S3S_FS", "part_contract", &[("BUT_FOR_FOLDERS", "1")]);
}

#[test]
#[ignore = "needs a server: scripts/objects up moto DIR"]
fn moto_server_has_no_such_bucket() {
    on("BENCHWRIGHT_MOTO", "part_no_bucket", &[]);
}

#[test]
#[ignore = "needs a server: scripts/objects up s3s-fs DIR"]
fn s3s_fs_has_no_such_bucket() {
    on("BENCHWRIGHT_S3S_FS", "part_no_bucket", &[]);
}

#[test]
#[ignore = "needs a server: scripts/objects up s3s-fs DIR"]
fn s3s_fs_refuses_a_wrong_secret_at_once() {
    on("BENCHWRIGHT_S3S_FS", "part_denied", &[("AWS_SECRET_ACCESS_KEY", "another-secret")]);
}

#[test]
#[ignore = "needs a server: scripts/objects up s3s-fs DIR"]
fn s3s_fs_killed_during_puts_loses_nothing() {
    on("BENCHWRIGHT_S3S_FS", "part_killed", &[]);
}

#[test]
#[ignore = "a part of others"]
fn part_contract() {
    let objects = open(&fresh("contract")).unwrap();
    match env::var_os("BUT_FOR_FOLDERS") {
        Some(_) => contract_but_for_folders(&*objects).unwrap(),
        None => contract(&*objects).unwrap(),
    }
    assert_eq!(objects.names("").unwrap(), [""; 0]);
    let large: Vec<u8> = (0..64_u32 << 20).map(|place| (place.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let began = Instant::now();
    objects.put("large", &large).unwrap();
    let put = began.elapsed();
    assert!(objects.get("large", large.len()).unwrap() == large, "64 MB come back otherwise");
    eprintln!("64 MB: put in {put:?}, read in {:?}", began.elapsed() - put);
    assert!(matches!(objects.get("large", 1_000), Err(DepotError::TooLarge { most: 1_000, .. })));
    objects.remove("large").unwrap();
    // More names than a service lists at once, below a prefix of the depot.
    let depot = Depot::of(objects).within("many/files");
    assert_eq!(depot.local(), None);
    let names: Vec<String> = (0..1_100).map(|number| format!("{number:04}")).collect();
    thread::scope(|scope| {
        for part in names.chunks(100) {
            let depot = &depot;
            scope.spawn(move || part.iter().for_each(|name| depot.put(name, name.as_bytes()).unwrap()));
        }
    });
    assert_eq!(depot.names("").unwrap(), names);
    names.iter().for_each(|name| depot.remove(name).unwrap());
}

#[test]
#[ignore = "a part of others"]
fn part_no_bucket() {
    let began = Instant::now();
    let told = open("s3://benchwright-of-nobody/runs").err().unwrap().to_string();
    assert_eq!(told, "s3://benchwright-of-nobody/runs: there is no such bucket; create it, or mend the address");
    assert!(began.elapsed() < Duration::from_secs(5), "it was waited for");
}

#[test]
#[ignore = "a part of others"]
fn part_denied() {
    let began = Instant::now();
    let told = open(&fresh("denied")).err().unwrap().to_string();
    assert!(told.contains("permission is denied") && told.contains("AWS_SECRET_ACCESS_KEY"), "{told}");
    assert!(!told.contains("another-secret"), "{told}");
    assert!(began.elapsed() < Duration::from_secs(5), "it was waited for");
}

/// `BENCHWRIGHT_S3S_FS_DIR` is the folder of the server, by which it is killed.
#[test]
#[ignore = "a part of others"]
fn part_killed() {
    const THREADS: usize = 8;
    const EACH: usize = 60;
    const KILLS: usize = 3;
    let folder = env::var("BENCHWRIGHT_S3S_FS_DIR").unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/objects");
    let objects: Arc<dyn Objects> = open(&fresh("killed")).unwrap();
    let bytes = |thread: usize, number: usize| format!("{thread} {number} ").repeat(50_000).into_bytes();
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (objects, done) = (&objects, &done);
            scope.spawn(move || {
                for number in 0..EACH {
                    objects.put(&format!("{thread}/{number}"), &bytes(thread, number)).unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for kill in 1..=KILLS {
            while done.load(Ordering::Relaxed) < kill * THREADS * EACH / (KILLS + 1) {
                thread::sleep(Duration::from_millis(1));
            }
            let at = done.load(Ordering::Relaxed);
            assert!(at < THREADS * EACH, "all was put before it was killed");
            assert!(Command::new("bash").args([script, "kill", &folder]).status().unwrap().success());
            eprintln!("killed after {at} puts of {}", THREADS * EACH);
        }
    });
    assert_eq!(objects.names("").unwrap().len(), THREADS * EACH);
    for (thread, number) in (0..THREADS).flat_map(|thread| (0..EACH).map(move |number| (thread, number))) {
        let name = format!("{thread}/{number}");
        assert!(objects.get(&name, 1 << 20).unwrap() == bytes(thread, number), "{name} comes back otherwise");
        objects.remove(&name).unwrap();
    }
}
