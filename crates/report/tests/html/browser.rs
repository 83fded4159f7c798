//! A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol): commands go to
//! its file descriptor 3 and answers come from 4, each a JSON object that a zero byte ends.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page; ended when dropped.
pub(super) struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    sent: u64,
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
            eprintln!("SKIPPED {test}: no chromium here; install the package chromium");
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
        let from = BufReader::new(child.stdout.take().unwrap());
        let mut browser = Self {
            child,
            to,
            from,
            session: String::new(),
            sent: 0,
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
        let mut bytes = Vec::new();
        let read = self.from.read_until(0, &mut bytes).unwrap();
        assert!(read > 0, "the browser ended");
        bytes.pop();
        let event: Value = serde_json::from_slice(&bytes).unwrap();
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
        self.ask("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        while self.next()["method"] != "Page.loadEventFired" {}
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
