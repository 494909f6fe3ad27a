#!/usr/bin/env bash
# Measures the engines on this machine's GPU: their accuracy, their speed, whether plans choose the fastest, and, where
# python3 has PyTorch, its linear layer on the same problems. Prints Markdown.
#
#     perf/engines.sh BUILD_FOLDER
set -euo pipefail
build=${1:?"usage: perf/engines.sh BUILD_FOLDER, of a build with CUDA"}
here=$(cd "$(dirname "$0")" && pwd)

echo "date: $(date -u +%F), GPU and driver: $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)"
echo "revision: $(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)"
echo
"$build/bin/postlude_perf_engine_accuracy"
echo
"$build/bin/postlude_perf_engine_speed"
echo
"$build/bin/postlude_perf_engine_choice" || echo "a plan's choice of engine is to be mended"
echo
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  python3 "$here/engine_peers.py"
else
  echo "python3 has no PyTorch with CUDA: peers left out"
fi
