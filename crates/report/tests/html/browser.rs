//! A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol): commands go to
//! its file descriptor 3 and answers come from 4, each a JSON object that a zero byte ends.

use pagetide_testing::skip;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// So long a browser may say nothing, and what must come true in a page may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page; ended when dropped.
pub(super) struct Browser {
    child: Child,
    to: ChildStdin,
    /// Its messages, as a thread of their own reads them.
    from: Receiver<Value>,
    session: String,
    sent: u64,
    /// Documents that have been loaded, by the names that navigating gave them.
    loaded: HashSet<String>,
    /// Errors and warnings that the page caused, and addresses that it asked for.
    pub(super) complaints: Vec<String>,
    pub(super) requests: Vec<String>,
    _profile: TempDir,
}

#[expect(clippy::unwrap_used, reason = "a test's own browser")]
impl Browser {
    /// Starts one; says aloud why `test` is skipped where there is none.
    pub(super) fn start(test: &str) -> Option<Self> {
        let found = |name: &&str| {
            let asked = Command::new(name).arg("--version").output();
            asked.is_ok_and(|output| output.status.success())
        };
        let Some(name) = NAMES.iter().find(|name| found(name)) else {
            skip(test, "no chromium here; install the package chromium");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .arg("-c")
            .arg("exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1")
            .args(["sh", name, "--headless=new", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let mut messages = BufReader::new(child.stdout.take().unwrap());
        let (said, from) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            while messages.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                bytes.pop();
                let message = serde_json::from_slice(&bytes).unwrap();
                if said.send(message).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            session: String::new(),
            sent: 0,
            loaded: HashSet::new(),
            complaints: Vec::new(),
            requests: Vec::new(),
            _profile: profile,
        };
        let page = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Runtime", "Log", "Page", "Network"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser.ask("Page.setLifecycleEventsEnabled", &json!({ "enabled": true }));
        Some(browser)
    }

    /// Sends a command and waits for its answer; what the page reports meanwhile is kept.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn next(&mut self) -> Value {
        let event = match self.from.recv_timeout(PATIENCE) {
            Ok(event) => event,
            Err(error) => panic!("the browser ended or says nothing: {error}"),
        };
        let params = &event["params"];
        match event["method"].as_str() {
            // The tests read pixels back, which makes the renderer give advice.
            Some("Log.entryAdded") if params["entry"]["source"] == "rendering" => {}
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.complaints.push(params.to_string());
            }
            Some("Runtime.consoleAPICalled") if params["type"] != "log" => {
                self.complaints.push(params.to_string());
            }
            Some("Page.lifecycleEvent") if params["name"] == "load" => {
                self.loaded.insert(params["loaderId"].as_str().unwrap_or("?").to_owned());
            }
            Some("Network.requestWillBeSent") => {
                self.requests.push(params["request"]["url"].as_str().unwrap_or("?").to_owned());
            }
            _ => {}
        }
        event
    }

    /// Opens a file at a width, in the light or dark scheme, and waits until it is drawn.
    pub(super) fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", &media);
        let address = json!({ "url": format!("file://{}", file.display()) });
        let document = self.ask("Page.navigate", &address)["loaderId"].as_str().unwrap().to_owned();
        // That it is loaded may be said before the answer to navigating.
        while !self.loaded.contains(&document) {
            self.next();
        }
    }

    /// Waits until an expression in the page has a value that is `wanted`.
    #[track_caller]
    pub(super) fn until(&mut self, expression: &str, wanted: impl Fn(&Value) -> bool) {
        let start = Instant::now();
        loop {
            let value = self.value(expression);
            if wanted(&value) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{expression}: still {value}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The value of an expression in the page, awaited.
    pub(super) fn value(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
