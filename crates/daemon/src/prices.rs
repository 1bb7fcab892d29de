//! Reads the price catalogue that the configuration names.
//!
//! Invariant: a catalogue is taken whole or refused with the place of the setting, the file, the line and the mend. Begin
//! at [`load`].

use std::io::Read as _;
use std::path::{Path, PathBuf};

use palyra_admin::prices::PublishedPrices;
use palyra_governance::{CATALOGUE_BYTES_MAX, PriceCatalogue};

use crate::config::{Config, ValueOrigin};
use crate::refusal::chain;

/// The setting that names the file.
pub(crate) const PRICES_KEY: &str = "prices.file";

/// Why the price catalogue cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: `{PRICES_KEY}` names {}: {cause}", origin.place(), file.display())]
pub(crate) struct PricesError {
    pub(crate) origin: ValueOrigin,
    pub(crate) file: PathBuf,
    pub(crate) cause: String,
}

/// Reads the catalogue; without a setting it is the one that ships.
pub(crate) fn load(config: &Config) -> Result<PublishedPrices, PricesError> {
    let file = Path::new(config.prices_file());
    if file.as_os_str().is_empty() {
        return Ok(PublishedPrices::shipped());
    }
    let error = |cause| PricesError { origin: config.origin(PRICES_KEY), file: file.to_owned(), cause };
    let text = read(file).map_err(error)?;
    let catalogue = PriceCatalogue::parse(&text).map_err(|cause| error(chain(&cause)))?;
    Ok(PublishedPrices::configured(catalogue))
}

/// Reads one byte more than a catalogue may have, so that a larger file is refused and not cut.
fn read(file: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| {
        format!("the file cannot be read: {error}; correct the path, or remove the setting")
    };
    let found = std::fs::metadata(file).map_err(unreadable)?;
    if !found.is_file() {
        return Err("this is not a file; name one, or remove the setting".to_owned());
    }
    let limit = u64::try_from(CATALOGUE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} of the price catalogue is not valid UTF-8; save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    /// Returns the outcome for a file of these bytes, named in line 2 of a configuration.
    fn outcome(bytes: &[u8]) -> Result<PublishedPrices, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("prices.toml");
        std::fs::write(&file, bytes).expect("written");
        load_named(folder.path(), &file)
    }

    fn load_named(folder: &Path, file: &Path) -> Result<PublishedPrices, String> {
        let settings = folder.join("palyra.toml");
        std::fs::write(&settings, format!("[prices]\nfile = \"{}\"\n", file.display())).expect("written");
        let config = config::load(Some(&settings), &Default::default(), &[]).expect("a configuration");
        load(&config).map_err(|error| error.to_string().replace(&folder.display().to_string(), "FOLDER"))
    }

    #[test]
    fn a_catalogue_is_read_whole_or_refused_with_file_line_and_mend() {
        let good = "currency = \"EUR\"\n[[price]]\nmodel = \"acme/large\"\ninput = \"3\"\noutput = \"9\"\n";
        let prices = outcome(good.as_bytes()).expect("a catalogue");
        let expect = PublishedPrices::configured(PriceCatalogue::parse(good).expect("a catalogue"));
        assert!(prices.is_same_as(&expect));
        let large = format!("{good}{}", "#".repeat(CATALOGUE_BYTES_MAX));
        for (bytes, cause) in [
            (good.replace("\"3\"", "3").as_bytes(), "line 4 of the price catalogue: `input` needs an amount"),
            (&b"currency = \"EUR\"\n# \xff"[..], "line 2 of the price catalogue is not valid UTF-8; save"),
            (large.as_bytes(), "delete prices that are over"),
            (good.replace("model", "modell").as_bytes(), "line 3 of the price catalogue has the unknown key"),
            (
                format!("{good}cached_input = \"4\"").as_bytes(),
                "cannot be used: cached input costs more than input; swap the two prices",
            ),
        ] {
            let refused = outcome(bytes).expect_err(cause);
            let place = "FOLDER/palyra.toml:2:8: `prices.file` names FOLDER/prices.toml: ";
            assert!(refused.starts_with(place) && refused.contains(cause), "{refused}");
        }
    }

    #[test]
    fn a_place_without_a_file_is_refused_and_no_setting_means_what_ships() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = load_named(folder.path(), &folder.path().join("none.toml")).expect_err("none");
        assert!(missing.contains("cannot be read: No such file") && missing.ends_with("remove the setting"));
        let of_folder = load_named(folder.path(), folder.path()).expect_err("a folder");
        assert!(of_folder.ends_with("not a file; name one, or remove the setting"), "{of_folder}");
        let config = config::load(None, &Default::default(), &[]).expect("defaults");
        assert!(load(&config).expect("shipped").is_same_as(&PublishedPrices::shipped()));
    }
}
