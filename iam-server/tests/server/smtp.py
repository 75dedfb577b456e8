"""A mail server for the tests. Prints its port, writes each message that it accepts into a directory, and logs what
clients do:

    smtp.py DIRECTORY MODE [CERTIFICATE KEY]

Modes: `accept` accepts every message. `auth` accepts messages of user `iam` with password `hunter2`, after STARTTLS.
`tls` expects TLS from the start. `busy` refuses every message with 451. `hang` never answers the end of a message.
`die` closes the connection in the middle of a message. `lose` accepts a message and closes the connection instead of
answering.
"""

import asyncio
import pathlib
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

directory, mode = pathlib.Path(sys.argv[1]), sys.argv[2]
context = None
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])


class Handler:
    count = 0

    async def handle_DATA(self, server, session, envelope):
        name = f"{Handler.count:04}.eml"
        Handler.count += 1
        if mode == "busy":
            return "451 4.3.0 try again later"
        if mode == "hang":
            print("hanging", flush=True)
            await asyncio.sleep(3600)
        if mode == "die":
            server.transport.abort()
            return "451 4.3.0 never sent"
        draft = directory / f".{name}"
        draft.write_bytes(envelope.original_content)
        draft.rename(directory / name)
        if mode == "lose":
            server.transport.abort()
        return "250 2.0.0 queued as 4Kx7"


def authenticate(server, session, envelope, mechanism, data):
    is_right = (data.login, data.password) == (b"iam", b"hunter2")
    # Not handled: the server itself answers.
    return AuthResult(success=is_right, handled=False)


def connection():
    options = {"hostname": "mail.test", "enable_SMTPUTF8": True}
    if mode == "auth":
        options |= {
            "tls_context": context,
            "require_starttls": True,
            "auth_required": True,
            "authenticator": authenticate,
        }
    return SMTP(Handler(), **options)


async def main():
    tls = context if mode == "tls" else None
    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0, ssl=tls)
    print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
