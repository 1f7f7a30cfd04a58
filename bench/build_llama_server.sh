#!/usr/bin/env bash
# Builds llama-server from the llama.cpp that the pinned llama-cpp-python contains, so that
# `specls bench typing --llama-server URL` compares two programs on the same library.
#
#   bench/build_llama_server.sh [TARGET_FOLDER]    (default: build/llama-server in the repository)
#
# Prints the path of the program on standard output, everything else on standard error. Runs on
# what an earlier run left. PYTHON names the Python whose pip fetches the source.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${1:-$root/build/llama-server}
python=${PYTHON:-python3}
package=llama-cpp-python

fail() {
  echo "build_llama_server: $*" >&2
  exit 1
}

need() {
  command -v "$1" >/dev/null ||
    fail "$1 is missing; on Debian: sudo apt-get install cmake g++"
}

pinned_version() {
  sed -n "s/^ *\"$package==\([0-9][0-9.]*\)\".*/\1/p" "$root/pyproject.toml"
}

# The source archive of exactly that version, through pip's ordinary client.
fetch() {
  "$python" -m pip --version >/dev/null 2>&1 || fail "$python has no pip; set PYTHON"
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --no-binary "$package" --dest "$1" "$package==$2" >&2
}

unpack() {
  rm -rf "$2"
  mkdir -p "$2"
  tar -xzf "$1" -C "$2" --strip-components=3 "llama_cpp_python-$version/vendor/llama.cpp" ||
    fail "$1 holds no vendor/llama.cpp"
}

build() {
  cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=ON \
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
    -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF >&2
  cmake --build "$2" --config Release --target llama-server -j2 >&2
}

need cmake
need c++
version=$(pinned_version)
[ -n "$version" ] || fail "pyproject.toml pins no $package==VERSION"
mkdir -p "$target"
target=$(cd "$target" && pwd)
archive=$target/llama_cpp_python-$version.tar.gz
source=$target/llama.cpp-$version
[ -f "$archive" ] || fetch "$target" "$version"
[ -f "$archive" ] || fail "pip left no ${archive##*/} in $target"
[ -f "$source/.unpacked" ] || { unpack "$archive" "$source" && touch "$source/.unpacked"; }
build "$source" "$target/build-$version"
program=$target/build-$version/bin/llama-server
[ -x "$program" ] || fail "the build left no $program"
echo "$program"
