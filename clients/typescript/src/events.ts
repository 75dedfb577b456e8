import { createParser } from "eventsource-parser";

import type { Environment } from "./environment.js";
import { Problem, RequestFailed } from "./problem.js";
import type { AnyInit, Schemas } from "./types.js";

/** An entry of the audit log with its number. */
export type Event = Schemas["Event"];

export interface EventOptions {
  /** Events after the one with this number: the last that was handled. If it is absent, all that are left. */
  readonly after?: number;
  /** Events of these types only, such as `USER.CREATE` or `ROLE.*`. */
  readonly types?: readonly string[];
  readonly signal?: AbortSignal;
}

type Open = (init: AnyInit) => Promise<{ data: unknown; response: Response }>;

/** The server sends a comment every 15 seconds. A connection that is silent for longer than this is dead. */
const SILENCE = 45_000;
const LONGEST_EVENT = 8 * 1024 * 1024;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 30_000;

/** Yields events, and connects again after interruptions. */
export async function* events(
  open: Open,
  environment: Environment,
  options: EventOptions,
): AsyncGenerator<Event, void, undefined> {
  const { signal, types } = options;
  let { after } = options;
  for (let failures = 0; ; failures++) {
    // Ends the connection when the caller stops reading.
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const query = {
        ...(after === undefined ? {} : { after }),
        ...(types === undefined ? {} : { types: types.join(",") }),
      };
      const headers = { Accept: "text/event-stream" };
      const { data, response } = await open({
        params: { query },
        headers,
        parseAs: "stream",
        signal: controller.signal,
      });
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      for await (const event of eventsIn(isStream ? data : undefined, controller)) {
        // An event that was seen before the interruption.
        if (after !== undefined && event.sequence <= after) {
          continue;
        }
        after = event.sequence;
        failures = 0;
        yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isInterruption(error)) {
        throw error;
      }
    } finally {
      controller.abort();
      signal?.removeEventListener("abort", abort);
    }
    const bound = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** failures);
    await environment.sleep(bound / 2 + (environment.random() * bound) / 2, signal);
  }
}

/** Whether a new connection may succeed. */
function isInterruption(error: unknown): boolean {
  if (error instanceof Problem) {
    return error.status === 429 || error.status >= 500;
  }
  return error instanceof RequestFailed && (error.code === "connection" || error.code === "timeout");
}

/** Yields the events of one connection. */
async function* eventsIn(body: unknown, controller: AbortController): AsyncGenerator<Event, void, undefined> {
  if (!(body instanceof ReadableStream)) {
    throw new RequestFailed("malformed", "GET /events: the response is no stream");
  }
  const found: Event[] = [];
  let failure: RequestFailed | undefined;
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ data }) => found.push(eventOf(data)),
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") {
        failure = new RequestFailed("too-large", `GET /events: an event has more than ${LONGEST_EVENT} bytes`);
      }
    },
  });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const chunk = await within(SILENCE, reader.read(), controller);
    if (chunk.done) {
      return;
    }
    parser.feed(decoder.decode(chunk.value, { stream: true }));
    if (failure !== undefined) {
      throw failure;
    }
    yield* found.splice(0);
  }
}

async function within<T>(milliseconds: number, work: Promise<T>, controller: AbortController): Promise<T> {
  const timer = setTimeout(() => controller.abort(), milliseconds);
  try {
    return await work;
  } catch (cause) {
    throw new RequestFailed("connection", "GET /events: the connection failed", { cause });
  } finally {
    clearTimeout(timer);
  }
}

function eventOf(data: string): Event {
  try {
    const event = JSON.parse(data) as Event | null;
    if (Number.isSafeInteger(event?.sequence)) {
      return event as Event;
    }
  } catch {
    // Handled like JSON that is no event.
  }
  throw new RequestFailed("malformed", "GET /events: the response has no events");
}
