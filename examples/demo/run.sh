#!/usr/bin/env bash
# The main job: two linear layers with fused epilogues at full size, measured and compared with a
# float64 reference, and a small one on .npy files.
#
#   examples/demo/run.sh PATH/TO/postlude [OPTION...]
#
# Options such as --backend cuda go to every call. At most 3.5 GB of memory.
set -euo pipefail

if [[ $# -lt 1 ]]; then
  echo "usage: $0 PATH/TO/postlude [OPTION...]" >&2
  exit 2
fi
postlude=$1
shift
options=("$@")
if ! command -v "$postlude" >/dev/null; then
  echo "$0: '$postlude' is not a program; build it first: make demo" >&2
  exit 2
fi
postlude=$(realpath "$(command -v "$postlude")")
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../data" && pwd)

# Prints a command as it can be typed, and runs it.
show() {
  local word line='$ postlude'
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_.,:/=+-]+$ ]] || word="\"$word\""
    line+=" $word"
  done
  echo "$line"
  "$postlude" "$@"
  echo
}

# The program, its plan and its cost. The largest error is against float64, over all elements; the
# demo ends with code 1 when one is outside the tolerance.
layer() {
  local title=$1 expression=$2 shape=$3
  shift 3
  echo "=== $title"
  echo
  show explain "$expression" --shape "$shape" "$@" "${options[@]}"
  show bench "$expression" --shape "$shape" "$@" --warm-up 1 --repeat 3 --check "${options[@]}"
}

layer "S1: linear, minimum with a constant, minus the constant" \
  "min(y + bias, c) - c" 128,16384,16384 -D c=2 -D bias=random:row

layer "S2: linear, maximum of each row, minus the mean, GELU" \
  "m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))" 1024,8192,8192 -D bias=random:row

layer "S2: linear, maximum of each column, minus the mean, GELU" \
  "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))" 1024,8192,8192 -D bias=random:row

echo "=== The same on files that NumPy wrote (examples/data)"
echo
cd "$data"
show run "min(y + bias, c) - c" --x x.npy --w w.npy -D c=0.1 -D bias=bias.npy "${options[@]}"
show run "z = gelu(y + bias) * scale; return z * mask, max(z, dim=1)" --x x.npy --w w.npy \
  -D bias=bias.npy -D scale=scale.npy -D mask=mask.npy "${options[@]}"
