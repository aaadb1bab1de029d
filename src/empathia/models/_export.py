"""From torch to ONNX: the encoder computes in 8 bits, chosen with care; the heads are stored in 8 bits and compute in full."""

import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from empathia.encoders.huggingface import HuggingFaceEncoder, WordVectors
from empathia.errors import ModelError
from empathia.models._network import Network

OPSET = 17
SMOOTH = 0.7  # how much of the activations' range moves into the weights


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the exporter's and the quantiser's remarks to their own developers."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def check_exportable(*, words: bool) -> None:
    """Refuse heads that read word vectors: a model folder holds an encoder, and these have none."""
    if words:
        raise ModelError(
            "The heads rnn and hred are baselines for benchmarks and cannot be written as a model folder: "
            "use `training.fit(...).model(...)`, or another head."
        )


@_quietly()
def export(network: Network, folder: Path, calibration: Sequence[str], *, quantised: bool = True) -> None:
    """Write `encoder.onnx`, one graph per head and `tokenizer.json` into the folder."""
    check_exportable(words=isinstance(network.encoder, WordVectors))
    network.eval()
    folder.mkdir(parents=True, exist_ok=True)
    network.encoder.tokens.tokenizer.save(str(folder / "tokenizer.json"))
    network.encoder.network.config.to_json_file(folder / "config.json")  # type: ignore[union-attr, operator]
    for name, head in network.heads.items():
        _export_head(head, folder / f"{name}.onnx", network.encoder.width)
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "encoder.onnx"
        _export_encoder(network.encoder, plain)
        if not quantised:
            plain.replace(folder / "encoder.onnx")
            return
        ids = [window.ids for found in network.encoder.tokens.windows(calibration) for window in found]
        smooth(plain, ids)
        quantize_dynamic(
            plain,
            folder / "encoder.onnx",
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
        )
        for graph in ("encoder", *network.heads):
            shrink(folder / f"{graph}.onnx")


def _export_encoder(encoder: HuggingFaceEncoder, file: Path) -> None:
    ids = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 4]])
    _export(encoder, (ids, torch.ones_like(ids)), file, ("input_ids", "attention_mask"), ("states",))


def _export_head(head: nn.Module, file: Path, width: int) -> None:
    inputs: tuple[str, ...] = head.inputs  # type: ignore[assignment]
    one, other = getattr(head, "widths", (width, width))
    given = (torch.randn(2, 5, one), torch.ones(2, 5), torch.randn(2, 7, other), torch.ones(2, 7))[: len(inputs)]
    _export(head, given, file, inputs, tuple(head(*given)))


def _export(module: nn.Module, given: tuple[torch.Tensor, ...], file: Path, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    axes = {name: {0: "batch", 1: f"{name}_tokens"} for name in (*inputs, "states", "marks", "causes")}
    axes["pairs"] = {0: "batch", 1: "post_tokens", 2: "reply_tokens"}
    torch.onnx.export(
        module, given, str(file), input_names=list(inputs), output_names=list(outputs), dynamic_axes=axes, opset_version=OPSET, dynamo=False
    )


def smooth(file: Path, ids: Sequence[Sequence[int]]) -> None:
    """Move part of each activation channel's range into the weights that read it (SmoothQuant), in place.

    Without it a few loud channels take the whole 8-bit range of every activation.
    """
    model = onnx.load(file)
    weights = {i.name: i for i in model.graph.initializer}
    products = [node for node in model.graph.node if node.op_type == "MatMul" and node.input[1] in weights]
    loudest = _loudest(model, sorted({node.input[0] for node in products}), ids)
    nodes, scaled = [], set()
    scales: dict[str, NDArray[np.float32]] = {}
    for name, peak in loudest.items():
        readers = [numpy_helper.to_array(weights[node.input[1]]) for node in products if node.input[0] == name]
        strongest = np.max([np.abs(reader).max(axis=1) for reader in readers], axis=0)
        scale = np.maximum(peak, 1e-5) ** SMOOTH / np.maximum(strongest, 1e-5) ** (1 - SMOOTH)
        scales[name] = (scale / np.exp(np.log(scale).mean())).astype(np.float32)
    for node in model.graph.node:
        if node in products:
            name, weight = node.input
            if name not in scaled:
                scaled.add(name)
                model.graph.initializer.append(numpy_helper.from_array(1 / scales[name], f"{name}_scale"))
                nodes.append(helper.make_node("Mul", [name, f"{name}_scale"], [f"{name}_smooth"]))
            node.input[0] = f"{name}_smooth"
            weights[weight].CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights[weight]) * scales[name][:, None], weight))
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, file)


def _loudest(model: onnx.ModelProto, names: Sequence[str], ids: Sequence[Sequence[int]]) -> dict[str, NDArray[np.float32]]:
    """The largest absolute value of each channel of some activations over the calibration texts."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend([helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names])
    graph = ort.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    peaks: dict[str, NDArray[np.float32]] = {}
    for some in ids:
        given = np.array([some])
        for name, value in zip(names, graph.run(list(names), {"input_ids": given, "attention_mask": np.ones_like(given)}), strict=True):
            peak = np.abs(value).max(axis=(0, 1))
            peaks[name] = np.maximum(peaks[name], peak) if name in peaks else peak
    return peaks


def shrink(file: Path) -> None:
    """Store large tables of weights as 8-bit numbers with a scale per row of an embedding or per column of a matrix, in place.

    Rows of an embedding are scaled back when they are looked up; a matrix is scaled back once, when the graph is loaded.
    """
    model = onnx.load(file)
    tables = {i.name: i for i in model.graph.initializer if i.data_type == TensorProto.FLOAT and len(i.dims) == 2 and min(i.dims) >= 64}
    embeddings = {node.input[0] for node in model.graph.node if node.op_type == "Gather"}
    nodes = [node for name in tables if name not in embeddings for node in _scaled_back(f"{name}_bits", f"{name}_scale", name)]
    for node in model.graph.node:
        if node.op_type != "Gather" or node.input[0] not in tables:
            nodes.append(node)
            continue
        table, places, out = node.input[0], node.input[1], node.output[0]
        nodes += [helper.make_node("Gather", [f"{table}_{part}", places], [f"{out}_{part}"]) for part in ("bits", "scale")]
        nodes += _scaled_back(f"{out}_bits", f"{out}_scale", out)
    for name, table in tables.items():
        values = numpy_helper.to_array(table)
        scale = np.maximum(np.abs(values).max(axis=1 if name in embeddings else 0, keepdims=True), 1e-8) / 127
        model.graph.initializer.remove(table)
        model.graph.initializer.append(numpy_helper.from_array(np.round(values / scale).astype(np.int8), f"{name}_bits"))
        model.graph.initializer.append(numpy_helper.from_array(scale.astype(np.float32), f"{name}_scale"))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, file)


def _scaled_back(bits: str, scale: str, out: str) -> list[onnx.NodeProto]:
    plain = helper.make_node("Cast", [bits], [f"{out}_float"], to=TensorProto.FLOAT)
    return [plain, helper.make_node("Mul", [f"{out}_float", scale], [out])]
