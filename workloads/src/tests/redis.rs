//! The load for redis, against redis-server where it is installed and against servers that
//! misbehave.

use super::{number, parse, run};
use crate::{
    redis::{
        client::{Answer, Client},
        server::Server,
    },
    session::Session,
    stop::Stop,
};
use pagetide_testing::{skip, undisturbed};
use std::{
    io::{self, BufWriter, Read, Write},
    os::unix::net::UnixListener,
    path::Path,
    process::Command,
    sync::mpsc,
    thread,
};

/// Whether redis-server is there; says so aloud if it is not.
fn installed(test: &str) -> bool {
    let there = Command::new("redis-server").arg("--version").output().is_ok();
    if !there {
        skip(test, "redis-server is not installed (apt install redis-server)");
    }
    there
}

#[test]
fn the_load_fills_and_finds_all_keys() {
    if !installed("the_load_fills_and_finds_all_keys") {
        return;
    }
    let server = Server::start(&Stop::default()).unwrap();
    let address = server.address();
    undisturbed("the_load_fills_and_finds_all_keys", 5, || {
        for (popular, writes) in [("latest", "in-place"), ("scattered", "replace")] {
            let line = format!(
                "redis-load --server {address} --keys 1234 --value-size 500 --seconds 0.3 \
                 --reads 0.5 --popular {popular} --writes {writes}"
            );
            let printed = run(&line).unwrap();
            assert_eq!(number(&printed, "missing"), 0.0, "{printed}");
            if number(&printed, "requests") < 100.0 {
                return Err(printed);
            }
        }
        Ok(())
    });
    let mut client = Client::connect(&address).unwrap();
    assert_eq!(client.ask(&[b"DBSIZE"]).unwrap(), Answer::Number(1234));
    for key in [&b"key:000000000000"[..], b"key:000000001233"] {
        assert_eq!(client.ask(&[b"STRLEN", key]).unwrap(), Answer::Number(500));
    }
    assert_eq!(client.ask(&[b"GET", b"key:000000001234"]).unwrap(), Answer::Nil);
    let refused = client.ask(&[b"NONSENSE"]).unwrap_err().to_string();
    assert!(refused.contains("unknown command"), "{refused}");
    // Persistence is off.
    assert_eq!(client.ask(&[b"LASTSAVE"]).unwrap(), client.ask(&[b"LASTSAVE"]).unwrap());
    let pid = server.pid();
    drop(server);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "the server still runs");
}

#[test]
fn the_demo_ends_its_server_also_when_interrupted() {
    if !installed("the_demo_ends_its_server_also_when_interrupted") {
        return;
    }
    for interrupted in [false, true] {
        let stop = Stop::default();
        let until = stop.clone();
        let seconds = if interrupted { 600.0 } else { 0.3 };
        let (to, lines) = mpsc::channel();
        let running = thread::spawn(move || {
            let line = format!("demo-redis --keys 2000 --value-size 100 --seconds {seconds}");
            let out = &mut BufWriter::new(Lines(to));
            parse(&line).program().run(&mut Session { out, stop: until }).unwrap();
        });
        let ready = lines.recv().unwrap();
        let pid = number(&ready, "server_pid");
        assert!(Path::new(&format!("/proc/{pid}")).exists(), "{ready}");
        if interrupted {
            stop.set();
        }
        let done = lines.recv().unwrap();
        running.join().unwrap();
        assert!(number(&done, "seconds") < 300.0, "{done}");
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "the server still runs");
    }
}

/// Passes every line on as soon as it is printed.
struct Lines(mpsc::Sender<String>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        // A test that failed listens no more.
        let _ = self.0.send(text);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the load says of a server that answers everything with `answer` and hangs up.
fn against(answer: &'static [u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let read = stream.read(&mut [0; 1024]).unwrap();
        assert!(read > 0);
        stream.write_all(answer).unwrap();
    });
    let line = format!("redis-load --server {} --keys 1 --seconds 0.1", socket.display());
    let message = run(&line).unwrap_err().to_string();
    server.join().unwrap();
    message
}

#[test]
fn a_server_that_misbehaves_is_named() {
    for (answer, said) in [
        (&b"-OOM command not allowed\r\n"[..], "OOM command not allowed"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not an answer of a redis server"),
        (b"$12x\r\n", "not an answer of a redis server"),
        (b"$10\r\nabc", "closed the connection"),
        (b"", "closed the connection"),
    ] {
        let message = against(answer);
        assert!(message.contains(said) || message.contains("reset"), "{message}");
        assert!(message.starts_with("redis at /"), "{message}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let message = run("redis-load --server /nonexistent/socket").unwrap_err().to_string();
    assert!(message.contains("/nonexistent/socket"), "{message}");
    assert!(message.contains("is redis-server running there?"), "{message}");
}
