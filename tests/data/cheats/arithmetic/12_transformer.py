# %% index_add_of_a_view
# cross_entropy adds up all exponentials once for every token of the vocabulary, b*n*v^2: index_add of an expanded
# view is priced by its result, and its additions are no flops.
# Expected: loses marks: cross_entropy
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
