"""The proof that an answer came through a console: its signature (SPEC 13.2).

Temporal lets whoever may write to a namespace signal a workflow, and believes what the signal says of who sent it. So
an agent file may demand that answers are signed: it names the public key of its consoles, the key is pinned to each
run, and the run takes no other answer. The console knows who is signed in; the run knows that the console said so.
Signatures are Ed25519, of everything that an answer says, for one question of one run.
"""

import base64
import json
from typing import Annotated

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import StringConstraints

from .question import Answer

__all__ = ["ProofKey", "is_proven", "public_key", "signed"]

_KIND = "ed25519:"
ProofKey = Annotated[str, StringConstraints(pattern=rf"^{_KIND}[A-Za-z0-9+/]{{43}}=$")]
"""A public key as an agent file names it: ``ed25519:`` and 32 bytes in base64."""


def public_key(key: Ed25519PrivateKey) -> str:
    """Return the public half of a key, as an agent file names it."""
    return _KIND + base64.b64encode(key.public_key().public_bytes_raw()).decode()


def signed(answer: Answer, run: str, key: Ed25519PrivateKey) -> Answer:
    """Return an answer with its proof. ``run`` is the id of the workflow that it is sent to."""
    return answer.model_copy(update={"proof": base64.b64encode(key.sign(_said(answer, run))).decode()})


def is_proven(answer: Answer, run: str, key: str) -> bool:
    """Whether an answer carries the signature of the public ``key``, for this run. Never raises."""
    try:
        known = Ed25519PublicKey.from_public_bytes(base64.b64decode(key.removeprefix(_KIND), validate=True))
        known.verify(base64.b64decode(answer.proof, validate=True), _said(answer, run))
    except (InvalidSignature, ValueError):
        return False
    return True


def _said(answer: Answer, run: str) -> bytes:
    said = [
        "amends answer 1",
        run,
        answer.question_id,
        answer.answer,
        answer.by,
        answer.note,
        answer.answer_id,
        answer.digest,
        answer.result,
    ]
    return json.dumps(said, sort_keys=True).encode()
