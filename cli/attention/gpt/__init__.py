"""`attn gpt`: train the student's own GPT, and let it write."""
