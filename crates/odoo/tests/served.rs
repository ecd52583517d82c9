//! Odoo's face and engine as a server has them, without an Odoo: the embedded ERP answers, and an installation that is not
//! there is told.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_catalog::Catalog;
use benchwright_odoo::{Json2, OdooEngine, Site};
use benchwright_pack::Store;
use benchwright_serve::{Options, Server, Settings};
use benchwright_world::{Engine as _, WorldError};
use serde_json::{Value as Json, json};
use std::{path::PathBuf, sync::Arc};

fn demo() -> Store {
    Store::at(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../suites/demo"))
}

/// An installation where nothing answers.
fn nowhere() -> Site {
    let about = json!({
        "url": "http://127.0.0.1:9", "socket": "/nowhere", "port": 9, "template": "t", "tablespace": "s",
        "slots": ["one"], "admin_key": "a", "agent_key": "b", "version": "0", "sha256": "0",
    });
    serde_json::from_value(about).unwrap()
}

fn engine(site: Site) -> OdooEngine {
    let catalog = Catalog::built_in();
    OdooEngine::new(site, Box::new(move |name| Ok(catalog.find(name)?.domain)))
}

struct Served {
    runtime: tokio::runtime::Runtime,
    server: Option<Server>,
    client: ureq::Agent,
}

impl Served {
    fn start() -> Served {
        let usual = Settings::default();
        let settings = Settings {
            engines: usual.engines.clone().with(Arc::new(engine(nowhere()))),
            faces: vec![Arc::new(Json2)],
            tasks: Some(demo().root().to_owned()),
            may_read_sealed: true,
            calls: 4,
            ..usual
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(Options { settings, ..Options::default() })).unwrap();
        let client = ureq::Agent::config_builder().proxy(None).http_status_as_error(false).build().new_agent();
        Served { runtime, server: Some(server), client }
    }

    fn post(&self, path: &str, token: &str, body: &str) -> (u16, Json) {
        let address = self.server.as_ref().unwrap().control_address();
        let request = self.client.post(format!("http://{address}{path}"));
        let mut answer = request.header("authorization", format!("Bearer {token}")).send(body).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
    }

    fn control(&self, path: &str, body: &Json) -> (u16, Json) {
        let token = self.server.as_ref().unwrap().control_token().reveal().to_owned();
        self.post(path, &token, &body.to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap()
}

#[test]
fn models_are_served_where_the_domain_has_them() {
    let served = Served::start();
    let task = demo().ids().unwrap().remove(0);
    let (status, erp) = served.control("/episodes", &json!({ "task": task }));
    assert_eq!(status, 201, "{erp}");
    assert!(text(&erp["urls"]["json2"]).ends_with(&format!("/episodes/{}/json/2", text(&erp["id"]))));
    let (here, token) = (format!("/episodes/{}", text(&erp["id"])), text(&erp["token"]));
    let asked = r#"{"domain":[],"fields":["name"],"limit":3}"#;
    let (status, found) = served.post(&format!("{here}/json/2/res.partner/search_read"), token, asked);
    assert_eq!((status, found.as_array().map(Vec::len)), (200, Some(3)), "{found}");
    assert_eq!(served.post(&format!("{here}/tools/res_partner_search_read"), token, asked), (200, found));
    for (path, expected) in [
        ("json/2/no.model/search_read", 404),
        ("json/2/res.partner/explode", 404),
        ("json/2/res.partner/_private", 403),
        ("json/2/res.partner", 404),
        ("json/2/res.partner/search_read/more", 404),
    ] {
        assert_eq!(served.post(&format!("{here}/{path}"), token, "{}").0, expected, "{path}");
    }
    assert_eq!(served.post(&format!("{here}/json/2/res.partner/search_read"), token, "{").0, 400, "no JSON");

    let (_, csm) = served.control("/episodes", &json!({ "domain": "csm", "size": "small" }));
    assert!(csm["urls"].get("json2").is_none());
    let path = format!("/episodes/{}/json/2/res.partner/search_read", text(&csm["id"]));
    assert_eq!(served.post(&path, text(&csm["token"]), "{}").0, 404);
}

#[test]
fn record_calls_need_the_episodes_own_token_and_count() {
    let served = Served::start();
    let (_, erp) = served.control("/episodes", &json!({ "domain": "erp" }));
    let (_, other) = served.control("/episodes", &json!({ "domain": "erp" }));
    let path = format!("/episodes/{}/json/2/res.partner/search_count", text(&erp["id"]));
    let asked = r#"{"domain":[]}"#;
    assert_eq!(served.control(&path, &json!({})).0, 403);
    assert_eq!(served.post(&path, text(&other["token"]), asked).0, 403);
    assert_eq!(served.post(&path, "nobody", asked).0, 401);
    for _ in 0..4 {
        assert_eq!(served.post(&path, text(&erp["token"]), asked).0, 200);
    }
    let (status, over) = served.post(&path, text(&erp["token"]), asked);
    assert_eq!((status, text(&over["error"]["code"])), (409, "calls_exhausted"));
}

#[test]
fn an_odoo_that_is_not_there_is_told_and_holds_nothing() {
    let served = Served::start();
    let task = demo().ids().unwrap().remove(0);
    let (status, told) = served.control("/episodes", &json!({ "task": task, "engine": "odoo" }));
    assert_eq!((status, text(&told["error"]["code"])), (500, "engine_failed"), "{told}");
    let (status, told) = served.control("/episodes", &json!({ "domain": "erp", "engine": "odoo" }));
    assert_eq!((status, text(&told["error"]["code"])), (409, "cannot_fill"), "only tasks run there: {told}");
    assert!(served.server.as_ref().unwrap().episodes().is_empty());
}

#[test]
fn only_worlds_that_are_modelled_on_odoo_run_there() {
    let engine = engine(nowhere());
    let part = demo().open_part(&demo().ids().unwrap().remove(0)).unwrap();
    let world = engine.open(&part).unwrap();
    assert_eq!((world.about().name, world.waits(), world.speaks("json2")), ("erp", true, true));
    assert_eq!(world.tools().len(), world.domain().unwrap().tools.len());
    assert!(matches!(world.begin(None), Err(WorldError::Engine(_))));
    let mut other = part;
    other.open.domain = "csm".to_owned();
    assert!(matches!(engine.open(&other), Err(WorldError::Asked(_))));
}
