"""Misconceptions of 01_words."""

import string

# %% keeps_the_case
LIKELY = "capital letters are kept"
HINT = "Are Go and go the same word?"
REPLACE = {
    'stripped = (part.strip(string.punctuation) for part in text.lower().split())': 'stripped = (part.strip(string.punctuation) for part in text.split())',
}

# %% splits_at_single_spaces
LIKELY = "the text is split at every single space only"
HINT = "What does split(' ') do with two spaces, and with a new line?"
REPLACE = {
    'stripped = (part.strip(string.punctuation) for part in text.lower().split())': 'stripped = (part.strip(string.punctuation) for part in text.lower().split(" "))',
}

# %% keeps_the_signs
LIKELY = "the signs at the ends of words are kept"
HINT = "Is `go,` a word?"
REPLACE = {
    'stripped = (part.strip(string.punctuation) for part in text.lower().split())': 'stripped = (part for part in text.lower().split())',
}

# %% counts_once
LIKELY = "every word is counted once"
HINT = "What is the number of a word that is there twice?"
REPLACE = {"counts[word] = counts.get(word, 0) + 1": "counts[word] = 1"}

# %% counts_from_zero
LIKELY = "the first time a word is seen counts as 0"
HINT = "What is the number after the first word?"
REPLACE = {"counts[word] = counts.get(word, 0) + 1": "counts[word] = counts.get(word, -1) + 1"}

# %% merges_in_place
LIKELY = "the counts are added to the first dict"
HINT = "Print the first dict before and after the call."
VALUES_RIGHT = True
REPLACE = {"merged = dict(counts)": "merged = counts"}

# %% replaces_counts
LIKELY = "a count of the second dict replaces that of the first"
HINT = "What does update do with a word that both have?"
REPLACE = {"merged[word] = merged.get(word, 0) + number": "merged[word] = number"}

# %% ties_as_they_come
LIKELY = "words of equal counts stay in the order of the dict"
HINT = "Which comes first, `on` or `up`?"
REPLACE = {
    'by_frequency = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))': 'by_frequency = sorted(counts.items(), key=lambda pair: -pair[1])',
}

# %% rarest_first
LIKELY = "the rarest words come first"
HINT = "Which end of the list has the most frequent words?"
REPLACE = {
    'by_frequency = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))': 'by_frequency = sorted(counts.items(), key=lambda pair: (pair[1], pair[0]))',
}

# %% words_without_counts
LIKELY = "only the words are returned"
HINT = "What is one item of the result?"
REPLACE = {"return by_frequency[:number]": "return [word for word, _ in by_frequency[:number]]"}

# %% any_number
LIKELY = "a number below 1 is not refused"
HINT = "Ask for 0 words."
VALUES_RIGHT = True
REPLACE = {"if number < 1:": "if number < -9:"}

# %% counts_lines_from_one
LIKELY = "lines are counted from 1"
HINT = "What is the number of the first line?"
REPLACE = {
    'for at, line in enumerate(lines):': 'for at, line in enumerate(lines, 1):',
}

# %% keeps_the_last_place
LIKELY = "the place is that of the last time"
HINT = "Where does the word stand first?"
REPLACE = {'entry["lines"].add(at)': 'entry["lines"].add(at)\nentry["first"] = (at, place)'}

# %% lines_as_lists
LIKELY = "the lines are a list, not a set"
HINT = "What is the type of the lines of a word?"
REPLACE = {
    'entry = places.setdefault(word, {"lines": set(), "first": (at, place)})': 'entry = places.setdefault(word, {"lines": [], "first": (at, place)})',
    'entry["lines"].add(at)': 'entry["lines"].append(at)',
}

# %% drops_in_place
LIKELY = "the words are taken out of the caller's set"
HINT = "Print the set before and after the call."
VALUES_RIGHT = True
REPLACE = {"return words - stopped": "words -= stopped\nreturn words"}

# %% keeps_the_stopped
LIKELY = "the words that should go are the ones that stay"
HINT = "Which words are in both sets?"
REPLACE = {"return words - stopped": "return words & stopped"}

# %% sorts_the_list
LIKELY = "the caller's list is sorted"
HINT = "Print the list before and after the call."
VALUES_RIGHT = True
REPLACE = {"counts = {}": "words.sort()\ncounts = {}"}

# %% empties_the_counts
LIKELY = "the caller's counts are emptied"
HINT = "Print the counts before and after the call."
VALUES_RIGHT = True
REPLACE = {"return by_frequency[:number]": "counts.clear()\nreturn by_frequency[:number]"}

# %% closes_the_lines
LIKELY = "the caller's last line gets another word"
HINT = "Print the lines before and after the call."
VALUES_RIGHT = True
REPLACE = {"return places": 'lines[-1].append("")\nreturn places'}
