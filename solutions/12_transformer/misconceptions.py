"""Misconceptions of 12_transformer: one cell each. Added to the solution, a cell makes a wrong submission."""

import torch
from torch.nn import functional as F
from transformer import GPT, TransformerBlock  # the solution: each cell replaces a part

# %% norm_eps_outside_the_root
LIKELY = "eps is added after the root, not inside it"
HINT = "The formula is sqrt(mean + eps). Try an eps of 3 with the token [1, -1]."
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return x / (mean_square.sqrt() + self.eps) * self.weight"
    )
}

# %% norm_without_eps
LIKELY = "eps is not used, so a token of zeros is divided by 0"
HINT = "Try a token of zeros."
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return x * torch.rsqrt(mean_square) * self.weight"
    )
}

# %% norm_subtracts_the_mean
LIKELY = "the mean is subtracted first: that is layer norm"
HINT = "What happens to a token whose entries are all 3?"
REPLACE = {
    "mean_square = x.square().mean(dim=-1, keepdim=True)": (
        "x = x - x.mean(dim=-1, keepdim=True)\nmean_square = x.square().mean(dim=-1, keepdim=True)"
    )
}

# %% norm_without_root
LIKELY = "the token is divided by the mean of the squares, not by its root"
HINT = "If x is ten times as large, should the result be smaller?"
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return x / (mean_square + self.eps) * self.weight"
    )
}

# %% norm_sums_the_squares
LIKELY = "the squares are summed, not averaged"
HINT = "The squares of the result should have the mean 1, whatever the width."
REPLACE = {"mean_square = x.square().mean(dim=-1, keepdim=True)": "mean_square = x.square().sum(dim=-1, keepdim=True)"}

# %% norm_of_absolute_values
LIKELY = "the mean of absolute values is used, not the root of the mean of squares"
HINT = "Follow the row of cat in the lesson: 0, 4, 0 and 1 are its squares."
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return x / (x.abs().mean(dim=-1, keepdim=True) + self.eps) * self.weight"
    )
}

# %% norm_of_the_whole_array
LIKELY = "all tokens together are divided by one number"
HINT = "Normalise two tokens together, then each alone. Do you get the same?"
REPLACE = {"mean_square = x.square().mean(dim=-1, keepdim=True)": "mean_square = x.square().mean()"}

# %% norm_over_the_wrong_axis
LIKELY = "the mean goes over the first axis, not over the features of each token"
HINT = "Which axis holds the features? Print the shape of the mean."
REPLACE = {"mean_square = x.square().mean(dim=-1, keepdim=True)": "mean_square = x.square().mean(dim=0, keepdim=True)"}

# %% norm_without_weight
LIKELY = "the weight is not used"
HINT = "Set the weight to 2. What should change?"
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": ("return x * torch.rsqrt(mean_square + self.eps)")
}

# %% norm_weight_starts_at_zero
LIKELY = "the weight starts at 0, so a new norm gives zeros"
HINT = "What should a new norm do to a token of the right size?"
REPLACE = {"self.weight = nn.Parameter(torch.ones(dim))": "self.weight = nn.Parameter(torch.zeros(dim))"}

# %% norm_with_bias
LIKELY = "the norm has a bias"
HINT = "Print dict(RMSNorm(4).named_parameters()). Which of them are in the formula?"
REPLACE = {
    "self.weight = nn.Parameter(torch.ones(dim))": (
        "self.weight = nn.Parameter(torch.ones(dim))\nself.bias = nn.Parameter(torch.zeros(dim))"
    ),
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return x * torch.rsqrt(mean_square + self.eps) * self.weight + self.bias"
    ),
}

# %% norm_weight_is_no_parameter
LIKELY = "the weight is a plain tensor, so it is never learnt or loaded"
HINT = "What does list(RMSNorm(4).parameters()) give?"
REPLACE = {"self.weight = nn.Parameter(torch.ones(dim))": "self.weight = torch.ones(dim)"}

# %% norm_cuts_the_graph
LIKELY = "no gradient flows through the size of the token"
HINT = "Which tensors do you detach? The root mean square depends on x, too."
REPLACE = {
    "mean_square = x.square().mean(dim=-1, keepdim=True)": (
        "mean_square = x.detach().square().mean(dim=-1, keepdim=True)"
    )
}

# %% norm_changes_its_input
LIKELY = "the tokens of the caller are divided in place"
HINT = "x.mul_(y) changes the tensor that was passed in. x * y makes a new one."
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return x.mul_(torch.rsqrt(mean_square + self.eps)) * self.weight"
    )
}

# %% network_gate_and_up_swapped
LIKELY = "silu is applied to up, not to gate"
HINT = "Which of the two projections says how much of the other passes?"
REPLACE = {
    "opened = F.silu(self.gate(x))": "opened = F.silu(self.up(x))",
    "return self.down(opened * self.up(x))": "return self.down(opened * self.gate(x))",
}

# %% network_relu
LIKELY = "the gate has relu in place of silu"
HINT = "silu(-1) is not 0. Look at the table in the lesson."
REPLACE = {"opened = F.silu(self.gate(x))": "opened = F.relu(self.gate(x))"}

# %% network_gelu
LIKELY = "the gate has gelu in place of silu"
HINT = "silu(z) is z times sigmoid(z). Compute silu(2) by hand."
REPLACE = {"opened = F.silu(self.gate(x))": "opened = F.gelu(self.gate(x))"}

# %% network_sigmoid
LIKELY = "the gate is a sigmoid, not silu"
HINT = "silu(z) is z times sigmoid(z): a factor is missing."
REPLACE = {"opened = F.silu(self.gate(x))": "opened = torch.sigmoid(self.gate(x))"}

# %% network_softmax_over_tokens
LIKELY = "the gate is a softmax over the tokens, so every token depends on the others"
HINT = "The network works on each token alone. Compute one token with the others, and without them."
REPLACE = {"opened = F.silu(self.gate(x))": "opened = torch.softmax(self.gate(x), dim=1)"}

# %% network_silu_of_the_product
LIKELY = "silu is applied after the product of gate and up"
HINT = "What goes through silu: the gate alone, or the product?"
REPLACE = {
    "opened = F.silu(self.gate(x))": "opened = self.gate(x)",
    "return self.down(opened * self.up(x))": "return self.down(F.silu(opened * self.up(x)))",
}

# %% network_without_gate
LIKELY = "up is not used: silu(gate(x)) goes straight to down"
HINT = "There are two projections into the wider space. What is the second one for?"
REPLACE = {"return self.down(opened * self.up(x))": "return self.down(opened)"}

# %% network_adds_gate_and_up
LIKELY = "gate and up are added, not multiplied"
HINT = "A closed gate should let nothing pass. What does a sum do?"
REPLACE = {"return self.down(opened * self.up(x))": "return self.down(opened + self.up(x))"}

# %% network_with_residual
LIKELY = "the network adds its input: the residual belongs to the block"
HINT = "What should the network return for weights of 0?"
REPLACE = {"return self.down(opened * self.up(x))": "return x + self.down(opened * self.up(x))"}

# %% network_with_biases
LIKELY = "the projections have biases"
HINT = "nn.Linear has a bias unless you say no. How many parameters should there be?"
REPLACE = {
    "self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)": "self.gate = nn.Linear(embed_dim, hidden_dim)",
    "self.up = nn.Linear(embed_dim, hidden_dim, bias=False)": "self.up = nn.Linear(embed_dim, hidden_dim)",
    "self.down = nn.Linear(hidden_dim, embed_dim, bias=False)": "self.down = nn.Linear(hidden_dim, embed_dim)",
}

# %% network_changes_its_input
LIKELY = "the result is written into the tokens of the caller"
HINT = "A caller may need x again: the block adds it to the result. Return a new tensor."
REPLACE = {"return self.down(opened * self.up(x))  # (B, N, E)": "return x.copy_(self.down(opened * self.up(x)))"}

# %% block_post_norm
LIKELY = "the norms come after the sums: this is a post-norm block"
HINT = "Where is the norm in the formula: inside the branch, or around the sum?"
REPLACE = {
    "attended, _ = self.attention(self.norm1(x), mask=mask)": "attended, _ = self.attention(x, mask=mask)",
    "x = x + attended": "x = self.norm1(x + attended)",
    "return x + self.feed_forward(self.norm2(x))": "return self.norm2(x + self.feed_forward(x))",
}

# %% block_without_first_residual
LIKELY = "the attention replaces the tokens: its residual is missing"
HINT = "What should the block return if the attention computes 0?"
REPLACE = {"x = x + attended": "x = attended"}

# %% block_without_second_residual
LIKELY = "the network replaces the tokens: its residual is missing"
HINT = "What should the block return if the network computes 0?"
REPLACE = {"return x + self.feed_forward(self.norm2(x))": "return self.feed_forward(self.norm2(x))"}

# %% block_shares_one_norm
LIKELY = "norm1 is used for both halves"
HINT = "Which norm comes before the network?"
REPLACE = {"return x + self.feed_forward(self.norm2(x))": "return x + self.feed_forward(self.norm1(x))"}

# %% block_ignores_the_mask
LIKELY = "the mask is not passed on to the attention"
HINT = "Where does the mask go after it has reached the block?"
REPLACE = {"attended, _ = self.attention(self.norm1(x), mask=mask)": "attended, _ = self.attention(self.norm1(x))"}

# %% block_is_always_causal
LIKELY = "without a mask, the block makes a causal one"
HINT = "The mask is the job of the model. What should a block do without one?"
REPLACE = {
    "attended, _ = self.attention(self.norm1(x), mask=mask)": (
        "if mask is None:\n"
        "    mask = torch.ones(x.shape[1], x.shape[1], device=x.device).tril()\n"
        "attended, _ = self.attention(self.norm1(x), mask=mask)"
    )
}

# %% block_mask_inverted
LIKELY = "the mask is inverted before it goes to the attention"
HINT = "In this course, 1 means: may look. Only nn.MultiheadAttention has it the other way round."
REPLACE = {
    "attended, _ = self.attention(self.norm1(x), mask=mask)": (
        "mask = None if mask is None else mask == 0\nattended, _ = self.attention(self.norm1(x), mask=mask)"
    )
}

# %% block_parallel_halves
LIKELY = "both halves read the same tokens: the network does not see what the attention added"
HINT = "Which x goes into norm2: the one before the attention or the one after it?"
REPLACE = {
    "x = x + attended\nreturn x + self.feed_forward(self.norm2(x))": (
        "return x + attended + self.feed_forward(self.norm2(x))"
    )
}

# %% block_network_first
LIKELY = "the network comes before the attention"
HINT = "Which half is first in the formula?"
REPLACE = {
    (
        "attended, _ = self.attention(self.norm1(x), mask=mask)\n"
        "x = x + attended\n"
        "return x + self.feed_forward(self.norm2(x))"
    ): (
        "x = x + self.feed_forward(self.norm2(x))\n"
        "attended, _ = self.attention(self.norm1(x), mask=mask)\n"
        "return x + attended"
    )
}

# %% block_attention_without_norm
LIKELY = "the attention reads the tokens without a norm"
HINT = "What should happen to what the attention adds if all tokens are ten times as large?"
REPLACE = {"attended, _ = self.attention(self.norm1(x), mask=mask)": "attended, _ = self.attention(x, mask=mask)"}

# %% block_network_without_norm
LIKELY = "the network reads the tokens without a norm"
HINT = "What should happen to what the network adds if all tokens are ten times as large?"
REPLACE = {"return x + self.feed_forward(self.norm2(x))": "return x + self.feed_forward(x)"}

# %% block_adds_to_the_normed
LIKELY = "the residual begins after the norm, so the stream itself is normalised"
HINT = "To what is the output of the attention added: to x or to norm1(x)?"
REPLACE = {
    "attended, _ = self.attention(self.norm1(x), mask=mask)": (
        "x = self.norm1(x)\nattended, _ = self.attention(x, mask=mask)"
    )
}

# %% block_norms_overwrite_the_stream
LIKELY = "each half is added to its normalised input, so the stream itself is normalised"
HINT = "What should the block return if both halves compute 0? Try it, and look at what each half is added to."
REPLACE = {
    "attended, _ = self.attention(self.norm1(x), mask=mask)": (
        "x = self.norm1(x)\nattended, _ = self.attention(x, mask=mask)"
    ),
    "return x + self.feed_forward(self.norm2(x))": "x = self.norm2(x)\nreturn x + self.feed_forward(x)",
}

# %% block_changes_its_input
LIKELY = "the tokens of the caller are changed"
HINT = "x += y changes the tensor that was passed in. x = x + y makes a new one."
REPLACE = {"x = x + attended": "x += attended"}

# %% model_without_mask
LIKELY = "no causal mask reaches the blocks, so every token sees the future"
HINT = "Change the last token. Do the logits before it stay the same?"
REPLACE = {"x = block(x, mask)": "x = block(x)"}

# %% model_mask_without_itself
LIKELY = "the mask also blocks the token itself"
HINT = "tril() keeps the diagonal, tril(-1) does not. May a token look at itself?"
REPLACE = {
    "mask = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()": (
        "mask = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril(-1)"
    )
}

# %% model_mask_upper
LIKELY = "the mask allows only the future: it is the upper triangle"
HINT = "Row i of the mask belongs to token i. Which keys may it see?"
REPLACE = {
    "mask = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()": (
        "mask = torch.ones(length, length, dtype=torch.bool, device=ids.device).triu()"
    )
}

# %% model_without_positions
LIKELY = "the position embedding is not added"
HINT = "Write the same token three times. Can the model tell the places apart?"
REPLACE = {"x = self.token_embedding(ids) + self.position_embedding(positions)": "x = self.token_embedding(ids)"}

# %% model_positions_from_one
LIKELY = "the positions begin at 1"
HINT = "Which row of the table belongs to the first token? How many rows are there?"
REPLACE = {
    "positions = torch.arange(length, device=ids.device)": (
        "positions = torch.arange(1, length + 1, device=ids.device)"
    )
}

# %% model_positions_backwards
LIKELY = "the positions count from the end"
HINT = "Which row of the table belongs to the first token, in a text of any length?"
REPLACE = {
    "positions = torch.arange(length, device=ids.device)": (
        "positions = torch.arange(length - 1, -1, -1, device=ids.device)"
    )
}

# %% model_one_position_for_all
LIKELY = "every token gets the position embedding of the first place"
HINT = "Print your positions. How many different ones are there?"
REPLACE = {
    "positions = torch.arange(length, device=ids.device)": (
        "positions = torch.zeros(length, dtype=torch.int64, device=ids.device)"
    )
}

# %% model_positions_are_tokens
LIKELY = "the position embedding is looked up with token ids, not with places"
HINT = "What do you pass to position_embedding?"
REPLACE = {"positions = torch.arange(length, device=ids.device)": "positions = ids % self.context_length"}

# %% model_multiplies_positions
LIKELY = "the position embedding is multiplied, not added"
HINT = "Where do you join the two embeddings?"
REPLACE = {
    "x = self.token_embedding(ids) + self.position_embedding(positions)": (
        "x = self.token_embedding(ids) * self.position_embedding(positions)"
    )
}

# %% model_without_last_norm
LIKELY = "the head reads the stream without the last norm"
HINT = "What comes between the last block and the head?"
REPLACE = {"return self.head(self.norm(x))": "return self.head(x)"}

# %% model_returns_probabilities
LIKELY = "the model returns probabilities, not logits"
HINT = "Who takes the softmax: the model, or the loss and the sampling?"
REPLACE = {"return self.head(self.norm(x))": "return torch.softmax(self.head(self.norm(x)), dim=-1)"}

# %% model_returns_log_probabilities
LIKELY = "the model returns log-probabilities, not logits"
HINT = "The head is the last step. What comes after it in your code?"
REPLACE = {"return self.head(self.norm(x))": "return torch.log_softmax(self.head(self.norm(x)), dim=-1)"}

# %% model_returns_the_last_place
LIKELY = "the model returns the logits of the last place only"
HINT = "How many places have a target in training?"
REPLACE = {"return self.head(self.norm(x))": "return self.head(self.norm(x[:, -1:]))"}

# %% model_changes_the_ids
LIKELY = "the first token of the caller is overwritten"
HINT = "ids belongs to the caller. Print it before and after a call."
REPLACE = {"length = ids.shape[1]": "ids[:, 0] = 0\nlength = ids.shape[1]"}

# %% model_runs_one_block
LIKELY = "only the first block is used"
HINT = "Look at the loop over the blocks. Does it reach the second one?"
REPLACE = {"for block in self.blocks:": "for block in self.blocks[:1]:"}

# %% model_shares_its_blocks
LIKELY = "all layers are the same block"
HINT = "[block] * 2 has the same object twice. How many parameters should two blocks have?"
REPLACE = {
    ("self.blocks = nn.ModuleList(TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers))"): (
        "self.blocks = nn.ModuleList([TransformerBlock(embed_dim, num_heads, hidden_dim)] * num_layers)"
    )
}

# %% model_blocks_in_a_list
LIKELY = "the blocks are in a plain list, where PyTorch does not find their parameters"
HINT = "How many parameters does list(model.parameters()) have? Which container does PyTorch look into?"
REPLACE = {
    ("self.blocks = nn.ModuleList(TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers))"): (
        "self.blocks = [TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)]"
    )
}

# %% model_head_with_bias
LIKELY = "the head has a bias"
HINT = "nn.Linear has a bias unless you say no."
REPLACE = {"self.head = nn.Linear(embed_dim, vocab_size, bias=False)": "self.head = nn.Linear(embed_dim, vocab_size)"}

# %% model_ties_its_head
LIKELY = "the head shares its weight with the token embedding"
HINT = "Here the head has a weight of its own. How many parameters does the lesson count?"
REPLACE = {
    "self.head = nn.Linear(embed_dim, vocab_size, bias=False)": (
        "self.head = nn.Linear(embed_dim, vocab_size, bias=False)\nself.head.weight = self.token_embedding.weight"
    )
}

# %% model_begins_too_sure
LIKELY = "the first logits are far too large, so a new model is sure of random tokens"
HINT = "Print the loss of a new model, and ln V. How large should the first logits be?"
REPLACE = {
    "self.head = nn.Linear(embed_dim, vocab_size, bias=False)": (
        "self.head = nn.Linear(embed_dim, vocab_size, bias=False)\nnn.init.normal_(self.head.weight, std=3.0)"
    )
}

# %% model_crops_silently
LIKELY = "a text that is too long is cropped without an error"
HINT = "What should forward do with nine tokens and a context of eight? The docstring says it."
VALUES_RIGHT = True
REPLACE = {
    (
        "if length > self.context_length:\n"
        '    raise ValueError(f"{length} tokens do not fit into a context of {self.context_length}")'
    ): ("if length > self.context_length:\n    ids = ids[:, -self.context_length :]\n    length = self.context_length")
}

# %% model_leaves_the_length_to_the_embedding
LIKELY = "a text that is too long reaches the position embedding, which raises an IndexError of its own"
HINT = "Try nine tokens and a context of eight. Which exception should it be, and what must its message name?"
VALUES_RIGHT = True
REPLACE = {
    (
        "if length > self.context_length:\n"
        '    raise ValueError(f"{length} tokens do not fit into a context of {self.context_length}")'
    ): ""
}

# %% model_refuses_a_full_context
LIKELY = "a text that just fits is refused"
HINT = "Eight tokens fit into a context of eight. Which comparison do you use?"
REPLACE = {"if length > self.context_length:": "if length >= self.context_length:"}

# %% model_asserts_the_length
LIKELY = "a text that is too long raises an AssertionError; it should be a ValueError"
HINT = "`assert` raises an AssertionError. The docstring asks for a ValueError."
VALUES_RIGHT = True
REPLACE = {
    (
        "if length > self.context_length:\n"
        '    raise ValueError(f"{length} tokens do not fit into a context of {self.context_length}")'
    ): ('assert length <= self.context_length, f"{length} tokens, a context of {self.context_length}"')
}

# %% model_positions_on_the_cpu
LIKELY = "the positions are always made on the CPU"
HINT = "Where does torch.arange put its result if you do not say it? Where are the ids?"
VALUES_RIGHT = True
REPLACE = {"positions = torch.arange(length, device=ids.device)": "positions = torch.arange(length)"}

# %% model_mask_on_the_cpu
LIKELY = "the mask is always made on the CPU"
HINT = "Where does torch.ones put its result if you do not say it? Where are the ids?"
VALUES_RIGHT = True
REPLACE = {
    "mask = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()": (
        "mask = torch.ones(length, length, dtype=torch.bool).tril()"
    )
}

# %% loss_is_a_sum
LIKELY = "the losses are summed, not averaged"
HINT = "Repeat the batch. Should the loss become twice as large?"
REPLACE = {"return (log_sums - chosen).mean()": "return (log_sums - chosen).sum()"}

# %% loss_is_a_sum_over_places
LIKELY = "the losses of a text are summed, and only the texts are averaged"
HINT = "A text of twice the length should not have twice the loss. Over which axes do you average?"
REPLACE = {"return (log_sums - chosen).mean()": "return (log_sums - chosen).sum(dim=1).mean()"}

# %% loss_without_reduction
LIKELY = "every place has its own loss: the mean is missing"
HINT = "What is the shape of your result? It should be one number."
REPLACE = {"return (log_sums - chosen).mean()": "return log_sums - chosen"}

# %% loss_with_the_wrong_sign
LIKELY = "the sign is wrong: the loss of a good model is negative"
HINT = "A likely token should have a small positive loss."
REPLACE = {"return (log_sums - chosen).mean()": "return (chosen - log_sums).mean()"}

# %% loss_in_bits
LIKELY = "the logarithm has the base 2"
HINT = "A model that knows nothing has a loss of ln V, with the natural logarithm."
REPLACE = {"return (log_sums - chosen).mean()": "return ((log_sums - chosen) / math.log(2)).mean()"}

# %% loss_of_a_softmax
LIKELY = "a softmax comes before the cross-entropy, which has one inside already"
HINT = "Are your logits already probabilities when the loss takes their exponential?"
REPLACE = {
    "log_sums = torch.logsumexp(logits, dim=-1)": (
        "logits = torch.softmax(logits, dim=-1)\nlog_sums = torch.logsumexp(logits, dim=-1)"
    )
}

# %% loss_overflows
LIKELY = "the sum of exponentials overflows for large logits"
HINT = "exp(100) is too large for float32. What did you subtract in module 01?"
REPLACE = {"log_sums = torch.logsumexp(logits, dim=-1)": "log_sums = torch.log(torch.exp(logits).sum(dim=-1))"}

# %% loss_log_of_softmax
LIKELY = "the logarithm of a softmax is infinite where a probability is rounded to 0"
HINT = "A gap of 10000 should be a loss of 10000. Which function computes logarithm and sum together?"
REPLACE = {
    (
        "log_sums = torch.logsumexp(logits, dim=-1)\n"
        "chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
        "return (log_sums - chosen).mean()"
    ): (
        "chosen = torch.softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
        "return -torch.log(chosen).mean()"
    )
}

# %% loss_without_logarithm
LIKELY = "the loss is minus the probability: the logarithm is missing"
HINT = "The loss of a token with the probability 1 is 0. What is yours?"
REPLACE = {
    (
        "log_sums = torch.logsumexp(logits, dim=-1)\n"
        "chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
        "return (log_sums - chosen).mean()"
    ): ("chosen = torch.softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)\nreturn -chosen.mean()")
}

# %% loss_without_normaliser
LIKELY = "the loss is minus the logit of the target: the sum over all tokens is missing"
HINT = "Add 1 to all logits. Should the loss change?"
REPLACE = {"return (log_sums - chosen).mean()": "return -chosen.mean()"}

# %% loss_is_a_plain_number
LIKELY = "the loss is a Python number, so nothing can learn from it"
HINT = "`.item()` cuts the graph. What should loss.backward() do?"
REPLACE = {"return (log_sums - chosen).mean()": "return (log_sums - chosen).mean().item()"}

# %% loss_shifts_again
LIKELY = "the targets are shifted a second time inside the loss"
HINT = "get_batch has shifted them already. Which target belongs to the first place?"
REPLACE = {
    "log_sums = torch.logsumexp(logits, dim=-1)": (
        "logits, targets = torch.cat([logits[:, :-1], logits[:, :1]], dim=1), "
        "torch.cat([targets[:, 1:], targets[:, :1]], dim=1)\n"
        "log_sums = torch.logsumexp(logits, dim=-1)"
    )
}

# %% loss_cuts_the_graph
LIKELY = "no gradient flows through the sum over all tokens"
HINT = "Which tensors do you detach? The gradient of a logit that is not the target is not 0."
REPLACE = {"log_sums = torch.logsumexp(logits, dim=-1)": "log_sums = torch.logsumexp(logits.detach(), dim=-1)"}

# %% loss_changes_the_logits
LIKELY = "the maximum is subtracted from the logits of the caller"
HINT = "logits.sub_(m) changes the tensor that was passed in. logits - m makes a new one."
REPLACE = {
    "log_sums = torch.logsumexp(logits, dim=-1)  # (B, N)": (
        "logits.sub_(logits.detach().amax(dim=-1, keepdim=True))\nlog_sums = torch.logsumexp(logits, dim=-1)"
    )
}

# %% batch_targets_not_shifted
LIKELY = "the targets are the inputs themselves: the model learns to copy"
HINT = "What comes after inputs[0, 0] in the data? That is targets[0, 0]."
REPLACE = {"return pieces[:, :-1], pieces[:, 1:]": "return pieces[:, :-1], pieces[:, :-1]"}

# %% batch_swapped
LIKELY = "inputs and targets are swapped"
HINT = "Which of the two begins earlier in the data?"
REPLACE = {"return pieces[:, :-1], pieces[:, 1:]": "return pieces[:, 1:], pieces[:, :-1]"}

# %% batch_targets_from_the_end
LIKELY = "the targets are shifted in a circle: the last one is the first input"
HINT = "The token after the last input is in the data, not in the row."
REPLACE = {"return pieces[:, :-1], pieces[:, 1:]": "return pieces[:, :-1], pieces[:, :-1].roll(-1, dims=1)"}

# %% batch_without_generator
LIKELY = "the starts are not drawn with the generator, so a run cannot be repeated"
HINT = "Call it twice with the same seed. Do you get the same batch?"
REPLACE = {
    "starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)": (
        "starts = torch.randint(len(data) - context_length, (batch_size,))"
    )
}

# %% batch_last_start_missing
LIKELY = "the last start is never drawn"
HINT = "With 10 tokens and a context of 4, the last start is 5. What is the first number that randint never gives?"
REPLACE = {
    "starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)": (
        "starts = torch.randint(max(1, len(data) - context_length - 1), (batch_size,), generator=generator)"
    )
}

# %% batch_first_start_missing
LIKELY = "the first start is never drawn"
HINT = "What is the smallest number that your starts can be?"
REPLACE = {
    "starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)": (
        "starts = torch.randint(min(1, len(data) - context_length - 1), len(data) - "
        "context_length, (batch_size,), generator=generator)"
    )
}

# %% batch_one_start_for_all
LIKELY = "all rows begin at the same place"
HINT = "How many random numbers does a batch need?"
REPLACE = {
    "starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)": (
        "starts = torch.randint(len(data) - context_length, (1,), generator=generator).expand(batch_size)"
    )
}

# %% batch_not_random
LIKELY = "the starts are not random: the batch is always the same"
HINT = "Where do you use the generator?"
REPLACE = {
    "starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)": (
        "starts = torch.arange(batch_size) % (len(data) - context_length)"
    )
}

# %% batch_without_repeats
LIKELY = "the starts are drawn without putting them back"
HINT = "A batch may be larger than the number of starts. Are your draws independent?"
REPLACE = {
    "starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)": (
        "starts = torch.randperm(len(data) - context_length, generator=generator)\n"
        "starts = starts.repeat(batch_size // len(starts) + 1)[:batch_size]"
    )
}

# %% batch_in_whole_blocks
LIKELY = "the pieces only begin at multiples of context_length"
HINT = "Every place is a start, not only every context_length-th."
REPLACE = {
    "starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)": (
        "starts = torch.randint((len(data) - 1) // context_length, (batch_size,), generator=generator) * context_length"
    )
}

# %% batch_of_single_tokens
LIKELY = "every token is drawn alone: the rows are not pieces of the data"
HINT = "The tokens of a row should follow each other in the data."
REPLACE = {
    "places = starts.unsqueeze(1) + torch.arange(context_length + 1)": (
        "places = torch.randint(len(data) - 1, (batch_size, context_length), generator=generator)"
    ),
    "pieces = data[places]\nreturn pieces[:, :-1], pieces[:, 1:]": "return data[places], data[places + 1]",
}

# %% batch_changes_the_data
LIKELY = "the data of the caller is moved by one token"
HINT = "Print the data before and after a call. It is the text, and the next batch is cut from it, too."
REPLACE = {"pieces = data[places]": "pieces = data[places]\ndata.copy_(data.roll(1))"}

# %% sample_temperature_multiplied
LIKELY = "the logits are multiplied by the temperature"
HINT = "A low temperature should make likely tokens likelier. Multiply or divide?"
REPLACE = {"logits = logits / temperature": "logits = logits * temperature"}

# %% sample_temperature_ignored
LIKELY = "the temperature is not used"
HINT = "Draw with a temperature of 0.05 and of 50. What changes?"
REPLACE = {"logits = logits / temperature": ""}

# %% sample_changes_the_logits
LIKELY = "the logits of the caller are divided in place"
HINT = "logits /= t changes the tensor that was passed in. logits = logits / t makes a new one."
VALUES_RIGHT = True
REPLACE = {"logits = logits / temperature  # (B, V)": "logits /= temperature"}

# %% sample_always_the_best
LIKELY = "the most likely token is always taken: nothing is drawn"
HINT = "Draw a hundred times from two equal logits. How often does each come?"
REPLACE = {
    "return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)": (
        "return probabilities.argmax(dim=-1)"
    )
}

# %% sample_top_k_keeps_ties
LIKELY = "top_k keeps every token that is as likely as the k-th: with equal logits, these are more than k"
HINT = "Draw from six equal logits with top_k=2. How many different tokens come?"
REPLACE = {
    (
        "best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)\n"
        "logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)"
    ): (
        "worst = logits.topk(min(top_k, logits.shape[-1]), dim=-1).values[:, -1:]\n"
        "logits = logits.masked_fill(logits < worst, -math.inf)"
    )
}

# %% sample_top_k_ignored
LIKELY = "top_k is not used"
HINT = "Draw a hundred times with top_k=1. How many different tokens come?"
REPLACE = {
    (
        "if top_k is not None:\n"
        "    best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)\n"
        "    logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)"
    ): ("")
}

# %% sample_top_k_one_too_many
LIKELY = "top_k keeps one token too many"
HINT = "Draw a hundred times with top_k=1. How many different tokens come?"
REPLACE = {
    "best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)": (
        "best = logits.topk(min(top_k + 1, logits.shape[-1]), dim=-1)"
    )
}

# %% sample_top_k_keeps_the_worst
LIKELY = "top_k keeps the least likely tokens"
HINT = "Look at the argument `largest` of topk, or at the order of your sort."
REPLACE = {
    "best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)": (
        "best = logits.topk(min(top_k, logits.shape[-1]), dim=-1, largest=False)"
    )
}

# %% sample_top_p_drops_the_last
LIKELY = "top_p drops the token that reaches p"
HINT = "cat has .4036 and top_p is 0.6: cat alone does not reach it. Which token comes next?"
REPLACE = {
    "before = ordered.cumsum(dim=-1) - ordered\nordered = ordered.masked_fill(before >= top_p, 0.0)": (
        "sums = ordered.cumsum(dim=-1)\nsums[:, 0] = 0.0\nordered = ordered.masked_fill(sums > top_p, 0.0)"
    )
}

# %% sample_top_p_ignored
LIKELY = "top_p is not used"
HINT = "Draw a hundred times with top_p=0.01. How many different tokens come?"
REPLACE = {"ordered = ordered.masked_fill(before >= top_p, 0.0)": ""}

# %% sample_top_p_in_the_given_order
LIKELY = "the probabilities are added up in the order of the tokens, not from the most likely one"
HINT = "Sort before you add up."
REPLACE = {
    "ordered, places = probabilities.sort(dim=-1, descending=True)": (
        "ordered, places = probabilities, torch.arange(probabilities.shape[-1]).expand_as(probabilities)"
    )
}

# %% sample_top_p_forgets_the_order
LIKELY = "the probabilities stay sorted: a place in the sorted list is returned in place of a token"
HINT = "After sorting, place 0 is the most likely token. Which token is that?"
REPLACE = {"probabilities = torch.zeros_like(probabilities).scatter(-1, places, ordered)": "probabilities = ordered"}

# %% sample_top_p_of_each_token
LIKELY = "top_p is compared with the probability of each token, not with their sum"
HINT = "With top_p=0.6, is there any token with a probability of 0.6? Which sum is meant?"
REPLACE = {
    "before = ordered.cumsum(dim=-1) - ordered\nordered = ordered.masked_fill(before >= top_p, 0.0)": (
        "ordered = ordered.masked_fill((ordered < top_p) & (ordered < ordered[:, :1]), 0.0)"
    )
}

# %% sample_top_p_before_top_k
LIKELY = "top_p is applied to all tokens, and top_k after it"
HINT = "The order is temperature, top_k, top_p. What do the probabilities sum to when top_p is applied?"
REPLACE = {
    (
        "if top_k is not None:\n"
        "    best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)\n"
        "    logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)"
    ): "",
    "return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)": (
        "if top_k is not None:\n"
        "    best = probabilities.topk(min(top_k, logits.shape[-1]), dim=-1)\n"
        "    probabilities = torch.zeros_like(probabilities).scatter(-1, best.indices, best.values)\n"
        "return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)"
    ),
}

# %% sample_evenly
LIKELY = "all tokens that are left are equally likely"
HINT = "What are the probabilities for, after the choice of tokens?"
REPLACE = {
    "return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)": (
        "return torch.multinomial((probabilities > 0).to(probabilities.dtype), 1, generator=generator).squeeze(-1)"
    )
}

# %% sample_softmax_over_the_batch
LIKELY = "the softmax goes over the batch, not over the tokens"
HINT = "Which axis holds the tokens?"
REPLACE = {"probabilities = torch.softmax(logits, dim=-1)": "probabilities = torch.softmax(logits, dim=0)"}

# %% sample_first_row_for_all
LIKELY = "every row is drawn from the logits of the first one"
HINT = "Give it two rows with different best tokens."
REPLACE = {
    "return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)": (
        "return torch.multinomial(probabilities[0], len(logits), replacement=True, generator=generator)"
    )
}

# %% sample_keeps_an_axis
LIKELY = "the result is (B, 1), not (B,)"
HINT = "torch.multinomial returns a column. How many axes should the result have?"
REPLACE = {
    "return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)": (
        "return torch.multinomial(probabilities, 1, generator=generator)"
    )
}

# %% sample_without_generator
LIKELY = "the draws do not come from the generator"
HINT = "Call it twice with the same seed. Do you get the same tokens?"
REPLACE = {
    "return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)": (
        "return torch.multinomial(probabilities, 1).squeeze(-1)"
    )
}

# %% sample_accepts_temperature_zero
LIKELY = "a temperature of 0 is taken as the most likely token, without an error"
HINT = "The docstring says what happens at 0 or less, and what the message must name."
VALUES_RIGHT = True
REPLACE = {
    ('if temperature <= 0:\n    raise ValueError(f"the temperature must be above 0, not {temperature}")'): (
        "if temperature <= 0:\n    return logits.argmax(dim=-1)"
    )
}

# %% sample_uses_any_temperature
LIKELY = "a temperature of 0 or less is used like any other"
HINT = "Try a temperature of 0, and one of -1. What happens, and what should happen?"
VALUES_RIGHT = True
REPLACE = {('if temperature <= 0:\n    raise ValueError(f"the temperature must be above 0, not {temperature}")'): ""}

# %% sample_zero_takes_the_best
LIKELY = "a temperature of 0 gives the most likely token, and one below 0 is used like any other"
HINT = "Try a temperature of -1: which tokens become likelier? The docstring says what happens at 0 or less."
VALUES_RIGHT = True
REPLACE = {
    ('if temperature <= 0:\n    raise ValueError(f"the temperature must be above 0, not {temperature}")'): (
        "if temperature == 0:\n    return logits.argmax(dim=-1)"
    )
}

# %% generate_without_cropping
LIKELY = "the model gets all tokens, also when they do not fit into its context"
HINT = "What happens when the text is longer than context_length?"
REPLACE = {"logits = model(ids[:, -model.context_length :])[:, -1]": "logits = model(ids)[:, -1]"}

# %% generate_crops_the_wrong_end
LIKELY = "the model sees the first tokens, not the last ones"
HINT = "Which tokens matter for the next one?"
REPLACE = {
    "logits = model(ids[:, -model.context_length :])[:, -1]": ("logits = model(ids[:, : model.context_length])[:, -1]")
}

# %% generate_sees_one_token
LIKELY = "the model sees only the last token"
HINT = "The model has a context. What do you pass to it?"
REPLACE = {"logits = model(ids[:, -model.context_length :])[:, -1]": "logits = model(ids[:, -1:])[:, -1]"}

# %% generate_reads_the_first_place
LIKELY = "the next token is drawn from the logits of the first place"
HINT = "Which place predicts the token after the last one?"
REPLACE = {
    "logits = model(ids[:, -model.context_length :])[:, -1]": ("logits = model(ids[:, -model.context_length :])[:, 0]")
}

# %% generate_without_prompt
LIKELY = "the prompt is missing in the result"
HINT = "What is the shape of the result for two tokens and six new ones?"
REPLACE = {"return ids": "return ids[:, ids.shape[1] - max_new_tokens :]"}

# %% generate_one_token_too_few
LIKELY = "there is one new token too few"
HINT = "Count the tokens of your result."
REPLACE = {"for _ in range(max_new_tokens):": "for _ in range(max_new_tokens - 1):"}

# %% generate_in_train_mode
LIKELY = "the model is not in eval mode while it writes"
HINT = "Which line sets the mode? A model with dropout would write other texts each time."
VALUES_RIGHT = True
REPLACE = {"model.eval()": ""}

# %% generate_stays_in_eval_mode
LIKELY = "the model stays in eval mode afterwards"
HINT = "Which mode was the model in before?"
REPLACE = {"model.train(was_training)": ""}

# %% generate_ends_in_train_mode
LIKELY = "the model is always in train mode afterwards"
HINT = "The model may have been in eval mode before. Keep its mode, and set it again."
VALUES_RIGHT = True
REPLACE = {"model.train(was_training)": "model.train()"}

# %% generate_ignores_temperature
LIKELY = "the temperature does not reach sample_next"
HINT = "Which arguments do you pass on?"
REPLACE = {
    "token = sample_next(logits, temperature, top_k, top_p, generator)": (
        "token = sample_next(logits, 1.0, top_k, top_p, generator)"
    )
}

# %% generate_ignores_top_k
LIKELY = "top_k does not reach sample_next"
HINT = "Which arguments do you pass on?"
REPLACE = {
    "token = sample_next(logits, temperature, top_k, top_p, generator)": (
        "token = sample_next(logits, temperature, None, top_p, generator)"
    )
}

# %% generate_ignores_top_p
LIKELY = "top_p does not reach sample_next"
HINT = "Which arguments do you pass on?"
REPLACE = {
    "token = sample_next(logits, temperature, top_k, top_p, generator)": (
        "token = sample_next(logits, temperature, top_k, None, generator)"
    )
}

# %% generate_without_generator
LIKELY = "the generator does not reach sample_next"
HINT = "Write twice with the same seed. Do you get the same text?"
VALUES_RIGHT = True
REPLACE = {
    "token = sample_next(logits, temperature, top_k, top_p, generator)": (
        "token = sample_next(logits, temperature, top_k, top_p)"
    )
}

# %% generate_one_token_for_all
LIKELY = "every text gets the token of the first one"
HINT = "Give it two prompts. How many different tokens can the next column have?"
REPLACE = {
    "ids = torch.cat([ids, token.unsqueeze(1)], dim=1)": (
        "ids = torch.cat([ids, token[:1].expand(len(ids)).unsqueeze(1)], dim=1)"
    )
}

# %% generate_changes_the_prompt
LIKELY = "the first token of the prompt is overwritten"
HINT = "ids belongs to the caller. Print it before and after a call."
REPLACE = {"was_training = model.training": "was_training = model.training\nids[:, 0] = ids[:, -1]"}

# %% train_gradients_add_up
LIKELY = "the gradients of earlier steps are never set to zero"
HINT = "backward() adds to the gradients. What has to happen before it?"
REPLACE = {"optimizer.zero_grad()": ""}

# %% train_in_eval_mode
LIKELY = "the model is in eval mode while it learns"
HINT = "Which mode is for learning?"
VALUES_RIGHT = True
REPLACE = {"model.train()": "model.eval()"}

# %% train_leaves_the_mode
LIKELY = "the mode of the model is not set: one that was in eval mode stays there"
HINT = "Call train on a model after model.eval(). Which mode does it learn in?"
VALUES_RIGHT = True
REPLACE = {"model.train()": ""}

# %% train_with_sgd
LIKELY = "the optimiser is plain gradient descent, not Adam"
HINT = "The docstring names the optimiser."
REPLACE = {
    "optimizer = torch.optim.Adam(model.parameters(), lr=lr)": (
        "optimizer = torch.optim.SGD(model.parameters(), lr=lr)"
    )
}

# %% train_default_learning_rate
LIKELY = "lr is not used: Adam has its default learning rate"
HINT = "Train with lr=0. Should the loss change?"
REPLACE = {
    "optimizer = torch.optim.Adam(model.parameters(), lr=lr)": "optimizer = torch.optim.Adam(model.parameters())"
}

# %% train_only_the_head
LIKELY = "only the head learns"
HINT = "Which parameters does the optimiser get?"
REPLACE = {
    "optimizer = torch.optim.Adam(model.parameters(), lr=lr)": (
        "optimizer = torch.optim.Adam(model.head.parameters(), lr=lr)"
    )
}

# %% train_never_steps
LIKELY = "the parameters are never changed"
HINT = "Print the losses. Which line changes the parameters?"
REPLACE = {"optimizer.step()": ""}

# %% train_climbs
LIKELY = "the loss is made larger, not smaller"
HINT = "In which direction does an optimiser go?"
REPLACE = {"batch_loss.backward()": "(-batch_loss).backward()"}

# %% train_loss_after_the_update
LIKELY = "each loss is measured after its update"
HINT = "The first loss is that of the model as it came."
REPLACE = {"losses.append(batch_loss.item())": "losses.append(cross_entropy(model(inputs), targets).item())"}

# %% train_losses_are_tensors
LIKELY = "the losses are tensors, not floats"
HINT = "What is the type of your losses? `.item()` makes a float."
REPLACE = {"losses.append(batch_loss.item())": "losses.append(batch_loss.detach())"}

# %% train_returns_the_last_loss
LIKELY = "only the last loss is returned"
HINT = "How many losses should there be after 30 steps?"
REPLACE = {"return losses": "return losses[-1:]"}

# %% train_always_the_same_batch
LIKELY = "one batch is drawn for all steps"
HINT = "How many batches does a training of 30 steps draw?"
REPLACE = {
    (
        "losses = []\n"
        "for _ in range(steps):\n"
        "    inputs, targets = get_batch(data, batch_size, model.context_length, generator)"
    ): (
        "losses = []\n"
        "inputs, targets = get_batch(data, batch_size, model.context_length, generator)\n"
        "for _ in range(steps):"
    )
}

# %% train_predicts_the_inputs
LIKELY = "the targets are the inputs: the model learns to copy"
HINT = "Which of the two parts of a batch does the loss compare with?"
REPLACE = {"batch_loss = cross_entropy(model(inputs), targets)": "batch_loss = cross_entropy(model(inputs), inputs)"}

# %% train_changes_the_data
LIKELY = "the data of the caller is turned around"
HINT = "Print the data before and after training. It is the text of the caller."
REPLACE = {"model.train()": "model.train()\ndata.copy_(data.flip(0))"}

# %% norm_by_a_matrix
LIKELY = "the weight is made into a matrix: a product of matrices, where a product of numbers is enough"
HINT = "How many multiplications does one feature need?"
COSTLY = True
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return (x * torch.rsqrt(mean_square + self.eps)) @ torch.diag(self.weight)"
    )
}

# %% norm_ready_made
LIKELY = "the norm is PyTorch's own, which you should write yourself here"
HINT = "The formula has a mean, a root and two products."
COSTLY = True
REPLACE = {
    "return x * torch.rsqrt(mean_square + self.eps) * self.weight": (
        "return F.rms_norm(x, self.weight.shape, self.weight, self.eps)"
    )
}

# %% network_again_for_each_token
LIKELY = "the network computes all tokens again for every token"
HINT = "nn.Linear works on all tokens at once. Which result do you take from each call?"
COSTLY = True
REPLACE = {
    "opened = F.silu(self.gate(x))": "results = []",
    "return self.down(opened * self.up(x))": (
        "for i in range(x.shape[1]):\n    opened = F.silu(self.gate(x))\n"
        "    results.append(self.down(opened * self.up(x))[:, i])\nreturn torch.stack(results, dim=1)"
    ),
}

# %% block_again_for_each_token
LIKELY = "the attention of all tokens is computed again for every token"
HINT = "One call of the attention gives the results of all tokens."
COSTLY = True
REPLACE = {
    "attended, _ = self.attention(self.norm1(x), mask=mask)": (
        "rows = [self.attention(self.norm1(x), mask=mask)[0][:, i] for i in range(x.shape[1])]\n"
        "attended = torch.stack(rows, dim=1)"
    ),
}

# %% block_with_built_in_attention
LIKELY = "the attention is PyTorch's own, not yours from module 06"
HINT = "Your attention takes the tokens and the mask, and returns a pair."
COSTLY = True


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        made, layer = self.norm1(x), self.attention
        heads = [
            project(made).unflatten(-1, (layer.num_heads, -1)).transpose(1, 2)
            for project in (layer.q_proj, layer.k_proj, layer.v_proj)
        ]
        allowed = None if mask is None else mask != 0
        mixed = F.scaled_dot_product_attention(*heads, attn_mask=allowed).transpose(1, 2).flatten(start_dim=2)
        x = x + layer.out_proj(mixed)
        return x + self.feed_forward(self.norm2(x))


# %% model_reads_every_prefix
LIKELY = "the model runs once for every prefix of the text"
HINT = "With a causal mask, one run gives the logits of all places."
COSTLY = True


class GPT(GPT):
    def forward(self, ids):
        length = ids.shape[1]
        if length > self.context_length:
            raise ValueError(f"{length} tokens, a context of {self.context_length}")
        rows = []
        for end in range(1, length + 1):
            x = self.token_embedding(ids[:, :end]) + self.position_embedding(torch.arange(end, device=ids.device))
            mask = torch.ones(end, end, dtype=torch.bool, device=ids.device).tril()
            for block in self.blocks:
                x = block(x, mask)
            rows.append(self.head(self.norm(x))[:, -1])
        return torch.stack(rows, dim=1)


# %% loss_of_all_pairs
LIKELY = "every place is compared with the target of every place, and most of it is thrown away"
HINT = "How many numbers do you choose from the logits, and how many do you need?"
COSTLY = True
REPLACE = {
    "chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)": (
        "flat, kinds = logits.flatten(0, 1), F.one_hot(targets.flatten(), logits.shape[-1])\n"
        "chosen = (flat @ kinds.to(flat.dtype).T).diagonal()\nlog_sums = log_sums.flatten()"
    ),
}

# %% loss_ready_made
LIKELY = "the loss is PyTorch's own, which you should write yourself here"
HINT = "torch.logsumexp gives one part of the formula, and gather the other."
COSTLY = True
REPLACE = {"return (log_sums - chosen).mean()": "return F.cross_entropy(logits.flatten(0, 1), targets.flatten())"}

# %% reflect_bits_and_no_biases
LIKELY = "the loss is in bits, and the parameters do not include the biases of the attention"
HINT = "Use the natural logarithm. Every projection of module 06 has a bias."
REFLECT_INITIAL_LOSS_V65 = 6.022
REFLECT_PARAMETERS = 681344

# %% reflect_uniform_and_tied
LIKELY = "the loss is the probability 1/65, and the head is counted as if it shared the token embedding"
HINT = "Take minus the logarithm of the probability. The head has a weight of its own."
REFLECT_INITIAL_LOSS_V65 = 0.0154
REFLECT_PARAMETERS = 675072
