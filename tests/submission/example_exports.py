"""What four platforms export of one small class, made as docs/grading.md describes the formats.

`python -m tests.submission.example_exports FOLDER` writes it.

Five students: Ana Silva is right, Ben Okafor subtracts no maximum, Cy Zhang is right and late, Dee and Eli O'Neil are a
group in Gradescope. Fay hands in nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

RIGHT = """\
import numpy as np


def softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    np.exp(values, out=values)
    values /= np.add.reduce(values, axis, keepdims=True)
    return values


def log_softmax(x, axis=-1):
    values = np.array(x, dtype=None if np.asarray(x).dtype.kind == "f" else float)
    values -= np.amax(values, axis, keepdims=True)
    return values - np.log(np.add.reduce(np.exp(values), axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    if not temperature > 0:
        raise ValueError(f"no such temperature: {temperature}")
    return softmax(np.asarray(x) / temperature, axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 88, 709
"""
WRONG = """\
import numpy as np


def softmax(x, axis=-1):
    powers = np.exp(x)
    return powers / powers.sum(axis=axis, keepdims=True)
"""
METADATA = """\
---
submission_1001:
  :submitters:
  - :name: Ana Silva
    :sid: '101'
    :email: ana@uni.example
  :created_at: 2026-10-01 09:30:00.123456000 Z
  :score: 46.0
  :status: processed
  :results:
    tests:
    - name: visible
      score: 1.0
      output: "ok: # not a comment"
  :history: []
submission_1002:
  :submitters:
  - :name: Ben Okafor
    :sid: '102'
    :email: ben@uni.example
  :created_at: 2026-10-01 20:00:00.000000000 -04:00
  :score: 10.0
  :status: processed
  :results: {}
  :history:
  - :id: 990
    :created_at: 2026-09-30 20:00:00.000000000 -04:00
    :score: 3.0
submission_1003:
  :submitters:
  - :name: Cy Zhang
    :sid: '103'
    :email: cy@uni.example
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-10-03 01:00:00.000000000 Z
    zone: !ruby/object:ActiveSupport::TimeZone
      name: America/New_York
    time: 2026-10-02 21:00:00.000000000 Z
  :score:
  :status: processed
  :results: {}
  :history: []
submission_1004:
  :submitters:
  - :name: Dee Moreau
    :sid: '104'
    :email: dee@uni.example
  - :name: Eli O'Neil
    :sid: '105'
    :email: eli@uni.example
  :created_at: 2026-10-01 08:00:00.000000000 Z
  :score: 46.0
  :status: processed
  :results: {}
  :history: []
"""
ROSTER = """\
id,name,email,github
101,Ana Silva,ana@uni.example,ana-silva
102,Ben Okafor,ben@uni.example,bokafor
103,Cy Zhang,cy@uni.example,CyZ
104,Dee Moreau,dee@uni.example,moreau
105,Eli O'Neil,eli@uni.example,eli-o
106,Fay Ito,fay@uni.example,fayi
"""
# Canvas's gradebook and Moodle's grading worksheet of the same class.
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Softmax (1234)
    Points Possible,,,,,46
"Silva, Ana",201,S101,ana,Monday,
"Okafor, Ben",202,S102,ben,Monday,
"Zhang, Cy",203,S103,cy,Monday,
"Moreau, Dee",204,S104,dee,Monday,
"O'Neil, Eli",205,S105,eli,Monday,
"Ito, Fay",206,S106,fay,Monday,
"""
WORKSHEET = """\
Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade),\
Feedback comments
Participant 301,Ana Silva,101,ana@uni.example,Submitted for grading,,46.00,Yes,-,
Participant 302,Ben Okafor,102,ben@uni.example,Submitted for grading,,46.00,Yes,-,
Participant 303,Cy Zhang,103,cy@uni.example,Submitted for grading,,46.00,Yes,-,
Participant 304,Dee Moreau,104,dee@uni.example,Submitted for grading,,46.00,Yes,-,
Participant 305,Eli O'Neil,105,eli@uni.example,Submitted for grading,,46.00,Yes,-,
Participant 306,Fay Ito,106,fay@uni.example,No submission,,46.00,Yes,-,
"""
CODE = {"Ana": RIGHT, "Ben": WRONG, "Cy": RIGHT, "Dee": RIGHT, "Eli": RIGHT}
CANVAS = {
    "silvaana_201_5551_softmax.py": CODE["Ana"],
    "okaforben_202_5560_softmax-1.py": CODE["Ben"],
    "zhangcy_LATE_203_5570_Softmax (1).py": CODE["Cy"],
    "moreaudee_204_5571_hw1.py": CODE["Dee"],
    "oneileli_205_5572_softmax.py": CODE["Eli"],
}
MOODLE = {
    "Ana Silva_301_assignsubmission_file/softmax.py": CODE["Ana"],
    "Ben Okafor_302_assignsubmission_file/softmax.py": CODE["Ben"],
    "Ben Okafor_302_assignsubmission_onlinetext/onlinetext.html": "<p>See my file.</p>",
    "Cy Zhang_303_assignsubmission_file/week 1/softmax (1).py": CODE["Cy"],
    "Dee Moreau_304_assignsubmission_file/hw1.py": CODE["Dee"],
    "Eli O'Neil_305_assignsubmission_file/softmax.py": CODE["Eli"],
}
MOODLE_FLAT = {name.replace("/week 1/", "/").replace("/", "_"): text for name, text in MOODLE.items()}
GRADESCOPE = {
    "submission_metadata.yml": METADATA,
    "submission_1001/softmax.py": CODE["Ana"],
    "submission_1002/softmax.py": CODE["Ben"],
    "submission_1003/softmax.py": CODE["Cy"],
    "submission_1004/softmax.py": CODE["Dee"],
}
GITHUB = {  # with the time of the last commit
    "ana-silva": (CODE["Ana"], "2026-10-01T09:30:00+00:00"),
    "bokafor": (CODE["Ben"], "2026-10-01T20:00:00-04:00"),
    "CyZ": (CODE["Cy"], "2026-10-03T01:00:00+00:00"),
    "moreau": (CODE["Dee"], "2026-10-01T08:00:00+00:00"),
    "eli-o": (CODE["Eli"], "2026-10-01T08:00:00+00:00"),
}
# The same work in plain folders, to compare the grades with.
PLAIN = {f"{number}/softmax.py": text for number, text in enumerate(CODE.values(), 101)}
CLONES = "softmax-submissions"


def write_files(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def zip_files(path: Path, files: dict[str, str], time: tuple[int, int, int, int, int, int]) -> Path:
    """Write a zip whose files all have the time of the download, as those of the platforms have."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(zipfile.ZipInfo(name, time), text)
    return path


def clone_class(folder: Path) -> Path:
    """Make what `gh classroom clone student-repos` makes: softmax-submissions/softmax-<account>/, with commits."""
    top = folder / CLONES
    for account, (text, when) in GITHUB.items():
        clone = write_files(top / f"softmax-{account}", {"softmax.py": text, "README.md": "# softmax\n"})
        env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        for name in ("AUTHOR", "COMMITTER"):
            env |= {
                f"GIT_{name}_NAME": account,
                f"GIT_{name}_EMAIL": f"{account}@git.example",
                f"GIT_{name}_DATE": when,
            }
        for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "done"]):
            subprocess.run(["git", *command], cwd=clone, env=env, check=True, capture_output=True)
    return top


def make_exports(folder: Path) -> Path:
    """Write the exports as folders and zips, with the class lists of the platforms."""
    today = (2026, 11, 2, 10, 0, 0)
    (folder / "roster.csv").write_text(ROSTER)
    (folder / "gradebook.csv").write_text(GRADEBOOK)
    (folder / "worksheet.csv").write_text(WORKSHEET)
    write_files(folder / "plain", PLAIN)
    write_files(folder / "canvas", CANVAS)
    write_files(folder / "moodle", MOODLE)
    write_files(folder / "assignment_77_export", GRADESCOPE)
    zip_files(folder / "submissions.zip", CANVAS, today)
    zip_files(folder / "ATT-Week 1-4711.zip", MOODLE, today)
    zip_files(folder / "ATT-Week 1-4712.zip", MOODLE_FLAT, today)
    inside = {f"assignment_77_export/{name}": text for name, text in GRADESCOPE.items()}
    zip_files(folder / "assignment_77_export.zip", inside, today)
    clone_class(folder)
    return folder


if __name__ == "__main__":
    make_exports(Path(sys.argv[1]))
