import type { FetchOptions, FetchResponse, MaybeOptionalInit, ParseAs } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";

import type { components, paths } from "./generated/api.js";

/** The types of the document by their names, such as `Schemas["User"]`. */
export type Schemas = components["schemas"];

/** What a change would do to the rights of users: the response to a request with `preview: true`. */
export type Preview = Schemas["Preview"];

export type Method = Extract<HttpMethod, "get" | "put" | "post" | "delete" | "patch">;

/** The paths that have an operation with this method. */
export type PathOf<M extends Method> = PathsWithMethod<paths, M>;

/** The parameters and the body of an operation. */
export type InitOf<P extends keyof paths, M extends Method> = MaybeOptionalInit<paths[P], M & keyof paths[P]>;

/** The arguments behind the path: none are needed if the operation needs neither parameters nor a body. */
export type Arguments<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

type Body<P extends keyof paths, M extends Method, Init> = FetchResponse<
  paths[P][M & keyof paths[P]] & Record<string | number, unknown>,
  Init,
  "application/json"
>["data"];

type IsPreview<Init> = Init extends { params: { query: { preview: true } } } ? true : false;
type IsConditional<Init> = Init extends { params: { header: { "If-None-Match": string } } } ? true : false;

/**
 * The body of a success. It is a `Preview` only with `preview: true`, and `undefined` for an operation without a body,
 * or for a resource that has not changed (`If-None-Match`).
 */
export type Answer<P extends keyof paths, M extends Method, Init> =
  | (IsPreview<Init> extends true
      ? Extract<Exclude<Body<P, M, Init>, undefined>, Preview>
      : Init extends { parseAs: Exclude<ParseAs, "json"> }
        ? Exclude<Body<P, M, Init>, undefined>
        : Exclude<Exclude<Body<P, M, Init>, undefined>, Preview> extends never
          ? undefined
          : Exclude<Exclude<Body<P, M, Init>, undefined>, Preview>)
  | (IsConditional<Init> extends true ? undefined : never);

/** What `paginate` takes: the paths whose response is a list in `data`. */
export type ListPath = {
  [P in Exclude<PathOf<"get">, "/events">]: [SuccessOf<P>] extends [never]
    ? never
    : SuccessOf<P> extends { data: readonly unknown[] }
      ? P
      : never;
}[Exclude<PathOf<"get">, "/events">];

type SuccessOf<P extends PathOf<"get">> = paths[P]["get"] extends {
  responses: { 200: { content: { "application/json": infer Success } } };
}
  ? Success
  : never;

/** An item of such a list. */
export type ItemOf<P extends ListPath> = SuccessOf<P> extends { data: readonly (infer Item)[] } ? Item : never;

/** Parameters and body, as the compiler does not know the operation. */
export type AnyInit = Omit<FetchOptions<unknown>, "body" | "params"> & {
  body?: unknown;
  params?: { query?: object; header?: object; path?: object };
};
