"""A release page on this machine, a Go that writes small shell scripts, and no way to the outside."""

from __future__ import annotations

import http.server
import io
import json
import shlex
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
# $package
echo "$version"
echo "kind $version"
echo "Kubernetes $version"
echo "Client Version: $version"
echo "etcd Version: $version"
echo "CoreDNS-$version"
echo "Version:  $version"
"""
"""A program that answers every question for its version, in everybody's words."""

GO = r"""#!/bin/sh
line=$(printf '%s\037' "$@")
printf '%s\n' "$line" >> {state}/calls
case "$*" in
{failing}
esac
case "$*" in
"env "*) echo {env} ;;
"mod download "*) echo '{{"GoMod": "theirs.mod", "Origin": {{"Hash": "c0ffee"}}}}' ;;
"mod edit -json "*) echo {theirs} ;;
"list "*) printf '%s\n' fmt main ;;
"build "*)
    cp go.mod {state}/go.mod
    touch go.sum  # as -mod=mod does
    env > {state}/environment
    version={answers}
    [ -n "$version" ] || version=$(sed -n 's/^require [^ ]* //p' go.mod)
    while [ "$1" != -o ]; do shift; done
    into=$2
    shift 2
    for package; do
        echo "$package" >&2
        name=$(echo "$package" | sed -E 's|/v[0-9]+$||; s|.*/||; s|^[.]$|own|')
        cat > "$into/$name" <<END
{script}END
        chmod 755 "$into/$name"
    done
    ;;
esac
"""
"""A Go that records its arguments; in sh, because each build asks it five times."""


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

    folder: Path

    @property
    def calls(self) -> list[list[str]]:
        """Arguments of every call."""
        calls = self.folder / "calls"
        return [line.split("\x1f")[:-1] for line in calls.read_text().splitlines()] if calls.exists() else []

    @property
    def builds(self) -> list[list[str]]:
        """Arguments of every ``go build``."""
        return [call for call in self.calls if call[0] == "build"]

    def go_mod(self) -> list[str]:
        """Return the lines of the go.mod that it built with."""
        return (self.folder / "go.mod").read_text().splitlines()

    def environment(self) -> dict[str, str]:
        """Return the environment that it built with."""
        lines = (self.folder / "environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.fixture
def fake_go(guarded: Path, tmp_path: Path) -> Callable[..., GoState]:
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
        script = GO.format(
            state=shlex.quote(str(state)),
            env=shlex.quote(json.dumps({"GOVERSION": go, "GOTOOLCHAIN": toolchain})),
            theirs=shlex.quote(json.dumps(theirs or {"Go": "1.26.0"})),
            failing="\n".join(
                f"{shlex.quote(sign)}*) echo {shlex.quote(text)} >&2; exit 1 ;;"
                for sign, text in (failing or {}).items()
            ),
            answers=shlex.quote(answers),
            script=ANSWERS,
        )
        (guarded / "go").write_text(script)
        (guarded / "go").chmod(0o755)
        return GoState(state)

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
