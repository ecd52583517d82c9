//! Who calls: the users behind the connections of the agent, as the kernel lists them. An agent that was meant to have a user of its own
//! and calls as root could have done anything on its machine, so the record says it.

use std::{
    collections::BTreeSet,
    fs,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::net::TcpStream;

/// Where the kernel lists connections: of the old addresses, and of the new ones, which can hold old ones.
const LISTS: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The users that have called so far; nothing stands for one that could not be seen.
#[derive(Clone, Default)]
pub(super) struct Callers(Arc<Mutex<BTreeSet<Option<u32>>>>);

impl Callers {
    /// Notes who is at the other end of a connection.
    pub(super) fn note(&self, stream: &TcpStream) {
        let (Ok(there), Ok(here)) = (stream.peer_addr(), stream.local_addr()) else { return };
        let user = LISTS.iter().find_map(|list| owner(&fs::read_to_string(list).ok()?, there, here));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(user);
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> Vec<Option<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

/// The user of the socket that stands at one address and is connected with another. One that its program has closed is nobody's, and
/// listed as root's: it has no inode.
fn owner(list: &str, there: SocketAddr, here: SocketAddr) -> Option<u32> {
    let (there, here) = (written(there)?, written(here)?);
    list.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, _, _, _, _, user, _, inode, ..] = fields[..] else { return None };
        let is_it = local.ends_with(&there) && remote.ends_with(&here) && inode != "0";
        is_it.then(|| user.parse().ok()).flatten()
    })
}

/// An address as the kernel writes it.
fn written(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else { return None };
    Some(format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_found_by_both_ends_and_a_closed_one_is_nobodys() {
        let (there, here): (SocketAddr, SocketAddr) =
            ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:8765".parse().unwrap());
        let list = "  sl  local_address rem_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode\n\
            0: 0100007F:223D 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 11 1\n\
            1: 0100007F:9C40 0100007F:223D 06 00000000:00000000 00:00000000 00000000 0 0 0 1\n";
        assert_eq!(owner(list, there, here), None);
        let later = format!(
            "{list}2: 0000000000000000FFFF00000100007F:9C40 0000000000000000FFFF00000100007F:223D 01 0:0 0:0 0 1001 0 12 1\n"
        );
        assert_eq!(owner(&later, there, here), Some(1001));
    }

    #[tokio::test]
    async fn who_connects_is_seen() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let there = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (here, _) = listener.accept().await.unwrap();
        let callers = Callers::default();
        callers.note(&here);
        assert_eq!(callers.all(), [Some(nix::unistd::geteuid().as_raw())]);
        drop(there);
    }
}
