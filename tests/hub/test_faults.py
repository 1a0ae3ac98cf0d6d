"""Pull, load and push through a proxy that misbehaves: done right, or a clean error, and never wrong bytes."""

from __future__ import annotations

import httpx2
import pytest

from tests.hub.faults import FaultProxy, Rule, cut, drop, duplicate, lost_answer, other_bytes, status, truncate


def test_the_proxy_does_what_it_is_told(hfenv_hub):
    with FaultProxy(hfenv_hub.endpoint) as proxy, httpx2.Client(trust_env=False) as client:
        url = f"{proxy.url}/api/datasets"
        plain = client.get(url)
        proxy.script(Rule(status(429, retry_after=3), "GET", "/api/*", nth=2), Rule(truncate(), nth=3))
        assert client.get(url).content == plain.content
        limited = client.get(url)
        assert (limited.status_code, limited.headers["Retry-After"]) == (429, "3")
        assert client.get(url, headers={"X-Here": "1"}).content == plain.content[: len(plain.content) // 2]
        assert (proxy.fired, proxy.count("GET"), proxy.seen()[2].header("x-here")) == (2, 3, "1")
        for fault in (drop(), lost_answer(), cut()):
            proxy.script(Rule(fault))
            with pytest.raises(httpx2.TransportError):
                client.get(url)
        proxy.script(Rule(other_bytes()), Rule(duplicate(), nth=2))
        assert client.get(url).content != plain.content
        assert client.get(url).content == plain.content
