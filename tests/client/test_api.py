"""The API client: verbs, refusals with the rule that is missing, retries that end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import schedproof
from schedproof.api import Api, Forbidden, Refused, missing_rule
from schedproof.api.kinds import split
from schedproof.errors import ApiError, UsageError

LIST_FORBIDDEN = (
    'pods is forbidden: User "system:serviceaccount:kube-system:my-scheduler" cannot list resource "pods" '
    'in API group "" at the cluster scope'
)
LEASE_FORBIDDEN = (
    'leases.coordination.k8s.io "my-scheduler" is forbidden: User "u" cannot update resource "leases" '
    'in API group "coordination.k8s.io" in the namespace "kube-system"'
)


def test_requests_carry_our_user_agent_and_the_kubeconfigs_token(server: Any, api: Api) -> None:
    api.list("Pod", "ns")
    headers = server.calls[-1].headers
    assert headers["User-Agent"] == f"schedproof/{schedproof.__version__}"
    assert headers["authorization"] == "Bearer a-token"


def test_acting_as_another_user_sends_each_group_on_its_own(server: Any, kubeconfig: Path) -> None:
    Api(kubeconfig, user="system:serviceaccount:a:b", groups=["system:serviceaccounts", "x"]).list("Pod", "ns")
    headers = server.calls[-1].headers
    assert headers["Impersonate-User"] == "system:serviceaccount:a:b"
    assert headers["Impersonate-Group"] in ("system:serviceaccounts", "x")


def test_listed_objects_know_their_kind(server: Any, api: Api) -> None:
    server.pod("pod1")
    found, version = api.list("Pod", "ns")
    assert [(obj["apiVersion"], obj["kind"], obj["metadata"]["name"]) for obj in found] == [("v1", "Pod", "pod1")]
    assert int(version) >= 100


def test_an_object_that_does_not_exist_is_none(api: Api) -> None:
    assert api.get("Pod", "pod1", "ns") is None


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("Pod", ("v1", "Pod")),
        ("v1/Pod", ("v1", "Pod")),
        ("Deployment", ("apps/v1", "Deployment")),
        ("example.com/v1alpha1/Slot", ("example.com/v1alpha1", "Slot")),
    ],
)
def test_a_kind_may_be_written_with_or_without_its_group(kind: str, place: tuple[str, str]) -> None:
    assert split(kind) == place


def test_cluster_wide_kinds_ignore_a_namespace(api: Api) -> None:
    assert api.path("Node", "ns", "n1") == "/api/v1/nodes/n1"
    assert api.path("Deployment", "ns", "d") == "/apis/apps/v1/namespaces/ns/deployments/d"


def test_discovery_is_asked_once_a_group_version(server: Any, api: Api) -> None:
    for _ in range(3):
        api.list("Pod", "ns")
        api.list("Event", "ns")
    assert [call.path for call in server.calls if call.verb == "discover"] == ["/api/v1"]


def test_an_unknown_kind_names_what_there_is(api: Api) -> None:
    with pytest.raises(UsageError, match=r"serves kind Pood of v1[\s\S]*Namespace, Node, Pod"):
        api.list("Pood", "ns")
    with pytest.raises(UsageError, match=r"serves no example\.com/v1 at all"):
        api.list("example.com/v1/Slot", "ns")


def test_create_returns_the_object_and_delete_says_whether_it_was_there(api: Api) -> None:
    made = api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod1", "namespace": "ns"}, "spec": {}})
    assert made["metadata"]["uid"]
    assert api.delete("Pod", "pod1", "ns") is True
    assert api.delete("Pod", "pod1", "ns") is False


def test_a_create_whose_answer_was_lost_is_recognised_as_ours(server: Any, api: Api) -> None:
    server.fault("create", action="lost")
    made = api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod1", "namespace": "ns"}, "spec": {}})
    assert made["metadata"]["name"] == "pod1"
    assert server.verbs().count("create") == 2


def test_a_create_of_a_name_that_somebody_has_is_refused(server: Any, api: Api) -> None:
    server.pod("pod1")
    with pytest.raises(Refused, match="409 AlreadyExists") as refused:
        api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod1", "namespace": "ns"}, "spec": {}})
    assert (refused.value.code, refused.value.category) == (409, "harness")


@pytest.mark.parametrize("code", [429, 500, 503])
def test_an_overloaded_server_is_asked_again(server: Any, api: Api, code: int) -> None:
    server.fault("list", code=code, message="later")
    assert api.list("Pod", "ns")[0] == []
    assert server.verbs() == ["list", "list"]


def test_a_dropped_connection_is_tried_again(server: Any, api: Api) -> None:
    server.fault("list", action="drop")
    assert api.list("Pod", "ns")[0] == []


def test_retries_end_and_show_the_last_error_itself(server: Any, api: Api) -> None:
    server.fault("list", times=1000, code=503, message="etcd is gone")
    with pytest.raises(ApiError, match=r"503[\s\S]*etcd is gone"):
        api.list("Pod", "ns", patience=0.2)
    assert server.verbs().count("list") > 1


def test_a_refused_connection_is_an_error_of_the_harness(server: Any, api: Api) -> None:
    api.list("Pod", "ns")
    server.shutdown()
    server.server_close()
    server.fault("list", times=1000, action="drop")
    with pytest.raises(ApiError) as error:
        api.list("Pod", "ns", patience=0.2)
    assert error.value.category == "harness"


def test_403_names_the_missing_rule_and_is_not_retried(server: Any, api: Api) -> None:
    server.fault("list", code=403, message=LIST_FORBIDDEN)
    with pytest.raises(Forbidden, match=r'resources: \["pods"\], verbs: \["list"\]') as forbidden:
        api.list("Pod")
    assert forbidden.value.rule.user == "system:serviceaccount:kube-system:my-scheduler"
    assert server.verbs() == ["list"]


def test_the_missing_rule_names_object_and_namespace() -> None:
    rule = missing_rule(LEASE_FORBIDDEN)
    assert rule is not None
    assert (rule.group, rule.resource, rule.verb) == ("coordination.k8s.io", "leases", "update")
    assert (rule.namespace, rule.name) == ("kube-system", "my-scheduler")
    assert 'resourceNames, if given, must hold "my-scheduler"' in str(rule)


def test_the_missing_rule_is_found_in_a_schedulers_log_with_escaped_quotes() -> None:
    log = r'E1201 reflector.go:204] "Failed to watch" err="failed to list *v1.StorageClass: storageclasses.storage.k8s.io is forbidden: User \"system:serviceaccount:kube-system:my-scheduler\" cannot list resource \"storageclasses\" in API group \"storage.k8s.io\" at the cluster scope"'  # noqa: E501
    rule = missing_rule(log)
    assert rule is not None
    assert (rule.resource, rule.verb, rule.group) == ("storageclasses", "list", "storage.k8s.io")


def test_the_missing_rule_of_a_path_is_a_non_resource_url() -> None:
    rule = missing_rule('forbidden: User "system:anonymous" cannot get path "/metrics"')
    assert rule is not None
    assert 'nonResourceURLs: ["/metrics"]' in str(rule)


def test_a_quota_is_no_missing_rule(server: Any, api: Api) -> None:
    server.fault("list", code=403, message='pods "a" is forbidden: exceeded quota: q')
    with pytest.raises(Refused, match="exceeded quota") as refused:
        api.list("Pod")
    assert not isinstance(refused.value, Forbidden)


def test_credentials_that_are_not_accepted_say_what_to_do(server: Any, api: Api) -> None:
    server.fault("list", code=401, message="Unauthorized")
    with pytest.raises(ApiError, match="kubeconfig's credentials"):
        api.list("Pod")


def test_a_raw_path_gives_the_answers_own_code_at_once(server: Any, api: Api) -> None:
    server.raw["/readyz"] = (500, "[-]shutdown failed")
    with pytest.raises(Refused, match=r"\[-\]shutdown failed") as refused:
        api.get_raw("/readyz")
    assert refused.value.code == 500
    assert server.verbs() == ["raw"]


@pytest.mark.parametrize("text", ["", "no: [yaml", "kind: Config\n"])
def test_a_file_that_is_no_kubeconfig_is_the_users_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong"
    path.write_text(text)
    with pytest.raises(UsageError, match="is a kubeconfig"):
        Api(path)


def test_a_kubeconfig_that_does_not_exist_is_the_users_fault(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        Api(tmp_path / "nowhere")


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    server: Any, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    server.pod("pod1")
    assert len(Api(kubeconfig).list("Pod", "ns", patience=0.1)[0]) == 1
