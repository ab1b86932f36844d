"""What is wrong with a bundle before it is deployed, as far as manifests (and the cluster's objects) can tell.

A finding is a likely cause, put into messages when a scheduler does not work. Whether it also refuses the bundle is the
caller's decision; :func:`refuse_rivals` is for the one kind that would take other people's pods away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedproof.deploy import bundle
from schedproof.errors import UsageError

if TYPE_CHECKING:
    from schedproof.api import Api, Object

SCHEDULER_ROLE, VOLUME_ROLE = "system:kube-scheduler", "system:volume-scheduler"
SYSTEM_ROLES = ("extension-apiserver-authentication-reader",)
"""Roles of kube-system (not ClusterRoles) that manifests bind."""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a bundle.

    Attributes:
        id: Short and stable, e.g. ``dangling-role``.
        where: The object, as ``Kind/name``.
        sentence: What is wrong and what comes of it.
        cure: What to change.
    """

    id: str
    where: str
    sentence: str
    cure: str

    def __str__(self) -> str:
        """Return it on one line."""
        return f"{self.where}: {self.sentence}"


def findings(objects: Sequence[Object], api: Api | None = None) -> list[Finding]:
    """Return everything suspicious, the gravest kinds first.

    Args:
        objects: The bundle.
        api: Where it is to be deployed; None looks at the manifests alone (roles that only the cluster has are then
            taken on trust, and selectors are not compared with what runs).
    """
    return [found for check in _CHECKS for found in check(objects, api)]


def refuse_rivals(objects: Sequence[Object]) -> None:
    """Refuse a bundle that would answer to the default scheduler's name or overwrite a role of the system.

    Raises:
        UsageError: It would.
    """
    for found in _rival(objects, None):
        raise UsageError(
            "a second scheduler answers to a name of its own and leaves the system's roles alone",
            seen=str(found),
            cure=found.cure,
        )


def _rival(objects: Sequence[Object], _: Api | None) -> Iterator[Finding]:
    """C4: no profile, or one without a name, is the default scheduler's twin."""
    for config in bundle.configs(objects):
        where = f"ConfigMap/{config.config_map['metadata']['name']}"
        if config.content is not None and bundle.DEFAULT in config.profiles:
            named = any((profile or {}).get("schedulerName") for profile in config.content.get("profiles") or [])
            yield Finding(
                "rival",
                where,
                f"the profile {'is named' if named else 'has no name and so becomes'} {bundle.DEFAULT}: "
                "two schedulers would fight over every pod",
                "give each profile a schedulerName of its own",
            )
    for obj in objects:
        if obj["kind"] in ("ClusterRole", "Role") and str(obj["metadata"]["name"]).startswith("system:"):
            yield Finding(
                "system-role",
                _where(obj),
                "applying it would overwrite the system's own role and take rights away from the default scheduler",
                "add to the role instead (`kubectl edit`), or bind a role of your own",
            )


def _references(objects: Sequence[Object], api: Api | None) -> Iterator[Finding]:
    """What the Pod refers to and nobody brings: its containers are never created, or it is not created itself."""
    workload = bundle.workload(objects)
    if workload is None:
        return
    spec, namespace = bundle.pod_spec(workload), bundle.namespace(workload)
    wanted = [("ServiceAccount", bundle.service_account(workload), "no Pod of it is created")]
    for volume in spec.get("volumes") or []:
        source = volume.get("configMap") or {}
        if source.get("name") and not source.get("optional"):
            wanted.append(("ConfigMap", source["name"], "its Pod waits in ContainerCreating"))
    brought = {(obj["kind"], str(obj["metadata"]["name"])) for obj in objects}
    for kind, name, effect in wanted:
        there = (kind, name) in brought or name == "default"
        if not there and (api is None or api.get(kind, name, namespace) is None):
            yield Finding(
                "missing-reference",
                _where(workload),
                f"it refers to the {kind} {name}, which does not exist in {namespace}: {effect}",
                f"add the {kind} to the manifests, or correct the name",
            )


def _config(objects: Sequence[Object], _: Api | None) -> Iterator[Finding]:
    """A configuration that is none, an old version, a lease that is another's."""
    for config in bundle.configs(objects):
        where = f"ConfigMap/{config.config_map['metadata']['name']}"
        if config.content is None:
            yield Finding("config", where, f"{config.key} is no YAML mapping: the scheduler exits", "correct it")
            continue
        version = str(config.content.get("apiVersion", ""))
        if version != "kubescheduler.config.k8s.io/v1":
            yield Finding(
                "config-version",
                where,
                f"apiVersion {version or 'is missing'}: current schedulers know kubescheduler.config.k8s.io/v1 only "
                "and exit",
                "write apiVersion: kubescheduler.config.k8s.io/v1",
            )
        if len(set(config.profiles)) < len(config.profiles):
            yield Finding("config", where, "two profiles have one name: the scheduler exits", "name them differently")
    lease = bundle.lease(objects)
    if lease is not None and not lease.own:
        yield Finding(
            "default-lease",
            "leaderElection",
            f"it elects its leader with the default scheduler's lease ({lease.namespace}/{lease.name}): it stands by "
            "for ever, Running and Ready, or takes over when the default scheduler restarts",
            "set leaderElection.leaderElect: false, or resourceName to a name of its own",
        )


def _identity(objects: Sequence[Object], _: Api | None) -> Iterator[Finding]:
    """R4: who it runs as."""
    workload = bundle.workload(objects)
    if workload is None or bundle.kubeconfig(objects):  # a kubeconfig says who it is
        return
    account, namespace = bundle.service_account(workload), bundle.namespace(workload)
    if account == "default":
        yield Finding(
            "default-account",
            _where(workload),
            "it has no serviceAccountName, so it runs as the ServiceAccount default, which is refused everything",
            "set spec.template.spec.serviceAccountName",
        )
    bound = [role for role in _bound(objects, namespace, account) if role["kind"] == "ClusterRole"]
    if any(role["name"] == "cluster-admin" for role in bound):
        yield Finding(
            "cluster-admin",
            f"ServiceAccount/{account}",
            "it is cluster-admin: nothing about its permissions is proved",
            f"bind {SCHEDULER_ROLE} and {VOLUME_ROLE} instead",
        )


def _roles(objects: Sequence[Object], api: Api | None) -> Iterator[Finding]:
    """R3 and R1: bindings to roles that are not there, and rights that nobody gives."""
    brought = {(obj["kind"], str(obj["metadata"]["name"])) for obj in objects}
    for obj in objects:
        if obj["kind"] not in ("ClusterRoleBinding", "RoleBinding"):
            continue
        kind, name = str(obj["roleRef"].get("kind")), str(obj["roleRef"].get("name"))
        namespace = bundle.namespace(obj) if kind == "Role" else ""
        if (kind, name) in brought or not _missing(kind, name, namespace, api):
            continue
        yield Finding(
            "dangling-role",
            _where(obj),
            f"its roleRef is the {kind} {name}{f' in {namespace}' if namespace else ''}, which does not exist: "
            "the API server accepts it, and it grants nothing",
            f"{name} is a Role of kube-system: bind it with a RoleBinding there"
            if name in SYSTEM_ROLES
            else "correct the roleRef",
        )
    workload = bundle.workload(objects)
    if workload is None or bundle.kubeconfig(objects):
        return
    account, namespace = bundle.service_account(workload), bundle.namespace(workload)
    roles = {role["name"] for role in _bound(objects, namespace, account)}
    rules = [rule for obj in objects if obj["kind"] == "ClusterRole" and obj["metadata"]["name"] in roles
             for rule in obj.get("rules") or []]  # fmt: skip
    if "cluster-admin" in roles:
        return
    for role, group, resource in ((SCHEDULER_ROLE, "", "nodes"), (VOLUME_ROLE, "storage.k8s.io", "storageclasses")):
        if role not in roles and not any(_grants(rule, group, resource) for rule in rules):
            yield Finding(
                "missing-binding",
                f"ServiceAccount/{account}",
                f"nothing in the manifests binds it to {role} (or lets it list {resource}): it cannot read what "
                "scheduling needs, and schedules nothing",
                f"add a ClusterRoleBinding of ServiceAccount {namespace}/{account} to the ClusterRole {role}",
            )


def _image(objects: Sequence[Object], _: Api | None) -> Iterator[Finding]:
    """I2: an image that the node would try to pull."""
    workload = bundle.workload(objects)
    box = bundle.scheduler_container(workload) if workload else None
    if workload is None or box is None:
        return
    image, policy = str(box.get("image", "")), box.get("imagePullPolicy")
    latest = image.endswith(":latest") or ":" not in image.rpartition("/")[2]
    if policy == "Always" or (policy is None and latest):
        yield Finding(
            "pull",
            _where(workload),
            f"image {image} with imagePullPolicy {policy or 'Always (the default of :latest)'}: the node pulls it "
            "although it was loaded, and fails where no registry has it",
            "give the image a tag of its own and set imagePullPolicy: IfNotPresent",
        )


def _probes(objects: Sequence[Object], _: Api | None) -> Iterator[Finding]:
    """E4: a probe on the port that is gone since 1.23, or on any other that it does not serve."""
    workload = bundle.workload(objects)
    box = bundle.scheduler_container(workload) if workload else None
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        get: dict[str, Any] = ((box or {}).get(probe) or {}).get("httpGet") or {}
        if workload and box and get and (get.get("scheme", "HTTP") != "HTTPS" or _port(box, get) != bundle.port(box)):
            yield Finding(
                "probe",
                _where(workload),
                f"its {probe} asks by {get.get('scheme', 'HTTP')} on port {get.get('port')}: since 1.23 kube-scheduler "
                f"serves HTTPS on {bundle.port(box)} only, so it is restarted or never ready",
                f"scheme: HTTPS, port: {bundle.port(box)}",
            )


def _port(box: dict[str, Any], get: dict[str, Any]) -> Any:
    """Return the number of the port that a probe asks; it may name it."""
    named = {port.get("name"): port.get("containerPort") for port in box.get("ports") or []}
    return named.get(get.get("port"), get.get("port"))


def _selector(objects: Sequence[Object], api: Api | None) -> Iterator[Finding]:
    """Two workloads with one selector adopt each other's pods."""
    workload = bundle.workload(objects)
    if api is None or workload is None or workload["kind"] == "Pod":
        return
    ours = (workload["spec"].get("selector") or {}).get("matchLabels")
    others, _ = api.list(f"{workload['apiVersion']}/{workload['kind']}", bundle.namespace(workload))
    for other in others:
        theirs = (other["spec"].get("selector") or {}).get("matchLabels")
        if other["metadata"]["name"] != workload["metadata"]["name"] and ours and theirs == ours:
            yield Finding(
                "selector",
                _where(workload),
                f"its selector is the one of {other['metadata']['name']}, which runs already: they fight over the pods",
                "give each copy labels of its own",
            )


def _missing(kind: str, name: str, namespace: str, api: Api | None) -> bool:
    if name in SYSTEM_ROLES:
        return kind != "Role" or namespace != "kube-system"
    return api is not None and api.get(f"rbac.authorization.k8s.io/v1/{kind}", name, namespace) is None


def _bound(objects: Sequence[Object], namespace: str, account: str) -> list[dict[str, Any]]:
    """Return the roleRefs that cluster-wide bindings of the bundle give to a ServiceAccount."""
    wanted = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    return [
        obj["roleRef"]
        for obj in objects
        if obj["kind"] == "ClusterRoleBinding"
        and any({key: subject.get(key) for key in wanted} == wanted for subject in obj.get("subjects") or [])
    ]


def _grants(rule: dict[str, Any], group: str, resource: str) -> bool:
    return (
        bool({group, "*"} & set(rule.get("apiGroups") or []))
        and bool({resource, "*"} & set(rule.get("resources") or []))
        and bool({"list", "*"} & set(rule.get("verbs") or []))
    )


def _where(obj: Object) -> str:
    return f"{obj['kind']}/{obj['metadata']['name']}"


_CHECKS: tuple[Callable[[Sequence[Object], Api | None], Iterator[Finding]], ...] = (
    _rival, _references, _identity, _roles, _config, _image, _probes, _selector,
)  # fmt: skip
