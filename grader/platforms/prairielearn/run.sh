#!/bin/sh
# PrairieLearn starts this once for each submission, as root, in a container with the job in /grade. ATTNLAB_JOB names
# another folder with the same layout, ATTNLAB_PYTHON another Python.
set -u

job="${ATTNLAB_JOB:-/grade}"
python="${ATTNLAB_PYTHON:-/opt/attnlab/bin/python}"

# Write results that change no points first: they remain if anything below is killed.
mkdir -p "$job/results"
cat > "$job/results/results.json" <<'JSON'
{
 "gradable": false,
 "format_errors": ["This submission was not graded and has no score. The autograder or its machine failed, not your code. Your course staff can run it again."],
 "attnlab": {"status": "not_graded"}
}
JSON

# Graded code runs as a user that owns nothing. It may read the grader, and nothing else of this job.
chmod go+x "$job" "$job/tests"
chmod -R go+rX "$job/tests/grader"
chmod -R go-rwx "$job/tests/course" "$job/student" "$job/data" "$job/results"

cd "$job" || exit 3
export PYTHONPATH="$job/tests" PYTHONDONTWRITEBYTECODE=1
"$python" -P -m grader.platforms.prairielearn.autograder "$job"
# PrairieLearn reads results only of a container that ends with 0. What went wrong is in them, and in this log.
echo "attnlab: the autograder ended with $?"
exit 0
