//! Secrets that open a plane. A server keeps digests of them only, and compares without telling by its time how far they
//! agree.

use crate::ServeError;
use benchwright_base::Digest;
use std::{fmt, hint::black_box};

/// A secret. It is shown only on purpose.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token that somebody chose. Short ones can be guessed and are refused.
    pub fn new(text: impl Into<String>) -> Result<Token, ServeError> {
        let text = text.into();
        let plain = text.bytes().all(|letter| letter.is_ascii_graphic());
        if text.len() < 16 || text.len() > 512 || !plain {
            let why = "a token has 16 to 512 letters, digits and signs, without spaces";
            return Err(ServeError::Asked(why.to_owned()));
        }
        Ok(Token(text))
    }

    /// A token of 256 random bits, after a text that need not be secret.
    pub(crate) fn draw(before: &str) -> Result<Token, ServeError> {
        Ok(Token(format!("{before}{}", hex(&random::<32>()?))))
    }

    /// The secret itself, to hand it on.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What a server keeps of it.
    pub(crate) fn lock(&self) -> Lock {
        Lock(Digest::of(self.0.as_bytes()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What a token is compared with.
#[derive(Clone, Copy)]
pub(crate) struct Lock(Digest);

impl Lock {
    /// Whether a text is the token. Every byte of the digests is looked at.
    pub(crate) fn opens(&self, text: &str) -> bool {
        let given = Digest::of(text.as_bytes());
        let differ = self.0.0.iter().zip(given.0).fold(0, |differ, (one, other)| black_box(differ | (one ^ other)));
        black_box(differ) == 0
    }
}

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], ServeError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| ServeError::Engine(error.to_string()))?;
    Ok(bytes)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|half| char::from_digit(half.into(), 16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_its_lock_only_and_is_not_shown() {
        let (one, other) = (Token::draw("a.").unwrap(), Token::draw("a.").unwrap());
        assert_eq!(one.reveal().len(), 2 + 64);
        assert!(one.lock().opens(one.reveal()));
        assert!(!one.lock().opens(other.reveal()));
        assert!(!one.lock().opens(&one.reveal()[..65]));
        assert!(!one.lock().opens(""));
        assert!(!format!("{one:?}").contains(&one.reveal()[2..10]));
    }

    #[test]
    fn short_tokens_and_tokens_with_spaces_are_refused() {
        assert!(Token::new("1234567").is_err());
        assert!(Token::new("0123456789 0123456789").is_err());
        assert_eq!(Token::new("0123456789abcdef").unwrap().reveal(), "0123456789abcdef");
    }
}
