# %% einsum_everywhere
# Expected: passes


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        made = [project(x) for project, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))]
        q, k, v = (x.unflatten(-1, (self.num_heads, self.head_dim)) for x in made)
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * self.head_dim**-0.5
        if mask is not None:
            scores = scores.masked_fill((mask[:, None] if mask.dim() == 3 else mask) == 0, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj(torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2)), weights


# %% a_loop_over_heads
# Expected: passes


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        outputs, shares = [], []
        for h in range(self.num_heads):
            at = slice(h * self.head_dim, (h + 1) * self.head_dim)
            scores = q[..., at] @ k[..., at].mT / math.sqrt(self.head_dim)
            if mask is not None:
                own = mask if mask.dim() < 4 else mask.expand(len(query), self.num_heads, -1, -1)[:, h]
                scores = torch.where(own != 0, scores, -math.inf)
            shares.append(scores.softmax(dim=-1))
            outputs.append(shares[-1] @ v[..., at])
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(shares, dim=1)


# %% rows_of_the_weights_for_each_head
# Expected: passes


class MultiHeadAttention(MultiHeadAttention):
    def part(self, layer, x, h):
        at = slice(h * self.head_dim, (h + 1) * self.head_dim)
        return nn.functional.linear(x, layer.weight[at], layer.bias[at])

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        heads = []
        for h in range(self.num_heads):
            q, k, v = self.part(self.q_proj, query, h), self.part(self.k_proj, key, h), self.part(self.v_proj, value, h)
            weights = torch.softmax(torch.bmm(q, k.mT) / math.sqrt(self.head_dim), dim=-1)
            heads.append((weights, torch.bmm(weights, v)))
        output = sum(
            nn.functional.linear(o, self.out_proj.weight[:, h * self.head_dim : (h + 1) * self.head_dim])
            for h, (_, o) in enumerate(heads)
        )
        return output + self.out_proj.bias, torch.stack([w for w, _ in heads], dim=1)


# %% fused_keys_and_values
# Expected: passes


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        weight = torch.cat([self.k_proj.weight, self.v_proj.weight])
        k, v = nn.functional.linear(key, weight, torch.cat([self.k_proj.bias, self.v_proj.bias])).chunk(2, dim=-1)
        v = v if value is None else self.v_proj(value)
        q, k, v = (split_heads(x, self.num_heads) for x in (self.q_proj(query), k, v))
        weights = torch.softmax(q @ k.mT / math.sqrt(self.head_dim), dim=-1)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% batched_into_one_axis
# Expected: passes


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (
            split_heads(project(x), self.num_heads).flatten(0, 1)
            for project, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        start = torch.zeros(len(q), q.shape[1], k.shape[1])
        weights = torch.softmax(torch.baddbmm(start, q, k.mT, beta=0, alpha=self.head_dim**-0.5), dim=-1)
        mixed = torch.bmm(weights, v).unflatten(0, (len(query), self.num_heads))
        return self.out_proj(merge_heads(mixed)), weights.unflatten(0, (len(query), self.num_heads))


# %% softmax_by_hand
# Expected: passes


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.q_proj(query), self.num_heads) / math.sqrt(self.head_dim)
        k, v = split_heads(self.k_proj(key), self.num_heads), split_heads(self.v_proj(value), self.num_heads)
        scores = torch.matmul(q, k.transpose(2, 3))
        exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        weights = exps / exps.sum(dim=-1, keepdim=True)
        return self.out_proj(merge_heads(torch.matmul(weights, v))), weights


# %% stacked_heads
# Expected: passes


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(list(x.unbind(1)), dim=-1)


# %% copies_into_zeros
# Expected: passes


def split_heads(x, num_heads):
    width = x.shape[-1] // num_heads
    heads = x.new_zeros(x.shape[0], num_heads, x.shape[1], width)
    for h in range(num_heads):
        heads[:, h] = x[:, :, h * width : (h + 1) * width]
    return heads


def merge_heads(x):
    return x.permute(0, 2, 1, 3).contiguous().view(x.shape[0], x.shape[2], -1)


# %% split_one_token_after_the_other
# Expected: split_heads: steps


def split_heads(x, num_heads):
    tokens = [x[:, n].unflatten(-1, (num_heads, -1)) for n in range(x.shape[1])]  # <-- here
    return torch.stack(tokens, dim=2)


# %% split_feature_by_feature
# Expected: split_heads: steps work


def split_heads(x, num_heads):
    width = x.shape[-1] // num_heads
    heads = x.new_zeros(x.shape[0], num_heads, x.shape[1], width)
    for e in range(x.shape[-1]):
        heads = heads.clone()  # <-- here
        heads[:, e // width, :, e % width] = x[..., e]
    return heads


# %% merge_by_a_matrix_of_ones
# Expected: merge_heads: work mem


def merge_heads(x):
    batch, heads, length, width = x.shape
    places = torch.eye(heads * width).reshape(heads, width, heads * width)  # <-- here
    return torch.einsum("bhnd,hde->bne", x, places)


# %% merge_sentence_by_sentence
# Expected: merge_heads: steps


def merge_heads(x):
    return torch.stack([torch.cat(tuple(one), dim=-1) for one in x])  # <-- here


# %% one_query_after_the_other
# a copy of the keys is kept for the gradient of each query
# Expected: MultiHeadAttention.forward: steps mem


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.q_proj(query), self.num_heads)
        k, v = split_heads(self.k_proj(key), self.num_heads), split_heads(self.v_proj(value), self.num_heads)
        rows = [q[:, :, n : n + 1] @ k.mT for n in range(q.shape[2])]  # <-- here
        weights = torch.softmax(torch.cat(rows, dim=2) / math.sqrt(self.head_dim), dim=-1)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% all_pairs_in_five_dimensions
# Expected: MultiHeadAttention.forward: mem


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.q_proj(query), self.num_heads)
        k, v = split_heads(self.k_proj(key), self.num_heads), split_heads(self.v_proj(value), self.num_heads)
        pairs = q[:, :, :, None] * k[:, :, None]  # <-- here
        weights = torch.softmax(pairs.sum(-1) / math.sqrt(self.head_dim), dim=-1)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% projected_again_for_each_head
# Expected: MultiHeadAttention.forward: flops


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        shares, outputs = [], []
        for h in range(self.num_heads):
            q = split_heads(self.q_proj(query), self.num_heads)[:, h]
            k = split_heads(self.k_proj(key), self.num_heads)[:, h]
            v = split_heads(self.v_proj(value), self.num_heads)[:, h]
            shares.append(torch.softmax(q @ k.mT / math.sqrt(self.head_dim), dim=-1))
            outputs.append(shares[-1] @ v)
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(shares, dim=1)


# %% every_head_against_every_head
# Expected: MultiHeadAttention.forward: flops


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.q_proj(query), self.num_heads)
        k, v = split_heads(self.k_proj(key), self.num_heads), split_heads(self.v_proj(value), self.num_heads)
        scores = q[:, :, None] @ k[:, None].mT / math.sqrt(self.head_dim)
        weights = torch.softmax(scores.diagonal(dim1=1, dim2=2).movedim(-1, 1), dim=-1)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% the_ready_made_function
# Expected: MultiHeadAttention.forward: forbidden


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.q_proj(query), self.num_heads)
        k, v = split_heads(self.k_proj(key), self.num_heads), split_heads(self.v_proj(value), self.num_heads)
        weights = torch.softmax(q @ k.mT / math.sqrt(self.head_dim), dim=-1)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)  # <-- here
        return self.out_proj(merge_heads(mixed)), weights


# %% the_ready_made_function_for_masks_alone
# Expected: MultiHeadAttention.forward: forbidden


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        if mask is not None and mask.dim() == 3:
            key = query if key is None else key
            q, k = split_heads(self.q_proj(query), self.num_heads), split_heads(self.k_proj(key), self.num_heads)
            v = split_heads(self.v_proj(key if value is None else value), self.num_heads)
            hidden = getattr(nn.functional, "scaled_dot_" + "product_attention")
            output = self.out_proj(merge_heads(hidden(q, k, v, attn_mask=mask[:, None] != 0)))  # <-- here
        return output, weights


# %% the_ready_made_layer
# Expected: MultiHeadAttention.forward: forbidden


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        return nn.functional.multi_head_attention_forward(  # <-- here
            query.transpose(0, 1),
            key.transpose(0, 1),
            value.transpose(0, 1),
            query.shape[-1],
            self.num_heads,
            torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight]),
            torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias]),
            None,
            None,
            False,
            0.0,
            self.out_proj.weight,
            self.out_proj.bias,
            average_attn_weights=False,
        )[0].transpose(0, 1), super().forward(query, key, value, mask)[1]
