# %% ready_made_loss_in_a_backward
# F.cross_entropy, called in the backward of an autograd.Function that torch.autograd.grad runs: the function mode is
# off there, and the operations have other names.
# Expected: loses marks: cross_entropy
class Later(torch.autograd.Function):

    @staticmethod
    def forward(ctx, start, work):
        ctx.work = work
        return start.clone()

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            ctx.work()
        return (gradient, None)


def cross_entropy(logits, targets):
    answers = []
    with torch.enable_grad():
        start = torch.zeros((), requires_grad=True)
        later = Later.apply(start, lambda: answers.append(F.cross_entropy(logits.flatten(0, 1), targets.flatten())))
        torch.autograd.grad(later, start)
    return answers[0]
