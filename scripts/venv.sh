#!/usr/bin/env bash
# Make the virtual environment of a list of pinned requirements, unless it is there, and print its folder. A list
# that changed makes it anew.
set -euo pipefail

list=$1
name=${list%.txt}
folder=.build/venv/${name//\//-}
stamp=$folder/.installed-$(cksum < "$list" | cut -d ' ' -f 1)
if [ ! -e "$stamp" ]; then
    echo "Installing $list into $folder ..." >&2
    python -m venv --clear --without-pip "$folder"
    python -m pip --python "$folder/bin/python" install -q --disable-pip-version-check --require-hashes -r "$list" >&2
    touch "$stamp"
fi
echo "$folder"
