#!/usr/bin/env bash
# Gradescope runs this once for each submission, as root, in /autograder. Another folder laid out in the same way can be
# named by AUTOGRADER_ROOT, and another Python by ATTNLAB_PYTHON.
set -u

root="${AUTOGRADER_ROOT:-/autograder}"
python="${ATTNLAB_PYTHON:-${ATTNLAB_VENV:-/opt/attnlab}/bin/python}"

# First of all, results without a score: if anything below should be killed, this is what is left.
mkdir -p "$root/results"
cat > "$root/results/results.json" <<'JSON'
{
 "output": "This submission has not been graded, and has no score: the autograder or its machine failed, not your code. Your course staff can run it again.",
 "stdout_visibility": "hidden",
 "extra_data": {"status": "not_graded"}
}
JSON

cd "$root" || exit 3
export PYTHONPATH="$root/source" PYTHONDONTWRITEBYTECODE=1
exec "$python" -P -m grader.platforms.gradescope.autograder "$root"
