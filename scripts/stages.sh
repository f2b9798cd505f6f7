#!/usr/bin/env bash
# Run each make target that is named, go on after a failure, and end with what passed and what failed.
set -uo pipefail

passed=0
failed=0
summary=""

for stage in "$@"; do
    printf '\n==> make %s\n' "$stage"
    started=$SECONDS
    if make --no-print-directory "$stage" < /dev/null; then
        verdict=ok
        passed=$((passed + 1))
    else
        verdict=FAILED
        failed=$((failed + 1))
    fi
    summary+=$(printf '  %-14s %-8s %4d s' "$stage" "$verdict" $((SECONDS - started)))$'\n'
done

printf '\n==> summary, %d s in all\n%s\n%d passed, %d failed\n' "$SECONDS" "$summary" "$passed" "$failed" | tee .build/summary
[ "$failed" -eq 0 ]
