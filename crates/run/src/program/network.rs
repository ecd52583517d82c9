//! A network with nothing in it but one address: that of the episode.
//!
//! A thread may leave the network of its process. Who does so, listens at the episode's own address in the new network and starts a
//! program there, gives it an episode under the address that the server expects and nothing else: what is said to that listener is carried
//! to the server by threads that never left.

use super::isolation::Broken;
use nix::{
    sched::{CloneFlags, unshare},
    sys::socket::{AddressFamily, MsgFlags, Shutdown, SockFlag, SockProtocol, SockType, recv, send, shutdown, socket},
};
use std::{
    io,
    net::{self, SocketAddr, TcpListener, TcpStream},
    os::fd::AsRawFd as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// The most connections that a program has to its episode at a time, so that none crowds out the others.
const MOST_CONNECTIONS: usize = 32;
/// How long a connection to the server may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Runs what starts a program in a network of its own in which only `episode` can be reached; without one, nothing.
pub(super) fn apart<T: Send>(
    episode: Option<SocketAddr>,
    start: impl FnOnce() -> Result<T, Broken> + Send,
) -> Result<T, Broken> {
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        // A process started here is told when this thread ends, so that it is this thread that waits for it.
        let inside = scope.spawn(move || {
            let made = leave().and_then(|()| episode.map(listen).transpose());
            let listener = made.map_err(|error| Broken::Sandbox(format!("no network of its own: {error}")))?;
            if let Some(listener) = listener {
                let _ = tell.send(Arc::new(listener));
            } else {
                drop(tell);
            }
            start()
        });
        let relay = told.recv().ok().zip(episode).map(|(listener, episode)| Relay::start(listener, episode));
        let ran = inside.join().map_err(|_| Broken::Sandbox("the thread of the program was lost".to_owned()))?;
        let unreached = relay.is_some_and(Relay::end);
        match ran {
            Ok(_) if unreached => Err(Broken::Server("it took no connection".to_owned())),
            ran => ran,
        }
    })
}

/// Leaves the network of this process, for a new one with a loopback interface that is up.
fn leave() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    // Interface 1 is the loopback interface, the only one of a new network: "set its flags to up", and the kernel's answer.
    let mut message = Vec::with_capacity(32);
    message.extend_from_slice(&32u32.to_ne_bytes());
    message.extend_from_slice(&16u16.to_ne_bytes()); // RTM_NEWLINK
    message.extend_from_slice(&5u16.to_ne_bytes()); // NLM_F_REQUEST | NLM_F_ACK
    message.extend_from_slice(&[0; 8]);
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&1i32.to_ne_bytes());
    message.extend_from_slice(&1u32.to_ne_bytes()); // IFF_UP
    message.extend_from_slice(&1u32.to_ne_bytes()); // only that flag changes
    let kernel = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    send(kernel.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 64];
    let length = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    match answer.get(16..20).filter(|_| length >= 20).and_then(|code| code.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::other("the kernel's answer is too short")),
    }
}

fn listen(episode: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(episode).map_err(|error| io::Error::other(format!("{episode}: {error}")))
}

/// Carries what is said to a listener to the server.
struct Relay {
    listener: Arc<TcpListener>,
    is_over: Arc<AtomicBool>,
    unreached: Arc<AtomicBool>,
    accepting: thread::JoinHandle<()>,
}

impl Relay {
    fn start(listener: Arc<TcpListener>, server: SocketAddr) -> Relay {
        let (is_over, unreached) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (heard, over, failed) = (Arc::clone(&listener), Arc::clone(&is_over), Arc::clone(&unreached));
        let accepting = thread::spawn(move || {
            let open = Arc::new(AtomicUsize::new(0));
            for stream in heard.incoming() {
                if over.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                if open.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
                    open.fetch_sub(1, Ordering::AcqRel);
                    continue;
                }
                let (open, failed) = (Arc::clone(&open), Arc::clone(&failed));
                thread::spawn(move || {
                    match TcpStream::connect_timeout(&server, CONNECT) {
                        Ok(server) => carry(&stream, &server),
                        Err(_) => failed.store(true, Ordering::Release),
                    }
                    open.fetch_sub(1, Ordering::AcqRel);
                });
            }
        });
        Relay { listener, is_over, unreached, accepting }
    }

    /// Takes no more connections, and tells whether the server did not take one.
    fn end(self) -> bool {
        self.is_over.store(true, Ordering::Release);
        // Who waits for a connection wakes up.
        let _ = shutdown(self.listener.as_raw_fd(), Shutdown::Both);
        let _ = self.accepting.join();
        self.unreached.load(Ordering::Acquire)
    }
}

/// Carries both ways, until both sides have said all.
fn carry(program: &TcpStream, server: &TcpStream) {
    let _ = program.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let one_way = |mut from: &TcpStream, mut to: &TcpStream| {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(net::Shutdown::Write);
    };
    thread::scope(|scope| {
        scope.spawn(|| one_way(server, program));
        one_way(program, server);
    });
}
