#!/usr/bin/env bash
# The page with Monaco of editors/monaco, whose package.json pins the versions, and Chromium for it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/need_debian.sh" chromium:chromium npm:npm
cd "$here/../../editors/monaco"
npm install --silent --no-audit --no-fund --no-package-lock
npm run --silent build
