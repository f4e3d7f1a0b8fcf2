# module: 12_transformer
# cross_entropy adds up all exponentials once for every token of the vocabulary, b*n*v^2: index_add of an expanded
# view is priced by its result, and its additions are no flops.

import math
import torch
from torch import nn
from torch.nn import functional as F
try:
    from mylab.multi_head_attention import MultiHeadAttention
except ModuleNotFoundError:
    from fallback import MultiHeadAttention

class RMSNorm(nn.Module):

    def __init__(self, dim, eps=1e-05):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(mean_square + self.eps) * self.weight

class FeedForward(nn.Module):

    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        opened = F.silu(self.gate(x))
        return self.down(opened * self.up(x))

class TransformerBlock(nn.Module):

    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.norm2 = RMSNorm(embed_dim)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        attended, _ = self.attention(self.norm1(x), mask=mask)
        x = x + attended
        return x + self.feed_forward(self.norm2(x))

class GPT(nn.Module):

    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, embed_dim)
        self.position_embedding = nn.Embedding(context_length, embed_dim)
        self.blocks = nn.ModuleList((TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)))
        self.norm = RMSNorm(embed_dim)
        self.head = nn.Linear(embed_dim, vocab_size, bias=False)

    def forward(self, ids):
        length = ids.shape[1]
        if length > self.context_length:
            raise ValueError(f'{length} tokens do not fit into a context of {self.context_length}')
        positions = torch.arange(length, device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        mask = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))

def cross_entropy(logits, targets):
    rows = logits.flatten(0, 1)
    count, width = rows.shape
    shifted = rows - rows.amax(dim=-1, keepdim=True).detach()
    exps = shifted.exp()
    again = exps.unsqueeze(1).expand(count, width, width)
    place = torch.zeros(width, dtype=torch.int64)
    sums = torch.zeros_like(exps).unsqueeze(1).index_add(1, place, again).squeeze(1) / width
    log_sums = sums.sum(dim=-1).log()
    chosen = shifted.gather(-1, targets.flatten().unsqueeze(-1)).squeeze(-1)
    return (log_sums - chosen).mean()

def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)
    places = starts.unsqueeze(1) + torch.arange(context_length + 1)
    pieces = data[places]
    return (pieces[:, :-1], pieces[:, 1:])

def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f'the temperature must be above 0, not {temperature}')
    logits = logits / temperature
    if top_k is not None:
        best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)
        logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)
    probabilities = torch.softmax(logits, dim=-1)
    if top_p is not None:
        ordered, places = probabilities.sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered
        ordered = ordered.masked_fill(before >= top_p, 0.0)
        probabilities = torch.zeros_like(probabilities).scatter(-1, places, ordered)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)

def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.context_length:])[:, -1]
            token = sample_next(logits, temperature, top_k, top_p, generator)
            ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    model.train(was_training)
    return ids

def train(model, data, steps, batch_size, lr, generator):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    model.train()
    losses = []
    for _ in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        batch_loss = cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        batch_loss.backward()
        optimizer.step()
        losses.append(batch_loss.item())
    return losses
TEXT = 'the cat sat on the mat. the mat lay by the door, and the door was open.\nthrough the door came the wind, and the wind came from the sea.\nthe cat looked at the wind, but no one can see the wind.\nso the cat looked at what the wind moved: the grass, the leaves, the light on the wall.\nwhat do you see, asked the dog. i see the wind, said the cat.\nyou can not see the wind, said the dog. no one can see the wind.\ni see the grass, said the cat, and the grass sees the wind.\nthe dog sat on the mat and looked at the grass for a long time.\n\nthen the rain came from the sea, and the door was closed.\nthe cat sat by the fire, and the dog lay by the cat.\nwhat do you hear, asked the cat. i hear the rain, said the dog.\nthe rain says one word, and then the same word again, said the cat.\nwhich word comes next, asked the dog. the same word, said the cat.\nthe dog listened to the rain for a long time. then the rain said nothing.\nthat was not the same word, said the dog. no, said the cat, that was the end of the line.\n\nin the night the moon came from the sea, and the light lay on the wall.\nthe cat looked at the moon, and the moon looked at the cat.\nwhat do you say to the moon, asked the dog. i say what i heard, said the cat.\nfirst i say one word. then i look at the word, and i say the next one.\nand how do you know the next one, asked the dog.\ni look at all the words before it, said the cat, and i ask which of them matter.\nthe old words tell me the new word, and then the new word is old.\nand when do you stop, asked the dog. when the fire is out, said the cat.\nthe dog sat by the fire and looked at the words for a long time.\n\nthen the sun came from the sea, and the door was open again.\nthe dog looked for the rain, but the rain was gone, and the grass was green.\nthe fire is out, said the dog. then i begin again, said the cat.\nthe cat sat on the mat. the mat lay by the door.\nwhat do you see, asked the dog. i see the grass, said the cat, and the wind, and the next word.\n'
REFLECT_INITIAL_LOSS_V65 = None
REFLECT_PARAMETERS = None
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
