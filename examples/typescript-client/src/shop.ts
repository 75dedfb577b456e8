// A service that receives access tokens: orders of a shop, whose branches are organizations of the IAM.

import express, { type Express } from "express";
import { callerOf, guards, HttpProblem } from "iam-client/express";
import { TokenVerifier } from "iam-client/verifier";

interface Order {
  readonly branch: string;
  readonly cents: number;
  isRefunded: boolean;
}

/** The routes of a shop of one tenant. `url` is the address of the API. */
export function shop(url: string, tenant: string): Express {
  const verifier = new TokenVerifier({ url, issuer: "iam", audience: "iam", tenant });
  const guard = guards({ url, verifier });
  const orders: Order[] = [];

  const app = express();
  app.use(guard.authenticate(), express.json({ limit: "16kb" }));

  app.post(
    "/branches/:branch/orders",
    guard.requirePermission("orders:place", { organization: "branch" }),
    (request, response) => {
      const { cents } = (request.body ?? {}) as { cents?: unknown };
      if (typeof cents !== "number" || !Number.isSafeInteger(cents) || cents <= 0) {
        const errors = [{ field: "cents", message: "must be a whole number above 0" }];
        throw new HttpProblem("validation-error", "Invalid input: cents.", { errors });
      }
      const branch = String(request.params["branch"]);
      const id = orders.push({ branch, cents, isRefunded: false }) - 1;
      response.status(201).json({ id, branch, cents, placedBy: callerOf(request).claims.sub });
    },
  );

  // The path names no organization, so the handler asks. A refund also needs a recent authentication.
  app.post("/orders/:id/refund", guard.requireFresh({ maxAge: 300 }), async (request, response) => {
    const order = orders[Number(request.params["id"])];
    if (order === undefined) {
      throw new HttpProblem("not-found", "Order not found.");
    }
    await callerOf(request).require("orders:refund", order.branch);
    if (order.isRefunded) {
      throw new HttpProblem("conflict", "The order has been refunded already.");
    }
    order.isRefunded = true;
    response.json(order);
  });

  app.use(guard.notFound(), guard.problems());
  return app;
}
