#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder. It installs Python and the packages that grading
# needs, in exactly the versions that constraints.txt names. ATTNLAB_VENV names another folder for them.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="${ATTNLAB_VENV:-/opt/attnlab}"
# Where PyTorch comes from: its builds for the CPU, without GPU libraries.
torch_index="https://download.pytorch.org/whl/cpu"

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

find_python() {
  local name
  for name in python3.13 python3.12 python3.11 python3; do
    if command -v "$name" > /dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
      echo "$name"
      return 0
    fi
  done
  return 1
}

# The default Python of Ubuntu 24.04 is new enough. Ubuntu 22.04 needs a second, newer Python.
if ! python="$(find_python)"; then
  apt-get update
  apt_install python3.12 python3.12-venv || apt_install python3.11 python3.11-venv
  python="$(find_python)"
fi
if ! "$python" -c 'import ensurepip' 2> /dev/null; then
  apt-get update
  version="$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  apt_install "python$version-venv"
fi

"$python" -m venv "$venv"
packages=(--quiet --disable-pip-version-check --no-cache-dir -c "$here/constraints.txt" -r "$here/requirements.txt")
if grep -q '^torch' "$here/requirements.txt"; then
  packages+=(--extra-index-url "$torch_index")
fi
"$venv/bin/python" -m pip install "${packages[@]}"

# Graded code runs as a user that owns nothing. That user may read Python and its packages. Only root may read the course.
chmod -R a+rX "$venv" "$here/grader"
chmod -R go-rwx "$here/course"
