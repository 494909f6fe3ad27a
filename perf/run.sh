#!/usr/bin/env bash
# Measures Postlude and its peers on this machine, and makes table and pictures of it.
#
#   perf/run.sh PATH/TO/postlude_perf_suite [--size full|short|tiny] [--output FOLDER] [--backend NAME]
#               [--seconds S] [--python PYTHON]
#
#   --size     full (default with a GPU), short (default without one) or tiny
#   --output   folder of the results, made when it is not there (default: perf-results)
#   --backend  of the suite (default: cuda where there is a GPU, else openmp)
#   --seconds  time that the measurements may take (default: 540 for full, 240 for short); what is not
#              reached is named as missing
#   --python   a Python that has PyTorch and, for the pictures, Matplotlib (default: python3)
#
# The folder then has suite.json, pytorch.json, table.md, and pictures where Matplotlib is installed.
# Exit code 1 when a result of Postlude's is outside its tolerance, 2 for wrong arguments.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

[ $# -ge 1 ] || usage
suite=$1
shift
size="" output=perf-results backend="" seconds="" python=python3
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --size) size=$2 ;;
    --output) output=$2 ;;
    --backend) backend=$2 ;;
    --seconds) seconds=$2 ;;
    --python) python=$2 ;;
    *) usage ;;
  esac
  shift 2
done
command -v "$suite" >/dev/null || { echo "$0: '$suite' is not a program" >&2; exit 2; }

if [ -z "$backend" ]; then
  backend=openmp
  if [ -e /proc/driver/nvidia/version ] && [ "${CUDA_VISIBLE_DEVICES-unset}" != "" ]; then backend=cuda; fi
fi
device=cpu
[ "$backend" = cuda ] && device=cuda
if [ -z "$size" ]; then
  size=short
  [ $device = cuda ] && size=full
fi
if [ -z "$seconds" ]; then
  seconds=240
  [ "$size" = full ] && seconds=540
fi

# Two runtimes of OpenMP share the cores, OpenBLAS's and Kokkos's: neither may spin while it waits.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} OMP_PROC_BIND=${OMP_PROC_BIND:-false}
mkdir -p "$output"
status=0
begin=$SECONDS
# The suite has most of the peers; PyTorch, where it is installed, takes what is left.
share=$((seconds * 2 / 3))
[ $device = cuda ] && share=$((seconds * 3 / 5))
"$suite" --backend "$backend" --size "$size" --seconds $share --output "$output/suite.json" || status=$?
[ $status -le 1 ] || exit $status
left=$((seconds - (SECONDS - begin)))
"$python" "$here/peers/pytorch_peer.py" --size "$size" --device $device --seconds $((left > 0 ? left : 0)) \
  --output "$output/pytorch.json"

"$python" "$here/table.py" "$output/suite.json" "$output/pytorch.json" >"$output/table.md"
if "$python" -c "import matplotlib" 2>/dev/null; then
  "$python" "$here/pictures.py" "$output/suite.json" "$output/pytorch.json" --output "$output" ||
    echo "no picture of all that was measured (above)"
else
  echo "no pictures: $python has no Matplotlib (Debian: python3-matplotlib)"
fi
# The table's end: the means, and what is missing.
sed -n "/^Time of each peer/,\$p" "$output/table.md"
echo "results: $output/suite.json, $output/pytorch.json, $output/table.md"
exit $status
