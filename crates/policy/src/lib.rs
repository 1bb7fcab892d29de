//! Judges tool calls: pure functions from a snapshot and a call to a decision.
//!
//! Knows no run, disk, clock or human. Whatever no policy permits is denied.
//!
//! Begin at [`decide_tool_call`].

#![warn(clippy::wildcard_enum_match_arm)]

mod decide;
mod snapshot;
mod rules;

mod arguments;
mod request;
mod policies;
mod posture;
mod skills;
mod grants;

mod examine;
mod near_rules;
mod narrow_forbids;
mod redundant_asks;
mod explain;
mod diff;

mod answer;
mod schema;
mod wanted_answer;
mod expanded;

mod suggest;
mod quote;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod fixture;

pub use answer::{AnswerSchema, AnswerSchemaError};
pub use arguments::{ARGUMENTS_BYTES_MAX, ARGUMENTS_DEPTH_MAX};
pub use decide::{ArgumentsHold, CallEvidence, decide_tool_call, ordinary_verdict};
pub use diff::{ChangedDecision, DecisionCounts, PolicyDiff, RecordedDecision};
pub use examine::{FIXTURE_WORKSPACE, PolicyCheck, ReadFixturesError, TestedFixture, check, test_fixtures};
pub use explain::{ExplainedPolicy, PolicyExplanation, PolicyName, explain, verdict_name};
pub use grants::{
    GRANT_RULES_MAX, GrantCoverage, GrantDifference, GrantedCall, ProgramsFound, StoredGrantError,
    check_grant_request, covering_grant, exact_matcher, wanted_kind,
};
pub use near_rules::NearRule;
pub use policies::{
    CedarQuery, NotStatic, POLICIES_MAX, POLICY_FILE_BYTES_MAX, PolicyFile, PolicyIndex, PolicyMistake,
    PolicyMistakes, PolicyQuery, PolicySet, ReadOnlyFolder, SCHEMA_TEXT,
};
pub use posture::{
    PostureOrigin, PosturePlace, PostureRegistry, PostureSetting, StandingPosture, posture_name,
};
pub use request::{ARGUMENT_TEXT_BYTES_MAX, NAMED_MAX, PolicyRequest, ReadRequestError, host_of};
pub use rules::{
    Judgement, Reevaluation, ToolPolicyRules, evaluate_with_config, re_evaluate, read_only_folders,
};
pub use skills::{
    ALLOWED_TOOLS_MAX, ActiveSkill, FRONT_MATTER_BYTES_MAX, FileMode, SKILL_FILE_NAME, SKILL_PATH_BYTES_MAX,
    SKILL_PATH_DEPTH_MAX, SkillFolderFault, SkillFolderFile, SkillManifest, SkillManifestError,
    SkillStanding, SkillText, UnknownTool, check_folder, folder_text, forbidding_skill, read_skill, standing,
    unknown_tools,
};
pub use snapshot::{CandidatePolicies, CompilePolicyError, SnapshotText, ToolCallPolicySnapshot};
pub use wanted_answer::WantedAnswer;
