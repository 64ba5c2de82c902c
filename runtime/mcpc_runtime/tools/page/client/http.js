// One POST (or GET) to the MCP endpoint: sends a message, and yields each message of the answer, JSON or event stream.

const MAX_EVENT = 64_000_000;

/** A failure before there was an answer of the protocol: no connection, 401, a body that is not JSON. */
export class HttpFailure extends Error {
  constructor(message, status = 0, challenge = "") {
    super(message);
    this.status = status;
    this.challenge = challenge;
  }
}

/** Yield the data of each event of a stream. */
async function* events(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += decoder.decode(value ?? new Uint8Array(), { stream: !done });
    let end;
    while ((end = rest.search(/\r?\n\r?\n/)) >= 0) {
      const block = rest.slice(0, end);
      rest = rest.slice(end).replace(/^\r?\n\r?\n/, "");
      const lines = block.split(/\r?\n/).filter((line) => line.startsWith("data:"));
      if (lines.length) yield lines.map((line) => line.slice(5).replace(/^ /, "")).join("\n");
    }
    if (rest.length > MAX_EVENT) throw new HttpFailure("the server sent an event of more than 64 MB");
    if (done) return;
  }
}

/** Send a request and yield [text, message] of each message of its answer; the recorder hears everything. */
export async function* exchange({ url, httpMethod = "POST", headers, text = "", method, id, signal, recorder, onhead }) {
  const record = recorder.begin(httpMethod, headers, text, method, id);
  try {
    const response = await fetch(url, { method: httpMethod, headers, body: text || undefined, signal, credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" }).catch((problem) => {
      throw signal?.aborted ? problem : new HttpFailure("the server cannot be reached");
    });
    recorder.head(record, response);
    onhead?.(response);
    const kind = response.headers.get("content-type") ?? "";
    if (kind.startsWith("text/event-stream")) {
      for await (const data of events(response.body)) {
        if (!data) continue;
        recorder.add(record, data);
        yield [data, parsed(data)];
      }
    } else {
      const body = await response.text();
      if (body) recorder.add(record, body);
      if (response.status === 401) throw new HttpFailure("the server wants a token", 401, response.headers.get("www-authenticate") ?? "");
      if (body.trim()) {
        const message = parsed(body, response.status);
        for (const each of Array.isArray(message) ? message : [message]) yield [body, each];
      } else if (!response.ok) throw new HttpFailure(`the server answered with status ${response.status}`, response.status);
    }
    recorder.end(record);
  } catch (problem) {
    const failure = signal?.aborted || problem instanceof HttpFailure ? problem : new HttpFailure("the connection broke");
    recorder.end(record, signal?.aborted ? "cancelled" : failure.message);
    if (!signal?.aborted && !failure.status) recorder.lost();
    throw failure;
  } finally {
    recorder.end(record);
  }
}

function parsed(text, status = 200) {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpFailure(`the answer is not JSON${status === 200 ? "" : ` (status ${status})`}`, status);
  }
}
