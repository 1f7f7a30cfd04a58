#!/usr/bin/env bash
# Vim 9.0.1378 as Debian 12 has it (a newer one will do), and a terminal for it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/need_debian.sh" tmux:tmux vim.nox:vim-nox
