//! Where a redis server may be: this machine only, for a load that overwrites keys.

use std::{
    fmt,
    net::{SocketAddr, ToSocketAddrs},
    path::PathBuf,
    str::FromStr,
};

/// A loopback port or a unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP port on a loopback address.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    /// `/path/to/socket`, `unix:PATH`, `6379`, `localhost:6379`, `127.0.0.1:6379`, `[::1]:6379`.
    fn from_str(text: &str) -> Result<Self, String> {
        let how = "give a loopback port (6379, 127.0.0.1:6379) or the path of a unix socket";
        if let Some(path) = text.strip_prefix("unix:").or(text.starts_with('/').then_some(text)) {
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        if let Ok(port) = text.parse::<u16>() {
            return Ok(Self::Tcp(SocketAddr::from(([127, 0, 0, 1], port))));
        }
        // A name other than localhost is not looked up: that would already leave this machine.
        let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address = match local {
            Some(local) => local.to_socket_addrs().ok().and_then(|mut all| all.next()),
            None => text.parse::<SocketAddr>().ok(),
        };
        match address {
            Some(address) if address.ip().is_loopback() => Ok(Self::Tcp(address)),
            Some(_) => {
                Err(format!("'{text}' is not on this machine, and the load overwrites keys: {how}"))
            }
            None => Err(format!("'{text}' is no address of a server on this machine: {how}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_this_machine_only() {
        for (text, shown) in [
            ("/run/redis.sock", "/run/redis.sock"),
            ("unix:redis.sock", "redis.sock"),
            ("6379", "127.0.0.1:6379"),
            ("localhost:7000", "127.0.0.1:7000"),
            ("127.0.0.2:1", "127.0.0.2:1"),
            ("[::1]:6379", "[::1]:6379"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), shown);
        }
        for text in ["10.0.0.1:6379", "0.0.0.0:6379", "[2001:db8::1]:6379"] {
            let refused = text.parse::<Address>().unwrap_err();
            assert!(refused.contains("not on this machine") && refused.contains(text));
        }
        for text in ["", "redis.example.org:6379", "127.0.0.1", "99999", "localhost:x"] {
            let refused = text.parse::<Address>().unwrap_err();
            assert!(refused.contains("unix socket"), "{refused}");
        }
    }
}
