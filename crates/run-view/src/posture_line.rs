//! Settings of tools as lines: which tool, where, and who set it.

use palyra_screen_text::clean_line;
use palyra_wire::v1;
use palyra_wire::v1::posture_scope::Place;

/// Returns a setting with its place and its origin.
pub fn posture_line(posture: &v1::Posture) -> String {
    let tool = match posture.tool.as_str() {
        "" => "(erased: every tool)".to_owned(),
        tool => clean_line(tool, 64),
    };
    let place = match posture.scope.as_ref().and_then(|scope| scope.place.as_ref()) {
        None => "everywhere".to_owned(),
        Some(Place::Agent(name)) => format!("for the agent {}", clean_line(name, 64)),
        Some(Place::Workspace(path)) if path.is_empty() => "in every workspace".to_owned(),
        Some(Place::Workspace(path)) => format!("in {}", clean_line(path, 200)),
        Some(Place::Session(session)) => format!("in session {}", session.session_id),
    };
    let origin = match posture.seq {
        None => "by the configuration".to_owned(),
        Some(seq) => {
            let by = if posture.set_by_name.is_empty() { &posture.set_by } else { &posture.set_by_name };
            let time = posture.set.and_then(|set| jiff::Timestamp::new(set.seconds, set.nanos).ok());
            let at =
                time.map_or_else(String::new, |time| format!(" on {}", time.strftime("%Y-%m-%d %H:%M UTC")));
            format!("set by {}{at} (entry {seq})", clean_line(by, 100))
        }
    };
    format!("{tool} {} {place}, {origin}", posture.posture_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_its_place_and_its_maker() {
        let mut posture = v1::Posture {
            tool: "write_file".to_owned(),
            posture: v1::PostureSetting::Disabled.into(),
            ..v1::Posture::default()
        };
        assert_eq!(posture_line(&posture), "write_file disabled everywhere, by the configuration");
        posture.scope = Some(v1::PostureScope { place: Some(Place::Workspace("/work".to_owned())) });
        posture.seq = Some(12);
        posture.set_by_name = "user:local".to_owned();
        posture.set = Some(prost_types::Timestamp { seconds: 1_763_788_980, nanos: 0 });
        assert_eq!(
            posture_line(&posture),
            "write_file disabled in /work, set by user:local on 2025-11-22 05:23 UTC (entry 12)"
        );
    }
}
