// Receives webhooks: verifies each request by Standard Webhooks, and handles each event once.
//
// WEBHOOK_SECRET=whsec_… node receiver.mjs

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// A real receiver keeps the ids in its database, in the transaction that handles the event.
const handled = new Set();

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  // An event is sent at least once.
  const id = request.headers["webhook-id"];
  if (!handled.has(id)) {
    handled.add(id);
    console.log(event.type, event.data.resourceId);
  }
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 9000), "127.0.0.1");
