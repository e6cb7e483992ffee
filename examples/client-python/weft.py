"""Typed client for the REST API of Weft. It needs only the standard library of Python 3.11 or later."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import json
import random
import time
import urllib.error
import urllib.request
import uuid
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from weft_api import FeedGetDataEventsItem, FeedGetRequest, WeftApi

# Longest time in seconds for which a retry waits because the server names it.
RETRY_AFTER_MAX = 30
# Bounds in seconds of the time before a retry if the server names none. The time doubles with each retry.
BACKOFF_FIRST, BACKOFF_MAX = 0.2, 10.0
# Codes after which the same call can succeed, in addition to UNAVAILABLE and to limits with a time.
PASSING_CODES = ("request/conflict", "request/timeout", "crdt/document-changed", "idempotency/in-progress")
# HTTP status codes of proxies after which the same call can succeed.
PASSING_HTTP_CODES = (408, 425, 429, 500, 502, 503, 504)


class WeftError(Exception):
    """The error of a failed call. Compare `code`, which never changes; `message` is for people.

    Without a valid response, the code is `client/unreachable` or `client/invalid-response`.
    """

    def __init__(
        self,
        code: str,
        status: str,
        message: str,
        details: Optional[dict[str, Any]] = None,
        retry_after_seconds: Optional[float] = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.status = status
        self.message = message
        self.details = details or {}
        self.retry_after_seconds = retry_after_seconds


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would drop the body, or send the credentials to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Weft(WeftApi):
    """A client of one server, with a method for each operation: `weft.crdt.get({...})`.

    Methods return `data` of the response and raise WeftError. Calls that can succeed later are repeated. An
    operation with a second effect has one idempotency key for all attempts, so it takes effect once.
    """

    def __init__(
        self,
        url: str,
        api_key: Optional[str] = None,
        auth_token: Optional[str] = None,
        *,
        workspace_id: Optional[str] = None,
        workspace_auth_token: Optional[str] = None,
        admin_token: Optional[str] = None,
        timeout_seconds: float = 60,
        retries: int = 5,
        response_bytes_max: int = 134_217_728,
    ) -> None:
        """`timeout_seconds` bounds a call with its retries, and each wait for bytes of the server."""
        super().__init__(self)
        given = {
            "x-service-api-key": api_key,
            "x-service-auth-token": auth_token,
            "x-service-workspace-id": workspace_id,
            "x-service-workspace-auth-token": workspace_auth_token,
            "x-service-admin-token": admin_token,
        }
        self._url = url.rstrip("/")
        self._headers = {name: value for name, value in given.items() if value is not None}
        self._timeout = timeout_seconds
        self._retries = retries
        self._bytes_max = response_bytes_max
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(self, path: str, data: Any, effect: str, idempotency_key: Optional[str]) -> Any:
        result = self._result(path, data, effect, idempotency_key)
        has_envelope = isinstance(result, dict) and result.get("status") == "success"
        return result.get("data") if has_envelope else result

    def pages(self, path: str, data: Any, token: str) -> Iterator[Any]:
        following: Optional[str] = None
        while True:
            request = data if following is None else {**data, token: following}
            result = self._result(path, request, "reads", None)
            yield result["data"]
            following = result.get("pageToken") if token == "pageToken" else result["data"].get("iterator")
            if following is None:
                return

    def feed_events(self, request: FeedGetRequest = {}) -> Iterator[FeedGetDataEventsItem]:
        """Returns the events of the change feed, without end. Store `cursor` of an event to resume after it.

        Waits while the server is not reachable. Raises WeftError if the feed cannot continue.
        """
        following: FeedGetRequest = {"waitSeconds": 20, **request}
        failures = 0
        while True:
            try:
                page = self.feed.get(following)
            except WeftError as error:
                if not _is_passing(error):
                    raise
                time.sleep(max(error.retry_after_seconds or 0, _backoff(failures)))
                failures += 1
                continue
            failures = 0
            yield from page["events"]
            following = {**following, "cursor": page["cursor"]}
            following.pop("from", None)

    def _result(self, path: str, data: Any, effect: str, key: Optional[str]) -> Any:
        if key is None and effect in ("once", "adds"):
            key = str(uuid.uuid4())
        headers = {**self._headers, "content-type": "application/json"}
        if key is not None:
            headers["idempotency-key"] = key
        body = json.dumps({"data": data}).encode()
        ends_at = time.monotonic() + self._timeout
        made = 0
        while True:
            try:
                return self._attempt(path, headers, body, max(0.001, ends_at - time.monotonic()))
            except WeftError as error:
                after = error.retry_after_seconds
                wait = _backoff(made) if after is None else after + random.uniform(0, 0.1)
                is_late = time.monotonic() + wait >= ends_at
                if made >= self._retries or not _is_passing(error) or is_late or wait > RETRY_AFTER_MAX + 0.1:
                    raise
                time.sleep(wait)
                made += 1

    def _attempt(self, path: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Any:
        request = urllib.request.Request(self._url + path, body, dict(headers), method="POST")
        try:
            try:
                response = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                text = response.read(self._bytes_max + 1)
                length = response.headers.get("content-length")
                if length is not None and len(text) < min(int(length), self._bytes_max + 1):
                    raise http.client.IncompleteRead(text)
        except (OSError, http.client.HTTPException) as error:
            raise WeftError("client/unreachable", "UNAVAILABLE", f"no complete response: {error}") from error
        if len(text) > self._bytes_max:
            message = f"the response is larger than {self._bytes_max} bytes (response_bytes_max)"
            raise WeftError("client/invalid-response", "INTERNAL", message)
        after = _retry_after(response.headers.get("retry-after"))
        try:
            envelope = json.loads(text)
            if response.status == 200:
                return envelope["result"]
            error = envelope["error"]
            details = error["details"]
            failure = WeftError(details["code"], error["status"], error["message"], details, after)
        except (ValueError, KeyError, TypeError) as error:
            status = "UNAVAILABLE" if response.status in PASSING_HTTP_CODES else "INTERNAL"
            message = f"the response with HTTP status {response.status} is not from Weft"
            raise WeftError("client/invalid-response", status, message, None, after) from error
        raise failure


def _is_passing(error: WeftError) -> bool:
    is_limit = error.status == "RESOURCE_EXHAUSTED" and error.retry_after_seconds is not None
    return error.status == "UNAVAILABLE" or is_limit or error.code in PASSING_CODES


def _backoff(made: int) -> float:
    full = min(BACKOFF_FIRST * 2 ** min(made, 10), BACKOFF_MAX)
    return full / 2 + random.uniform(0, full / 2)


def _retry_after(value: Optional[str]) -> Optional[float]:
    return float(value) if value is not None and value.isascii() and value.isdigit() else None


class WebhookRejectedError(Exception):
    """The error of a request that Weft did not sign with the secret, or that is too old."""


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    tolerance_seconds: float = 300,
) -> Any:
    """Checks the signature of a webhook or a callback (Standard Webhooks), and returns the JSON of its body.

    `body` must be the bytes as they were received. `secret` is `whsec_…`, or several while a secret is replaced.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        message_id = found["webhook-id"]
        timestamp = found["webhook-timestamp"]
        signatures = found["webhook-signature"].split(" ")[:10]
    except KeyError as error:
        raise WebhookRejectedError(f"the header {error.args[0]} is missing") from error
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookRejectedError("the header webhook-timestamp is not a time")
    if abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise WebhookRejectedError("the time of the request is too far from the time here")
    signed = f"{message_id}.{timestamp}.".encode() + body
    for each in ([secret] if isinstance(secret, str) else secret)[:10]:
        key = _key_of(each)
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures):
            return _payload_of(body)
    raise WebhookRejectedError("the signature does not belong to the body and the secret")


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True) if secret.startswith("whsec_") else b""
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("invalid secret of a webhook; expected whsec_ followed by base64")
    return key


def _payload_of(body: bytes) -> Any:
    try:
        payload = json.loads(body)
        encoded = payload.get("encodedPayload") if isinstance(payload, dict) else None
        return json.loads(base64.b64decode(encoded)) if isinstance(encoded, str) else payload
    except ValueError as error:
        raise WebhookRejectedError("the body is not JSON") from error
