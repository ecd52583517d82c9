//! What opens worlds and begins episodes, and the table in which engines are found by a word (`"engine": "odoo"` when an
//! episode is begun).

use crate::{Ability, Episode, ToolLine, WorldError};
use benchwright_base::{Digest, nearest};
use benchwright_pack::OpenPart;
use benchwright_schema::Domain;
use std::{fmt, sync::Arc};

/// Opens worlds of one kind.
pub trait Engine: fmt::Debug + Send + Sync {
    /// The words by which it is asked for, the usual one first.
    fn names(&self) -> &[&str];

    /// The world of a task, at the task's first state and with what the task lays on its episodes: a seat, faults. Calls are
    /// counted by whoever makes them.
    fn open(&self, task: &OpenPart) -> Result<Arc<dyn World>, WorldError>;

    /// A world without a task.
    fn fill(&self, _filling: &Filling) -> Result<Arc<dyn World>, WorldError> {
        Err(WorldError::Cannot(Ability::Fill))
    }
}

/// What a world without a task is made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Filling {
    /// What it is a world of, by name: a domain.
    pub domain: String,
    /// The size; with none, the usual one.
    pub size: Option<String>,
    /// The seed it is filled from.
    pub seed: u64,
}

/// A first state with the tools that work on it. Its episodes know nothing of each other.
pub trait World: Send + Sync {
    /// What is told of it.
    fn about(&self) -> About<'_>;

    /// The declarations of its tables; nothing where the state is no records.
    fn domain(&self) -> Option<&Arc<Domain>> {
        None
    }

    /// All its tools, in the order in which they are shown.
    fn tools(&self) -> Vec<ToolLine>;

    /// Begins an episode, in a role or in the usual one: that of the task, where there is one.
    fn begin(&self, role: Option<&str>) -> Result<Box<dyn Episode>, WorldError>;

    /// Whether calls wait for something outside this process, so that nobody else should have to wait with them.
    fn waits(&self) -> bool {
        false
    }

    /// Whether episodes answer a face in their own words, by the face's name. On others the face calls tools.
    fn speaks(&self, _face: &str) -> bool {
        false
    }
}

/// What is told of a world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct About<'w> {
    /// Its name: that of the domain, where it has one.
    pub name: &'w str,
    /// The same in words.
    pub title: &'w str,
    /// A sentence or two on it.
    pub about: &'w str,
    /// The digest of its declarations. Worlds of one digest have the same tools.
    pub digest: Digest,
}

impl<'w> About<'w> {
    /// What a domain tells.
    pub fn of(domain: &'w Domain) -> About<'w> {
        let Domain { name, title, about, digest, .. } = domain;
        About { name, title, about, digest: *digest }
    }
}

/// The engines that a program has, in order: the first is taken where none is named.
#[derive(Clone, Debug, Default)]
pub struct Engines(Vec<Arc<dyn Engine>>);

impl Engines {
    /// A table of one.
    pub fn of(usual: Arc<dyn Engine>) -> Engines {
        Engines(vec![usual])
    }

    /// The same with one more. A word that is taken stays with whoever had it first.
    pub fn with(mut self, engine: Arc<dyn Engine>) -> Engines {
        self.0.push(engine);
        self
    }

    /// The engine of a word, or the usual one.
    pub fn find(&self, word: Option<&str>) -> Result<&Arc<dyn Engine>, WorldError> {
        let mut all = self.0.iter();
        let found = match word {
            Some(word) => all.find(|engine| engine.names().contains(&word)),
            None => all.next(),
        };
        found.ok_or_else(|| WorldError::Asked(self.missing(word)))
    }

    fn missing(&self, word: Option<&str>) -> String {
        let Some(word) = word else { return "no engine was given, so there are no worlds".to_owned() };
        let names = || self.0.iter().flat_map(|engine| engine.names()).copied();
        let short: String = word.chars().take(80).collect();
        match nearest(&short, names()) {
            Some(near) => format!("there is no engine `{short}`; did you mean `{near}`?"),
            None => format!("there is no engine `{short}` here; there are: {}", names().collect::<Vec<_>>().join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Named(&'static [&'static str]);

    impl Engine for Named {
        fn names(&self) -> &[&str] {
            self.0
        }
        fn open(&self, _: &OpenPart) -> Result<Arc<dyn World>, WorldError> {
            Err(WorldError::Refused(self.0.join(" ")))
        }
    }

    #[test]
    fn engines_are_found_by_any_of_their_words_and_the_first_is_usual() {
        let engines = Engines::of(Arc::new(Named(&["memory", "old"]))).with(Arc::new(Named(&["folder", "memory"])));
        let first = |word| engines.find(word).map(|engine| engine.names()[0]).map_err(|error| error.to_string());
        assert_eq!(first(None), Ok("memory"));
        assert_eq!(first(Some("old")), Ok("memory"));
        assert_eq!(first(Some("memory")), Ok("memory"), "the first to have a word keeps it");
        assert_eq!(first(Some("folder")), Ok("folder"));
        assert_eq!(first(Some("foldre")), Err("there is no engine `foldre`; did you mean `folder`?".to_owned()));
        let none = "there is no engine `abacus` here; there are: memory, old, folder, memory";
        assert_eq!(first(Some("abacus")), Err(none.to_owned()));
        let no_engine = Engines::default();
        assert!(matches!(no_engine.find(None), Err(WorldError::Asked(_))));
    }

    #[test]
    fn an_engine_without_worlds_of_its_own_says_so() {
        let filling = Filling { domain: "csm".to_owned(), size: None, seed: 1 };
        let engine = Named(&["folder"]);
        assert!(matches!(engine.fill(&filling), Err(WorldError::Cannot(Ability::Fill))));
    }
}
