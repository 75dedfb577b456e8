// Only the compiler reads this: what the types allow and what they refuse.

import { Client, type Preview, type Schemas } from "iam-client";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>) => undefined;

export async function types(iam: Client): Promise<void> {
  const id = "01a1fdcb-9b32-7000-8000-45f2b9876ce2";
  const body = { email: "a@example.com", password: "x", firstName: "A", lastName: "B" };
  const user = await iam.POST("/users", { body });
  user.id.toUpperCase();
  // @ts-expect-error an answer has no such field
  void user.mail;
  // @ts-expect-error a field of the body is missing
  await iam.POST("/users", { body: { email: "a@example.com" } });
  // @ts-expect-error no operation has this path
  await iam.GET("/user");
  // @ts-expect-error the path has a parameter
  await iam.GET("/users/{id}");
  // @ts-expect-error this path has no PUT
  await iam.PUT("/users", { body });
  // @ts-expect-error a parameter of the wrong type
  await iam.GET("/users", { params: { query: { page: "two" } } });

  const assignment = { userId: id, roleId: id };
  const assigned = await iam.POST("/role-assignments", { body: assignment });
  same<typeof assigned, Schemas["RoleAssignment"]>(true);
  const preview = await iam.POST("/role-assignments", { body: assignment, params: { query: { preview: true } } });
  same<typeof preview, Preview>(true);
  const nothing = await iam.DELETE("/organizations/{id}", { params: { path: { id } } });
  same<typeof nothing, undefined>(true);
  const role = await iam.GET("/roles/{id}", { params: { path: { id }, header: { "If-None-Match": '"1"' } } });
  // @ts-expect-error an unchanged role has no body
  void role.name;

  const exported = await iam.GET("/audit-logs/export", { parseAs: "stream" });
  same<typeof exported, ReadableStream<Uint8Array<ArrayBuffer>> | null>(true);

  for await (const user of iam.paginate("/users", { params: { query: { status: "ACTIVE" } } })) {
    user.id.toUpperCase();
  }
  for await (const entry of iam.paginate("/audit-logs")) {
    entry.action.toUpperCase();
  }
  // @ts-expect-error a user is no list
  iam.paginate("/users/{id}", { params: { path: { id } } });
  // @ts-expect-error the feed is read by `events`
  iam.paginate("/events");
  const answer = await iam.login({ email: "a@example.com", password: "x" });
  // @ts-expect-error the client keeps the tokens
  void answer.accessToken;
}
