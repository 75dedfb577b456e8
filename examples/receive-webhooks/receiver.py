"""Receives webhooks: verifies each request by Standard Webhooks, and handles each event once.

WEBHOOK_SECRET=whsec_… python receiver.py
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
# A real receiver keeps the ids in its database, in the transaction that handles the event.
handled: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            event = webhook.verify(body, dict(self.headers))
        except WebhookVerificationError:
            self.answer(401)
            return
        # An event is sent at least once.
        event_id = self.headers["webhook-id"]
        if event_id not in handled:
            handled.add(event_id)
            print(event["type"], event["data"]["resourceId"], flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
