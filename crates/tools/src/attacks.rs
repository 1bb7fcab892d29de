//! Attacks on the file tools, each with a canary that must not be touched.
//!
//! Every case has a control: the same road, walked without the mechanism, does reach the canary;
//! otherwise the case would prove nothing. Begin at [`grounds`].

mod grounds;

mod links;
mod paths;
mod races;
mod sizes;
mod special_files;

mod write_grounds;
mod write_paths;
mod write_races;
mod write_special;
