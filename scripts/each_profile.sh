#!/usr/bin/env bash
# Run the integration tests and the demo under gap profiles: those that are named, or all.
set -uo pipefail

[ $# -gt 0 ] || set -- plain terse wrapped
failed=()
for profile in "$@"; do
    echo "==> profile $profile"
    export SANDBOX_PROFILE=$profile
    pytest -q -n 4 --dist worksteal tests/integration || failed+=("$profile")
    make demo || failed+=("demo/$profile")
done
[ ${#failed[@]} -eq 0 ] || echo "Failed: ${failed[*]}"
[ ${#failed[@]} -eq 0 ]
