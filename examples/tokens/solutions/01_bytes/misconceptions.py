"""The known wrong ways of 01_bytes: one cell each, laid over the solution to make a wrong submission."""

# %% keeps_the_case
LIKELY = "`The` and `the` are counted as two words"
HINT = "Which words should `The cat saw the dog` give?"


def bytes(text):
    words = text.split()
    return {word: words.count(word) for word in words}


# %% splits_at_single_spaces
LIKELY = "the text is split at each single space, so that other white space is part of a word"
HINT = "Try a text with two spaces in a row, and one with two lines."


def bytes(text):
    words = text.lower().split(" ")
    return {word: words.count(word) for word in words}


# %% counts_each_word_once
LIKELY = "a word that comes again is not counted again"
HINT = "What happens in your loop when a word is in the dictionary already?"


def bytes(text):
    return {word: 1 for word in text.lower().split()}


# %% counts_letters
LIKELY = "letters are counted, not words"
HINT = "What does a loop over a string go through?"


def bytes(text):
    letters = "".join(text.lower().split())
    return {letter: letters.count(letter) for letter in letters}
