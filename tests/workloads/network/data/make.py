# SPDX-License-Identifier: Apache-2.0
# Writes the .onnx files of this folder and, beside each, the inputs and outputs that PyTorch
# computed for it in FP64 (made with Debian 12's python3-torch 1.13.1). Not needed to build or test.
import torch
from torch import nn
from torch.nn import functional as F


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.b = nn.Conv2d(8, 8, 1)
        self.pool = nn.MaxPool2d(3, 2, padding=1)
        self.average = nn.AvgPool2d(2, 1)
        self.fc = nn.Linear(8, 5)
        for p in (self.norm.weight, self.norm.running_mean, self.norm.running_var):
            p.data.uniform_(0.5, 1.5)

    def forward(self, x):
        x = F.relu(self.norm(self.a(x)))
        x = x + F.relu6(self.b(self.depthwise(x)))
        x = F.adaptive_avg_pool2d(self.average(self.pool(x)), 1)
        return F.softmax(self.fc(x.flatten(1)), -1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.qkv = nn.Linear(16, 48)
        self.norm = nn.LayerNorm(16)
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 16)
        self.register_buffer("mask", torch.ones(8, 8).tril().bool())

    def forward(self, ids):
        n, s = ids.shape
        x = self.embed(ids)
        q, k, v = (t.view(n, s, 2, 8).transpose(1, 2) for t in self.qkv(x).split(16, 2))
        y = q @ k.transpose(-1, -2) / 8**0.5
        y = y.masked_fill(~self.mask[:s, :s], -1e4).softmax(-1) @ v
        x = self.norm(x + y.transpose(1, 2).reshape(n, s, 16))
        return x + self.down(F.gelu(self.up(x)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return y, h, c


class Quantised(nn.Module):
    """Trained for int8: FakeQuantize becomes QuantizeLinear and DequantizeLinear."""
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.b = nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.fc = nn.Linear(8, 5)
        for m in (self.a, self.b, self.fc):
            s = m.weight.data.abs().flatten(1).amax(1) / 127
            m.register_buffer("s", s)
            m.register_buffer("z", torch.zeros(len(s), dtype=torch.int32))

    def value(self, x, scale, zero):
        return torch.fake_quantize_per_tensor_affine(x, scale, zero, -128, 127)

    def weight(self, m):
        return torch.fake_quantize_per_channel_affine(m.weight, m.s.float(), m.z, 0, -128, 127)

    def forward(self, x):
        x = self.value(x, 0.02, 3)
        y = self.value(F.relu(F.conv2d(x, self.weight(self.a), self.a.bias, 2, 1)), 0.01, -128)
        z = self.value(F.conv2d(y, self.weight(self.b), self.b.bias, 1, 1, 1, 2), 0.01, 5)
        y = self.value(F.relu(y + z), 0.015, -128)
        y = F.max_pool2d(y, 2)
        y = self.value(F.adaptive_avg_pool2d(y, 1), 0.0117, -128)
        return self.value(F.linear(y.flatten(1), self.weight(self.fc), self.fc.bias), 0.01, 0)


class Images(nn.Module):
    """Images made larger, turned and padded."""
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.down = nn.ConvTranspose2d(6, 2, (3, 2), stride=(1, 3), dilation=(2, 1), padding=(3, 0))
        self.out = nn.Conv2d(2, 4, 1)

    def forward(self, x):
        y = self.out(self.down(F.relu(self.up(x))))
        near = F.interpolate(x, size=(7, 8))
        linear = F.interpolate(x, scale_factor=(1.5, 2), mode="bilinear", align_corners=False)
        cubic = F.interpolate(x, size=(4, 9), mode="bicubic", align_corners=True)
        pads = F.pad(F.pad(F.pad(x, (2, 1, 0, 2), mode="reflect"), (1, 0, 2, 0), mode="replicate"),
                     (-2, 1, 1, -1))
        return y, near, linear, cubic, pads, F.pixel_shuffle(x, 2), F.layer_norm(x, x.shape[2:])


class Arithmetic(nn.Module):
    def forward(self, x):
        i = x.argsort(1)
        return (F.selu(x), F.celu(x, 0.7), x.logsumexp(1), x.norm(p=1, dim=2), x.cumsum(1),
                x.topk(2, 2)[0], x.gather(1, i), torch.zeros_like(x).scatter(1, i, x),
                torch.einsum("bij,bkj->bik", x, x), torch.einsum("bij,bik->jk", x, x),
                torch.fmod(x, 0.7), x.isnan().float(), x.tan(), x.atan(),
                F.one_hot(i, 6).float().mean(1))


class Squeeze(nn.Module):
    """With a dimension that is not known an If decides whether it goes."""
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)
        self.norm = nn.LocalResponseNorm(3, alpha=0.5)

    def forward(self, x):
        return self.fc(x.squeeze(1)), self.norm(x.reshape(1, 3, 5))


def write(name, model, x, opset, **options):
    torch.onnx.export(model.eval(), x, name + ".onnx", opset_version=opset, input_names=["x"],
                      training=torch.onnx.TrainingMode.PRESERVE, **options)
    y = model.double()(x.double() if x.is_floating_point() else x)
    with open(name + ".txt", "w") as file:
        for t in (x, *(y if isinstance(y, tuple) else (y,))):
            file.write(" ".join(f"{v:.12g}" for v in t.flatten().tolist()) + "\n")


torch.manual_seed(1)
write("cnn_11", Cnn(), torch.randn(2, 3, 13, 15), 11)
write("cnn_17", Cnn(), torch.randn(2, 3, 12, 12), 17)
write("mlp", nn.Sequential(nn.Linear(6, 7), nn.ReLU(), nn.Linear(7, 3)), torch.randn(2, 6), 13,
      dynamic_axes={"x": {0: "batch"}})
ids = torch.randint(0, 11, (2, 6))
write("attention_13", Attention(), ids, 13, dynamic_axes={"x": {0: "batch", 1: "seq"}})
write("attention_17", Attention(), ids, 17, do_constant_folding=False)
write("lstm", Recurrent(), torch.randn(7, 3, 4), 14)
write("quantised_13", Quantised(), torch.randn(2, 3, 8, 8), 13)
write("gru_14", nn.GRU(4, 5, num_layers=2, bidirectional=True), torch.randn(4, 3, 4), 14)
write("rnn_11", nn.RNN(4, 5, nonlinearity="relu", batch_first=True), torch.randn(2, 4, 4), 11)
write("images_13", Images(), torch.randn(1, 4, 4, 3), 13)
write("arithmetic_16", Arithmetic(), torch.randn(2, 4, 3), 16)
write("squeeze_13", Squeeze(), torch.randn(3, 1, 5), 13, dynamic_axes={"x": {0: "n", 1: "c"}})
