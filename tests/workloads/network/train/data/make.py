# SPDX-License-Identifier: Apache-2.0
# Writes torch.txt: what PyTorch computes in FP64 of three steps of training (made with Debian 12's
# python3-torch 1.13.1). Not needed to build or test. One line a network and optimiser: its name, the
# loss of each step, the sum and the weighted sum of each weight afterwards. All numbers that are not
# learnt are powers of two or sums of few, so that fp32 constants hold them exactly; weights and
# inputs follow from their place (see value()). pytorch_test.cpp builds the same networks.
import math

import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)


def value(k, i):
    """Element i of tensor k: in fp32, in [-0.5, 0.5)."""
    return ((i * 37 + k * 101 + i * i % 29 * 11) % 256) / 256 - 0.5


def tensor(k, shape, scale=1.0, shift=0.0):
    n = math.prod(shape)
    return torch.tensor([value(k, i) * scale + shift for i in range(n)]).reshape(shape)


class Net:
    """Weights by number, in the order in which the C++ builder makes them."""

    def __init__(self):
        self.weights = []

    def w(self, *shape, scale=1.0, shift=0.0):
        t = tensor(len(self.weights) + 1, shape, scale, shift).requires_grad_()
        self.weights.append(t)
        return t


class Cnn(Net):
    def __init__(self):
        super().__init__()
        self.x = tensor(91, (4, 2, 7, 7), 2.0)
        self.c1, self.b1 = self.w(6, 2, 3, 3), self.w(6)
        self.g, self.h = self.w(6, scale=0.5, shift=1.0), self.w(6)
        self.c2 = self.w(6, 3, 2, 2)
        self.l, self.m = self.w(12, 5), self.w(5)
        self.labels = torch.tensor([0, 3, 4, 1])

    def forward(self):
        x = F.conv2d(self.x, self.c1, self.b1, stride=2, padding=1)
        x = F.relu(F.batch_norm(x, None, None, self.g, self.h, training=True, eps=2.0**-10))
        x = F.max_pool2d(x, 2, 1)
        x = F.conv2d(x, self.c2, None, groups=2, padding=1)
        x = F.avg_pool2d(torch.tanh(x), 3, 2, padding=1, count_include_pad=False)
        return x.mean((2, 3)).repeat(1, 2) @ self.l + self.m


class Transformer(Net):
    def __init__(self):
        super().__init__()
        self.ids = torch.tensor([[1, 4, 2, 1], [0, 3, 3, 5]])
        self.e, self.p = self.w(6, 8), self.w(4, 8)
        self.g, self.h = self.w(8, scale=0.5, shift=1.0), self.w(8)
        self.qkv, self.qb = self.w(8, 24), self.w(24)
        self.o, self.ob = self.w(8, 8), self.w(8)
        self.u, self.ub = self.w(8, 16), self.w(16)
        self.d, self.db = self.w(16, 8), self.w(8)
        self.labels = torch.tensor([4, 2, 1, 0, 3, 3, 5, 2])

    def forward(self):
        x = self.e[self.ids] + self.p
        y = F.layer_norm(x, (8,), self.g, self.h, eps=2.0**-10)
        q, k, v = (t.reshape(2, 4, 2, 4).transpose(1, 2) for t in (y @ self.qkv + self.qb).split(8, 2))
        mask = torch.ones(4, 4).triu(1) * -16.0
        y = ((q @ k.transpose(-1, -2)) * 0.5 + mask).softmax(-1) @ v
        x = x + y.transpose(1, 2).reshape(2, 4, 8) @ self.o + self.ob
        x = x + F.gelu(x @ self.u + self.ub) @ self.d + self.db
        return x.reshape(8, 8) @ self.e.t()


class Recurrent(Net):
    def __init__(self):
        super().__init__()
        self.x = tensor(91, (5, 3, 4), 2.0)
        self.lw, self.lr, self.lb = self.w(16, 4), self.w(16, 4), self.w(16)
        self.gw, self.gr, self.gb = self.w(12, 4), self.w(12, 4), self.w(24)
        self.f, self.fb = self.w(4, 3), self.w(3)
        self.labels = torch.tensor([2, 0, 1])

    def forward(self):
        h = c = torch.zeros(3, 4)
        outputs = []
        for t in range(5):  # gates as ONNX orders them: i, o, f, c
            i, o, f, g = (self.x[t] @ self.lw.t() + h @ self.lr.t() + self.lb).split(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        h = torch.zeros(3, 4)
        for t in range(5):  # z, r, n; linear_before_reset
            z, r, n = (outputs[t] @ self.gw.t() + self.gb[:12]).split(4, 1)
            hz, hr, hn = (h @ self.gr.t() + self.gb[12:]).split(4, 1)
            z, r = (z + hz).sigmoid(), (r + hr).sigmoid()
            n = (n + r * hn).tanh()
            h = n + z * (h - n)
        return h @ self.f + self.fb


RATE = 0.0625


def optimiser(kind, weights):
    if kind == "sgd":
        return torch.optim.SGD(weights, RATE, momentum=0.875, weight_decay=2.0**-8)
    if kind == "nesterov":
        return torch.optim.SGD(weights, RATE, momentum=0.875, nesterov=True)
    return torch.optim.AdamW(weights, RATE, betas=(0.875, 0.9375), eps=2.0**-20, weight_decay=0.125)


with open("torch.txt", "w") as file:
    for net in (Cnn, Transformer, Recurrent):
        for kind in ("sgd", "nesterov", "adamw"):
            n = net()
            steps = optimiser(kind, n.weights)
            losses = []
            for _ in range(3):
                steps.zero_grad()
                loss = F.cross_entropy(n.forward(), n.labels)
                loss.backward()
                nn.utils.clip_grad_norm_(n.weights, 1.0)
                steps.step()
                losses.append(loss.item())
            numbers = losses
            for w in n.weights:
                flat = w.detach().reshape(-1)
                numbers.append(flat.sum().item())
                numbers.append((flat * torch.arange(1, len(flat) + 1)).sum().item())
            file.write(f"{net.__name__} {kind} " + " ".join(f"{v:.15g}" for v in numbers) + "\n")
