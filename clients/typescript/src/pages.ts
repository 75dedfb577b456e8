import { RequestFailed } from "./problem.js";

/** A page of any list of the API, as far as it must be known to read the next one. */
interface Page<T> {
  readonly data: readonly T[];
  readonly pagination?: { readonly page?: number; readonly hasNext?: boolean; readonly nextCursor?: string | null };
}

function pageOf<T>(answer: unknown): Page<T> {
  const page = answer as Page<T> | undefined;
  if (!Array.isArray(page?.data)) {
    throw new RequestFailed("malformed", "the response is not a page of a list");
  }
  return page;
}

/** Yields every item of a list. `get` reads the page that these parameters choose. */
export async function* paginate<T>(
  get: (query: { page?: number; cursor?: string }) => Promise<unknown>,
): AsyncGenerator<T, void, undefined> {
  let query: { page?: number; cursor?: string } = {};
  for (;;) {
    const { data, pagination = {} } = pageOf<T>(await get(query));
    yield* data;
    const { page, hasNext, nextCursor } = pagination;
    if (typeof nextCursor === "string") {
      if (nextCursor === query.cursor) {
        throw new RequestFailed("malformed", "the next page is the same page");
      }
      query = { cursor: nextCursor };
    } else if (hasNext === true && typeof page === "number") {
      if (data.length === 0 || page + 1 === query.page) {
        throw new RequestFailed("malformed", "the list does not end");
      }
      query = { page: page + 1 };
    } else {
      return;
    }
  }
}
