//! MCP by raw JSON, in both of its eras.

use crate::common::{Begun, Reply, Running, bearer, demo_task, with_demo};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const ACCEPT: &str = "application/json, text/event-stream";

/// Posts a message of the era with `initialize`.
fn old(running: &Running, episode: &Begun, version: Option<&str>, message: &Json) -> Reply {
    let token = bearer(&episode.token);
    let mut headers = vec![("authorization", &*token), ("accept", ACCEPT), ("content-type", "application/json")];
    headers.extend(version.map(|version| ("mcp-protocol-version", version)));
    let path = format!("/episodes/{}/mcp", episode.id);
    crate::common::send(running.agents(), "POST", &path, &headers, &message.to_string())
}

/// Posts a request of the era without.
fn new(running: &Running, episode: &Begun, method: &str, mut params: Json) -> Reply {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let token = bearer(&episode.token);
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![
        ("authorization", &*token),
        ("accept", ACCEPT),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let path = format!("/episodes/{}/mcp", episode.id);
    crate::common::send(running.agents(), "POST", &path, &headers, &message.to_string())
}

fn request(method: &str, params: Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[test]
fn the_era_with_initialize() {
    let running = Running::start(crate::common::with_demo(false));
    let episode = running.csm();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let hello = request(
            "initialize",
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
        );
        let reply = old(&running, &episode, None, &hello);
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(!reply.head.contains("mcp-session-id"), "no sessions");
        let result = &reply.json()["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "benchwright");
        assert!(result["capabilities"]["tools"].is_object());
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(old(&running, &episode, Some(version), &done).status, 202);
        assert_eq!(old(&running, &episode, Some(version), &request("ping", json!({}))).json()["result"], json!({}));

        let call = request("tools/call", json!({ "name": "find_user", "arguments": { "limit": 2 } }));
        let result = old(&running, &episode, Some(version), &call).json()["result"].clone();
        assert_eq!(result["structuredContent"]["rows"].as_array().unwrap().len(), 2);
        let text: Json = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_ne!(result["isError"], true);
        assert!(result.get("resultType").is_none(), "not of this era");
    }
}

#[test]
fn the_era_without_initialize() {
    let running = Running::start(with_demo(false));
    let episode = running.csm();
    let known = new(&running, &episode, "server/discover", json!({})).json();
    let versions = known["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")), "{known}");

    let listed = new(&running, &episode, "tools/list", json!({})).json();
    let all = benchwright_catalog::Catalog::built_in().find("csm").unwrap().domain.tools.len();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), all, "a page holds a whole domain");
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].is_u64());

    let reply = new(&running, &episode, "tools/call", json!({ "name": "find_user", "arguments": { "limit": 2 } }));
    assert_eq!(reply.status, 200);
    let result = reply.json()["result"].clone();
    assert_eq!(result["structuredContent"]["rows"].as_array().unwrap().len(), 2);
    assert_eq!(result["resultType"], "complete");

    // There is no ping in this era, and a version that is not known is refused.
    assert_eq!(new(&running, &episode, "ping", json!({})).json()["error"]["code"], -32601);
}

#[test]
fn refusals_are_results_and_unknown_tools_are_errors() {
    let running = Running::start(with_demo(false));
    let episode = running.csm();
    let missing = json!({ "name": "get_user_by_email", "arguments": { "email": "nobody@example.com" } });
    let unknown = json!({ "name": "format_disk", "arguments": {} });
    let old = |params: &Json| old(&running, &episode, Some("2025-06-18"), &request("tools/call", params.clone()));
    let new = |params: &Json| new(&running, &episode, "tools/call", params.clone());
    for refused in [old(&missing), new(&missing)] {
        assert_eq!(refused.status, 200);
        let result = refused.json()["result"].clone();
        assert_eq!(result["isError"], true);
        let text: Json = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text["error"]["code"], "not_found");
        assert!(result.get("structuredContent").is_none());
    }
    for reply in [old(&unknown), new(&unknown)] {
        assert_eq!(reply.json()["error"]["code"], -32602, "{}", reply.body);
    }
    // Both kinds are counted and stand in the trace.
    let status = running.status(&episode);
    assert_eq!(status["calls_used"], 4);
    let trace = running.ask("GET", &format!("/episodes/{}/trace", episode.id), "").json();
    let refused: Vec<&Json> =
        trace["calls"].as_array().unwrap().iter().map(|call| &call["outcome"]["refused"]).collect();
    assert_eq!(refused, [&json!("not_found"); 4]);
}

#[test]
fn pages_never_repeat_and_every_tool_is_well_formed() {
    let mut options = with_demo(false);
    options.settings.tools_at_once = 50;
    let running = Running::start(options);
    for episode in [running.csm(), running.begin(&json!({ "task": demo_task() }))] {
        let domain = running.status(&episode)["domain"].as_str().unwrap().to_owned();
        let mut names = BTreeSet::new();
        let (mut cursor, mut pages) = (None, 0);
        loop {
            let params = cursor.map_or(json!({}), |cursor: Json| json!({ "cursor": cursor }));
            let result = old(&running, &episode, None, &request("tools/list", params)).json()["result"].clone();
            for tool in result["tools"].as_array().unwrap() {
                let name = tool["name"].as_str().unwrap().to_owned();
                assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
                assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
                assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
                assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{name}");
                assert!(tool["annotations"]["destructiveHint"].is_boolean(), "{name}");
                assert!(!tool["description"].as_str().unwrap().is_empty(), "{name}");
                assert!(names.insert(name), "listed twice");
            }
            pages += 1;
            cursor = result.get("nextCursor").cloned();
            if cursor.is_none() {
                break;
            }
        }
        let found = benchwright_catalog::Catalog::built_in().find(&domain).unwrap();
        let all: BTreeSet<String> = found.domain.tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(names, all);
        assert_eq!(pages, all.len().div_ceil(50), "{domain}");
        let wrong = old(&running, &episode, None, &request("tools/list", json!({ "cursor": "no such tool" })));
        assert_eq!(wrong.json()["error"]["code"], -32602);
    }
}

#[test]
fn hints_follow_the_verbs() {
    let running = Running::start(with_demo(false));
    let episode = running.csm();
    let result = old(&running, &episode, None, &request("tools/list", json!({}))).json()["result"].clone();
    let hints = |name: &str| {
        let tools = result["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let hint = |key: &str| tool["annotations"][key].as_bool().unwrap();
        (hint("readOnlyHint"), hint("destructiveHint"))
    };
    assert_eq!(hints("find_user"), (true, false));
    assert_eq!(hints("add_new_user"), (false, false));
    assert_eq!(hints("update_user_details"), (false, true));
    assert_eq!(hints("remove_group_membership"), (false, true));
}

#[test]
fn answers_that_are_no_objects_are_wrapped() {
    let running = Running::start(with_demo(false));
    let episode = running.begin(&json!({ "task": demo_task() }));
    let call =
        json!({ "name": "res_partner_search_read", "arguments": { "domain": [], "fields": ["name"], "limit": 1 } });
    let result = old(&running, &episode, None, &request("tools/call", call)).json()["result"].clone();
    assert_eq!(result["structuredContent"]["result"].as_array().unwrap().len(), 1, "{result}");
    let text: Json = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]["result"]);
}

#[test]
fn other_methods_of_http_are_not_for_mcp() {
    let running = Running::start(with_demo(false));
    let episode = running.csm();
    for method in ["GET", "DELETE"] {
        let reply = running.agent(&episode, method, "mcp", "");
        assert_eq!(reply.status, 405, "{method}");
        assert!(reply.head.contains("allow: post"), "{}", reply.head);
    }
    // Broken messages are answered, never a failure of the server.
    for body in ["", "{", "[]", "{\"jsonrpc\":\"2.0\"}", "\u{0}", &"[".repeat(100_000)] {
        let token = bearer(&episode.token);
        let headers = [("authorization", &*token), ("accept", ACCEPT), ("content-type", "application/json")];
        let path = format!("/episodes/{}/mcp", episode.id);
        let reply = crate::common::send(running.agents(), "POST", &path, &headers, body);
        assert!((400..500).contains(&reply.status), "{} {}", reply.status, reply.body);
    }
}
