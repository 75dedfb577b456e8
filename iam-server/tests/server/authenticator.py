"""A software authenticator with one passkey, on python-fido2 and cryptography.

    authenticator.py FILE create ALGORITHM ORIGIN [FAULT]
    authenticator.py FILE get ORIGIN [FAULT]

Reads the options of a ceremony from the standard input, and prints the response. FILE holds the passkey. FAULT makes
the response one that a relying party must refuse.
"""

import base64
import hashlib
import json
import os
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2.cose import ES256, EdDSA, RS256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
    PublicKeyCredentialCreationOptions,
    PublicKeyCredentialRequestOptions,
)

FLAG = AuthenticatorData.FLAG

ALGORITHMS = {
    "ES256": (ES256, lambda: ec.generate_private_key(ec.SECP256R1())),
    "EdDSA": (EdDSA, ed25519.Ed25519PrivateKey.generate),
    "RS256": (RS256, lambda: rsa.generate_private_key(65537, 2048)),
}


def sign(algorithm, key, message):
    if algorithm == "ES256":
        return key.sign(message, ec.ECDSA(hashes.SHA256()))
    if algorithm == "RS256":
        return key.sign(message, padding.PKCS1v15(), hashes.SHA256())
    return key.sign(message)


def response(credential, **members):
    identifier = websafe_encode(credential)
    encoded = {name: websafe_encode(value) for name, value in members.items()}
    return {"id": identifier, "rawId": identifier, "type": "public-key", "response": encoded, "clientExtensionResults": {}}


def client_data(kind, challenge, origin, fault):
    origin = "https://phishing.example" if fault == "origin" else origin
    challenge = os.urandom(32) if fault == "challenge" else challenge
    return CollectedClientData.create(kind, challenge, origin)


def authenticator_data(relying_party, counter, fault, attested=None):
    relying_party = "phishing.example" if fault == "relying-party" else relying_party
    flags = FLAG.UP if fault == "no-verification" else FLAG.UP | FLAG.UV
    flags = flags if attested is None else flags | FLAG.AT
    hashed = hashlib.sha256(relying_party.encode()).digest()
    return AuthenticatorData.create(hashed, flags, counter, attested or b"")


def create(options, file, algorithm, origin, fault=None):
    options = PublicKeyCredentialCreationOptions.from_dict(options)
    cose, generate = ALGORITHMS[algorithm]
    assert cose.ALGORITHM in [offered.alg for offered in options.pub_key_cred_params]
    key, credential = generate(), os.urandom(32)
    attested = AttestedCredentialData.create(Aaguid.NONE, credential, cose.from_cryptography_key(key.public_key()))
    data = authenticator_data(options.rp.id, 0, fault, attested)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    passkey = {
        "algorithm": algorithm,
        "credential": base64.b64encode(credential).decode(),
        "key": pem.decode(),
        "user": base64.b64encode(options.user.id).decode(),
        "counter": 0,
    }
    with open(file, "w") as stored:
        json.dump(passkey, stored)
    return response(
        credential,
        clientDataJSON=client_data("webauthn.create", options.challenge, origin, fault),
        attestationObject=AttestationObject.create("none", data, {}),
    )


def get(options, file, origin, fault=None):
    options = PublicKeyCredentialRequestOptions.from_dict(options)
    with open(file) as stored:
        passkey = json.load(stored)
    passkey["counter"] += 1
    with open(file, "w") as stored:
        json.dump(passkey, stored)
    algorithm = passkey["algorithm"]
    key = serialization.load_pem_private_key(passkey["key"].encode(), None)
    if fault == "key":
        key = ALGORITHMS[algorithm][1]()
    client = client_data("webauthn.get", options.challenge, origin, fault)
    data = authenticator_data(options.rp_id, passkey["counter"], fault)
    return response(
        base64.b64decode(passkey["credential"]),
        clientDataJSON=client,
        authenticatorData=data,
        signature=sign(algorithm, key, data + client.hash),
        userHandle=base64.b64decode(passkey["user"]),
    )


if __name__ == "__main__":
    file, ceremony, *arguments = sys.argv[1:]
    print(json.dumps({"create": create, "get": get}[ceremony](json.load(sys.stdin), file, *arguments)))
