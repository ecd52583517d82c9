//! The engines and faces of this program: what `serve` is handed and knows nothing of.

use benchwright_catalog::Catalog;
use benchwright_odoo::{Json2, OdooEngine, Site};
use benchwright_serve::Settings;
use benchwright_world::Engine;
use std::sync::Arc;

/// Settings over a catalogue, with its own engine and Odoo's face.
pub(crate) fn settings(catalog: &Catalog) -> Settings {
    Settings { faces: vec![Arc::new(Json2)], ..Settings::of(catalog.clone()) }
}

/// The engine on an Odoo.
pub(crate) fn odoo(catalog: &Catalog, site: Site) -> Arc<dyn Engine> {
    let catalog = catalog.clone();
    Arc::new(OdooEngine::new(site, Box::new(move |name| Ok(catalog.find(name)?.domain))))
}
