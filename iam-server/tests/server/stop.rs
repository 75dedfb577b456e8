//! How the server stops.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use rustix::process::Signal;
use serde_json::json;

use crate::client::PASSWORD;
use crate::process::{Home, TIMEOUT, wait_for};
use crate::store::Store;

const EMAIL: &str = "grace@navy.example";

/// A login that the server has started to read, and whose body is not complete yet.
struct HalfLogin {
    stream: TcpStream,
    body: String,
}

impl HalfLogin {
    fn begin(address: SocketAddr) -> Self {
        let body = json!({ "email": EMAIL, "password": PASSWORD }).to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let head = format!(
            "POST /api/v1/auth/login HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nexpect: 100-continue\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The server asks for the body when it starts to read it. From then on the request is in flight.
        let mut go_on = [0; 25];
        stream.read_exact(&mut go_on).unwrap();
        assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self { stream, body }
    }

    fn send_the_rest(&mut self) {
        self.stream.write_all(self.body.as_bytes()).unwrap();
    }

    /// Returns everything that arrives until the server closes the connection.
    fn answer(mut self) -> String {
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

#[test]
fn requests_in_flight_are_finished() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        server.client().register(EMAIL);
        // Unused connections do not delay the stop.
        let silent = TcpStream::connect(server.address).unwrap();
        let idle = server.client();
        idle.get("/health").expect(200);
        let mut logins: Vec<HalfLogin> = (0..8).map(|_| HalfLogin::begin(server.address)).collect();

        server.signal(Signal::TERM);
        server.log().wait_for_line("stopping");
        let is_refused = || TcpStream::connect(server.address).is_err().then_some(());
        wait_for("new connections to be refused", TIMEOUT, is_refused);
        for login in &mut logins {
            login.send_the_rest();
        }
        for login in logins {
            let answer = login.answer();
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(answer.contains("accessToken"), "{answer}");
        }
        let ended = server.end();
        assert_eq!(ended.code, Some(0), "{}", ended.log);
        assert!(ended.log.ends_with("stopped") && !ended.log.contains("were cancelled"), "{}", ended.log);
        drop((silent, idle));
    }
}

#[test]
fn an_interrupt_stops_the_server_too() {
    let home = Home::new();
    let server = home.serve();
    server.signal(Signal::INT);
    assert_eq!(server.end().code, Some(0));
    assert_eq!(home.files(), ["iam.db"]);
}
