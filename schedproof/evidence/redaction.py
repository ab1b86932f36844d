"""Take secrets out of evidence before it is written for the first time, and keep it small.

Evidence is made to be shown to others (a CI artifact, an issue), so what could open a door must never reach the disk.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedproof.api import Object

GONE = "[taken out]"

FILE_BYTES = 256 * 1024
"""No file of evidence is larger; head and tail are kept."""
FOLDER_BYTES = 4 * 1024 * 1024
"""No claim's evidence is larger."""

_WORDS = r"(?:pass(?:word|wd)?|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|credentials?)"
_DATA = r"(?:client-key|client-certificate|certificate-authority)-data"
_ASSIGNED = r"\"?[ \t]*[:=][ \t]*\"?"
_VALUE = r"(?!\[taken out\])[^\s\",{}\[\]]"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # PEM: keys, and certificates too, which name machines and people.
    (re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?(?:-----END \1-----|\Z)", re.DOTALL), GONE),
    # The same in base64, as in kubeconfigs ("-----BEGIN"), also folded over several lines.
    (re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*(?:\s+[A-Za-z0-9+/=]{40,})*"), GONE),
    # JSON Web Tokens: ServiceAccount tokens.
    (re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"), GONE),
    (re.compile(r"(?i)\b(bearer|basic)(\s+|%20)[A-Za-z0-9+/=._~-]{12,}"), rf"\1 {GONE}"),
    # kubeadm's bootstrap tokens.
    (re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"), GONE),
    # user:password@ in addresses.
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@:]+:[^\s/@]+@"), rf"\1{GONE}@"),
    (re.compile(rf"(?i)\b({_DATA}{_ASSIGNED}){_VALUE}+"), rf"\1{GONE}"),
    # "token: ...", "DB_PASSWORD=...", "accessToken: ..."; a value of five characters or less is a word like "true".
    (
        re.compile(rf"(?i)\b((?:[a-z0-9]{{1,30}}[-_]){{0,5}}[a-z0-9]{{0,30}}{_WORDS}{_ASSIGNED}){_VALUE}{{6,}}"),
        rf"\1{GONE}",
    ),
)
_SECRET_NAME = re.compile(rf"(?i){_WORDS}")


def redacted(text: str) -> str:
    """Return a text without tokens, keys, certificates and passwords."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def redacted_object(obj: Object) -> Object:
    """Return a copy of an API object without a Secret's data, secret environment values and managedFields' noise."""
    clean = copy.deepcopy(obj)
    metadata = clean.get("metadata") or {}
    metadata.pop("managedFields", None)
    annotations = metadata.get("annotations") or {}
    if clean.get("kind") == "Secret":
        annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
        for field in ("data", "stringData"):
            if clean.get(field):
                clean[field] = dict.fromkeys(clean[field], GONE)
    _clean_environment(clean)
    return clean


def bounded(text: str, limit: int = FILE_BYTES) -> str:
    """Return a text of at most ``limit`` bytes of UTF-8: its head, a line that says what is missing, its tail."""
    raw = text.encode()
    if len(raw) <= limit:
        return text
    note = f"\n[... {len(raw) - limit} of {len(raw)} bytes left out here ...]\n".encode()
    room = limit - len(note)
    if room <= 0:
        return raw[:limit].decode(errors="ignore")
    # The end of a log says most: it gets two thirds.
    head, tail = raw[: room // 3], raw[len(raw) - (room - room // 3) :]
    return head.decode(errors="ignore") + note.decode() + tail.decode(errors="ignore")


def _clean_environment(node: Any) -> None:
    if isinstance(node, dict):
        for variable in node.get("env") or [] if isinstance(node.get("env"), list) else []:
            if (
                isinstance(variable, dict)
                and "value" in variable
                and _SECRET_NAME.search(str(variable.get("name", "")))
            ):
                variable["value"] = GONE
        for value in node.values():
            _clean_environment(value)
    elif isinstance(node, list):
        for item in node:
            _clean_environment(item)
