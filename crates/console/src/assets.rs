//! The style sheet and the scripts of the console, our own, and those of others that the folder `vendored` has unchanged.

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

/// Where the script is that draws usage; the script of pages loads it where there is some.
pub(crate) const USAGE_SCRIPT_PATH: &str = "/console/assets/usage.js";
/// Where uPlot is, which that script imports.
pub(crate) const CHART_SCRIPT_PATH: &str = "/console/assets/uplot.js";
/// Where the style sheet of uPlot is.
pub(crate) const CHART_STYLE_PATH: &str = "/console/assets/uplot.css";

pub(crate) const STYLE: &str = include_str!("../assets/console.css");
const SCRIPT: &str = include_str!("../assets/console.js");
const PROOFS_SCRIPT: &str = include_str!("../assets/proofs.js");
const USAGE_SCRIPT: &str = include_str!("../assets/usage.js");
const CHART_SCRIPT: &str = include_str!("../assets/vendored/uplot.js");
const CHART_STYLE: &str = include_str!("../assets/vendored/uplot.css");

pub(crate) async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE)
}

pub(crate) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT)
}

pub(crate) async fn proofs_script() -> Response {
    asset("text/javascript; charset=utf-8", PROOFS_SCRIPT)
}

pub(crate) async fn usage_script() -> Response {
    asset("text/javascript; charset=utf-8", USAGE_SCRIPT)
}

pub(crate) async fn chart_script() -> Response {
    asset("text/javascript; charset=utf-8", CHART_SCRIPT)
}

pub(crate) async fn chart_style() -> Response {
    asset("text/css; charset=utf-8", CHART_STYLE)
}

fn asset(media_type: &'static str, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::wording::hex;

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
        let own = [SCRIPT, PROOFS_SCRIPT, USAGE_SCRIPT];
        for never in ["eval(", "Function(", "document.write", "outerHTML", "http:", "https:"] {
            assert!(own.iter().all(|script| !script.contains(never)), "{never}");
        }
        let imports = |name: &str| SCRIPT.matches(&format!("import(\"./{name}\")")).count();
        assert_eq!(SCRIPT.matches("import(").count(), imports("proofs.js") + imports("usage.js"));
        assert!(!PROOFS_SCRIPT.contains("import") && PROOFS_SCRIPT_PATH.ends_with("/proofs.js"));
        let imported = "import uPlot from \"./uplot.js\";";
        assert!(USAGE_SCRIPT.contains(imported) && USAGE_SCRIPT.matches("import").count() == 1);
        assert!(USAGE_SCRIPT_PATH.ends_with("/usage.js") && CHART_SCRIPT_PATH.ends_with("/uplot.js"));
        assert_eq!(own.iter().map(|script| script.matches("innerHTML").count()).sum::<usize>(), 1);
        assert!(SCRIPT.contains("trustedTypes"));
    }

    /// Code of others works under the policy of pages, and asks no one.
    #[test]
    fn the_chart_makes_no_markup_of_text_and_loads_nothing() {
        for never in [
            "innerHTML",
            "outerHTML",
            "eval(",
            "Function(",
            "document.write",
            "import",
            "fetch(",
            "XMLHttpRequest",
        ] {
            assert!(!CHART_SCRIPT.contains(never), "{never}");
        }
        assert!(!CHART_STYLE.contains("url(") && !CHART_STYLE.contains("@import"));
    }

    #[test]
    fn files_of_others_are_those_of_the_manifest() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/vendored");
        let manifest = std::fs::read_to_string(folder.join("manifest.txt")).unwrap();
        let mut listed = vec!["manifest.txt".to_owned()];
        for entry in manifest.lines().filter(|line| !line.starts_with('#')) {
            let [file, source, licence, sha256] = entry.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{entry}");
            };
            let bytes = std::fs::read(folder.join(file)).unwrap();
            assert_eq!(hex(&Sha256::digest(&bytes)), sha256, "{file}");
            let (package, _) = source.split_once('/').unwrap();
            assert_eq!((package, licence), ("uplot@1.6.32", "MIT"), "{file}");
            listed.push(file.to_owned());
        }
        let mut found: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
        assert!(CHART_SCRIPT.contains("https://github.com/leeoniya/uPlot (v1.6.32)"));
    }
}
