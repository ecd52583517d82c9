//! A made-up office: one order of three units is to be made.

use benchwright_pack::{
    Check, CheckStatus, Ending, OpenPart, OpenTask, Outcome, Refusal, RefusalCode, Script, Step, Trace, TraceCall,
    Verdict,
};
use benchwright_project::Family;
use benchwright_run::{Finished, Host, HostError, Hosted, Left, Sealed, ToolCard};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The host. Each episode allows so many calls.
pub(crate) struct Office {
    pub(crate) calls: usize,
    tools: Vec<ToolCard>,
}

impl Office {
    pub(crate) fn new(calls: usize) -> Office {
        let card = |name: &str, table: &str, reads_only: bool, properties: Json| ToolCard {
            name: name.to_owned(),
            description: format!("This is {}.", name.replace('_', " ")),
            arguments: json!({ "type": "object", "properties": properties }),
            reads_only,
            table: Some(table.to_owned()),
        };
        let units = json!({ "units": { "type": "integer" } });
        let tools = vec![
            card("order_create", "order", false, units),
            card("order_list", "order", true, json!({})),
            card("order_cancel", "order", false, json!({})),
            card("invoice_create", "invoice", false, json!({})),
            card("colour_list", "colour", true, json!({ "limit": {}, "cursor": {} })),
        ];
        Office { calls, tools }
    }
}

pub(crate) struct Episode<'o> {
    office: &'o Office,
    orders: Vec<i64>,
    calls: Vec<TraceCall>,
}

impl Episode<'_> {
    fn answer(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        if self.calls.len() >= self.office.calls {
            return Err(Refusal::new(RefusalCode::BudgetExhausted, "the calls are used up"));
        }
        let arguments: Json = serde_json::from_str(arguments).unwrap();
        match tool {
            "order_create" => {
                let units = arguments["units"].as_i64().ok_or_else(|| Refusal::argument("units", "is no number"))?;
                self.orders.push(units);
                Ok(json!({ "id": self.orders.len() }).to_string())
            }
            "order_list" => Ok(json!({ "rows": self.orders }).to_string()),
            "colour_list" => Ok("blue ".repeat(20_000)),
            "order_cancel" | "invoice_create" => Ok("{}".to_owned()),
            _ => Err(Refusal::new(RefusalCode::NotFound, "there is no such tool")),
        }
    }
}

impl Hosted for Episode<'_> {
    fn tools(&self) -> &[ToolCard] {
        &self.office.tools
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let answer = self.answer(tool, arguments);
        let outcome = match &answer {
            Ok(answer) => Outcome::Answered(answer.clone()),
            Err(refusal) => Outcome::Refused(refusal.to_json()),
        };
        self.calls.push(TraceCall { tool: tool.to_owned(), arguments: arguments.to_owned(), outcome });
        answer
    }

    fn finish(self: Box<Self>, _: bool) -> Result<Finished, HostError> {
        let is_right = self.orders == [3];
        let all = if is_right { 1_000_000 } else { 0 };
        let status = if is_right { CheckStatus::Pass } else { CheckStatus::Fail };
        let check = Check {
            of: std::sync::Arc::new(benchwright_pack::Instance {
                rule: "office/one-order".to_owned(),
                code: "O.O".to_owned(),
                family: "office".to_owned(),
                at: Vec::new(),
            }),
            status,
            why: None,
        };
        let verdict = Verdict {
            ending: if is_right { Ending::Pass } else { Ending::Fail },
            reward: all,
            constraints: all,
            trace: all,
            objective: all,
            progress: 0,
            parts: Vec::new(),
            gates: Vec::new(),
            phases: Vec::new(),
            alarm: false,
            injection: None,
            paper_pass: is_right,
            checks: vec![check],
        };
        let trace = Trace {
            version: Trace::VERSION,
            domain: "office".to_owned(),
            domain_digest: String::new(),
            role: "clerk".to_owned(),
            actor: None,
            start: String::new(),
            calls: self.calls,
            end: String::new(),
        };
        let left = Left { snapshot: json!(self.orders).to_string().into_bytes(), diff: "[]".to_owned() };
        Ok(Finished { trace, left: Some(left), verdict, frame_rules: Vec::new(), world: 1 })
    }
}

impl Host for Office {
    fn open(&self, id: &str) -> Result<OpenPart, HostError> {
        let open = OpenTask {
            version: 1,
            canary: String::new(),
            id: id.to_owned(),
            domain: "office".to_owned(),
            role: "clerk".to_owned(),
            actor: None,
            tools: Vec::new(),
            calls: self.calls as u32,
            instruction: String::new(),
            world: String::new(),
            faults: None,
        };
        Ok(OpenPart { open, instruction: "Make one order of three units.\n".to_owned(), world: Vec::new() })
    }

    fn sealed(&self, _: &str) -> Result<Sealed, HostError> {
        let steps = vec![Step::call("order", "create", json!({ "units": 3 }))];
        Ok(Sealed { oracle: Script { steps, ..Script::default() }, ids: BTreeMap::new(), needs: Vec::new() })
    }

    fn family(&self, _: &str) -> Result<&'static dyn Family, HostError> {
        Err(HostError { cause: "task", detail: "there is no family here".to_owned() })
    }

    fn begin(&self, _: &str) -> Result<Box<dyn Hosted + '_>, HostError> {
        Ok(Box::new(Episode { office: self, orders: Vec::new(), calls: Vec::new() }))
    }
}
