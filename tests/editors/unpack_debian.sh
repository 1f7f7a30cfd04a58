#!/usr/bin/env bash
# Unpack packages of Debian unstable into a folder, without touching the system.
# usage: unpack_debian.sh FOLDER PACKAGE=VERSION...    their programs are in FOLDER/bin afterwards
# SUITE=trixie takes them from that release. patchelf has to be on PATH.
#
# Unstable keeps one version of a package, so a pinned one may be gone: then the newest is taken,
# and said so. The mirror is the one that this machine's apt uses.
set -euo pipefail

folder=$(realpath -m "${1:?folder}"); shift
mark="$folder/.unpacked"
wanted="$*"
if [ "$(cat "$mark" 2>/dev/null)" = "$wanted" ]; then exit 0; fi

mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } \
  | grep -v -e security -e '^#' | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -1 | tr -d " " || true)
if [ -z "$mirror" ]; then
  echo "No Debian mirror in /etc/apt: put these into $folder/root by hand: $wanted" >&2
  exit 1
fi

apt="$folder/apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/root" "$folder/bin"
: > "$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror ${SUITE:-sid} main" > "$apt/sources.list"
options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/nonexistent
  -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "Dir::State::status=$apt/status"
  -o APT::Install-Recommends=0 -o APT::Sandbox::User=root)
apt-get "${options[@]}" update

packages=()
for package in "$@"; do
  name=${package%%=*}
  if [ "$name" != "$package" ] && ! apt-cache "${options[@]}" madison "$name" | grep -qF " ${package#*=} "; then
    echo "note: Debian ${SUITE:-sid} has no $package any more; taking its newest" >&2
    package=$name
  fi
  packages+=("$package")
done
apt-get "${options[@]}" --yes --download-only install "${packages[@]}"

for archive in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$archive" "$folder/root"; done
for name in "${@%%=*}"; do
  dpkg-deb -W --showformat='${Package} ${Version}\n' "$apt/cache/archives/${name}_"*.deb
done | sort -u > "$folder/versions"

# Programs are bound to the libraries that came with them, if any did.
loader=$(find "$folder/root" -name 'ld-linux-*.so.*' \( -type f -o -type l \) | head -1)
for name in "$folder"/root/usr/bin/*; do
  [ -e "$name" ] || continue
  program=$(realpath "$name")
  [ -f "$program" ] || continue
  if [ -n "$loader" ] && head -c 4 "$program" | grep -q ELF; then
    libraries=$(find "$folder/root/usr/lib" -maxdepth 1 -name '*-linux-gnu*' | head -1)
    patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$program" 2>/dev/null || continue
  fi
  ln -sf "$program" "$folder/bin/$(basename "$name")"
done
rm -rf "$apt"
echo "$wanted" > "$mark"
