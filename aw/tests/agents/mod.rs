//! Real agent programs hold whole debates with each other, through the command line and through MCP.
//!
//! Each is the program that people run, headless, in a home of its own into which
//! `aw agent install` has put the kit; only the model behind it is ours, on loopback. Begin with
//! [`debates`] and [`over_mcp`], the stories, and [`outcome`], what must be true after each.
//! [`programs`] knows the programs, [`table`] seats them. [`script`] is what the model says, made of
//! [`moves`], from what [`talk`] gives it to go by; [`tools`] is the same for one without a shell.
//! [`dialect`] puts that in the words of each API, [`model`] serves it.
//!
//! `scripts/agents` fetches the programs. Where they are missing these tests fail, unless they were left out.

mod debates;
mod dialect;
mod model;
mod moves;
mod outcome;
mod over_mcp;
mod programs;
mod script;
mod table;
mod talk;
mod tools;
