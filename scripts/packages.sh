#!/usr/bin/env bash
# Install the Debian packages that bindep.txt lists for the tests. Where that cannot be done the tests
# that want them are skipped, so this never fails. What could not be installed is noted, for .ci/run to say
# and for tests/integration/test_programs.py, which fails if anything else is missing.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 0

note=.build/packages-missing
mkdir -p .build
rm -f "$note"
missing=()
while read -r package; do
    dpkg-query --show --showformat '${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
done < <(sed -n 's/^\([a-z0-9-]*\) \[test .*/\1/p' bindep.txt)

if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi
if ! command -v apt-get > /dev/null || [ "$(id -u)" -ne 0 ]; then
    printf '%s\n' "${missing[@]}" > "$note"
    echo "Not installed, as this needs apt-get and root: ${missing[*]}. Tests that want them are skipped."
    exit 0
fi

echo "Installing ${missing[*]} ..."
export DEBIAN_FRONTEND=noninteractive
if ! log=$(apt-get update -qq 2>&1 && apt-get install -y -qq --no-install-recommends "${missing[@]}" 2>&1); then
    printf '%s\n' "${missing[@]}" > "$note"
    printf '%s\n' "$log" | tail -n 5
    echo "Could not install ${missing[*]}. Tests that want them are skipped."
fi
exit 0
