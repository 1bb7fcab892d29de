//! Says at compile time where this crate has no meaning.

#[cfg(not(target_os = "linux"))]
compile_error!("process tiers are made of Linux's mechanisms");
