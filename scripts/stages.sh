#!/usr/bin/env bash
# Run each make target that is named, go on after a failure, and end with what passed and what failed.
# What follows `--` runs at the same time as what precedes it, at a lower priority, and shows its output when it has
# ended.
set -uo pipefail

results=.build/stages
rm -rf "$results"
mkdir -p "$results"

run() {
    local priority=$1
    shift
    for stage in "$@"; do
        printf '\n==> make %s\n' "$stage"
        started=$SECONDS
        if nice -n "$priority" make --no-print-directory "$stage" < /dev/null; then verdict=ok; else verdict=FAILED; fi
        printf '  %-14s %-8s %4d s\n' "$stage" "$verdict" $((SECONDS - started)) > "$results/$stage"
    done
}

shown=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    shown+=("$1")
    shift
done
[ $# -eq 0 ] || shift
run 5 "$@" > "$results/.output" 2>&1 &
run 0 "${shown[@]}"
wait
cat "$results/.output"

summary=$(cat "$results"/*)
failed=$(grep -c ' FAILED ' <<< "$summary")
printf '\n==> summary, %d s in all\n%s\n\n%d passed, %d failed\n' "$SECONDS" "$summary" \
    $(($(wc -l <<< "$summary") - failed)) "$failed" | tee .build/summary
[ "$failed" -eq 0 ]
