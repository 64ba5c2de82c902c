// What a project's tools import as `../logService.js`.

const { log } = globalThis[Symbol.for("mcpc.toolbox")];

export class LogService {
  static log(entry) {
    log.now(entry);
  }

  static logAsync(entry) {
    return log.later(entry);
  }
}
