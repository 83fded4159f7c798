//! A helper that stays: it is asked line by line, has a time limit for each answer, and is ended when that is
//! over. What it learned for one question is at hand for the next.

use crate::{Answer, Fault, Helper, Why, helper};
use std::{
    io::{self, BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    process::{Child, ChildStdin},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// How often it is asked whether to stop waiting.
const LOOK: Duration = Duration::from_millis(100);

/// A helper that waits for questions. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
    /// A question has no answer yet: what it says next would be taken for the next one's.
    owes: bool,
}

impl Worker {
    /// Starts one, with the arguments that say what it is for.
    pub(crate) fn start(helper: &Helper, arguments: &[&str]) -> io::Result<Self> {
        let mut child = helper.command(arguments)?.stdin(std::process::Stdio::piped()).spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let questions = child.stdin.take().ok_or_else(missing)?;
        let lines = BufReader::new(child.stdout.take().ok_or_else(missing)?).lines();
        let (sender, answers) = channel();
        thread::Builder::new().name("answers".into()).spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { child, questions, answers, owes: false })
    }

    /// Whether it can be asked: it has not ended, and owes no answer.
    pub(crate) fn is_ready(&mut self) -> bool {
        !self.owes && matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks, and waits so long for what is answered, unless it is to stop waiting before.
    #[cfg(test)]
    fn ask(
        &mut self,
        doing: &str,
        question: &str,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<Option<u64>> {
        self.begin(doing, question)?;
        self.answer(doing, limit, stop).map(|said| said.parse().ok())
    }

    /// Asks; [`answer`](Self::answer) waits for what is answered.
    pub(crate) fn begin(&mut self, doing: &str, question: &str) -> Answer<()> {
        self.owes = true;
        writeln!(self.questions, "{question}").map_err(|error| {
            let why = Why::Said(error.to_string());
            Fault { doing: doing.to_owned(), why }
        })
    }

    /// Waits so long for the answer that it owes, unless it is to stop waiting before; what it said after `done`.
    pub(crate) fn answer(
        &mut self,
        doing: &str,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Answer<String> {
        let fault = |why| Fault { doing: doing.to_owned(), why };
        let said = |what: String| fault(Why::Said(what));
        let since = Instant::now();
        let line = loop {
            let left = limit.saturating_sub(since.elapsed());
            match self.answers.recv_timeout(left.min(LOOK)) {
                Ok(line) => break line,
                Err(RecvTimeoutError::Disconnected) => {
                    helper::collect(&mut self.child);
                    let signal = self.child.try_wait().ok().flatten().and_then(|it| it.signal());
                    let broken = signal == Some(libc::SIGBUS);
                    let why = if broken { helper::UNREADABLE } else { "the helper ended" };
                    return Err(said(why.into()));
                }
                Err(RecvTimeoutError::Timeout) if left <= LOOK => {
                    return Err(fault(Why::TimeUp(limit)));
                }
                Err(RecvTimeoutError::Timeout) if stop() => {
                    return Err(fault(Why::TimeUp(since.elapsed())));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        let answer = match line.split_once(' ').unwrap_or((&line, "")) {
            ("done", said) => Ok(said.to_owned()),
            ("errno", number) => Err(fault(Why::Errno(number.parse().unwrap_or(libc::EIO)))),
            ("cannot", why) => Err(said(format!("it cannot {why}"))),
            _ => return Err(said(format!("the helper said {line:?}"))),
        };
        self.owes = false;
        answer
    }

    /// Ends it; whether the kernel let it go.
    pub(crate) fn end(&mut self) -> bool {
        // It may have ended already.
        let _ = self.child.kill();
        helper::collect(&mut self.child)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a worker does: one answer for each line, until there are no more.
pub(crate) fn serve(
    questions: impl BufRead,
    mut answers: impl Write,
    mut answer: impl FnMut(&str) -> String,
) -> io::Result<()> {
    for question in questions.lines() {
        writeln!(answers, "{}", answer(&question?))?;
        answers.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Worker {
        let helper = Helper(["sh", "-c", script].map(Into::into).to_vec());
        Worker::start(&helper, &[]).unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn it_answers_until_it_is_dropped() {
        let mut worker = shell("while read a b; do echo done $((a + b)); done");
        assert_eq!(worker.ask("add", "3 4", LONG, &|| false), Ok(Some(7)));
        assert_eq!(worker.ask("add", "30 4", LONG, &|| false), Ok(Some(34)));
        assert!(worker.is_ready());
        assert!(worker.end() && !worker.is_ready());
    }

    #[test]
    fn one_that_does_not_answer_in_time_is_given_up() {
        let mut worker = shell("read line; exec sleep 1000");
        let fault = worker.ask("wait", "x", Duration::from_millis(50), &|| false).unwrap_err();
        assert_eq!(fault.why, Why::TimeUp(Duration::from_millis(50)));
        assert!(!worker.is_ready(), "its answer would be taken for the next one's");
        let id = worker.child.id();
        drop(worker);
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn who_is_asked_to_stop_does_not_wait_for_an_answer() {
        let mut worker = shell("read line; exec sleep 1000");
        let fault = worker.ask("wait", "x", Duration::from_secs(1000), &|| true).unwrap_err();
        assert!(matches!(fault.why, Why::TimeUp(after) if after < LONG), "{fault}");
        assert!(!worker.is_ready());
    }

    #[test]
    fn why_it_cannot_is_told() {
        let mut worker =
            shell("read x; echo cannot list the processes; read x; echo errno 16; read x");
        let fault = worker.ask("move pages", "x", LONG, &|| false).unwrap_err();
        assert_eq!(fault.to_string(), "cannot move pages: it cannot list the processes");
        assert!(worker.is_ready(), "it has answered");
        assert_eq!(
            worker.ask("offline", "x", LONG, &|| false).unwrap_err().why,
            Why::Errno(libc::EBUSY)
        );
        let fault = worker.ask("move pages", "x", LONG, &|| false).unwrap_err();
        assert!(fault.to_string().starts_with("cannot move pages: "), "{fault}");
        let mut broken = shell("read line; kill -BUS $$");
        let fault = broken.ask("read", "x", LONG, &|| false).unwrap_err();
        assert!(fault.to_string().contains("cannot be read"), "{fault}");
        assert!(Worker::start(&Helper(vec!["/no/such/program".into()]), &[]).is_err());
    }

    #[test]
    fn each_line_is_answered_by_one() {
        let mut answers = Vec::new();
        serve("a\nb\n".as_bytes(), &mut answers, |it| format!("done {it}")).unwrap();
        assert_eq!(answers, b"done a\ndone b\n");
    }
}
