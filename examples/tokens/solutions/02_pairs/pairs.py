# %% [markdown]
# # 02 · Pairs of bytes
#
# Say what is built here, and why.


# %%
def pairs(text):
    """Count words: replace this by what the module is about, and state every rule a student can lose points by.

    text: a string. White space of any kind separates words. Upper and lower case are the same: "The" counts as "the".
    Returns a dictionary: each word in lower case, and how often it is in the text. Without words it is empty.
    """
    ### BEGIN SOLUTION
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts
    ### END SOLUTION


# %%
# Try it with the sentence from the lesson.
if __name__ == "__main__":
    print(pairs("To be or not to be"))
