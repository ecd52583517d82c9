//! The engines and faces that servers are handed here: `serve` itself knows none of them.

use benchwright_catalog::Catalog;
use benchwright_odoo::{Json2, OdooEngine, Site};
use benchwright_serve::Settings;
use benchwright_world::Engine;
use std::sync::Arc;

/// Settings over a catalogue, with its own engine and Odoo's face.
pub fn settings(catalog: &Catalog) -> Settings {
    Settings { faces: vec![Arc::new(Json2)], ..Settings::of(catalog.clone()) }
}

/// The engine on an Odoo.
pub fn odoo(catalog: &Catalog, site: Site) -> Arc<dyn Engine> {
    let catalog = catalog.clone();
    Arc::new(OdooEngine::new(site, Box::new(move |name| Ok(catalog.find(name)?.domain))))
}
