# %%
import string


# %%
def split_words(text):
    """Return the words of a text as a list: in small letters, without signs at their ends."""
    ### BEGIN SOLUTION
    stripped = (part.strip(string.punctuation) for part in text.lower().split())
    return [part for part in stripped if part]
    ### END SOLUTION


# %%
def count_words(words):
    """Return how often each word of a list is there, as a dict."""
    ### BEGIN SOLUTION
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts
    ### END SOLUTION


# %%
def merge_counts(counts, more):
    """Return the sums of two dicts of counts as a new dict."""
    ### BEGIN SOLUTION
    merged = dict(counts)
    for word, number in more.items():
        merged[word] = merged.get(word, 0) + number
    return merged
    ### END SOLUTION


# %%
def most_common(counts, number):
    """Return the most frequent words with their counts; words of equal counts in the order of the alphabet.

    ValueError naming the number if it is less than 1.
    """
    ### BEGIN SOLUTION
    if number < 1:
        raise ValueError(f"{number} words cannot be shown")
    by_frequency = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return by_frequency[:number]
    ### END SOLUTION


# %%
def word_places(lines):
    """Return for each word {"lines": the set of its lines, "first": (line, place)}; lines are lists of words."""
    ### BEGIN SOLUTION
    places = {}
    for at, line in enumerate(lines):
        for place, word in enumerate(line):
            entry = places.setdefault(word, {"lines": set(), "first": (at, place)})
            entry["lines"].add(at)
    return places
    ### END SOLUTION


# %%
def drop_words(words, stopped):
    """Return the set of the words that are not stopped."""
    ### BEGIN SOLUTION
    return words - stopped
    ### END SOLUTION
