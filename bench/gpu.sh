#!/usr/bin/env bash
# Measures on a GPU what passes cost, and what speculation gains there: make bench-gpu.
#
#   bench/gpu.sh [--out FILE]         on a GPU: shapes of 1.5B, 7B and 14B targets, a 0.5B draft
#   bench/gpu.sh --cpu [--out FILE]   the same steps with small shapes, to try the script
#
# For a bare machine with CUDA's driver, PyTorch or another source of cuBLAS, and no network. It
# takes what was brought along in bench/build/, as far as that's there:
#   wheels/               the Python packages that pyproject.toml names, for pip --no-index
#   llama-cuda.tar.xz     libggml*.so and libllama.so of the pinned llama.cpp, built with CUDA
# Without the libraries it uses those of the installed llama-cpp-python, which then has to be one
# that was built with CUDA: CMAKE_ARGS=-DGGML_CUDA=on pip install --no-binary llama-cpp-python ...
# PYTHON names the Python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "gpu.sh: $*" >&2
  exit 1
}

brought=bench/build
work=build/gpu
python=${PYTHON:-python3}
arguments=()
cpu=
while [ $# -gt 0 ]; do
  case $1 in
    --cpu) cpu=1; shift ;;
    --out) [ $# -gt 1 ] || fail "--out needs a file"; arguments+=(--out "$2"); shift 2 ;;
    *) fail "what is $1? See the beginning of this file" ;;
  esac
done

mkdir -p "$work"
if [ -d "$brought/wheels" ]; then
  [ -x "$work/venv/bin/python" ] || "$python" -m venv --system-site-packages "$work/venv"
  python=$work/venv/bin/python
  "$python" -m pip install --quiet --no-index --find-links "$brought/wheels" "$brought"/wheels/*.whl
fi
"$python" -c 'import llama_cpp, gguf, rich' 2>/dev/null ||
  fail "$python lacks the packages: make setup, or bring $brought/wheels along"

if [ -n "$cpu" ]; then
  exec "$python" -m bench.gpu_measure --cpu --targets 0.5b --draft tiny --fills 64,256 \
    --folder "$work" "${arguments[@]}"
fi

command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1 ||
  fail "there's no NVIDIA GPU here (nvidia-smi finds none); --cpu tries the script without one"
if [ -f "$brought/llama-cuda.tar.xz" ]; then
  mkdir -p "$work/lib"
  tar -xJf "$brought/llama-cuda.tar.xz" -C "$work/lib"
  # cuBLAS and the CUDA runtime come from the packages that PyTorch or pip brought.
  libraries=$("$python" - <<'PY'
import pathlib
import sysconfig

packages = pathlib.Path(sysconfig.get_path("purelib")).glob("nvidia/**/lib")
print(":".join(str(path) for path in packages))
PY
)
  export LLAMA_CPP_LIB_PATH=$PWD/$work/lib
  export LD_LIBRARY_PATH=$LLAMA_CPP_LIB_PATH:$libraries:${LD_LIBRARY_PATH:-}
fi
"$python" -c '
import llama_cpp.llama_cpp as lib
raise SystemExit(0 if lib.llama_supports_gpu_offload() else 1)
' || fail "llama.cpp here was built without CUDA: bring $brought/llama-cuda.tar.xz along, or install
llama-cpp-python with CMAKE_ARGS=-DGGML_CUDA=on (needs nvcc and cmake)"
exec "$python" -m bench.gpu_measure --targets 1.5b,7b,14b --draft 0.5b --fills 512,4096 \
  --folder "$work" "${arguments[@]}"
