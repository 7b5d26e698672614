#!/usr/bin/env bash
# Chromium and its driver, for the tests that open pages in a real browser (tests/view/test_browser.py).
# Does nothing if both are there already.
set -euo pipefail

find_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

if find_chromium >/dev/null && command -v chromedriver >/dev/null; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "The tests of \`fencepost view\` need chromium and chromedriver. apt-get is not available here to install" >&2
    echo "them: install both and put them on the PATH." >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "The tests of \`fencepost view\` need chromium and chromedriver; as root: apt-get install chromium chromium-driver" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "installing chromium and chromium-driver for the tests in a browser" >&2
"${as_root[@]}" apt-get update -qq
if ! DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    chromium chromium-driver fonts-dejavu-core >/dev/null; then
    echo "chromium could not be installed: see above" >&2
    exit 1
fi
