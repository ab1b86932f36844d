"""What could open a door never reaches the disk; what explains a failure does."""

from __future__ import annotations

import base64

import pytest

from schedproof.evidence.redaction import FILE_BYTES, GONE, bounded, redacted, redacted_object

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nsecretsecret\n-----END RSA PRIVATE KEY-----"
BASE64 = base64.b64encode(PEM.encode()).decode()
JWT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b'{"alg":"RS256"}', b'{"sub":"x"}', b"signature")
)

SECRETS = {
    "a private key": (f"key:\n{PEM}\nend", "secretsecret"),
    "half a private key, cut off": (PEM[:50], "MIIEpAIBAAKC"),
    "a certificate": (PEM.replace("RSA PRIVATE KEY", "CERTIFICATE"), "secretsecret"),
    "a kubeconfig's key": (f"client-key-data: {BASE64}\nusers: all", BASE64[-30:]),
    "a kubeconfig's authority in JSON": ('"certificate-authority-data":"QUJDREVGR0hJ"', "QUJDREVGR0hJ"),
    "a ServiceAccount token": (f"got {JWT} back", JWT[:30]),
    "a bearer header": ("Authorization: Bearer abcdefghijklmnop1234", "abcdefghijklmnop1234"),
    "a bootstrap token": ("kubeadm join --token abcdef.0123456789abcdef", "0123456789abcdef"),
    "a password in an address": ("http://me:hunter22@proxy:3128/", "hunter22"),
    "a password in a config": ("password: correct-horse", "correct-horse"),
    "a token in JSON": ('{"token":"0a1b2c3d4e5f"}', "0a1b2c3d4e5f"),
    "a token in camel case": ("accessToken: 0a1b2c3d4e5f", "0a1b2c3d4e5f"),
    "an access key": ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI", "wJalrXUtnFEMI"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=list(SECRETS))
def test_the_secret_is_taken_out(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redacted(text)
    assert GONE in redacted(text)
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        'forbidden: User "system:serviceaccount:kube-system:my-scheduler" cannot list resource "storageclasses"',
        "imageID: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "uid: 6fcd1a0c-8c1d-4f43-a21f-6d2b6a1cbd11 at 2026-12-01T15:00:00.123456Z",
        "automountServiceAccountToken: false\nsecretName: my-scheduler",
        "- serviceAccountToken:\n    expirationSeconds: 3607",
        "basic scheduling of a bearer of bad news",
        "registry.k8s.io/kube-scheduler.v1.37.2-something",
    ],
)
def test_what_explains_a_failure_stays(text: str) -> None:
    assert redacted(text) == text


def test_what_follows_a_kubeconfigs_key_stays() -> None:
    assert redacted(f"client-key-data: {BASE64}\nusers:\n- name: me") == f"client-key-data: {GONE}\nusers:\n- name: me"


def test_a_secrets_data_and_its_applied_copy_are_taken_out_and_its_keys_stay() -> None:
    secret = {
        "kind": "Secret",
        "metadata": {
            "name": "s", "managedFields": [{}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{data}", "kept": "yes"},
        },
        "data": {"password": "aHVudGVyMg=="}, "stringData": {"plain": "hunter2"},
    }  # fmt: skip
    clean = redacted_object(secret)
    assert clean["data"] == {"password": GONE}
    assert clean["stringData"] == {"plain": GONE}
    assert clean["metadata"] == {"name": "s", "annotations": {"kept": "yes"}}
    assert secret["data"] == {"password": "aHVudGVyMg=="}


def test_a_secret_environment_value_is_taken_out_and_a_plain_one_stays() -> None:
    env = [{"name": "DB_PASSWORD", "value": "x"}, {"name": "LEVEL", "value": "4"}, {"name": "TOKEN", "valueFrom": {}}]
    pod = {"kind": "Pod", "metadata": {}, "spec": {"containers": [{"env": env}]}}
    assert redacted_object(pod)["spec"]["containers"][0]["env"] == [
        {"name": "DB_PASSWORD", "value": GONE}, {"name": "LEVEL", "value": "4"}, {"name": "TOKEN", "valueFrom": {}},
    ]  # fmt: skip


@pytest.mark.parametrize("limit", [10, 100, 1000])
def test_a_long_text_keeps_head_and_tail_within_the_limit(limit: int) -> None:
    text = "first line\n" + "é" * 5000 + "\nlast line"
    short = bounded(text, limit)
    assert len(short.encode()) <= limit
    if limit > 60:
        assert short.startswith("first line")
        assert short.endswith("last line")
        assert "bytes left out" in short


def test_a_short_text_is_left_alone() -> None:
    assert bounded("x" * FILE_BYTES) == "x" * FILE_BYTES
