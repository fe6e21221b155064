"""One sign-in with a Python library: prints where to go, reads where the browser came back to, prints its tokens."""

import json
import os
import sys

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

library, given = sys.argv[1], json.loads(sys.argv[2])
base_url, client_id, secret = given["base_url"], given["client_id"], given["client_secret"]
authorize_url, token_url = base_url + "/oauth/authorize", base_url + "/oauth/token"


def requests_oauthlib():
    """As its documentation has it: PKCE by hand, since its age knows none; a public client says no more than its id."""
    from oauthlib.common import generate_token
    from requests_oauthlib import OAuth2Session

    session = OAuth2Session(client_id, redirect_uri=given["redirect_uri"], scope=given["scope"].split())
    verifier = generate_token(64)
    url, _state = session.authorization_url(
        authorize_url,
        code_challenge=challenge_of(verifier),
        code_challenge_method="S256",
        resource=base_url,
    )
    back = ask(url)
    first = session.fetch_token(token_url, authorization_response=back, code_verifier=verifier, client_secret=secret)
    auth = None if secret is None else (client_id, secret)
    body = {"client_id": client_id} if secret is None else {}
    return first, session.refresh_token(token_url, auth=auth, **body), session.get(base_url + "/me").status_code


def authlib():
    from authlib.integrations.requests_client import OAuth2Session

    session = OAuth2Session(
        client_id,
        secret,
        scope=given["scope"],
        redirect_uri=given["redirect_uri"],
        code_challenge_method="S256",
        token_endpoint_auth_method="none" if secret is None else given["method"],
    )
    verifier = "v" * 64
    url, _state = session.create_authorization_url(authorize_url, code_verifier=verifier, resource=base_url)
    first = session.fetch_token(token_url, authorization_response=ask(url), code_verifier=verifier)
    return first, session.refresh_token(token_url), session.get(base_url + "/me").status_code


def challenge_of(verifier):
    from base64 import urlsafe_b64encode
    from hashlib import sha256

    return urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


def ask(url):
    print(url, flush=True)
    # The app is behind https in real life; what comes after its scheme is all that the library looks at.
    return sys.stdin.readline().strip()


tokens, refreshed, status = {"requests_oauthlib": requests_oauthlib, "authlib": authlib}[library]()
print(json.dumps({"first": dict(tokens), "next": dict(refreshed), "status": status}), flush=True)
