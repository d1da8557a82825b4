"""The engines, against a server on loopback that speaks OpenAI's chat schema."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import threading
from typing import Any

import pytest
from fake_openai import KEY, Endpoint, Reply, completion, stream_of

from regen.models import limit, wire
from regen.models.engine import AsyncOpenAIEngine, OpenAIEngine
from regen.models.pace import Pace
from regen.quiet import import_dspy

dspy = import_dspy()
lm15 = dspy.lm15


def engine(endpoint: Endpoint, **options: Any) -> OpenAIEngine:
    return OpenAIEngine(endpoint.url, KEY, **{"timeout": 5, **options})


def request(model: str = "openai/gpt-4.1-mini", **config: Any) -> Any:
    return lm15.Request(model=model, messages=(lm15.Message.user("Hi"),), config=lm15.Config(**config))


def lm(endpoint: Endpoint, **options: Any) -> Any:
    engine_options = {"timeout": 5, **options}
    return dspy.LM(
        "openai/gpt-4.1-mini",
        engine=OpenAIEngine(endpoint.url, KEY, **engine_options),
        async_engine=AsyncOpenAIEngine(endpoint.url, KEY, **engine_options),
        cache=False,
        num_retries=0,
    )


def test_answer_usage_and_model_come_back(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(completion("Four."))]
    response = engine(endpoint).complete(request())
    assert response.text == "Four."
    assert response.model == "served-model"
    assert (response.usage.input_tokens, response.usage.output_tokens) == (12, 3)
    assert response.usage.cache_read_tokens == 8


def test_prefix_of_the_provider_stays_off_the_wire(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(completion())]
    engine(endpoint).complete(request("openai/gpt-4.1-mini"))
    engine(endpoint, wire_model="Qwen/Qwen3-8B").complete(request("Qwen/Qwen3-8B"))
    assert [sent["body"]["model"] for sent in endpoint.requests] == ["gpt-4.1-mini", "Qwen/Qwen3-8B"]


def test_sampling_options_reach_the_wire(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(completion())]
    extra = {"min_p": 0.1}
    config = {"temperature": 0.0, "max_tokens": 5, "seed": 7, "logprobs": 4, "stop": ("\n",), "extensions": extra}
    engine(endpoint).complete(request(**config))
    body = endpoint.requests[0]["body"]
    assert {name: body[name] for name in ("temperature", "max_tokens", "seed", "min_p", "stop")} == {
        "temperature": 0.0,
        "max_tokens": 5,
        "seed": 7,
        "min_p": 0.1,
        "stop": ["\n"],
    }
    assert (body["logprobs"], body["top_logprobs"]) == (True, 4)
    assert endpoint.requests[0]["headers"]["authorization"] == f"Bearer {KEY}"


def test_reasoning_models_get_max_completion_tokens(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(completion())]
    engine(endpoint).complete(request("openai/gpt-5-mini", max_tokens=16000))
    assert endpoint.requests[0]["body"]["max_completion_tokens"] == 16000
    assert "max_tokens" not in endpoint.requests[0]["body"]


def test_account_of_openai_is_told_to_nobody_else(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    endpoint.replies = [Reply(completion())]
    engine(endpoint).complete(request())
    assert "org-1" not in endpoint.requests[0]["headers"].values()


def test_logprobs_come_back(endpoint: Endpoint) -> None:
    top = [{"token": "A", "logprob": -0.1, "bytes": [65]}, {"token": "B", "logprob": -2.4, "bytes": [66]}]
    content = [{"token": "A", "logprob": -0.1, "bytes": [65], "top_logprobs": top}]
    endpoint.replies = [Reply(completion("A", logprobs={"content": content}))]
    (answer,) = lm(endpoint)("A or B?", logprobs=True, top_logprobs=2)
    (token,) = answer["logprobs"].content
    assert [(other.token, other.logprob) for other in token.top_logprobs] == [("A", -0.1), ("B", -2.4)]


def test_structured_output_is_asked_for_by_schema(endpoint: Endpoint) -> None:
    class Verdict(dspy.Signature):
        """Judge."""

        claim: str = dspy.InputField()
        true: bool = dspy.OutputField()

    endpoint.replies = [Reply(completion('{"true": false}'))]
    with dspy.context(lm=lm(endpoint), adapter=dspy.JSONAdapter()):
        assert dspy.Predict(Verdict)(claim="The moon is cheese.").true is False
    sent = endpoint.requests[0]["body"]["response_format"]
    assert sent["type"] == "json_schema"
    assert list(sent["json_schema"]["schema"]["properties"]) == ["true"]


def test_stream_has_a_start_the_deltas_and_an_end_with_usage(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(chunks=stream_of("Hel", "lo."))]
    events = list(engine(endpoint).stream(request()))
    assert [event.type for event in events] == ["start", "delta", "delta", "end"]
    assert [event.delta.text for event in events[1:3]] == ["Hel", "lo."]
    assert (events[-1].finish_reason, events[-1].usage.input_tokens) == ("stop", 12)
    assert endpoint.requests[0]["body"]["stream_options"] == {"include_usage": True}


def test_async_answers_and_streams_in_one_loop_after_another(endpoint: Endpoint) -> None:
    asynchronous = AsyncOpenAIEngine(endpoint.url, KEY, timeout=5)

    async def texts() -> list[str]:
        return [event.delta.text async for event in asynchronous.stream(request()) if event.type == "delta"]

    endpoint.replies = [Reply(completion("One."))]
    assert asyncio.run(asynchronous.complete(request())).text == "One."
    endpoint.replies = [Reply(chunks=stream_of("T", "wo."))]
    assert asyncio.run(texts()) == ["T", "wo."]


def test_dspy_streams_through_it(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(chunks=stream_of("[[ ## answer ## ]]\n", "Paris", " it is", "\n\n[[ ## completed ## ]]"))]
    listeners = [dspy.streaming.StreamListener(signature_field_name="answer")]
    program = dspy.streamify(dspy.Predict("question -> answer"), stream_listeners=listeners)

    async def run() -> tuple[list[str], Any]:
        pieces, prediction = [], None
        async for item in program(question="Capital of France?"):
            if isinstance(item, dspy.streaming.StreamResponse):
                pieces.append(item.chunk)
            elif isinstance(item, dspy.Prediction):
                prediction = item
        return pieces, prediction

    with dspy.context(lm=lm(endpoint)):
        pieces, prediction = asyncio.run(run())
    assert prediction.answer == "Paris it is"
    assert "".join(pieces).strip() == "Paris it is"


def failure(message: str, **error: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **error}}


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, failure(f"Incorrect API key provided: {KEY}", code="invalid_api_key"), lm15.AuthError),
        (403, failure(f"No access for {KEY}"), lm15.AuthError),
        (402, failure("Pay"), lm15.BillingError),
        (429, failure("Quota", type="insufficient_quota", code="insufficient_quota"), lm15.BillingError),
        (429, failure("Slow down"), lm15.RateLimitError),
        (404, failure("The model does not exist", code="model_not_found"), lm15.UnsupportedModelError),
        (404, b"404 page not found", lm15.UnsupportedModelError),
        (400, failure("Too long", code="context_length_exceeded"), lm15.ContextLengthError),
        (
            400,
            {"error": {"code": 400, "message": "exceeds", "type": "exceed_context_size_error"}},
            lm15.ContextLengthError,
        ),
        (400, failure("Bad value"), lm15.InvalidRequestError),
        (422, {"detail": "Bad value"}, lm15.InvalidRequestError),
        (500, failure(f"Boom {KEY}"), lm15.ServerError),
        (503, b"<html>busy</html>", lm15.ServerError),
        (200, b"{not json", lm15.ProviderError),
        (200, b"[1, 2]", lm15.ProviderError),
        (200, {"choices": []}, lm15.ProviderError),
        (200, {"choices": [{"index": 0}]}, lm15.ProviderError),
        (200, failure(f"Hidden in a 200: {KEY}", code="server_error"), lm15.ServerError),
    ],
)
def test_failures_become_lm15_errors_without_the_key(
    endpoint: Endpoint, status: int, body: Any, expected: type[Exception]
) -> None:
    endpoint.replies = [Reply(body, status=status)]
    with pytest.raises(lm15.LM15Error) as caught:
        engine(endpoint).complete(request())
    assert type(caught.value) is expected
    assert KEY not in str(caught.value) + caught.value.message + repr(caught.value)
    with pytest.raises(expected):
        asyncio.run(AsyncOpenAIEngine(endpoint.url, KEY, timeout=5).complete(request()))


def test_retry_after_is_carried_and_waited_for(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = Reply(failure("Slow down"), status=429, headers={"Retry-After": "7"})
    endpoint.replies = [limited]
    with pytest.raises(lm15.RateLimitError) as caught:
        engine(endpoint).complete(request())
    assert caught.value.retry_after == 7.0

    now, waited = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        now[0] += seconds
        waited.append(seconds)

    monkeypatch.setattr("dspy.clients.execution.time.sleep", sleep)
    monkeypatch.setattr("regen.models.engine.Pace", lambda: Pace(lambda: now[0]))
    endpoint.replies = [limited, Reply(completion("At last."))]
    assert lm(endpoint).copy(num_retries=1)("Hi") == ["At last."]
    assert 7.0 in waited
    assert now[0] < 9


def test_no_answer_in_time_is_a_timeout(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(completion(), delay=1.0)]
    with pytest.raises(lm15.TimeoutError, match=r"within 0\.2 seconds"):
        engine(endpoint, timeout=0.2).complete(request())


def test_nobody_listening_is_a_transport_error(endpoint: Endpoint) -> None:
    endpoint.server.server_close()
    with pytest.raises(lm15.TransportError, match=r"Cannot reach http://127\.0\.0\.1"):
        engine(endpoint).complete(request())


def test_broken_stream_is_an_error(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(chunks=["{not json"])]
    with pytest.raises(lm15.ProviderError):
        list(engine(endpoint).stream(request()))
    endpoint.replies = [Reply(chunks=[{"error": {"message": f"overloaded {KEY}", "code": "server_error"}}])]
    with pytest.raises(lm15.LM15Error) as caught:
        list(engine(endpoint).stream(request()))
    assert KEY not in str(caught.value)


def test_proxy_of_the_web_gets_no_loopback_call(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    endpoint.replies = [Reply(completion("Direct."))]
    assert engine(endpoint).complete(request()).text == "Direct."


def test_calls_in_flight_stay_below_the_limit_of_the_process(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(completion(), delay=0.05)]
    limit(2)
    try:
        sync, asynchronous = engine(endpoint), AsyncOpenAIEngine(endpoint.url, KEY, timeout=5)
        threads = [threading.Thread(target=sync.complete, args=(request(),)) for _ in range(5)]
        for thread in threads:
            thread.start()

        async def several() -> None:
            await asyncio.gather(*(asynchronous.complete(request()) for _ in range(5)))

        asyncio.run(several())
        for thread in threads:
            thread.join()
    finally:
        limit(8)
    assert (endpoint.most_busy, len(endpoint.requests)) == (2, 10)


def test_saved_lm_has_no_key_and_reads_it_from_its_variable(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = lm(endpoint, key_variable="OPENAI_API_KEY").dump_state()
    assert KEY not in json.dumps(state)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    endpoint.replies = [Reply(completion("Loaded."))]
    assert dspy.LM.load_state(state, allow_custom_lm_class=True)("Hi") == ["Loaded."]
    assert endpoint.requests[0]["headers"]["authorization"] == "Bearer sk-from-the-environment"


def test_stream_that_breaks_off_is_not_taken_for_an_answer(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(chunks=stream_of("Hel", "lo.")[:1])]
    assert [event.type for event in engine(endpoint).stream(request())] == ["start", "delta"]


def test_placeholder_for_a_key_garbles_no_error(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(failure("Bad value"), status=400)]
    with pytest.raises(lm15.InvalidRequestError, match="Bad value"):
        OpenAIEngine(endpoint.url, "a", timeout=5).complete(request())


def test_password_in_the_address_is_not_saved() -> None:
    state = OpenAIEngine("https://user:secret@host.example/v1?token=secret").dump_state()
    assert state["base_url"] == "https://host.example/v1"


def test_copies_and_pickles_work_and_show_no_key(endpoint: Endpoint) -> None:
    original = engine(endpoint)
    assert copy.deepcopy(original) is original
    assert KEY not in repr(original)
    pickled = pickle.dumps(original)
    assert KEY.encode() not in pickled
    assert pickle.loads(pickled).base_url == original.base_url


def test_closed_engine_answers_no_more(endpoint: Endpoint) -> None:
    closed = engine(endpoint)
    closed.close()
    with pytest.raises(lm15.ConfigurationError):
        closed.complete(request())


def test_retry_after_of_hours_is_not_waited_for(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(failure("Slow down"), status=429, headers={"Retry-After": "99999"})]
    with pytest.raises(lm15.RateLimitError) as caught:
        engine(endpoint).complete(request())
    assert caught.value.retry_after == wire.LONGEST_WAIT


@pytest.mark.parametrize("key", ["back\\slash-and-'quote'", "secret-key-0123"])
def test_a_key_is_taken_out_however_it_is_written(key: str) -> None:
    for written in (key, repr(key), json.dumps(key)):
        assert key[:6] not in wire.scrub(f"refused {written}", key)


@pytest.mark.parametrize(
    ("address", "shown"),
    [("http://[abc", "(not an address)"), ("user:pass@host/v1", "host/v1"), ("http://u:p@h/v1?k=1", "http://h/v1")],
)
def test_credentials_are_taken_out_of_any_address(address: str, shown: str) -> None:
    assert wire.without_credentials(address) == shown
