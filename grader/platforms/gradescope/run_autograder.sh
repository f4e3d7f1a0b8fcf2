#!/usr/bin/env bash
# Gradescope runs this once for each submission, as root, in /autograder. AUTOGRADER_ROOT names another folder with the
# same layout, ATTNLAB_PYTHON another Python.
set -u

root="${AUTOGRADER_ROOT:-/autograder}"
python="${ATTNLAB_PYTHON:-${ATTNLAB_VENV:-/opt/attnlab}/bin/python}"

# Write results without a score first: they remain if anything below is killed.
mkdir -p "$root/results"
cat > "$root/results/results.json" <<'JSON'
{
 "output": "This submission was not graded and has no score. The autograder or its machine failed, not your code. Your course staff can run it again.",
 "stdout_visibility": "hidden",
 "extra_data": {"status": "not_graded"}
}
JSON

cd "$root" || exit 3
export PYTHONPATH="$root/source" PYTHONDONTWRITEBYTECODE=1
exec "$python" -P -m grader.platforms.gradescope.autograder "$root"
