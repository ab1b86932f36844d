"""A release page on this machine, a Go that writes small shell scripts, and no way to the outside."""

from __future__ import annotations

import http.server
import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from schedproof.programs import download
from schedproof.progress import Steps
from schedproof.settings import Settings, settings

NOWHERE = "http://127.0.0.1:1"

ANSWERS = """#!/bin/sh
# {name}
echo {version}
echo "kind {version}"
echo "Kubernetes {version}"
echo "Client Version: {version}"
echo "etcd Version: {version}"
echo "CoreDNS-{version}"
echo "Version:  {version}"
"""
"""A program that answers every question for its version, in everybody's words."""

GO = """
from pathlib import Path
state = Path({state!r})
words = " ".join(argv)
for sign, text in {failing!r}.items():
    if words.startswith(sign):
        print(text, file=sys.stderr)
        sys.exit(1)
if words.startswith("env"):
    print(json.dumps({{"GOVERSION": {go!r}, "GOTOOLCHAIN": {toolchain!r}}}))
elif words.startswith("mod download"):
    print(json.dumps({{"GoMod": "theirs.mod", "Origin": {{"Hash": "c0ffee"}}}}))
elif words.startswith("mod edit -json"):
    print(json.dumps({theirs!r}))
elif words.startswith("list"):
    print("\\n".join(["fmt", *argv[3:]]))
elif words.startswith("build"):
    (state / "go.mod").write_text(Path("go.mod").read_text())
    (state / "environment").write_text(json.dumps(dict(os.environ)))
    required = [line.split()[2] for line in Path("go.mod").read_text().splitlines() if line.startswith("require")]
    version = {answers!r} or (required or [""])[0]
    into = argv[argv.index("-o") + 1]
    for package in argv[argv.index("-o") + 2:]:
        print(package, file=sys.stderr)
        parts = package.split("/")
        name = parts[-2] if parts[-1].startswith("v") and parts[-1][1:].isdigit() else parts[-1].replace(".", "own")
        path = Path(into) / name
        path.write_text({script!r}.format(name=package, version=version))
        path.chmod(0o755)
"""


@pytest.fixture(autouse=True)
def outside_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lead both release pages to a port that refuses at once, and forget who was silent in other tests."""
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.lower(), raising=False)
    monkeypatch.setenv("SCHEDPROOF_KIND_RELEASES", NOWHERE)
    monkeypatch.setenv("SCHEDPROOF_KUBERNETES_RELEASES", NOWHERE)
    download.forget()


@pytest.fixture
def choose() -> Callable[..., Settings]:
    """Make settings: ``choose(providers="kind=release")``."""

    def make(**options: Any) -> Settings:
        return settings(options, {})

    return make


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a log shows of the steps."""
    written = io.StringIO()
    monkeypatch.setattr("schedproof.programs.search.progress", Steps(Console(file=written, soft_wrap=True)))
    return written


@dataclass
class GoState:
    """What the fake Go was asked, and what it wrote down when it built."""

    fake: Any
    folder: Path

    @property
    def builds(self) -> list[list[str]]:
        """Arguments of every ``go build``."""
        return [call for call in self.fake.calls if call[0] == "build"]

    def seen(self, name: str) -> str:
        """Return what it wrote down: ``go.mod`` or ``environment``."""
        return (self.folder / name).read_text()


@pytest.fixture
def fake_go(fake: Callable[..., Any], tmp_path: Path) -> Callable[..., GoState]:
    """Make a Go: ``fake_go(failing={"build": "no space left on device"})``."""

    def make(
        *,
        go: str = "go1.26.8",
        toolchain: str = "auto",
        theirs: dict[str, Any] | None = None,
        failing: dict[str, str] | None = None,
        answers: str = "",
    ) -> GoState:
        state = tmp_path / "go-state"
        state.mkdir(exist_ok=True)
        body = GO.format(
            state=str(state),
            go=go,
            toolchain=toolchain,
            theirs=theirs or {"Go": "1.26.0"},
            failing=failing or {},
            answers=answers,
            script=ANSWERS,
        )
        return GoState(fake("go", body), state)

    return make


@dataclass
class Page:
    """A file of the release page: what is sent, and what its Content-Length promises."""

    body: bytes
    status: int = 200
    promised: int | None = None


@dataclass
class ReleasePage:
    """A server with the release pages' layout."""

    base: str
    pages: dict[str, list[Page]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)

    @staticmethod
    def cut(body: bytes, length: int) -> Page:
        """Return a page whose connection ends after ``length`` bytes of the promised body."""
        return Page(body[:length], promised=len(body))

    def serve(self, path: str, *pages: Page | bytes) -> None:
        """Serve these one after the other; the last one for ever."""
        self.pages[path] = [page if isinstance(page, Page) else Page(page) for page in pages]


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleasePage]:
    """Serve on this machine; both release pages lead there. ``open.clear()`` makes it silent."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page_server.asked.append(self.path)
            page_server.open.wait(10)
            pages = page_server.pages.get(self.path, [Page(b"not here", status=404)])
            page = pages.pop(0) if len(pages) > 1 else pages[0]
            self.send_response(page.status)
            self.send_header("Content-Length", str(page.promised or len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def log_message(self, *args: Any) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Clients that hang up are what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    page_server = ReleasePage(f"http://127.0.0.1:{server.server_port}")
    page_server.open.set()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("SCHEDPROOF_KIND_RELEASES", page_server.base)
    monkeypatch.setenv("SCHEDPROOF_KUBERNETES_RELEASES", page_server.base)
    yield page_server
    page_server.open.set()
    server.shutdown()
    server.server_close()
