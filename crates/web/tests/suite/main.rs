//! Tests of the program as a user runs it, except for compiling the game, which `.ci/run` tests.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cubewire-web");

struct Server {
    process: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut process = Command::new(PROGRAM)
            .args(["serve", "--no-build", "--port", "0", "--out"])
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line.split('/').nth(2).unwrap().to_owned();
        Self { process, address }
    }

    /// Returns head and body of the response.
    fn get(&self, path: &str, accepted: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: {accepted}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
        (head, answer[end + 4..].to_vec())
    }
}

#[test]
fn files_are_served_compressed_where_the_browser_takes_it_and_with_their_types() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("index.html", "page"),
        ("a.wasm", "plain"),
        ("a.wasm.br", "brotli"),
        ("a.wasm.gz", "gzip"),
        ("a.js", "script"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let server = Server::start(folder.path());
    for (accepted, encoding, body) in [
        ("gzip, br", Some("br"), "brotli"),
        ("gzip", Some("gzip"), "gzip"),
        ("identity", None, "plain"),
    ] {
        let (head, found) = server.get("/a.wasm", accepted);
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert!(head.contains("content-type: application/wasm"), "{head}");
        let found_encoding = head.lines().find_map(|line| line.strip_prefix("content-encoding: "));
        assert_eq!(found_encoding, encoding, "{head}");
        assert_eq!(found, body.as_bytes());
    }
    let (head, body) = server.get("/", "br");
    assert!(head.contains("content-type: text/html") && body == b"page", "{head}");
    let (head, _) = server.get("/a.js", "br");
    assert!(head.contains("content-type: text/javascript"), "{head}");
}

#[test]
fn a_folder_without_a_page_and_a_port_that_is_taken_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refusal = || {
        let mut serve = Command::new(PROGRAM);
        serve.args(["serve", "--no-build", "--out", path, "--port", &port]);
        let output = serve.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let wanted =
        format!("error: {path}: no page in this folder: build it with `cargo web build`\n");
    assert_eq!(refusal(), wanted);
    fs::write(folder.path().join("index.html"), "").unwrap();
    let error = refusal();
    assert!(error.starts_with(&format!("error: 127.0.0.1:{port}: ")), "{error}");
}
