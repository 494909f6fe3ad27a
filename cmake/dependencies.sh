#!/usr/bin/env bash
# Installs what Postlude needs on Debian 12: compilers and libraries from the Debian packages, and
# Kokkos with Kokkos Kernels, built once from Debian's source package `trilinos`, which carries both.
#
#   cmake/dependencies.sh            what building the library and the `postlude` command needs, and if it can be had,
#                                    oneDNN for the engine onednn
#   cmake/dependencies.sh --tests    the same, and what the tests need
#   cmake/dependencies.sh --prefix   print where Kokkos and Kokkos Kernels are (or will be), do nothing
#
# Environment:
#   POSTLUDE_DEPENDENCIES  folder the built dependencies live in      (default: ~/.cache/postlude)
#   POSTLUDE_JOBS          how many compilers run at the same time    (default: one for each core)
#   TMPDIR                 where the source package is downloaded to  (default: /tmp; 250 MB, removed)
#
# A second run finds everything in place and takes well under a second, without the network. An
# interrupted run leaves nothing that a later run would mistake for a finished one.
set -euo pipefail

# ---- What is built -------------------------------------------------------------------------------

readonly kokkos_version=3.4.01           # the release of both inside the source package
readonly source_package=trilinos
readonly source_version=13.2.0           # upstream's part of the Debian version
# Contents of upstream's archive, whichever revision of the Debian package it comes with.
readonly source_sha256=0ddb47784ba7b8a6b9a07a4822b33be508feb4ccd54301b2a5d10c9e54524b90

readonly build_packages=(g++ cmake ninja-build libopenblas-openmp-dev libcli11-dev nlohmann-json3-dev libfmt-dev)
readonly test_packages=(gfortran catch2 doxygen pkg-config python3 python3-numpy python3-venv libdlpack-dev abigail-tools dpkg-dev file)

# oneDNN: the library has its engine onednn, and the performance suite compares with it, where it is there. Both do without.
readonly optional_packages=(libdnnl-dev)

readonly common_options=(
  -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_STANDARD=17
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON   # they end up inside a shared library
  -DBUILD_SHARED_LIBS=OFF
  -DCMAKE_INSTALL_LIBDIR=lib
)
readonly kokkos_options=(
  -DKokkos_ENABLE_SERIAL=ON
  -DKokkos_ENABLE_OPENMP=ON
  -DKokkos_ENABLE_TESTS=OFF
)
# Only what Postlude calls is instantiated: dense BLAS in float and double, on OpenMP. (Without an
# ordinal or an offset type, the sparse kernels have nothing to be instantiated for.) Serial and
# other layouts stay usable, compiled where they are used. The BLAS is named by its folder, so that
# it is OpenBLAS's OpenMP build whichever BLAS the system's alternatives point to.
readonly kernels_options=(
  -DKokkosKernels_ADD_DEFAULT_ETI=OFF
  -DKokkosKernels_INST_FLOAT=ON
  -DKokkosKernels_INST_DOUBLE=ON
  -DKokkosKernels_INST_COMPLEX_FLOAT=OFF
  -DKokkosKernels_INST_COMPLEX_DOUBLE=OFF
  -DKokkosKernels_INST_LAYOUTLEFT=ON
  -DKokkosKernels_INST_LAYOUTRIGHT=OFF
  -DKokkosKernels_INST_ORDINAL_INT=OFF
  -DKokkosKernels_INST_ORDINAL_INT64_T=OFF
  -DKokkosKernels_INST_OFFSET_INT=OFF
  -DKokkosKernels_INST_OFFSET_SIZE_T=OFF
  -DKokkosKernels_INST_MEMSPACE_HOSTSPACE=ON
  -DKokkosKernels_INST_EXECSPACE_OPENMP=ON
  -DKokkosKernels_INST_EXECSPACE_SERIAL=OFF
  -DKokkosKernels_ENABLE_TPL_BLAS=ON
  -DKokkosKernels_ENABLE_TPL_LAPACK=OFF
  -DBLAS_LIBRARIES=openblas
  "-DF77_BLAS_MANGLE=(name,NAME) name ## _"   # what gfortran does; saves looking it up
  -DKokkosKernels_ENABLE_TESTS=OFF
  -DKokkosKernels_ENABLE_EXAMPLES=OFF
)

# Debian's own compilers whatever CC and CXX say: the prefix must not depend on who asks for it.
readonly cc=gcc cxx=g++
root=${POSTLUDE_DEPENDENCIES:-${HOME:?set HOME, or POSTLUDE_DEPENDENCIES, to a folder that can be written}/.cache/postlude}
case $root in
  /*) ;;
  *) root=$PWD/$root ;;
esac
readonly root
# Everything that decides what is built; its digest names the prefix, so that a change builds anew.
machine=$(uname -m)
readonly recipe="$kokkos_version $source_sha256 $machine $cc $cxx ${common_options[*]} ${kokkos_options[*]} ${kernels_options[*]}"
recipe_digest=$(printf '%s' "$recipe" | sha256sum)
readonly prefix="$root/kokkos-$kokkos_version-openmp-${recipe_digest:0:10}"
readonly stamp="$prefix/complete"        # written last: without it the prefix does not count
readonly log="$root/build.log"

# ---- Saying what happens -------------------------------------------------------------------------

say() { printf 'dependencies: %s\n' "$*"; }

# die WHAT ADVICE: ends the run, saying what failed and what to do about it.
die() {
  printf 'dependencies: error: %s\n' "$1" >&2
  printf 'dependencies: what to do: %s\n' "$2" >&2
  exit 1
}

# logged COMMAND...: runs it with its output in the log; a failure shows the log's end.
logged() {
  printf '\n$ %s\n' "$*" >>"$log"
  if ! "$@" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    return 1
  fi
}

# ---- Debian packages -----------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "installing packages needs root, and there is no sudo here" \
      "run as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  fi
}

install_packages() {
  local installed package
  missing=()
  command -v dpkg-query >/dev/null ||
    die "this script installs Debian packages, and there is no dpkg here" \
      "install Kokkos and Kokkos Kernels ($kokkos_version or newer) your own way and configure with -DCMAKE_PREFIX_PATH, or with -DPOSTLUDE_FETCH_DEPENDENCIES=ON"
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    case $'\n'"$installed"$'\n' in
      *$'\n'"installed $package"$'\n'*) ;;
      *) missing+=("$package") ;;
    esac
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages are in place: $*"
    return
  fi
  say "installing Debian packages: ${missing[*]}"
  # One source of many that does not answer need not matter: what is asked for decides.
  as_root apt-get update || say "apt-get update had errors (above); going on with what it could read"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install: ${missing[*]}" \
      "read apt's messages above; check the network and the entries of /etc/apt/sources.list.d; if another apt is running, wait for it; if dpkg was interrupted, run: dpkg --configure -a"
}

# ---- The sources of Kokkos and Kokkos Kernels ----------------------------------------------------

# write_source_lists FOLDER: copies the machine's own apt sources into FOLDER with `deb` turned into
# `deb-src`. Mirrors, keys and options stay as they are, and the system's own files untouched.
write_source_lists() {
  local folder=$1 list parts file name
  eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  for file in "$list" "${parts%/}"/*.list "${parts%/}"/*.sources; do
    [ -r "$file" ] || continue
    name=${file##*/}
    case $name in
      *.sources)  # one stanza for each source, a field `Types:` in it
        awk '/^[Tt]ypes:/ { print "Types: deb-src"; skipping = 1; next }
             /^[ \t]/ && skipping { next }
             { skipping = 0; print }' "$file" >"$folder/$name"
        ;;
      *)  # one line for each source: deb [options] address suite component...
        awk '$1 == "deb" && !/[ \t]cdrom:/ { sub(/^[ \t]*deb/, "deb-src"); print }' "$file" >"$folder/$name"
        ;;
    esac
  done
}

# download_sources FOLDER: leaves upstream's archive of the source package in FOLDER. apt verifies
# it as it does every package: signed release file, index, SHA-256 of the archive.
download_sources() {
  local folder=$1 apt=$1/apt version
  mkdir -p "$apt/sources.list.d" "$apt/lists/partial" "$apt/cache/archives/partial"
  write_source_lists "$apt/sources.list.d"
  # Everything apt writes goes under $apt, and the hooks that the system runs after an update, which
  # concern its own lists, are left out.
  cat >"$apt/apt.conf" <<END
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$apt/sources.list.d";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::Languages "none";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
  # Run as root, apt downloads as the user _apt, who has to be able to write here.
  if [ "$(id -u)" -eq 0 ] && id _apt >/dev/null 2>&1; then chown -R _apt "$folder"; fi
  chmod 755 "$folder"

  say "reading the source index of this machine's apt sources"
  logged apt-get -c "$apt/apt.conf" update || say "apt-get update had errors (above); going on with what it could read"
  # Not every version of apt takes "any revision of 13.2.0", so the revision is looked up.
  version=$(apt-cache -c "$apt/apt.conf" showsrc --only-source "$source_package" 2>>"$log" |
    awk -v wanted="$source_version-" '$1 == "Version:" && index($2, wanted) == 1 { print $2; exit }' || true)
  [ -n "$version" ] ||
    die "this machine's apt sources have no source package $source_package $source_version" \
      "check the network and the entries of /etc/apt/sources.list.d (Debian 12, component main), or install Kokkos and Kokkos Kernels yourself and configure with -DCMAKE_PREFIX_PATH"

  say "downloading the source of $source_package $version (166 MB)"
  (cd "$folder" && logged apt-get -c "$apt/apt.conf" source --download-only --tar-only --only-source \
    "$source_package=$version") ||
    die "apt could not download $source_package $version" "check the network and the space in $folder, then run again"
  archive="$folder/${source_package}_$source_version.orig.tar.gz"
  printf '%s  %s\n' "$source_sha256" "$archive" | sha256sum --check --quiet - ||
    die "$archive is not the archive this script was written for" \
      "run again; if it stays so, the source package has changed and this script needs its new SHA-256"
}

# unpack_sources ARCHIVE FOLDER: only the two projects, each complete and buildable on its own.
unpack_sources() {
  local packages=Trilinos-trilinos-release-${source_version//./-}/packages
  say "unpacking Kokkos and Kokkos Kernels"
  logged tar -xzf "$1" -C "$2" --strip-components=2 "$packages/kokkos" "$packages/kokkos-kernels" ||
    die "the source archive could not be unpacked" "check the space in $2, then run again"
  grep -q "Kokkos_VERSION_PATCH ${kokkos_version##*.})" "$2/kokkos/CMakeLists.txt" ||
    die "the source archive does not hold Kokkos $kokkos_version" "this script needs the version it does hold"
}

# ---- Building ------------------------------------------------------------------------------------

# build NAME SOURCE BUILD OPTION...: configures, builds and installs one project into the prefix.
build() {
  local name=$1 source=$2 build=$3 start=$SECONDS
  shift 3
  say "building $name $kokkos_version (log: $log)"
  logged cmake -G Ninja -S "$source" -B "$build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_INSTALL_PREFIX="$prefix" "${common_options[@]}" "$@" ||
    die "$name could not be configured" "read the end of the log above; the whole log is $log"
  logged cmake --build "$build" --parallel "${POSTLUDE_JOBS:-$(nproc)}" ||
    die "$name could not be built" \
      "read the end of the log above; if a compiler was killed, there was too little memory: run again with POSTLUDE_JOBS=1"
  logged cmake --install "$build" ||
    die "$name could not be installed into $prefix" "check that the folder can be written and has space"
  say "$name is built ($((SECONDS - start)) s)"
}

build_kokkos() {
  local start=$SECONDS triplet blas_folder
  mkdir -p "$root" || die "$root cannot be created" "set POSTLUDE_DEPENDENCIES to a folder that can be written"

  # One at a time: a second run waits for the first and then finds its result.
  exec 9>"$root/lock"
  if ! flock --nonblock 9; then
    say "another run is building into $root; waiting for it"
    flock 9
  fi
  [ -e "$stamp" ] && return

  rm -rf "$prefix"
  : >"$log"
  work=$(mktemp -d "${TMPDIR:-/tmp}/postlude-dependencies.XXXXXX") ||
    die "no temporary folder can be made" "set TMPDIR to a folder that can be written"
  trap 'rm -rf "$work"' EXIT

  triplet=$("$cxx" -print-multiarch)
  blas_folder=/usr/lib/$triplet/openblas-openmp
  [ -e "$blas_folder/libopenblas.so" ] ||
    die "$blas_folder/libopenblas.so is not there" "run: apt-get install --reinstall libopenblas-openmp-dev"

  mkdir "$work/download" "$work/source"
  download_sources "$work/download"
  unpack_sources "$archive" "$work/source"
  rm -rf "$work/download"
  build Kokkos "$work/source/kokkos" "$work/build/kokkos" "${kokkos_options[@]}"
  build "Kokkos Kernels" "$work/source/kokkos-kernels" "$work/build/kokkos-kernels" \
    -DKokkos_ROOT="$prefix" "${kernels_options[@]}" -DBLAS_LIBRARY_DIRS="$blas_folder"

  printf '%s\n' "$recipe" >"$stamp.new"
  mv "$stamp.new" "$stamp"
  say "Kokkos and Kokkos Kernels took $((SECONDS - start)) s; a later run reuses them"
}

# ---- Main ----------------------------------------------------------------------------------------

wanted=("${build_packages[@]}")
case ${1-} in
  "") ;;
  --tests) wanted+=("${test_packages[@]}") ;;
  --prefix) echo "$prefix"; exit ;;
  -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit ;;
  *) die "unknown argument: $1" "run $0 --help" ;;
esac

install_packages "${wanted[@]}"
# Without the right to install, nothing is said of what is not needed.
if [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; then
  (install_packages "${optional_packages[@]}") || say "going on without: ${optional_packages[*]}"
fi
[ -e "$stamp" ] || build_kokkos
say "Kokkos and Kokkos Kernels $kokkos_version are in $prefix"
