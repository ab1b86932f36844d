"""The image under test and its base: from an image, a Dockerfile, a binary or a version, asked before any cluster."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from schedproof import programs
from schedproof.errors import ImageError, UsageError
from schedproof.images import busybox, engine, scheduler
from schedproof.images.scheduler import COMMAND, ensure_scheduler_image
from schedproof.settings import settings

DOCKER = """
import re
there = {there!r}
if argv[:2] == ["image", "inspect"]:
    if "--format" in argv:
        print(json.dumps({config!r}))
    elif argv[2] in there or "scheduler:" in argv[2] and os.path.exists({built!r}):
        print(json.dumps([dict(Id="sha256:" + argv[2])]))
    else:
        sys.exit("Error: No such image: " + argv[2])
elif argv[0] == "run":
    program = argv[argv.index("--entrypoint") + 1]
    if program != {program!r}:
        sys.exit("exec: " + program + ": not found")
    print({answer!r})
elif argv[0] == "build":
    if {build_fails!r}:
        sys.exit({build_fails!r})
    open({built!r}, "w").write("\\n".join(sorted(os.listdir(argv[-1]))))
    if "--iidfile" in argv:
        open(argv[argv.index("--iidfile") + 1], "w").write("sha256:0123456789abcdef")
elif argv[0] == "pull":
    if not {pullable!r}:
        sys.exit("Error response from daemon: manifest unknown")
"""


@pytest.fixture
def docker(fake: Any, tmp_path: Path) -> Any:
    def make(**changes: Any) -> Any:
        usual = {
            "there": ["mine:1", busybox.OFFICIAL], "config": {"Entrypoint": None, "Cmd": None}, "program": COMMAND,
            "answer": "Kubernetes v1.37.2", "build_fails": "", "pullable": False, "built": str(tmp_path / "built"),
        }  # fmt: skip
        return fake("docker", DOCKER.format(**{**usual, **changes}))

    engine.forget_unreachable()
    return make


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "it's my scheduler"
    path.write_bytes(b"program")
    path.chmod(0o755)
    return path


def ensure(kubernetes: str = "v1.37.2", **options: Any) -> scheduler.SchedulerImage:
    return ensure_scheduler_image(settings(options, {}), kubernetes)


def verbs(docker: Any) -> list[str]:
    return [call[0] for call in docker.calls]


def test_an_image_that_is_there_is_asked_for_its_version_and_not_pulled(docker: Any) -> None:
    called = docker()
    image = ensure(scheduler_image="mine:1")
    assert (image.tag, image.id, image.version, image.command) == ("mine:1", "sha256:mine:1", "v1.37.2", COMMAND)
    assert "pull" not in verbs(called)


def test_an_image_that_cannot_be_had_is_named_with_the_engines_words(docker: Any) -> None:
    docker()
    with pytest.raises(ImageError, match="other:1 is in the engine or can be pulled") as failed:
        ensure(scheduler_image="other:1")
    assert "manifest unknown" in failed.value.message.seen


@pytest.mark.parametrize(
    ("config", "program"),
    [
        ({"Entrypoint": ["/bin/my-scheduler", "--v=2"], "Cmd": None}, "/bin/my-scheduler"),
        ({"Entrypoint": None, "Cmd": ["/kube-scheduler"]}, "/kube-scheduler"),
        ({"Entrypoint": None, "Cmd": ["/bin/sh"]}, "kube-scheduler"),
    ],
)
def test_a_program_elsewhere_is_found_by_the_images_own_words(
    config: dict[str, Any], program: str, docker: Any
) -> None:
    docker(config=config, program=program)
    assert ensure(scheduler_image="mine:1").command == program


@pytest.mark.parametrize(("program", "answer"), [("/somewhere", "v1.37.2"), (COMMAND, "usage: ...")])
def test_an_image_without_an_answering_scheduler_is_refused_with_what_was_tried(
    program: str, answer: str, docker: Any
) -> None:
    docker(program=program, answer=answer)
    with pytest.raises(ImageError, match="answers --version") as failed:
        ensure(scheduler_image="mine:1")
    assert f"{COMMAND} --version" in failed.value.message.seen
    assert "CGO_ENABLED=0" in failed.value.message.cause


@pytest.mark.parametrize(
    ("version", "seen"), [("v1.38.0", "the scheduler is newer"), ("v1.35.4", "the scheduler is 2 minor versions older")]
)
def test_a_scheduler_outside_the_version_skew_is_refused_unless_asked_for(version: str, seen: str, docker: Any) -> None:
    docker(answer=f"Kubernetes {version}")
    with pytest.raises(UsageError, match="version skew policy") as refused:
        ensure(scheduler_image="mine:1")
    assert refused.value.message.seen == seen
    assert ensure(scheduler_image="mine:1", allow_skew=True).version == version


def test_one_minor_version_older_goes(docker: Any) -> None:
    docker(answer="Kubernetes v1.36.3")
    assert ensure(scheduler_image="mine:1").version == "v1.36.3"


def test_a_version_outside_the_skew_costs_no_build(docker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    docker()
    monkeypatch.setattr(programs, "ensure", lambda *_: pytest.fail("a program was made"))
    with pytest.raises(UsageError, match="skew"):
        ensure(scheduler_version="v1.38.0")


def test_a_version_is_put_into_the_documents_image_once(
    docker: Any, binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = docker()
    monkeypatch.setattr(programs, "ensure", lambda *_: {"kube-scheduler": binary})
    image = ensure()
    assert image.tag.startswith("schedproof/kube-scheduler:v1.37.2-")
    assert (tmp_path / "built").read_text() == "Dockerfile\nkube-scheduler"
    build = next(call for call in called.calls if call[0] == "build")
    assert f"BASE={busybox.OFFICIAL}" in build
    assert ensure() == image
    assert verbs(called).count("build") == 1


def test_another_binary_is_another_image(docker: Any, binary: Path) -> None:
    docker()
    first = ensure(scheduler_binary=str(binary)).tag
    binary.write_bytes(b"another program")
    assert ensure(scheduler_binary=str(binary)).tag != first


def test_a_binary_that_cannot_be_run_is_the_callers_fault(docker: Any, binary: Path) -> None:
    docker()
    binary.chmod(0o644)
    with pytest.raises(UsageError, match="chmod"):
        ensure(scheduler_binary=str(binary))


def test_a_dockerfile_is_built_in_its_own_folder_and_named_by_its_content(docker: Any, tmp_path: Path) -> None:
    called = docker()
    dockerfile = tmp_path / "my folder" / "Dockerfile.mine"
    dockerfile.parent.mkdir()
    dockerfile.touch()
    assert ensure(scheduler_dockerfile=str(dockerfile)).tag == "schedproof/scheduler:0123456789ab"
    build = next(call for call in called.calls if call[0] == "build")
    assert build[-3:] == ["--file", str(dockerfile), str(dockerfile.parent)]
    assert ["tag", "sha256:0123456789abcdef", "schedproof/scheduler:0123456789ab"] in called.calls


def test_a_dockerfile_that_does_not_build_shows_the_engines_words(docker: Any, tmp_path: Path) -> None:
    docker(build_fails="ADD failed: file not found")
    (tmp_path / "Dockerfile").touch()
    with pytest.raises(ImageError, match="ADD failed: file not found"):
        ensure(scheduler_dockerfile=str(tmp_path / "Dockerfile"))


class TestBusybox:
    """The base: there, pulled, or made from Debian's."""

    @pytest.mark.parametrize(("there", "pullable", "tag"), [
        ([busybox.OWN, busybox.OFFICIAL], True, busybox.OFFICIAL), ([busybox.OWN], True, busybox.OWN),
        ([], True, busybox.OFFICIAL),
    ])  # fmt: skip
    def test_what_is_there_comes_before_a_pull(
        self, there: list[str], tag: str, docker: Any, *, pullable: bool
    ) -> None:
        docker(there=there, pullable=pullable)
        assert busybox.ensure_busybox(settings({}, {})) == tag

    def test_where_nothing_can_be_pulled_it_is_made_from_debians_package(
        self, docker: Any, fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        docker(there=[])
        fake("apt-get", "argv[0] == 'download' and open('busybox-static_1_amd64.deb', 'w').close()")
        fake("dpkg-deb", "os.makedirs(argv[-1] + '/usr/bin'); open(argv[-1] + '/usr/bin/busybox', 'w').close()")
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        assert busybox.ensure_busybox(settings({}, {})) == busybox.OWN
        assert (tmp_path / "built").read_text() == "Dockerfile\nbusybox"

    def test_a_forced_provider_is_the_only_one_asked_and_an_unknown_one_named(self, docker: Any) -> None:
        called = docker()
        with pytest.raises(ImageError, match="pull: manifest unknown"):
            busybox.ensure_busybox(settings({"providers": "busybox=pull"}, {}))
        assert verbs(called) == ["pull"]
        with pytest.raises(ImageError, match="there is no such provider"):
            busybox.ensure_busybox(settings({"providers": "busybox=hub"}, {}))
