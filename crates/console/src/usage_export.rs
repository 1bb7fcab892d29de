//! Usage as a file of CSV or JSON, and the request that page and files share.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use palyra_api::ApiError;
use palyra_usage_view::{EXPORT_ROWS_MAX, day_of, usage_csv};
use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::screen_call::ScreenCall;
use crate::wording::now_seconds;

/// Days that a person can choose.
pub(crate) const PERIODS_DAYS: [u32; 4] = [1, 7, 30, 90];
/// The days that are shown first.
const DAYS_DEFAULT: u32 = 30;
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Returns the days that a request is about.
pub(crate) fn wanted_days(call: &ScreenCall) -> u32 {
    let wanted = call.query_number("days");
    if PERIODS_DAYS.contains(&wanted) { wanted } else { DAYS_DEFAULT }
}

/// Returns the request for the last days, in all groupings.
pub(crate) fn usage_request(days: u32, rows_max: u32) -> v1::GetUsageRequest {
    let now = now_seconds();
    let time = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let groupings = [
        v1::UsageGrouping::Day,
        v1::UsageGrouping::Model,
        v1::UsageGrouping::Session,
        v1::UsageGrouping::Surface,
        v1::UsageGrouping::Agent,
    ];
    v1::GetUsageRequest {
        from: time(now - i64::from(days.saturating_sub(1)) * DAY_SECONDS),
        until: time(now),
        group_by: groupings.map(i32::from).to_vec(),
        rows_max,
    }
}

/// Answers with the file.
pub(crate) async fn usage_export(call: &ScreenCall) -> Result<Response, ApiError> {
    let request = usage_request(wanted_days(call), EXPORT_ROWS_MAX);
    let format = FileFormat::named(&call.query("format"))?;
    let usage = call.call(request).await?;
    Ok(file_response(&usage, format))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    Csv,
    Json,
}

impl FileFormat {
    fn named(name: &str) -> Result<Self, ApiError> {
        match name {
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            _ => Err(ApiError::invalid_argument("`format` must be csv or json")),
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Json => "application/json",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

fn file_response(usage: &v1::GetUsageResponse, format: FileFormat) -> Response {
    let text = match format {
        FileFormat::Csv => usage_csv(usage),
        FileFormat::Json => format!("{:#}\n", to_json(usage)),
    };
    let from = day_of(usage.from.as_ref());
    let until = day_of(usage.until.as_ref());
    let name = format!("attachment; filename=\"usage-{from}-to-{until}.{}\"", format.ending());
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    let name = HeaderValue::from_str(&name);
    headers.insert(CONTENT_DISPOSITION, name.unwrap_or(HeaderValue::from_static("attachment")));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_days_and_its_format() {
        let time = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let usage = v1::GetUsageResponse { from: time(0), until: time(DAY_SECONDS), ..Default::default() };
        for (format, media_type, ending) in [
            (FileFormat::Csv, "text/csv; charset=utf-8; header=present", "csv"),
            (FileFormat::Json, "application/json", "json"),
        ] {
            let response = file_response(&usage, format);
            assert_eq!(response.headers()[CONTENT_TYPE], media_type);
            let name = format!("attachment; filename=\"usage-1970-01-01-to-1970-01-02.{ending}\"");
            assert_eq!(response.headers()[CONTENT_DISPOSITION], name);
        }
        assert_eq!(FileFormat::named("csv").ok(), Some(FileFormat::Csv));
        assert!(FileFormat::named("xls").is_err() && FileFormat::named("").is_err());
    }

    #[test]
    fn a_request_has_so_many_days_with_today_as_the_last() {
        for days in PERIODS_DAYS {
            let request = usage_request(days, 0);
            let seconds = |time: Option<prost_types::Timestamp>| time.map(|time| time.seconds);
            let between = seconds(request.until).zip(seconds(request.from)).map(|(until, from)| until - from);
            assert_eq!(between, Some(i64::from(days - 1) * DAY_SECONDS));
            assert_eq!(request.group_by.len(), 5);
        }
    }
}
