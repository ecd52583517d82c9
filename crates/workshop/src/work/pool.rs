//! Workers: each takes the next request when it is done with the last, and answers come back in the order of the requests
//! whatever the number of workers. A worker process that dies takes one request with it.

use crate::Cancel;
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

/// What happens to a request, by its place among them.
pub(crate) enum Event<'a, A> {
    /// A worker has taken it.
    Begun(usize),
    /// It was answered, or its worker was lost.
    Answered(usize, &'a Result<A, String>),
}

/// Hands requests to workers, each started in a thread of its own, and waits for every answer. A request that was not begun
/// when the work was cancelled has none.
pub(crate) fn run<R: Sync, A: Send, W>(
    requests: &[R],
    jobs: usize,
    cancel: &Cancel,
    start: &(dyn Fn() -> W + Sync),
    ask: &(dyn Fn(&mut W, &R) -> Result<A, String> + Sync),
    told: &mut dyn FnMut(Event<'_, A>),
) -> Vec<Option<Result<A, String>>> {
    let mut answers: Vec<Option<Result<A, String>>> = requests.iter().map(|_| None).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..jobs.clamp(1, requests.len().max(1)) {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                let mut worker = start();
                while !cancel.is_cancelled() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(request) = requests.get(at) else { break };
                    // Nobody listens any more only when the whole run is being given up.
                    if send.send((at, None)).is_err() || send.send((at, Some(ask(&mut worker, request)))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (at, answer) in receive {
            match answer {
                None => told(Event::Begun(at)),
                Some(answer) => {
                    told(Event::Answered(at, &answer));
                    answers[at] = Some(answer);
                }
            }
        }
    });
    answers
}

/// A worker that is a process, started when it is first asked.
#[derive(Default)]
pub(crate) struct Remote(Option<Worker>);

impl Remote {
    /// Asks it, starting one if there is none. One that fails is let go, and the next request gets another.
    pub(crate) fn ask<R: Serialize, A: DeserializeOwned>(
        &mut self,
        start: &dyn Fn() -> Command,
        request: &R,
    ) -> Result<A, String> {
        let mut busy = match self.0.take() {
            Some(worker) => worker,
            None => Worker::start(start()).map_err(|error| format!("no worker could be started: {error}"))?,
        };
        let line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        match busy.exchange(&line) {
            Ok(answer) => match serde_json::from_str(&answer) {
                Ok(read) => {
                    self.0 = Some(busy);
                    Ok(read)
                }
                Err(error) => {
                    busy.give_up();
                    let shown: String = answer.chars().take(200).collect();
                    Err(format!("the worker answered what is no answer ({error}): {shown}"))
                }
            },
            Err(status) => {
                Err(format!("the worker died ({})", status.map_or("no status".to_owned(), |s| s.to_string())))
            }
        }
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

    /// Ends a worker that cannot be trusted any more.
    fn give_up(mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Worker {
    /// Ends a worker that waits for a request.
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker that answers each number with its double, dies at 13 and talks nonsense at 14.
    fn doubling() -> Command {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg("while read n; do case $n in 13) kill -9 $$;; 14) echo what;; *) echo $((n * 2));; esac; done");
        command
    }

    fn ask_all(start: &(dyn Fn() -> Command + Sync), requests: &[i64], jobs: usize) -> Vec<Result<i64, String>> {
        let ask = |worker: &mut Remote, request: &i64| worker.ask(&start, request);
        let answers = run(requests, jobs, &Cancel::new(), &Remote::default, &ask, &mut |_| ());
        answers.into_iter().flatten().collect()
    }

    #[test]
    fn answers_keep_the_order_of_the_requests_whatever_the_number_of_workers() {
        let requests: Vec<i64> = (100..140).collect();
        let expected: Vec<Result<i64, String>> = requests.iter().map(|n| Ok(n * 2)).collect();
        for jobs in [1, 2, 7, 100] {
            assert_eq!(ask_all(&doubling, &requests, jobs), expected);
        }
        assert!(ask_all(&doubling, &[], 3).is_empty());
    }

    #[test]
    fn every_request_is_told_when_it_is_begun_and_when_it_is_answered() {
        let (mut begun, mut answered) = (Vec::new(), Vec::new());
        let answers =
            run(&[7_i64, 8, 9], 2, &Cancel::new(), &|| (), &|(), n: &i64| Ok(n * 2), &mut |event| match event {
                Event::Begun(at) => begun.push(at),
                Event::Answered(at, answer) => answered.push((at, answer.clone())),
            });
        begun.sort_unstable();
        answered.sort();
        assert_eq!(begun, [0, 1, 2]);
        assert_eq!(answered, [(0, Ok(14)), (1, Ok(16)), (2, Ok(18))]);
        assert_eq!(answers, [Some(Ok(14)), Some(Ok(16)), Some(Ok(18))]);
    }

    #[test]
    fn what_is_cancelled_finishes_what_was_begun_and_begins_no_more() {
        let cancel = Cancel::new();
        let ask = |(): &mut (), n: &i64| {
            if *n == 2 {
                cancel.cancel();
            }
            Ok::<i64, String>(*n)
        };
        let answers = run(&[1, 2, 3, 4], 1, &cancel, &|| (), &ask, &mut |_| ());
        assert_eq!(answers, [Some(Ok(1)), Some(Ok(2)), None, None]);
    }

    #[test]
    fn a_worker_that_dies_fails_its_own_request_and_no_other() {
        let answers = ask_all(&doubling, &[11, 13, 12, 14, 15], 1);
        assert_eq!((&answers[0], &answers[2], &answers[4]), (&Ok(22), &Ok(24), &Ok(30)));
        let died = answers[1].clone().unwrap_err();
        assert!(died.contains("died") && died.contains("signal: 9"), "{died}");
        assert!(answers[3].clone().unwrap_err().contains("no answer"), "{:?}", answers[3]);
    }

    #[test]
    fn a_worker_that_cannot_be_started_is_told() {
        let nowhere = || Command::new("./there-is-no-such-program");
        let answers = ask_all(&nowhere, &[1, 2], 2);
        assert!(answers.iter().all(|answer| answer.clone().unwrap_err().contains("could be started")), "{answers:?}");
    }
}
