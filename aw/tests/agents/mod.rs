//! Real agent programs hold whole debates with each other, through the command line and through MCP.
//!
//! Each program runs headless in its own home, into which `aw agent install` has put the kit. Only the model
//! is a fake, on loopback. Start with [`debates`] and [`over_mcp`], the tests, and [`outcome`], the checks after
//! each. [`stories`] lets every program tell the same five stories in every way, for the table in docs/agents.md.
//! [`programs`] starts the programs, and [`table`] brings them together. [`script`] decides the model's
//! next step from [`moves`] and the conversation in [`talk`]; [`tools`] does so for a model without a shell.
//! [`dialect`] writes it for each model API, and [`model`] serves it. In [`run`] the programs are those of
//! `aw debate run`, without the kit.
//!
//! `scripts/agents` fetches the programs. Where they are missing these tests fail, unless they were left out.

mod cost;
mod debates;
mod dialect;
mod model;
mod moves;
mod outcome;
mod over_mcp;
mod programs;
mod run;
mod script;
mod stories;
mod table;
mod talk;
mod terminal;
mod tools;
mod wake;
