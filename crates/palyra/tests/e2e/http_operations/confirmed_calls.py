"""Hooks of schemathesis: every change of the owner comes with a fresh code, and the first call of each is one that works.

PALYRA_TEST_SOCKET names the daemon's socket, PALYRA_TEST_CALLS a file of calls that work, one for each change of the
owner, and PALYRA_TEST_ANSWERS the file in which is counted what these operations answered.
"""

import atexit
import json
import os
from collections import Counter, defaultdict

import grpc
import schemathesis
from schemathesis.core import NOT_SET

CONFIRMATION = "palyra-confirmation"
UNCONFIRMED = b"PLY-1204"
PASSPHRASE = "POST /api/v1/vault/passphrase"
UNLOCK = "POST /api/v1/vault/unlock"
REVOKE = "POST /api/v1/tokens/{token_id}/revoke"
SET_BUDGET = "POST /api/v1/budgets"
RUN_PURSES = (None, "total", "principal", "agent", "session")
UNKNOWN_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

# The path of a socket is no name of a host.
local = [("grpc.default_authority", "localhost")]
socket = grpc.insecure_channel("unix:" + os.environ["PALYRA_TEST_SOCKET"], options=local)
create_confirmation = socket.unary_unary("/palyra.v1.AdminService/CreateConfirmation")
with open(os.environ["PALYRA_TEST_CALLS"], encoding="utf-8") as file:
    working = json.load(file)
changes = frozenset(working)
needed = {value for call in working.values() for value in call.get("path", {}).values()}
answers = defaultdict(Counter)
passphrases = []


def fresh_code():
    """Asks for a code as a person does with `palyra admin confirm`: field 1 of the answer, a short text."""
    answer = create_confirmation(b"", timeout=30)
    return answer[2 : 2 + answer[1]].decode()


def make_work(case, call):
    case.path_parameters = call.get("path", {})
    case.query = call.get("query", {})
    case.cookies = {}
    case.headers.clear()
    case.body = call.get("body", NOT_SET)
    case.media_type = "application/json" if "body" in call else None


def keep_needed(case):
    """Names and ids that an answer had are tried as well: one is the token in use, and others are what calls are about."""
    for name, value in case.path_parameters.items():
        if value in needed or (name == "token_id" and len(str(value)) == len(UNKNOWN_ID)):
            case.path_parameters[name] = UNKNOWN_ID


@schemathesis.hook
def before_call(context, case, kwargs):
    label = context.operation.label
    if label not in changes:
        return
    if label in working and case.method.upper() == context.operation.method.upper():
        call = working.pop(label)
        if label == UNLOCK and passphrases:
            call["body"]["passphrase"] = passphrases[-1]
        make_work(case, call)
    elif label == REVOKE or label.endswith("/remove"):
        keep_needed(case)
    elif label == SET_BUDGET and isinstance(case.body, dict) and case.body.get("purse") in RUN_PURSES:
        # No run is of a channel: a budget that a random limit makes would keep runs from what other calls are about.
        case.body["purse"] = "channel"
    case.headers[CONFIRMATION] = fresh_code()


@schemathesis.hook
def after_call(context, case, response):
    label = context.operation.label
    if label not in changes:
        return
    answers[label][str(response.status_code)] += 1
    if UNCONFIRMED in response.content:
        answers[label]["unconfirmed"] += 1
    if label == PASSPHRASE and response.status_code == 200:
        passphrases.append(case.body["passphrase"])


def write_answers():
    with open(os.environ["PALYRA_TEST_ANSWERS"], "w", encoding="utf-8") as file:
        json.dump(answers, file)


atexit.register(write_answers)
