//! The tools of an episode as an OpenAPI document.

use crate::worlds::World;
use serde_json::{Map, Value as Json, json};

/// The document; `base` is the URL of the episode.
pub(crate) fn document(world: &World, base: &str) -> Json {
    let domain = world.sandbox.domain();
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
    json!({
        "openapi": "3.1.0",
        "info": { "title": domain.title, "version": env!("CARGO_PKG_VERSION"), "description": domain.about },
        "servers": [{ "url": base }],
        "security": [{ "episode": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "episode": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Refusal": {
                "type": "object",
                "properties": { "error": {
                    "type": "object",
                    "properties": {
                        "code": { "type": "string" },
                        "argument": { "type": "string" },
                        "rule": { "type": "string" },
                        "message": { "type": "string" },
                    },
                    "required": ["code", "message"],
                } },
                "required": ["error"],
            } },
        },
    })
}
