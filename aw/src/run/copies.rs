//! The files of a run: the source, the copy of each seat, and the results beside the plan.
//!
//! Everything here may be hostile: the repository, the plan, and whatever an agent leaves in its
//! copy. So this code follows no link in a project or a copy, writes into no existing file, and
//! runs no git in a copy. It prints nothing, and it blocks.
//!
//! Begin with [`CopySource::of`], then [`CopySource::make_base`]. Each turn calls [`refresh`],
//! [`taken_plan`] and [`changed_files`]; the end calls [`write_back`] and [`write_new`].

mod beneath;
mod error;
pub(crate) mod git;
pub(crate) mod git_settings;
mod names;
mod results;
mod seat;
mod source;
#[cfg(test)]
mod tests;

pub use error::CopyError;
pub use names::shown;
pub use results::{Written, beside, write_back, write_new};
pub use seat::{Extras, changed_files, refresh, taken_plan};
pub use source::{CopyExtent, CopySource, files_of_base, link_out};

/// The largest plan, in bytes.
pub const MAX_PLAN: u64 = 5 * 1024 * 1024;
/// The largest number of files in a copy.
pub const MAX_FILES: usize = 100_000;
/// The largest number of bytes in a copy.
pub const MAX_BYTES: u64 = 1_000_000_000;
