#!/usr/bin/env bash
# Emacs 28.2 as Debian 12 has it (a newer one will do), lsp-mode 10 and package-lint.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${SPECLS_EDITORS:-$HOME/.cache/specls-editors}
"$here/need_debian.sh" tmux:tmux emacs:emacs-nox
"$here/unpack_debian.sh" "$cache/emacs" \
  elpa-lsp-mode=10.0.0-1 elpa-dash=2.20.0+dfsg-1 elpa-f=0.21.0-1 elpa-ht=2.3-3 elpa-lv=0.15.0-4 \
  elpa-markdown-mode=2.8-1 elpa-s=1.13.0-2 elpa-spinner=1.7.4-3 elpa-compat=31.1.0.0+dfsg-1 \
  elpa-package-lint=0.26-2
