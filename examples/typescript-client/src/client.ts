import createClient, { type Client } from "openapi-fetch";

import type { components, paths } from "./generated/api.js";

export type Problem = components["schemas"]["Problem"];

export type Iam = Client<paths>;

/** A client of the API at this address, such as `http://localhost:8080/api/v1`; with a token, of who logged in. */
export function connect(baseUrl: string, accessToken?: string): Iam {
  return createClient<paths>({
    baseUrl,
    headers: accessToken === undefined ? {} : { Authorization: `Bearer ${accessToken}` },
  });
}

/** What the server says when it refuses, as the document describes it. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(`${problem.status} ${problem.title}: ${problem.detail} (${problem.correlationId})`);
  }
}

/** What a change would do to the rights of users. */
export type Preview = components["schemas"]["Preview"];

/** What was asked for; where the server says why not, that is thrown. Only a request with `preview` gets a preview. */
export async function given<T>(answer: Promise<{ data?: T; error?: Problem }>): Promise<Exclude<T, Preview>> {
  const { data, error } = await answer;
  if (error !== undefined) {
    throw new Refused(error);
  }
  return data as Exclude<T, Preview>;
}

/** The answer to a request with `preview: true`. */
export async function previewed<T>(answer: Promise<{ data?: T | Preview; error?: Problem }>): Promise<Preview> {
  return (await given(answer)) as Preview;
}

export type Event = components["schemas"]["Event"];

/**
 * Every event after the one with this number, as it happens. It ends when the server ends the stream: call it again,
 * with the number of the last event that was handled.
 */
export async function* events(iam: Iam, after?: number): AsyncGenerator<Event> {
  const stream = await given<ReadableStream<Uint8Array> | null>(
    iam.GET("/events", {
      params: { query: after === undefined ? {} : { after } },
      headers: { Accept: "text/event-stream" },
      parseAs: "stream",
    }),
  );
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data:"));
      if (data !== undefined) {
        yield JSON.parse(data.slice("data:".length)) as Event;
      }
    }
  }
}
