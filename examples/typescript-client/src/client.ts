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

/** What was asked for; where the server says why not, that is thrown. */
export async function given<T>(answer: Promise<{ data?: T; error?: Problem }>): Promise<T> {
  const { data, error } = await answer;
  if (error !== undefined) {
    throw new Refused(error);
  }
  return data as T;
}
