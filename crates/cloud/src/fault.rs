//! What a service's refusal means: that there is nothing, that it is away and may be asked again, or that somebody has to do something. What it
//! wrote is not repeated but for the name of the error, because services write keys and signatures into their answers.

use object_store::Error;
use std::error::Error as StdError;

/// Names of errors after which one may ask again, whatever their status.
const AGAIN: [&str; 7] = [
    "InternalError",
    "OperationAborted",
    "OperationTimedOut",
    "RequestTimeout",
    "ServerBusy",
    "ServiceUnavailable",
    "SlowDown",
];
/// Names of errors that say who asks may not, whatever their status.
const DENIED: [&str; 6] = [
    "AccessDenied",
    "AuthenticationFailed",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
];
/// The most characters that are repeated of what has no name.
const LONGEST: usize = 200;

/// What the wire saw that `object_store` does not tell apart.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// No connection, or one that ended too early.
    #[error("{0}")]
    Away(String),
    /// The service says that it cannot, just now.
    #[error("the service answers {0}")]
    Busy(u16),
    /// The bucket is not there.
    #[error("there is no such bucket")]
    NoBucket,
    /// No credentials in the environment, and no machine around it that has some.
    #[error("there are no credentials")]
    NoCredentials,
}

/// Why asking again is of no use.
#[derive(Debug)]
pub(crate) enum Reason {
    NoBucket,
    NoCredentials,
    Denied(Option<String>),
    Refused(String),
}

/// What a failed request means.
#[derive(Debug)]
pub(crate) enum Fault {
    Missing,
    Away(String),
    Final(Reason),
}

impl Fault {
    pub(crate) fn of(error: &Error) -> Fault {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
        while let Some(inner) = cause {
            match inner.downcast_ref::<Trouble>() {
                Some(trouble @ (Trouble::Away(_) | Trouble::Busy(_))) => return Fault::Away(trouble.to_string()),
                Some(Trouble::NoBucket) => return Fault::Final(Reason::NoBucket),
                Some(Trouble::NoCredentials) => return Fault::Final(Reason::NoCredentials),
                None => cause = inner.source(),
            }
        }
        let text = error.to_string();
        let code = code(&text);
        match (error, code) {
            (_, Some(code)) if AGAIN.contains(&code) => Fault::Away(format!("the service answers {code}")),
            (_, Some(code)) if DENIED.contains(&code) => Fault::Final(Reason::Denied(Some(code.to_owned()))),
            (Error::NotFound { .. }, _) => Fault::Missing,
            (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, code) => {
                Fault::Final(Reason::Denied(code.map(str::to_owned)))
            }
            (_, Some(code)) => Fault::Final(Reason::Refused(code.to_owned())),
            (_, None) => Fault::Final(Reason::Refused(plain(&text))),
        }
    }
}

impl Reason {
    /// As a sentence with the next step.
    pub(crate) fn told(&self, credentials: &str) -> String {
        match self {
            Reason::NoBucket => "there is no such bucket; create it, or mend the address".to_owned(),
            Reason::NoCredentials => format!("there are no credentials; set {credentials}"),
            Reason::Denied(code) => {
                let code = code.as_deref().unwrap_or("without a reason");
                format!(
                    "permission is denied ({code}); see that {credentials} are those of somebody who may list, read, write and delete there"
                )
            }
            Reason::Refused(why) => format!("the service refuses: {why}"),
        }
    }
}

/// An object whose bytes ended before they should.
pub(crate) fn cut_short() -> Error {
    Error::Generic { store: "cloud", source: Box::new(Trouble::Away("the answer was cut short".to_owned())) }
}

/// The name of an error in what a service wrote.
pub(crate) fn code(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    (code.len() <= 80 && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(code)
}

/// The beginning of a text, without what the environment has of secrets.
fn plain(text: &str) -> String {
    let is_secret =
        |name: &str| ["KEY", "SECRET", "TOKEN", "SAS", "PASSWORD", "ACCOUNT"].iter().any(|word| name.contains(word));
    let ours = |name: &str| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|service| name.starts_with(service));
    let mut text = text.to_owned();
    for (name, value) in std::env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && ours(name)
            && is_secret(name)
            && !value.is_empty()
        {
            text = text.replace(value, "…");
        }
    }
    text.lines().next().unwrap_or_default().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(body: &'static str) -> Fault {
        Fault::of(&Error::PermissionDenied { path: "a".to_owned(), source: body.into() })
    }

    #[test]
    fn of_a_refusal_only_the_name_is_repeated() {
        let body = "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>key</AWSAccessKeyId></Error>";
        let Fault::Final(reason) = denied(body) else { panic!("asking again is of no use") };
        let told = reason.told("A and B");
        assert!(told.contains("(SignatureDoesNotMatch)") && told.contains("A and B"), "{told}");
        assert!(!told.contains("key"), "{told}");
    }

    #[test]
    fn what_passes_is_asked_again_and_what_stays_is_not() {
        assert!(matches!(denied("<Code>AccessDenied</Code>"), Fault::Final(Reason::Denied(Some(_)))));
        assert!(matches!(denied("<Code>SlowDown</Code>"), Fault::Away(_)));
        assert!(matches!(Fault::of(&cut_short()), Fault::Away(_)));
        assert!(matches!(Fault::of(&Error::NotFound { path: String::new(), source: "".into() }), Fault::Missing));
        assert_eq!(code("<Code>no & name</Code>"), None);
    }
}
