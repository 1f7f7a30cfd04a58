#!/usr/bin/env bash
# Install Debian packages where they are missing: as root; else say what is needed.
# usage: need_debian.sh PROGRAM:PACKAGE...
set -euo pipefail

missing=()
for pair in "$@"; do
  command -v "${pair%%:*}" > /dev/null || missing+=("${pair#*:}")
done
if [ ${#missing[@]} = 0 ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing Debian packages: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" > /dev/null
else
  echo "The tests of this editor need these packages first: ${missing[*]}" >&2
  echo "on Debian or Ubuntu: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
