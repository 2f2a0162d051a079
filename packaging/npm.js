#!/usr/bin/env node
// Runs the program from the package of this platform, with the same input, output, signals and exit code.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `aw-debate-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/aw`);
} catch {
  console.error(
    `error: the package ${name} is missing\n` +
      "hint: install aw-debate again without --omit=optional; if there is no such package, aw has to be built from source"
  );
  process.exit(3);
}

const aw = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => aw.kill(signal));
}
aw.on("error", (error) => {
  console.error(`error: ${program} does not start: ${error.message}`);
  process.exit(3);
});
aw.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
