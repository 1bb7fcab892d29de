//! Query strings, strictly: anything but percent-encoded UTF-8 is an error, and never a replacement character.

/// Pairs of a query string, at most.
const PAIRS_MAX: usize = 64;

/// Why a query string cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueryFault {
    /// It is not percent-encoded UTF-8.
    #[error("the query string is not percent-encoded UTF-8")]
    Encoding,
    /// It has too many parts.
    #[error("the query string has more than {PAIRS_MAX} parameters")]
    TooMany,
}

/// Returns the names and values of a query string, or of a form that was sent as one, in order.
///
/// # Errors
/// [`QueryFault`].
pub fn query_pairs(query: &str) -> Result<Vec<(String, String)>, QueryFault> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    let mut pairs = Vec::new();
    for part in parts {
        if pairs.len() == PAIRS_MAX {
            return Err(QueryFault::TooMany);
        }
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        pairs.push((decoded(name)?, decoded(value)?));
    }
    Ok(pairs)
}

fn decoded(text: &str) -> Result<String, QueryFault> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let high = digit(rest.next());
                let value = high.zip(digit(rest.next())).map(|(high, low)| high * 16 + low);
                value.and_then(|value| u8::try_from(value).ok()).ok_or(QueryFault::Encoding)?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| QueryFault::Encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_in_order_and_malformed_ones_are_errors() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let read = query_pairs("a=1&b=x+y%2F&a=&flag&%C3%A9=%25");
        let expect = [pair("a", "1"), pair("b", "x y/"), pair("a", ""), pair("flag", ""), pair("é", "%")];
        assert_eq!(read.as_deref(), Ok(expect.as_slice()));
        assert_eq!(query_pairs(""), Ok(Vec::new()));
        for bad in ["a=%", "a=%2", "a=%zz", "%ff=1"] {
            assert_eq!(query_pairs(bad), Err(QueryFault::Encoding), "{bad}");
        }
        assert_eq!(query_pairs(&"a&".repeat(PAIRS_MAX + 1)), Err(QueryFault::TooMany));
    }
}
