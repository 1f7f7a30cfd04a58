#!/usr/bin/env bash
# Measures on a GPU what passes cost, and what speculation gains there: make bench-gpu.
#
#   bench/gpu.sh [--out FILE]         on a GPU: shapes of 1.5B, 7B and 14B targets, a 0.5B draft
#   bench/gpu.sh --cpu [--out FILE]   the same steps with small shapes, to try the script
#   bench/gpu.sh --pack               fills bench/build/, with nvcc and the network; needs no GPU
#
# Without --out the figures go to $OUT/gpu.json where OUT is set.
#
# The machine with the GPU needs neither compiler nor network, only CUDA's driver and a Python with
# numpy and, from PyTorch or pip, cuBLAS of the same major version. What is brought along lies in
# bench/build/, as far as that's there:
#   wheels/               Python packages, which are used as they are
#   llama-cuda.tar.xz     libggml*.so and libllama.so of the pinned llama.cpp, built with CUDA
# Without the libraries it uses those of the installed llama-cpp-python, if that was built with
# CUDA; else it builds them where nvcc and cmake are (about 20 minutes on two cores, once).
# PYTHON names the Python. For --pack: ARCHITECTURES the GPU's compute capability (90), and
# PYTHON_VERSION that of the Python there (that of the one here).
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
mode=gpu
if [ -n "${OUT:-}" ]; then arguments=(--out "$OUT/gpu.json"); fi
while [ $# -gt 0 ]; do
  case $1 in
    --cpu | --pack) mode=${1#--}; shift ;;
    --out) [ $# -gt 1 ] || fail "--out needs a file"; arguments=(--out "$2"); shift 2 ;;
    *) fail "what is $1? See the beginning of this file" ;;
  esac
done

use_brought_packages() {
  [ -d "$brought/wheels" ] || return 0
  "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --upgrade \
    --target "$work/packages" "$brought"/wheels/*.whl ||
    fail "$brought/wheels don't fit this Python: pack with PYTHON_VERSION=..."
  export PYTHONPATH=$PWD/$work/packages${PYTHONPATH:+:$PYTHONPATH}
}

# Folders with libraries of CUDA, as PyTorch, pip or the toolkit bring them.
cuda_folders() {
  "$python" - <<'PY'
import pathlib
import sys

folders = [pathlib.Path(each) for each in sys.path if each]
places = [place for each in folders for place in (each / "torch/lib", *each.glob("nvidia/**/lib"))]
places += [pathlib.Path(sys.prefix, "lib"), *pathlib.Path("/usr/local").glob("cuda*/lib64")]
print(":".join(str(place) for place in places if any(place.glob("libcu*.so.*"))))
PY
}

use_libraries() {
  export LLAMA_CPP_LIB_PATH=$PWD/$1
  LD_LIBRARY_PATH=$LLAMA_CPP_LIB_PATH:$(cuda_folders)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
}

# Whether llama.cpp loads and finds the GPU; if not, the last line it says tells why.
offloads() {
  "$python" -c '
import llama_cpp.llama_cpp as lib
raise SystemExit(0 if lib.llama_supports_gpu_offload() else "llama.cpp finds no GPU")
' 2>&1
}

# The pinned llama-cpp-python with CUDA for an architecture, in a folder of its own.
build() {
  [ ! -f "$work/cuda/llama_cpp/lib/libggml-cuda.so" ] || return 0
  local cublas folder include version
  local flags=(-DGGML_CUDA=ON -DGGML_CUDA_NO_VMM=ON -DGGML_CUDA_NCCL=OFF -DGGML_NATIVE=OFF
    -DLLAVA_BUILD=OFF "-DCMAKE_CUDA_ARCHITECTURES=$1")
  version=$(sed -n 's/^ *"llama-cpp-python==\([0-9][0-9.]*\)".*/\1/p' pyproject.toml)
  [ -n "$version" ] || fail "pyproject.toml pins no llama-cpp-python==VERSION"
  # cuBLAS may come from pip instead of the toolkit.
  cublas=$(cuda_folders | tr : '\n' | while read -r folder; do
    [ -z "$folder" ] || find "$folder" -maxdepth 1 -name 'libcublas.so.*' -path '*/nvidia/*'
  done | head -n 1)
  if [ -n "$cublas" ]; then
    folder=${cublas%/*}
    flags+=("-DCUDA_cublas_LIBRARY=$cublas"
      "-DCUDA_cublasLt_LIBRARY=$folder/libcublasLt${cublas##*/libcublas}")
    include=${folder%/lib}/include
    flags+=("-DCMAKE_CUDA_FLAGS=-I$include")
    export CPATH=$include${CPATH:+:$CPATH}
  fi
  CMAKE_ARGS=${flags[*]} "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --no-binary llama-cpp-python --target "$work/cuda" "llama-cpp-python==$version" >&2
}

compiler() {
  command -v nvcc >/dev/null && command -v cmake >/dev/null
}

# The libraries without what is only for a linker, and the packages that a Python may lack.
pack() {
  compiler || fail "--pack needs nvcc and cmake"
  build "${ARCHITECTURES:-90}"
  local name stage=$work/stage
  rm -rf "$stage" "$brought/wheels"
  mkdir -p "$stage" "$brought/wheels"
  for name in ggml-base ggml-cpu ggml-cuda ggml llama; do
    cp -L "$work/cuda/llama_cpp/lib/lib$name.so" "$stage/lib$name.so.0"
    strip --strip-unneeded "$stage/lib$name.so.0"
    ln -s "lib$name.so.0" "$stage/lib$name.so"
  done
  tar -cJf "$brought/llama-cuda.tar.xz" -C "$stage" .
  CMAKE_ARGS=-DLLAMA_BUILD=OFF "$python" -m pip wheel --quiet --disable-pip-version-check \
    --no-deps --no-cache-dir --no-binary llama-cpp-python --wheel-dir "$brought/wheels" \
    "$(sed -n 's/^ *"\(llama-cpp-python==[0-9.]*\)".*/\1/p' pyproject.toml)"
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    ${PYTHON_VERSION:+--python-version "$PYTHON_VERSION"} --dest "$brought/wheels" \
    diskcache gguf jinja2 markupsafe pathspec psutil pyyaml rich typing_extensions
  du -sh "$brought"
}

mkdir -p "$work"
if [ "$mode" = pack ]; then
  pack
  exit
fi
use_brought_packages
if [ "$mode" = gpu ]; then
  nvidia-smi -L >/dev/null 2>&1 ||
    fail "there's no NVIDIA GPU here (nvidia-smi finds none); --cpu tries the script without one"
  if [ -f "$brought/llama-cuda.tar.xz" ]; then
    mkdir -p "$work/lib"
    tar -xJf "$brought/llama-cuda.tar.xz" -C "$work/lib"
    use_libraries "$work/lib"
  elif ! offloads >/dev/null && compiler; then
    build native
    use_libraries "$work/cuda/llama_cpp/lib"
  fi
  told=$(offloads) || fail "${told##*$'\n'}. llama.cpp has to be built with CUDA: bring
$brought/llama-cuda.tar.xz along (--pack makes it), or have nvcc and cmake here"
fi
"$python" -c 'import bench.gpu_measure' 2>"$work/missing" ||
  fail "$python lacks a package ($(tail -n 1 "$work/missing")): make setup, or bring $brought/wheels"
case $mode in
  cpu) sizes=(--cpu --targets 0.5b --draft tiny --fills '64,256') ;;
  gpu) sizes=(--targets '1.5b,7b,14b' --draft 0.5b --fills '512,4096') ;;
esac
exec "$python" -m bench.gpu_measure "${sizes[@]}" --folder "$work" "${arguments[@]}"
