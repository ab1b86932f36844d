#!/bin/bash
# Runs once inside the container that is then committed as the node image: switches units on and off, and gives containerd the images
# that lie in /kind/images (an OCI layout). Needs no privileges: nothing is unpacked or run. Prints the names of the images.
set -euo pipefail

ln -sf /lib/systemd/systemd /sbin/init
systemctl set-default multi-user.target >/dev/null 2>&1
systemctl enable containerd.service kubelet.service flannel-subnet.path >/dev/null 2>&1
grep -v '^#' /kind/masked-units.txt | xargs systemctl mask >/dev/null 2>&1
mkdir -p /etc/kubernetes/manifests /opt/cni/bin

# containerd without its CRI part, which would want mounts and cgroups: only content and names are written.
cat >/run/import.toml <<'CONFIG'
version = 3
disabled_plugins = ['io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.images', 'io.containerd.cri.v1.runtime']
CONFIG
containerd --config /run/import.toml >/run/import.log 2>&1 &
containerd=$!
until ctr version >/dev/null 2>&1; do
  if ! kill -0 "${containerd}" 2>/dev/null || ((SECONDS > 60)); then
    tail -20 /run/import.log >&2
    exit 1
  fi
  sleep 0.1
done
tar -C /kind/images -cf - . | ctr -n k8s.io images import --local --all-platforms --no-unpack - >/dev/null
ctr -n k8s.io images ls -q
kill "${containerd}"
wait "${containerd}" || true

# kind gives each node a volume for /var, which the engine fills with a copy of the image's. A link to the layout instead of
# the content saves half a gigabyte of copying and disk for each node; containerd only reads it.
content=/var/lib/containerd/io.containerd.content.v1.content/blobs/sha256
find "${content}" -type f -size +1M -printf '%f\n' | while read -r blob; do
  cmp -s "/kind/images/blobs/sha256/${blob}" "${content}/${blob}" &&
    ln -sf "/kind/images/blobs/sha256/${blob}" "${content}/${blob}"
done

rm -rf /kind/images/index.json /kind/images/oci-layout /kind/masked-units.txt /kind/assemble.sh /run/* /tmp/*
