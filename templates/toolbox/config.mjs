// What a project's tools import as `../config.js`: places that can be written to, which outlive the server.

export const {
  toolsDir,
  logDirectory,
  logFile,
  jsonDirectory,
  tasksFilePath,
  dataDirectory,
  sqlitePath,
  cliLogFile,
} = globalThis[Symbol.for("mcpc.toolbox")].places;
