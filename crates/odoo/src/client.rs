//! A blocking client of Odoo's JSON-2 interface: `POST /json/2/<model>/<method>` with named arguments and a key. It knows
//! nothing of worlds or tasks.

use crate::OdooError;
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_world::FaceAnswer;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// The largest answer that is read, in bytes.
const LARGEST_ANSWER: u64 = 64 << 20;
/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// A client of one server, as one user.
#[derive(Clone, Debug)]
pub struct Client {
    agent: ureq::Agent,
    url: String,
    key: String,
}

/// What a server said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body as it came: JSON, or a page where Odoo itself failed.
    pub body: String,
}

impl Client {
    /// A client of the server at an address, with a user's key.
    pub fn new(url: &str, key: &str) -> Client {
        let config = ureq::Agent::config_builder()
            // The server is on this machine.
            .proxy(None)
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build();
        Client { agent: config.new_agent(), url: url.trim_end_matches('/').to_owned(), key: key.to_owned() }
    }

    /// Makes a call and returns whatever is answered.
    pub fn post(&self, database: &str, model: &str, method: &str, arguments: &str) -> Result<Answer, OdooError> {
        let lost = |error: ureq::Error| OdooError::NotThere(format!("{}: {error}", self.url));
        let request = self
            .agent
            .post(format!("{}/json/2/{model}/{method}", self.url))
            .header("Authorization", format!("bearer {}", self.key))
            .header("X-Odoo-Database", database)
            .header("Content-Type", "application/json");
        let mut response = request.send(arguments.as_bytes()).map_err(lost)?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_string().map_err(lost)?;
        Ok(Answer { status, body })
    }

    /// Makes a call that must succeed.
    pub fn call(&self, database: &str, model: &str, method: &str, arguments: &Json) -> Result<Json, OdooError> {
        let answer = self.post(database, model, method, &arguments.to_string())?;
        let wrong = |body: String| OdooError::Answer { call: format!("{model}/{method}"), status: answer.status, body };
        if answer.status != 200 {
            let said: Option<Json> = serde_json::from_str(&answer.body).ok();
            let message = said.as_ref().and_then(|said| said["message"].as_str()).unwrap_or(&answer.body);
            return Err(wrong(message.chars().take(600).collect()));
        }
        serde_json::from_str(&answer.body).map_err(|error| wrong(error.to_string()))
    }
}

impl From<Answer> for FaceAnswer {
    fn from(Answer { status, body }: Answer) -> FaceAnswer {
        FaceAnswer { status, body }
    }
}

impl Answer {
    /// The answer, or the refusal that it is.
    pub fn into_result(self) -> Result<String, Refusal> {
        if self.status == 200 {
            return Ok(self.body);
        }
        let said: Json = serde_json::from_str(&self.body).unwrap_or_default();
        let name = said["name"].as_str().unwrap_or_default();
        let kind = name.rsplit('.').next().unwrap_or_default();
        let code = match (self.status, kind) {
            (403, _) | (_, "AccessError" | "AccessDenied" | "Forbidden") => RefusalCode::Forbidden,
            (404, _) | (_, "MissingError" | "NotFound") => RefusalCode::NotFound,
            (_, "UserError" | "ValidationError" | "RedirectWarning" | "LockError") => RefusalCode::RuleViolated,
            _ => RefusalCode::InvalidArgument,
        };
        let message = said["message"].as_str().map_or_else(|| self.body.chars().take(300).collect(), str::to_owned);
        Err(Refusal::new(code, message))
    }
}

/// A refusal in the form of Odoo's errors: a status and a body.
pub fn error_body(refusal: &Refusal) -> (u16, String) {
    let (status, name) = match refusal.code {
        RefusalCode::Forbidden => (403, "odoo.exceptions.AccessError"),
        RefusalCode::NotFound => (404, "odoo.exceptions.MissingError"),
        // What a field cannot take is an error of Python's there, and no status says whose fault it is.
        RefusalCode::InvalidArgument => (500, "builtins.ValueError"),
        RefusalCode::Duplicate => (422, "odoo.exceptions.ValidationError"),
        RefusalCode::BudgetExhausted => (429, "werkzeug.exceptions.TooManyRequests"),
        RefusalCode::InjectedFault => (503, "werkzeug.exceptions.ServiceUnavailable"),
        RefusalCode::RuleViolated | RefusalCode::TransitionNotAllowed | RefusalCode::Referenced => {
            (422, "odoo.exceptions.UserError")
        }
    };
    let Answer { status, body } = error(status, name, &refusal.message);
    (status, body)
}

/// An error in Odoo's form.
pub(crate) fn error(status: u16, name: &str, message: &str) -> Answer {
    let body = json!({ "name": name, "message": message, "arguments": [message], "context": {}, "debug": "" });
    Answer { status, body: body.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_odoo_is_a_refusal_by_its_kind() {
        let refused = |status, name: &str| {
            let body = json!({ "name": name, "message": "no" }).to_string();
            Answer { status, body }.into_result().map_err(|refusal| refusal.code)
        };
        assert!(refused(200, "x").is_ok());
        assert_eq!(refused(422, "odoo.exceptions.UserError"), Err(RefusalCode::RuleViolated));
        assert_eq!(refused(403, "odoo.exceptions.AccessError"), Err(RefusalCode::Forbidden));
        assert_eq!(refused(404, "werkzeug.exceptions.NotFound"), Err(RefusalCode::NotFound));
        assert_eq!(refused(422, "builtins.TypeError"), Err(RefusalCode::InvalidArgument));
        let html = Answer { status: 404, body: "<html>".to_owned() }.into_result();
        assert_eq!(html.map_err(|refusal| refusal.message), Err("<html>".to_owned()));
    }

    #[test]
    fn a_refusal_reads_back_as_itself_from_odoos_form() {
        for code in [RefusalCode::Forbidden, RefusalCode::InvalidArgument, RefusalCode::RuleViolated] {
            let (status, body) = error_body(&Refusal::new(code, "no"));
            assert_eq!(Answer { status, body }.into_result().map_err(|refusal| refusal.code), Err(code));
        }
    }
}
