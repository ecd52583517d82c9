//! What targets stand on, made once: two small worlds, the catalog, and the tasks of the demo.

use benchwright_catalog::Catalog;
use benchwright_pack::{Store, Task};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Folder, load};
use benchwright_workshop::carried;
use benchwright_world::Seat;
use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Arc, LazyLock},
};

/// The files of a domain with one of everything.
pub(crate) const SHOP: [(&str, &str); 5] = [
    ("domain.toml", include_str!("../../schema/tests/good/shop/domain.toml")),
    ("policy.toml", include_str!("../../schema/tests/good/shop/policy.toml")),
    ("seed.toml", include_str!("../../schema/tests/good/shop/seed.toml")),
    ("tables.toml", include_str!("../../schema/tests/good/shop/tables.toml")),
    ("tools.toml", include_str!("../../schema/tests/good/shop/tools.toml")),
];

/// The domains and families of the program.
pub(crate) static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::built_in);

/// A world of the domain with one of everything.
pub(crate) static SHOP_WORLD: LazyLock<Arc<Sandbox>> = LazyLock::new(|| {
    let folder = Folder::new("shop", SHOP.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let domain = load(&folder).unwrap_or_else(|faults| panic!("the shop has faults: {faults:?}"));
    let world = Sandbox::seeded(Arc::new(domain), &[], "small", 1);
    Arc::new(world.unwrap_or_else(|error| panic!("the shop cannot be filled: {error}")))
});

/// A world with native tools.
pub(crate) static DESK_WORLD: LazyLock<Arc<Sandbox>> =
    LazyLock::new(|| CATALOG.world("csm", "small", 1).unwrap_or_else(|error| panic!("csm cannot be filled: {error}")));

/// The tasks of the demo.
pub(crate) static TASKS: LazyLock<Vec<Task>> = LazyLock::new(|| {
    let folder = scratch("demo");
    let read = |store: Store| -> Result<Vec<Task>, String> {
        let ids = store.ids().map_err(|error| error.to_string())?;
        ids.iter().map(|id| store.task(id).map_err(|error| error.to_string())).collect()
    };
    let tasks = carried::unpack_demo(&folder).map_err(|error| error.to_string()).and_then(read);
    let _ = fs::remove_dir_all(&folder);
    tasks.unwrap_or_else(|error| panic!("the demo cannot be read: {error}"))
});

/// A path of this process's own.
pub(crate) fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("benchwright-fuzz-{name}-{}", std::process::id()))
}

/// An episode of whoever may most.
pub(crate) fn begin(world: &Arc<Sandbox>) -> Episode {
    let role = world.domain().roles[0].name.clone();
    let seat = Seat { actor: world.person_for(&role), role };
    world.begin(&seat, Conditions::default()).unwrap_or_else(|error| panic!("an episode cannot begin: {error}"))
}

/// What stands before the name of each file, where one input holds several.
const FILE: &str = "--- ";

/// Several files as one input.
pub(crate) fn bundled<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Vec<u8> {
    files.into_iter().map(|(name, text)| format!("{FILE}{name}\n{text}\n")).collect::<String>().into_bytes()
}

/// The files of an input.
pub(crate) fn unbundled(bytes: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::new();
    for line in text.split_inclusive('\n') {
        match line.strip_prefix(FILE) {
            Some(next) => name = next.trim().to_owned(),
            None => files.entry(name.clone()).or_default().push_str(line),
        }
    }
    files.remove("");
    files
}
