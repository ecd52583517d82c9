//! What a program can do from inside its sandbox: the attacks that were once tried with success, by their numbers. They need bubblewrap.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::{
    common::first_task,
    programs::{benchwright, document, folder, in_bash, processes_with, run_program, told, trial},
};
use serde_json::Value as Json;
use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// What a program printed.
fn said(folder: &Path, output: &std::process::Output) -> String {
    let told = told(output);
    assert_eq!(
        (&told["scored"], &told["errors"]),
        (&1.into(), &0.into()),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said: Json =
        serde_json::from_str(&fs::read_to_string(trial(folder, &told).join("transcript.jsonl")).unwrap()).unwrap();
    format!("{}{}", said["out"].as_str().unwrap(), said["err"].as_str().unwrap())
}

#[test]
fn attack_01_a_program_has_no_terminal_to_push_keys_into() {
    let folder = folder("terminal");
    // A terminal of our own: `script` gives one to what it runs.
    let script = r#"read -r stat < /proc/self/stat; set -- ${stat##*) }; echo "terminal $5 session $4"; echo x > /dev/tty && echo pushed"#;
    let command = format!("exec:{}", in_bash(script));
    let line = format!(
        "'{}' run demo --json --new --task {} --agent '{}' > told.json",
        env!("CARGO_BIN_EXE_benchwright"),
        first_task(&folder),
        command.replace('\'', r"'\''")
    );
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(&folder);
    let ended = terminal.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(ended.success());
    let told = document(folder.join("told.json"));
    let said = fs::read_to_string(trial(&folder, &told).join("transcript.jsonl")).unwrap();
    assert!(said.contains("terminal 0 session"), "{said}");
    assert!(!said.contains("pushed"), "{said}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_02_neither_the_program_nor_tasks_nor_runs_are_there() {
    let folder = folder("visible");
    // Somebody who installed it beside the agent.
    let own = folder.join("agent");
    fs::create_dir_all(own.join("bin")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_benchwright"), own.join("bin/benchwright")).unwrap();
    fs::write(own.join("notes.txt"), "mine").unwrap();
    let root = folder.display();
    let script = format!(
        r#"cat {root}/agent/notes.txt; echo; command -v benchwright; {root}/agent/bin/benchwright --version && echo ran it
        {exe} --version && echo ran it; ls {root}; ls {root}/demo {root}/runs && echo listed
        find / -xdev \( -name 'sealed*' -o -name 'ledger.sqlite' -o -name 'suite.toml' \) -not -path '/proc/*' 2>/dev/null; ls -A /root /home && echo homes; true"#,
        exe = env!("CARGO_BIN_EXE_benchwright"),
    );
    let see = own.to_string_lossy().into_owned();
    let out = said(&folder, &run_program(&folder, &in_bash(&script), &["--see", &see]));
    assert!(out.contains("mine"), "what is named is seen: {out}");
    for found in ["ran it", "listed", "homes", "sealed.json", "ledger.sqlite"] {
        assert!(!out.contains(found), "{found}: {out}");
    }
    // What is kept cannot be named.
    for kept in ["demo", "demo/open", "runs"] {
        let kept = folder.join(kept).to_string_lossy().into_owned();
        let refused = run_program(&folder, "true", &["--see", &kept]);
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && error.contains("no program may see"), "{error}");
    }
    // The record says how tight it was.
    let report = benchwright(&folder).args(["report"]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["isolation bubblewrap", "network episode", "visible system,"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_03_who_ends_its_first_thread_and_hides_is_gone_before_grading() {
    let folder = folder("hidden");
    // Forks twice, leaves session, group and streams, ignores every signal that can be ignored.
    let script = r#"(trap '' HUP INT TERM QUIT; exec setsid bash -c "trap \"\" HUP TERM; exec >/dev/null 2>&1 <&-; (setsid sleep 986.75 &) ; while :; do sleep 986.75; done") &
        sleep 0.2"#;
    let begun = Instant::now();
    said(&folder, &run_program(&folder, &in_bash(script), &[]));
    assert_eq!(processes_with("986.75"), 0);
    assert!(begun.elapsed() < Duration::from_secs(60));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_03_nothing_is_left_in_the_kernel_for_the_next() {
    let folder = folder("keys");
    // The keyring of a session comes with every process that is started in it, whatever its namespaces and its user.
    let numbers = if cfg!(target_arch = "x86_64") { (248, 250) } else { (217, 219) };
    let script = format!(
        r#"perl -e "my (\$t, \$d, \$p) = (qq(user\0), qq(note\0), qq(for the next)); print qq(search ), syscall({1}, 10, -3, \$t, \$d, 0), qq( add ), syscall({0}, \$t, \$d, \$p, 12, -3), qq(\n)""#,
        numbers.0, numbers.1
    );
    let agent = format!("exec:{}", in_bash(&script));
    let mut session = Command::new("perl");
    session.args(["-e", &format!("syscall({}, 1, 0) > 0 or die; exec @ARGV", numbers.1)]);
    session.args([env!("CARGO_BIN_EXE_benchwright"), "run", "demo", "--json", "--new", "-k", "2", "--jobs", "1"]);
    session.args(["--task", &first_task(&folder), "--agent", &agent]).current_dir(&folder);
    let told = told(&session.output().unwrap());
    assert_eq!((&told["scored"], &told["errors"]), (&2.into(), &0.into()));
    for entry in fs::read_dir(trial(&folder, &told).parent().unwrap()).unwrap() {
        let said = document(entry.unwrap().path().join("transcript.jsonl"));
        assert_eq!(said["out"], "search -1 add -1\n", "{said}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_04_two_runs_at_once_leave_each_other_alone() {
    let folder = folder("two");
    let agent =
        format!("exec:{}", in_bash(r#"begun=$(date +%s%N); sleep 0.3; echo "as $(id -u) $begun $(date +%s%N)""#));
    let run = |name: &str| {
        let mut line = benchwright(&folder);
        line.args(["run", "demo", "--json", "--new", "--runs", name, "-k", "4", "--jobs", "4", "--agent", &agent]);
        line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [("one", run("one")), ("two", run("two"))];
    let mut lived = Vec::new();
    for (name, running) in both {
        let told = told(&running.wait_with_output().unwrap());
        assert_eq!((&told["scored"], &told["errors"]), (&20.into(), &0.into()));
        for entry in fs::read_dir(folder.join(name).join(told["run"].as_str().unwrap()).join("trials")).unwrap() {
            let said = document(entry.unwrap().path().join("transcript.jsonl"));
            let words: Vec<u64> =
                said["out"].as_str().unwrap().split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
            lived.push((words[0], words[1], words[2]));
        }
    }
    assert_eq!(lived.len(), 40);
    // Whoever is nobody in a namespace of users shares that number with nobody outside of it.
    lived.sort_unstable();
    let meet = lived.windows(2).find(|two| two[0].0 == two[1].0 && two[1].1 < two[0].2 && two[0].0 != 65_534);
    assert_eq!(meet, None, "two programs were one user at one time");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_04_who_is_killed_by_somebody_else_is_not_scored() {
    let folder = folder("killed");
    let mut line = benchwright(&folder);
    line.args(["run", "demo", "--json", "--new", "--task", &first_task(&folder), "--agent", "exec:sleep 984.25"]);
    let running = line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let runner = running.id();
    let ended = std::thread::spawn(move || running.wait_with_output().unwrap());
    // As often as it is tried: the process that stands for the sandbox is killed, once the program runs in it.
    while !ended.is_finished() {
        if processes_with("984.25") > 0 {
            for child in children(runner) {
                let _ = Command::new("kill").args(["-KILL", &child]).status();
            }
            wait_until(|| processes_with("984.25") == 0, "the program is gone with its sandbox");
        }
        sleep(Duration::from_millis(20));
    }
    let told = told(&ended.join().unwrap());
    assert_eq!((&told["scored"], &told["errors"]), (&0.into(), &1.into()), "{told}");
    let record = document(trial(&folder, &told).join("trial.json"));
    assert_eq!(record["end"]["error"]["cause"], "signal", "{record}");
    fs::remove_dir_all(&folder).unwrap();
}

/// The numbers of the processes that a process has started.
fn children(of: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let listed = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    listed.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Fills sockets from processes so small that the kernel, out of memory, would rather end the sandbox's own.
const FILLS: &str = r#"
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
static char bytes[65536];
int main(void) {
    for (int i = 0; i < 200; i++) {
        if (fork() == 0) {
            for (int j = 0; j < 500; j++) {
                int pair[2];
                if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) break;
                fcntl(pair[0], F_SETFL, O_NONBLOCK);
                while (write(pair[0], bytes, sizeof bytes) > 0) {}
            }
            pause();
        }
    }
    sleep(20);
    return 0;
}
"#;

#[test]
fn attack_05_who_takes_all_memory_is_graded() {
    let folder = folder("memory");
    fs::create_dir(folder.join("agent")).unwrap();
    fs::write(folder.join("agent/fills.c"), FILLS).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-static", "-o", "fills", "fills.c"]).current_dir(folder.join("agent"));
    assert!(compiler.status().unwrap().success());
    let program = folder.join("agent/fills").to_string_lossy().into_owned();
    let output = run_program(&folder, &program, &["--see", &program]);
    let told = told(&output);
    assert_eq!(
        (&told["scored"], &told["errors"]),
        (&1.into(), &0.into()),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(processes_with(&program), 0);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_07_no_descriptor_comes_with_a_program_but_its_streams() {
    let folder = folder("descriptors");
    fs::write(folder.join("secret"), "a-secret-that-was-open").unwrap();
    let agent = format!("exec:{}", in_bash("ls /proc/self/fd | tr '\\n' ' '; cat <&9; cat /proc/self/fd/*"));
    let line = format!(
        r#"exec 9<secret 8<>secret; exec "$0" run demo --json --new --task {} --agent "$1""#,
        first_task(&folder)
    );
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &line, env!("CARGO_BIN_EXE_benchwright"), &agent]).current_dir(&folder).stdin(Stdio::null());
    let out = said(&folder, &shell.output().unwrap());
    assert!(!out.contains("a-secret-that-was-open"), "{out}");
    // Its three streams, and the one by which `ls` reads the folder.
    assert!(out.starts_with("0 1 2 3 "), "{out}");
    assert!(!out.contains(" 8 ") && !out.contains(" 9 "), "{out}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_08_a_tree_too_deep_to_walk_breaks_nothing() {
    let folder = folder("deep");
    let script = r#"perl -e "for (1..20000) { mkdir q(a) or die; chdir q(a) or die } print qq(made all\n)""#;
    let out = said(&folder, &run_program(&folder, &in_bash(script), &[]));
    assert!(out.contains("made all"), "{out}");
    // The same without a sandbox, where there is a folder to remove.
    let bare = |script: &str| {
        let mut line = benchwright(&folder);
        line.args(["run", "demo", "--json", "--new", "--trust-agent", "--task", &first_task(&folder)]);
        line.arg("--agent").arg(format!("exec:{}", in_bash(script))).env("TMPDIR", &folder);
        line.output().unwrap()
    };
    let output = bare(script);
    assert!(said(&folder, &output).contains("made all"));
    let told = told(&output);
    assert_eq!(document(trial(&folder, &told).join("trial.json"))["trusted"], true);
    // Nobody can take its name beforehand: it has nothing that could be known.
    let names = [said(&folder, &bare("pwd")), said(&folder, &bare("pwd"))];
    let drawn = names.each_ref().map(|name| name.trim().rsplit('-').next().unwrap_or_default());
    assert!(drawn[0] != drawn[1] && drawn.iter().all(|name| name.len() >= 24), "{names:?}");
    let left = fs::read_dir(&folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("agent"));
    assert_eq!(left.count(), 0, "its folder is removed");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_09_forks_memory_files_network_and_rights_are_bounded() {
    let folder = folder("bounds");
    // Somebody else's server on this machine.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let script = format!(
        r#"grep NoNewPrivs /proc/self/status; grep -c . /proc/net/dev
        (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached another server
        (exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null && echo reached out
        for spot in / /usr /var/tmp /dev/shm /dev /etc /run; do : > $spot/x && echo "wrote $spot"; done
        head -c 1500M /dev/zero > big; echo "file $(stat -c %s big)"; rm big
        unshare --user --map-root-user true && echo became root; id -u
        perl -e "for ([38, 5], [40, 1]) {{ print qq(reached out by family \$_->[0]\n) if socket(my \$s, \$_->[0], \$_->[1], 0) }}"
        post res_partner_search_read '{{"limit":1}}' | head -1
        echo 0 > forks; sh -c 'i=0; while [ $i -lt 600 ]; do sleep 3 & i=$((i+1)); echo $i > forks; done' 2>/dev/null; read -r n < forks; echo "forks $n"; true"#
    );
    let out = said(&folder, &run_program(&folder, &in_bash(&script), &[]));
    assert!(out.contains("NoNewPrivs:\t1"), "{out}");
    for gained in ["reached another", "reached out", "wrote /", "became root"] {
        assert!(!out.contains(gained), "{gained}: {out}");
    }
    let number = |word: &str| -> u64 {
        let rest = out.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_else(|| panic!("{word}: {out}"));
        rest.trim().parse().unwrap()
    };
    assert!(number("file ") <= 256 << 20, "{out}");
    assert!(number("forks ") < 300, "{out}");
    assert!(!out.lines().any(|line| line == "0"), "it is not root: {out}");
    assert!(out.contains("HTTP/1.1 200"), "its own episode is reached: {out}");

    // More memory than there is for it: it is stopped, and graded.
    let hungry = "head -c 3G /dev/zero | tail; echo over $?";
    let begun = Instant::now();
    let out = said(&folder, &run_program(&folder, &in_bash(hungry), &[]));
    assert!(!out.contains("over 0"), "{out}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    drop(other);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn attack_09_nothing_outlives_the_runner() {
    let folder = folder("outlive");
    for signal in ["-INT", "-TERM", "-KILL"] {
        let mut line = benchwright(&folder);
        let script = "(setsid sleep 985.25 &); (trap '' INT TERM; sleep 985.25)";
        line.args(["run", "demo", "--json", "--new", "--jobs", "4", "--agent"])
            .arg(format!("exec:{}", in_bash(script)));
        let mut running = line.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| processes_with("985.25") >= 8, "programs run");
        let number = running.id().to_string();
        assert!(Command::new("kill").args([signal, &number]).status().unwrap().success());
        running.wait().unwrap();
        wait_until(|| processes_with("985.25") == 0, &format!("nothing is left after {signal}"));
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn wait_until(is_so: impl Fn() -> bool, what: &str) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(20));
    }
}
