"""A model server on loopback that answers by script and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One request: its path, its headers in lower case, its body, what number it is."""

    path: str
    headers: Mapping[str, str]
    body: Json
    number: int
    raw: bytes = b""


@dataclass(frozen=True)
class Answer:
    """A status, a body, headers; ``drop`` breaks the connection.

    The body is JSON unless it is text, or comes in parts. With ``drop`` it breaks off after these.
    """

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False


Script = Callable[[Asked], Answer | Json]

MODELS = {"data": [{"id": "served", "object": "model", "created": 1}]}


class ScriptedServer:
    """Answers posts by ``script``, and ``/v1/models`` with ``models``; see ``close``."""

    def __init__(self, script: Script, models: object = MODELS) -> None:
        self.asked: list[Asked] = []
        self.under_way = self.most_at_once = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                found = models if isinstance(models, Answer) else Answer(models)
                self.give(found if self.path == "/v1/models" else Answer("no", 404))

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                body = json.loads(raw)
                headers = {key.lower(): value for key, value in self.headers.items()}
                with outer._lock:
                    asked = Asked(self.path, headers, body, len(outer.asked), raw)
                    outer.asked.append(asked)
                    outer.under_way += 1
                    outer.most_at_once = max(outer.most_at_once, outer.under_way)
                found = script(asked)
                with outer._lock:
                    outer.under_way -= 1
                self.give(found if isinstance(found, Answer) else Answer(found))

            def give(self, answer: Answer) -> None:
                if isinstance(answer.body, Iterator):
                    self.give_parts(answer, answer.body)
                    return
                if answer.drop:
                    self.close_connection = True
                    self.connection.close()
                    return
                text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
                data = text.encode()
                try:
                    self.send_response(answer.status)
                    for name, value in {**answer.headers, "Content-Length": len(data)}.items():
                        self.send_header(name, str(value))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    # The client gave up waiting, as one test has it do.
                    self.close_connection = True

            def give_parts(self, answer: Answer, parts: Iterator[str]) -> None:
                self.send_response(answer.status)
                for name, value in {**answer.headers, "Transfer-Encoding": "chunked"}.items():
                    self.send_header(name, value)
                self.end_headers()
                for part in parts:
                    data = part.encode()
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.close_connection = answer.drop
                if not answer.drop:
                    self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def completion(text: str, top: Mapping[str, float] | None = None) -> Json:
    """A completion with the older shape of logprobs, as vLLM and llama-cpp-python write it."""
    logprobs = None if top is None else {"top_logprobs": [top]}
    return {"choices": [{"text": text, "logprobs": logprobs}]}


def chat_completion(text: str, top: Mapping[str, float] | None = None) -> Json:
    """A chat completion, as OpenAI, llama-server and Ollama write it."""
    listed = [{"token": t, "logprob": p} for t, p in (top or {}).items()]
    logprobs = None if top is None else {"content": [{"token": text, "top_logprobs": listed}]}
    return {"choices": [{"message": {"role": "assistant", "content": text}, "logprobs": logprobs}]}
