//! Worker processes: requests go out one line at a time, answers come back in the order of the requests whatever the
//! number of workers. A worker that dies takes one request with it.

use serde::{Serialize, de::DeserializeOwned};
use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// Sends requests to workers and waits for every answer. `done` is called after each.
pub(crate) fn run<R, A>(
    start: &(dyn Fn() -> io::Result<Command> + Sync),
    requests: &[R],
    jobs: usize,
    done: &mut dyn FnMut(),
) -> Vec<Result<A, String>>
where
    R: Serialize + Sync,
    A: DeserializeOwned + Send,
{
    let mut answers: Vec<Option<Result<A, String>>> = requests.iter().map(|_| None).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..jobs.clamp(1, requests.len().max(1)) {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                let mut worker = None;
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(request) = requests.get(at) else { break };
                    // Nobody listens any more only when the whole run is being given up.
                    if send.send((at, ask(&mut worker, start, request))).is_err() {
                        break;
                    }
                }
                if let Some(worker) = worker {
                    worker.end();
                }
            });
        }
        drop(send);
        for (at, answer) in receive {
            answers[at] = Some(answer);
            done();
        }
    });
    let lost = || Err("no worker took it".to_owned());
    answers.into_iter().map(|answer| answer.unwrap_or_else(lost)).collect()
}

/// Asks a worker, starting one if there is none. One that fails is let go, and the next request gets another.
fn ask<R: Serialize, A: DeserializeOwned>(
    worker: &mut Option<Worker>,
    start: &dyn Fn() -> io::Result<Command>,
    request: &R,
) -> Result<A, String> {
    let mut busy = match worker.take() {
        Some(worker) => worker,
        None => start().and_then(Worker::start).map_err(|error| format!("no worker could be started: {error}"))?,
    };
    let line = serde_json::to_string(request).map_err(|error| error.to_string())?;
    match busy.exchange(&line) {
        Ok(answer) => match serde_json::from_str(&answer) {
            Ok(read) => {
                *worker = Some(busy);
                Ok(read)
            }
            Err(error) => {
                busy.give_up();
                let shown: String = answer.chars().take(200).collect();
                Err(format!("the worker answered what is no answer ({error}): {shown}"))
            }
        },
        Err(status) => Err(format!("the worker died ({})", status.map_or("no status".to_owned(), |s| s.to_string()))),
    }
}

/// One process.
struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Worker {
    fn start(mut command: Command) -> io::Result<Worker> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("it has no stdout"))?;
        Ok(Worker { child, stdin, stdout: BufReader::new(stdout) })
    }

    /// One line out, one line back; else how the process ended.
    fn exchange(&mut self, line: &str) -> Result<String, Option<ExitStatus>> {
        let mut answer = String::new();
        let sent = match &mut self.stdin {
            Some(stdin) => writeln!(stdin, "{line}").and_then(|()| stdin.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        match sent.and_then(|()| self.stdout.read_line(&mut answer)) {
            Ok(_) if answer.ends_with('\n') => Ok(answer),
            // It has closed its output, so it is gone or about to go.
            _ => {
                self.stdin = None;
                Err(self.child.wait().ok())
            }
        }
    }

    /// Ends a worker that waits for a request.
    fn end(mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }

    /// Ends a worker that cannot be trusted any more.
    fn give_up(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker that answers each number with its double, dies at 13 and talks nonsense at 14.
    fn doubling() -> io::Result<Command> {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg("while read n; do case $n in 13) kill -9 $$;; 14) echo what;; *) echo $((n * 2));; esac; done");
        Ok(command)
    }

    #[test]
    fn answers_keep_the_order_of_the_requests_whatever_the_number_of_workers() {
        let requests: Vec<i64> = (100..140).collect();
        let expected: Vec<Result<i64, String>> = requests.iter().map(|n| Ok(n * 2)).collect();
        for jobs in [1, 2, 7, 100] {
            let mut done = 0;
            assert_eq!(run(&doubling, &requests, jobs, &mut || done += 1), expected);
            assert_eq!(done, requests.len());
        }
        let none: Vec<Result<i64, String>> = run(&doubling, &[] as &[i64], 3, &mut || ());
        assert!(none.is_empty());
    }

    #[test]
    fn a_worker_that_dies_fails_its_own_request_and_no_other() {
        let answers: Vec<Result<i64, String>> = run(&doubling, &[11, 13, 12, 14, 15], 1, &mut || ());
        assert_eq!((&answers[0], &answers[2], &answers[4]), (&Ok(22), &Ok(24), &Ok(30)));
        let died = answers[1].clone().unwrap_err();
        assert!(died.contains("died") && died.contains("signal: 9"), "{died}");
        assert!(answers[3].clone().unwrap_err().contains("no answer"), "{:?}", answers[3]);
    }

    #[test]
    fn a_worker_that_cannot_be_started_is_told() {
        let nowhere = || Ok(Command::new("./there-is-no-such-program"));
        let answers: Vec<Result<i64, String>> = run(&nowhere, &[1, 2], 2, &mut || ());
        assert!(answers.iter().all(|answer| answer.clone().unwrap_err().contains("could be started")), "{answers:?}");
    }
}
