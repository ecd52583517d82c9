//! Writes OpenAPI documents: one of the tools of an episode, and one of the control plane.

use crate::worlds::Opened;
use benchwright_world::Workspace;
use serde_json::{Map, Value as Json, json};

/// The tools of an episode; `base` is its URL.
pub(crate) fn of_tools(world: &Opened, base: &str) -> Json {
    let about = world.world.about();
    let mut paths = Map::new();
    for tool in world.tools.lines() {
        let content = |schema: &Json| json!({ "application/json": { "schema": schema } });
        let operation = json!({
            "operationId": tool.name,
            "description": tool.description,
            "x-read-only": tool.reads_only,
            "requestBody": { "required": true, "content": content(&tool.arguments) },
            "responses": {
                "200": { "description": "The answer.", "content": content(&tool.answer) },
                "4XX": { "description": "A refusal: nothing changed.", "content": content(&json!({
                    "$ref": "#/components/schemas/Refusal",
                })) },
            },
        });
        paths.insert(format!("/tools/{}", tool.name), json!({ "post": operation }));
    }
    if world.world.domain().is_some_and(|domain| Workspace::is_in(domain)) {
        paths.extend(of_files());
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": about.title, "version": env!("CARGO_PKG_VERSION"), "description": about.about },
        "servers": [{ "url": base }],
        "security": [{ "episode": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "episode": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Refusal": refusal() },
        },
    })
}

/// The routes of a world's files.
fn of_files() -> [(String, Json); 2] {
    let wrong = json!({ "description": "There is none.", "content": { "application/json": {
        "schema": { "$ref": "#/components/schemas/Refusal" },
    } } });
    let file = object(json!({ "path": typed("string"), "media": typed("string"), "bytes": typed("integer") }));
    let list = object(json!({
        "stage": typed("integer"),
        "last": typed("integer"),
        "files": { "type": "array", "items": file },
    }));
    let listed = json!({
        "operationId": "listFiles",
        "summary": "The files that are there at this stage",
        "x-read-only": true,
        "responses": {
            "200": { "description": "The files.", "content": { "application/json": { "schema": list } } },
            "404": wrong,
        },
    });
    let sent = json!({
        "operationId": "getFile",
        "summary": "A file as it is",
        "x-read-only": true,
        "parameters": [{
            "name": "path",
            "in": "path",
            "required": true,
            "description": "Its path exactly as it is listed, with the slashes in it.",
            "schema": typed("string"),
        }],
        "responses": {
            "200": { "description": "What it holds, with its media type.", "content": { "*/*": {} } },
            "404": wrong,
        },
    });
    [("/files".to_owned(), json!({ "get": listed })), ("/files/{path}".to_owned(), json!({ "get": sent }))]
}

/// The form of every error.
fn refusal() -> Json {
    let text = || json!({ "type": "string" });
    let error = json!({
        "type": "object",
        "properties": { "code": text(), "argument": text(), "rule": text(), "message": text() },
        "required": ["code", "message"],
    });
    json!({ "type": "object", "properties": { "error": error }, "required": ["error"] })
}

/// What the description of the control plane says of one route.
pub(crate) struct Operation {
    method: &'static str,
    id: &'static str,
    summary: &'static str,
    asks: Vec<Json>,
    takes: Option<Json>,
    answers: Json,
    status: &'static str,
    is_open: bool,
}

impl Operation {
    fn new(method: &'static str, id: &'static str, summary: &'static str) -> Operation {
        let answers = json!({ "type": "object" });
        Operation { method, id, summary, asks: Vec::new(), takes: None, answers, status: "200", is_open: false }
    }

    pub(crate) fn get(id: &'static str, summary: &'static str) -> Operation {
        Operation::new("get", id, summary)
    }

    pub(crate) fn post(id: &'static str, summary: &'static str) -> Operation {
        Operation::new("post", id, summary)
    }

    pub(crate) fn delete(id: &'static str, summary: &'static str) -> Operation {
        Operation::new("delete", id, summary)
    }

    /// It needs no token.
    pub(crate) fn open(self) -> Operation {
        Operation { is_open: true, ..self }
    }

    /// It takes something in its query.
    pub(crate) fn asks(mut self, name: &str, about: &str, kind: &str) -> Operation {
        self.asks.push(json!({ "name": name, "in": "query", "description": about, "schema": { "type": kind } }));
        self
    }

    /// The schema of its body.
    pub(crate) fn takes(self, schema: Json) -> Operation {
        Operation { takes: Some(schema), ..self }
    }

    /// The schema of its answer.
    pub(crate) fn answers(self, schema: Json) -> Operation {
        Operation { answers: schema, ..self }
    }

    /// It makes something.
    pub(crate) fn created(self) -> Operation {
        Operation { status: "201", ..self }
    }

    fn document(self, path: &str) -> Json {
        let content = |schema: Json| json!({ "application/json": { "schema": schema } });
        let mut parameters = self.asks;
        if path.contains("{id}") {
            let id = json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" });
            parameters.push(json!({ "name": "id", "in": "path", "required": true, "schema": id }));
        }
        let wrong =
            json!({ "description": "Why not.", "content": content(json!({ "$ref": "#/components/schemas/Error" })) });
        let mut operation = json!({
            "operationId": self.id,
            "summary": self.summary,
            "parameters": parameters,
            "responses": {
                self.status: { "description": "The answer.", "content": content(self.answers) },
                "4XX": wrong,
                "5XX": wrong,
            },
        });
        if let Some(schema) = self.takes {
            operation["requestBody"] = json!({ "required": true, "content": content(schema) });
        }
        if self.is_open {
            operation["security"] = json!([]);
        }
        operation
    }
}

/// The control plane; `base` is its URL.
pub(crate) fn of_control(base: &str, routes: impl Iterator<Item = (&'static str, Operation)>) -> Json {
    let mut paths = Map::new();
    for (path, operation) in routes {
        let (method, document) = (operation.method, operation.document(path));
        paths.entry(path).or_insert_with(|| json!({}))[method] = document;
    }
    let about = "Episodes as a resource. Begin one with POST /episodes; its answer has the addresses and the token of the \
                 episode's agent, and nothing of the control plane opens with that.";
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Benchwright control plane", "version": env!("CARGO_PKG_VERSION"), "description": about },
        "servers": [{ "url": base }],
        "security": [{ "control": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "control": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": refusal() },
        },
    })
}

/// An object whose properties are all there.
fn object(properties: Json) -> Json {
    let names: Vec<String> = properties.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

fn typed(kind: &str) -> Json {
    json!({ "type": kind })
}

fn or_null(kind: &str) -> Json {
    json!({ "type": [kind, "null"] })
}

fn limits() -> Json {
    let whole = || typed("integer");
    object(json!({ "calls": whole(), "idle_seconds": whole(), "body_bytes": whole() }))
}

/// What begins an episode.
pub(crate) fn beginning() -> Json {
    let engine =
        || json!({ "type": "string", "description": "What it runs on; without one, the server's usual engine." });
    let of_task = json!({ "task": typed("string"), "engine": engine() });
    let of_domain = json!({
        "domain": { "type": "string", "description": "A domain, or several joined: csm+itsm." },
        "size": typed("string"),
        "seed": { "type": "integer", "minimum": 0, "default": 1 },
        "role": typed("string"),
        "engine": engine(),
    });
    let closed = |properties: Json, required: &str| {
        json!({
            "type": "object", "properties": properties, "required": [required], "additionalProperties": false,
        })
    };
    json!({ "oneOf": [closed(of_task, "task"), closed(of_domain, "domain")] })
}

/// A new episode.
pub(crate) fn begun() -> Json {
    let mut schema = object(json!({
        "id": typed("string"),
        "token": { "type": "string", "description": "The token of the episode's agent." },
        "urls": {
            "type": "object",
            "description": "Where the agent finds its tools: mcp, tools, openapi, the faces that fit the world, and files where it has some.",
            "additionalProperties": typed("string"),
        },
        "limits": limits(),
    }));
    schema["properties"]["instruction"] = json!({ "type": "string", "description": "Of an episode with a task." });
    schema
}

/// How an episode stands.
pub(crate) fn status() -> Json {
    let whole = || typed("integer");
    object(json!({
        "id": typed("string"),
        "task": or_null("string"),
        "domain": typed("string"),
        "role": typed("string"),
        "limits": limits(),
        "calls_used": whole(),
        "calls_left": whole(),
        "calls_over": whole(),
        "ended_by": or_null("string"),
        "idle_seconds": whole(),
        "state": { "type": ["string", "null"], "description": "The hash of the state, where the engine has one at hand." },
    }))
}

/// How many live.
pub(crate) fn count() -> Json {
    object(json!({ "count": typed("integer"), "most": typed("integer") }))
}

/// That an episode is closed.
pub(crate) fn closed() -> Json {
    object(json!({ "closed": typed("string") }))
}

/// A page of tasks.
pub(crate) fn tasks() -> Json {
    object(json!({
        "count": typed("integer"),
        "tasks": { "type": "array", "items": typed("string") },
        "next": or_null("string"),
    }))
}
