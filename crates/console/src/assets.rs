//! The style sheet and the scripts of the console.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;

/// Where the style sheet is.
pub(crate) const STYLE_PATH: &str = "/console/assets/console.css";
/// Where the script is.
pub(crate) const SCRIPT_PATH: &str = "/console/assets/console.js";

/// Where the script is that checks proofs; the script of pages loads it where there is one.
pub(crate) const PROOFS_SCRIPT_PATH: &str = "/console/assets/proofs.js";

pub(crate) const STYLE: &str = include_str!("../assets/console.css");
const SCRIPT: &str = include_str!("../assets/console.js");
const PROOFS_SCRIPT: &str = include_str!("../assets/proofs.js");

pub(crate) async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE)
}

pub(crate) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT)
}

pub(crate) async fn proofs_script() -> Response {
    asset("text/javascript; charset=utf-8", PROOFS_SCRIPT)
}

fn asset(media_type: &'static str, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths and sizes of type in pixels that a design may use; 1 and 2 are borders, 44 a target for fingers.
    const PIXELS: [u32; 16] = [0, 1, 2, 4, 8, 12, 13, 15, 16, 18, 20, 22, 24, 32, 44, 48];

    #[test]
    fn the_style_sheet_uses_the_scales_and_loads_nothing() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        let mut found = 0;
        for (at, _) in STYLE.match_indices("px") {
            let digits = STYLE[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
            let number: u32 = STYLE[at - digits..at].parse().unwrap();
            let is_width = STYLE[..at].ends_with("960") || STYLE[..at].ends_with("640");
            assert!(is_width || PIXELS.contains(&number), "{number}px");
            found += 1;
        }
        assert!(found > 20, "{found}");
    }

    #[test]
    fn the_scripts_have_one_way_to_markup_and_load_nothing_foreign() {
        let own = [SCRIPT, PROOFS_SCRIPT];
        for never in ["eval(", "Function(", "document.write", "outerHTML", "http:", "https:"] {
            assert!(own.iter().all(|script| !script.contains(never)), "{never}");
        }
        let imports = SCRIPT.matches("import(\"./proofs.js\")").count();
        assert_eq!((SCRIPT.matches("import(").count(), imports), (1, 1));
        assert!(!PROOFS_SCRIPT.contains("import") && PROOFS_SCRIPT_PATH.ends_with("/proofs.js"));
        assert_eq!(own.iter().map(|script| script.matches("innerHTML").count()).sum::<usize>(), 1);
        assert!(SCRIPT.contains("trustedTypes"));
    }
}
