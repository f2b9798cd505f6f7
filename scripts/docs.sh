#!/usr/bin/env bash
# Render the reference and the guides into site/. A warning is an error: a page that cannot be reached, a link
# that leads nowhere, an option that is not described.
set -euo pipefail

build=.build/docs
venv=$(scripts/venv.sh docs/requirements.txt)

rm -rf "$build/source" site
mkdir -p "$build/source/reference"
cp -r docs/. "$build/source"
cp tests/sandbox/README.md "$build/source/sandbox/sandbox.md"
cp CHANGELOG.rst "$build/source/changelog.rst"
# What the guides link to elsewhere in the repository stands beside them on the site.
cp extensions/eda/plugins/event_source/account.schema.json "$build/source/guides"
sed -i -e 's|(../../tests/sandbox/README\.md|(../sandbox/sandbox.md|g' \
    -e 's|(../../extensions/eda/plugins/event_source/|(|g' "$build"/source/guides/*.md
antsibull-docs collection --use-current --squash-hierarchy --fail-on-error --no-add-antsibull-docs-version \
    --dest-dir "$build/source/reference" hosted.services
# The theme has a table of contents of its own, and a narrow column for the titles of pages.
find "$build/source/reference" -name '*.rst' -exec sed -i '/^\.\. contents::/,/^$/d' {} +
sed -i -E 's/^    (\w+)_(module|role|filter|lookup|inventory)$/    \1 <\1_\2>/' "$build/source/reference/index.rst"
"$venv/bin/sphinx-build" -q -W --keep-going -b html -d "$build/doctrees" "$build/source" site
echo "The site is in site/index.html."
