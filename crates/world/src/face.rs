//! A face: another system's words for the calls of an episode, so that a client of that system works unchanged.

use crate::World;
use benchwright_pack::Refusal;
use std::fmt;

/// Another system's words for the calls of an episode. It answers requests to paths below the episode's own address.
pub trait Face: fmt::Debug + Send + Sync {
    /// Its name among the addresses of an episode.
    fn name(&self) -> &str;

    /// Where it stands below the address of an episode, such as `json/2`.
    fn path(&self) -> &str;

    /// Whether it can be put on a world.
    fn fits(&self, world: &dyn World) -> bool;

    /// Answers a body that was sent to a path below its own. Nothing, if there is nothing at that path.
    fn answer(&self, world: &dyn World, path: &str, body: &str, calls: &mut dyn Calls) -> Option<FaceAnswer>;
}

/// The calls that a face makes. Each counts against the episode's budget and stands in its trace.
pub trait Calls {
    /// Calls a tool.
    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal>;

    /// Hands a call on to an engine that speaks the face's words itself.
    fn speak(&mut self, words: &[&str], body: &str) -> Result<FaceAnswer, Refusal>;
}

/// What a face answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaceAnswer {
    /// The HTTP status that the other system would answer with.
    pub status: u16,
    /// The body, in JSON.
    pub body: String,
}
