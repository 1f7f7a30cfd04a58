#!/usr/bin/env bash
# Helix 25.07.1, as Debian unstable has it, in a folder of its own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${SPECLS_EDITORS:-$HOME/.cache/specls-editors}
"$here/need_debian.sh" tmux:tmux patchelf:patchelf
"$here/unpack_debian.sh" "$cache/helix" 'hx=25.07.1+20260723+ds+~0.3.3+ds+~0.4.0+20260627+ds-3'
